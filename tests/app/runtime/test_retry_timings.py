"""How long a keeper waits before it starts its child again; and what credentials are at their limits."""

from __future__ import annotations

import asyncio
import logging
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.app.runtime.credentials import MAX_FILE_BYTES, MIN_SECRET_BYTES, read_credentials, store_credentials
from reviewbot.app.runtime.supervise import VARIABLE, WRONGLY, Child, RestartTimings, _ChildSupervisor, supervise
from reviewbot.domain.errors import ConfigError, ExitCode
from tests.webhooks import CREDENTIALS, KEY

FAILED, KILLED = 1, -9


def waits(*ends: tuple[int, float]) -> list[float]:
    """What follows each end of a child, as its code and how long it lived."""
    keeper = _ChildSupervisor(Child("worker", ("none",), vital=False), asyncio.Event(), RestartTimings())
    return [round(keeper._next_wait(code, lived), 3) for code, lived in ends]


def test_who_fails_waits_twice_as_long_each_time_up_to_a_limit() -> None:
    assert waits(*[(FAILED, 0.0)] * 8) == [0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 15.0, 15.0]


def test_who_was_killed_or_had_settled_begins_anew() -> None:
    again = (FAILED, 19.9)

    assert waits(again, again, (KILLED, 0.0), again) == [0.4, 0.8, 0.2, 0.4]
    assert waits(again, again, (FAILED, 20.0), again) == [0.4, 0.8, 0.2, 0.4]
    assert waits(again, (ExitCode.REVIEWED, 0.0)) == [0.4, 0.8]


def test_who_was_started_wrongly_waits_its_own_time_and_everybody_is_told(caplog: pytest.LogCaptureFixture) -> None:
    assert waits((FAILED, 0.0), (ExitCode.USAGE, 99.0), (FAILED, 0.0)) == [0.4, 30.0, 0.8]
    assert [(each.levelno, each.getMessage()) for each in caplog.records] == [
        (logging.ERROR, WRONGLY % ("worker", 30.0))
    ]


def test_a_child_is_told_that_its_input_is_a_lifeline(tmp_path: Path) -> None:
    result = tmp_path / "told"
    kind = "stat.S_IFMT(os.fstat(0).st_mode) in {stat.S_IFIFO, stat.S_IFSOCK}"
    said = f"os.environ[{VARIABLE!r}] + ' ' + str({kind})"
    program = f"import os, stat, sys; open(sys.argv[1], 'w').write({said}); sys.exit(2)"

    assert asyncio.run(supervise([Child("a", (sys.executable, "-ISc", program, str(result)))])) == ExitCode.USAGE
    assert result.read_text() == "stdin True"


def test_credentials_are_good_up_to_their_limits() -> None:
    secrets, slug = (b"s" * MIN_SECRET_BYTES,) * 2, "a" * 100
    found = replace(CREDENTIALS, webhook_secrets=secrets, private_keys=(KEY, KEY), slug=slug, app_id=2**63 - 1)

    assert (found.app_id, found.slug, len(found.secrets())) == (2**63 - 1, slug, 4)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"app_id": 2**63}, "the App's id must be a positive number"),
        ({"slug": "a" * 101}, "the App's slug must be its name in addresses, such as my-reviewbot"),
        ({"slug": "a-"}, "the App's slug must be its name in addresses, such as my-reviewbot"),
        ({"private_keys": (KEY, KEY.strip())}, "each private key must be the text of the PEM file that GitHub gave"),
        ({"webhook_secrets": ()}, "there must be one webhook secret, or two while one is exchanged"),
        (
            {"webhook_secrets": (b"s" * 16, b"s" * 15)},
            "a webhook secret must have at least 16 bytes; `openssl rand -hex 32` makes one",
        ),
    ],
)
def test_credentials_beyond_them_are_refused_in_words(changed: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        replace(CREDENTIALS, **changed)  # type: ignore[arg-type] # that it is wrong is the point
    assert str(caught.value) == said


def test_a_file_of_credentials_that_is_too_large_is_none(tmp_path: Path) -> None:
    path = tmp_path / "credentials.json"
    store_credentials(path, CREDENTIALS)
    whole = path.read_bytes()
    path.write_bytes(whole + b" " * (MAX_FILE_BYTES - len(whole)))
    assert read_credentials(path) == CREDENTIALS
    path.write_bytes(whole[:-1] + b" " * MAX_FILE_BYTES + whole[-1:])

    with pytest.raises(ConfigError, match=r": is no file of credentials; run the setup again$"):
        read_credentials(path)
