"""`reviewbot worker` as it is: a process on files, our GitHub, an inbox; from a delivery to a posted review."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reviewbot.app.runtime.credentials import Credentials
from reviewbot.app.store.inbox.inbox import open_inbox
from reviewbot.app.triggers.values import Delivery, Trigger
from reviewbot.cli.commands.app.worker import signer_of
from reviewbot.cli.main import main
from reviewbot.domain.errors import ConfigError
from reviewbot.publish.marker import ReviewMarker
from tests.git_repo import GitRepo
from tests.github_api.apps import APP_ID, AppGithub

if TYPE_CHECKING:
    from tests.github_api import Pull

LIMIT_S = 240.0
CANARY = "canary-of-the-webhook-secret"


@pytest.fixture
def github(pem: str) -> Iterator[AppGithub]:
    with AppGithub(pem) as api:
        yield api
    api.check()


@pytest.fixture
def pull(github: AppGithub, tmp_path: Path) -> Pull:
    repo = GitRepo(tmp_path / "shop")
    repo.commit(message="base")
    repo.commit(
        {"pay.py": "def pay(order):\n    if order is 3:\n        return None\n    return order\n"}, branch="feature"
    )
    github.add_repository("acme/shop", repo.folder)
    github.install(1, "acme/shop")
    return github.open_pull("acme/shop", "main", "feature")


@pytest.mark.slow
def test_a_delivery_becomes_a_review_and_the_log_tells_of_it(
    github: AppGithub, pull: Pull, pem: str, tmp_path: Path
) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "REVIEWBOT_STATE_DIR": str(tmp_path / "state"),
        "REVIEWBOT_APP_ID": str(APP_ID),
        "REVIEWBOT_PRIVATE_KEY": pem,
        "REVIEWBOT_WEBHOOK_SECRET": CANARY,
        "REVIEWBOT_BOT_ID": str(github.own.account_id),
        "REVIEWBOT_ENGINE": "analyzers",
        "GITHUB_API_URL": github.url,
    }
    inbox = open_inbox(str(tmp_path / "state" / "inbox.sqlite"))
    number = pull.repository.repository_id
    trigger = Trigger("head", 1, number, "acme/shop", pull.number, pull.head_sha, "opened", "guid")
    inbox.put(Delivery("guid", "pull_request", "0" * 64, trigger))
    process = subprocess.Popen(
        [sys.executable, "-m", "reviewbot", "worker"], env=environ, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    limit = time.monotonic() + LIMIT_S
    while not pull.reviews:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < limit
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=LIMIT_S)
    lines = [json.loads(line) for line in err.decode().splitlines()]
    inbox.close()

    assert (process.returncode, out, len(pull.reviews)) == (0, b"", 1)
    assert any(line["run"] and pull.head_sha in line["run"] for line in lines)
    assert CANARY not in err.decode()
    assert "PRIVATE KEY" not in err.decode()


def test_without_an_app_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("REVIEWBOT_APP_ID", "REVIEWBOT_PRIVATE_KEY", "REVIEWBOT_WEBHOOK_SECRET", "REVIEWBOT_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REVIEWBOT_STATE_DIR", str(tmp_path))

    assert main(["worker"]) == 2
    assert "there is no App yet" in capsys.readouterr().err


def credentials(pem: str, *secrets: bytes) -> Credentials:
    return Credentials(APP_ID, "reviewbot", (pem,), secrets)


def test_markers_of_before_a_secret_was_exchanged_are_known_after_it(pem: str) -> None:
    marker = ReviewMarker(1, 2, "a" * 40, "b" * 32)
    old, new = b"o" * 32, b"n" * 32
    before = signer_of(credentials(pem, old), {}).review(marker)

    assert signer_of(credentials(pem, new, old), {}).read_review(before, 1, 2) == marker
    assert signer_of(credentials(pem, new), {}).read_review(before, 1, 2) is None


def test_a_key_of_the_operators_own_comes_first(pem: str) -> None:
    marker = ReviewMarker(1, 2, "a" * 40, "b" * 32)
    environ = {"REVIEWBOT_MARKER_KEY": "k" * 32}
    signed = signer_of(credentials(pem, b"s" * 32), environ)

    assert signed.review(marker) != signer_of(credentials(pem, b"s" * 32), {}).review(marker)
    with pytest.raises(ConfigError, match="REVIEWBOT_MARKER_KEY"):
        signer_of(credentials(pem, b"s" * 32), {"REVIEWBOT_MARKER_KEY": "short"})
