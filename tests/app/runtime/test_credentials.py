from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.app.runtime.credentials import (
    FILE_NAME,
    LOOK_S,
    Credentials,
    WatchedCredentials,
    as_variables,
    credentials_from,
    read_credentials,
    store_credentials,
)
from reviewbot.app.runtime.logs import LineFormatter
from reviewbot.domain.errors import ConfigError
from tests.webhooks import CREDENTIALS, KEY, SECRET

OTHER_KEY = KEY.replace("b", "c")
ENVIRON = {"REVIEWBOT_APP_ID": "77", "REVIEWBOT_PRIVATE_KEY": KEY, "REVIEWBOT_WEBHOOK_SECRET": SECRET}


class Moment:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_without_any_there_are_none(tmp_path: Path) -> None:
    assert credentials_from({}, tmp_path) is None


def test_they_come_from_the_environment(tmp_path: Path) -> None:
    found = credentials_from({**ENVIRON, "REVIEWBOT_APP_SLUG": "my-bot", "REVIEWBOT_BOT_ID": "9"}, tmp_path)

    assert found == Credentials(77, "my-bot", (KEY,), (SECRET.encode(),), 9)


def test_a_key_may_be_written_in_one_line_and_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET + "\n")
    (tmp_path / "key").write_text(OTHER_KEY.replace("\n", "\r\n"))
    environ = {
        "REVIEWBOT_APP_ID": "77",
        "REVIEWBOT_PRIVATE_KEY": KEY.strip().replace("\n", "\\n"),
        "REVIEWBOT_PRIVATE_KEY_2_FILE": str(tmp_path / "key"),
        "REVIEWBOT_WEBHOOK_SECRET_FILE": str(tmp_path / "secret"),
        "REVIEWBOT_WEBHOOK_SECRET_2": "the-new-secret-of-ours",
    }

    found = credentials_from(environ, tmp_path)

    assert found is not None
    assert found.private_keys == (KEY, OTHER_KEY)
    assert found.webhook_secrets == (SECRET.encode(), b"the-new-secret-of-ours")
    assert found.slug == "reviewbot"


@pytest.mark.parametrize("missing", sorted(ENVIRON))
def test_half_of_an_app_is_none(missing: str, tmp_path: Path) -> None:
    store_credentials(tmp_path / FILE_NAME, CREDENTIALS)

    with pytest.raises(ConfigError, match="incomplete"):
        credentials_from({**ENVIRON, missing: ""}, tmp_path)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"REVIEWBOT_WEBHOOK_SECRET": "fifteen-letters"}, "at least 16 bytes"),
        ({"REVIEWBOT_PRIVATE_KEY": "not a key"}, "PEM"),
        ({"REVIEWBOT_PRIVATE_KEY": KEY + KEY}, "PEM"),
        ({"REVIEWBOT_APP_ID": "Iv1.abc"}, "a number"),
        ({"REVIEWBOT_APP_ID": "0"}, "a number"),
        ({"REVIEWBOT_APP_ID": "9" * 30}, "a number"),
        ({"REVIEWBOT_APP_ID": "٣"}, "a number"),
        ({"REVIEWBOT_APP_SLUG": "My Bot"}, "slug"),
        ({"REVIEWBOT_BOT_ID": "x"}, "REVIEWBOT_BOT_ID"),
        ({"REVIEWBOT_BOT_ID": f"{'0' * 19}1{'9' * 30}"}, "REVIEWBOT_BOT_ID"),
        ({"REVIEWBOT_BOT_ID": "9" * 5_000}, "REVIEWBOT_BOT_ID"),
        ({"REVIEWBOT_WEBHOOK_SECRET": "", "REVIEWBOT_WEBHOOK_SECRET_FILE": "/nowhere/secret"}, "cannot be read"),
    ],
)
def test_what_cannot_be_right_is_refused_without_being_quoted(
    changed: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        credentials_from({**ENVIRON, **changed}, tmp_path)

    assert not [value for value in (KEY, SECRET, "fifteen-letters", "not a key") if value in str(caught.value)]


def test_too_many_or_none_are_refused() -> None:
    for keys in ((), (KEY,) * 3):
        with pytest.raises(ConfigError):
            replace(CREDENTIALS, private_keys=keys)
    for secrets in ((), (SECRET.encode(),) * 3):
        with pytest.raises(ConfigError):
            replace(CREDENTIALS, webhook_secrets=secrets)
    with pytest.raises(ConfigError):
        replace(CREDENTIALS, app_id=0)


def test_nothing_that_shows_them_shows_a_secret() -> None:
    assert repr(CREDENTIALS) == str(CREDENTIALS) == "Credentials(app_id=77, slug='reviewbot')"
    assert set(CREDENTIALS.secrets()) == {KEY, SECRET}


def test_what_is_stored_is_read_again_and_is_ours_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / FILE_NAME
    store_credentials(path, CREDENTIALS)
    store_credentials(path, replace(CREDENTIALS, app_id=78))

    assert read_credentials(path) == replace(CREDENTIALS, app_id=78)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in path.parent.iterdir()] == [FILE_NAME]


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    store_credentials(tmp_path / FILE_NAME, CREDENTIALS)
    (tmp_path / FILE_NAME).chmod(0o640)

    with pytest.raises(ConfigError, match="chmod 600"):
        read_credentials(tmp_path / FILE_NAME)


@pytest.mark.parametrize("change", [{"version": 2}, {"webhook_secrets": ["short"]}, {"app_id": "77"}, {"more": 1}])
def test_a_file_that_was_changed_is_refused(change: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    store_credentials(path, CREDENTIALS)
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **change}))

    with pytest.raises(ConfigError) as caught:
        read_credentials(path)
    assert SECRET not in str(caught.value)


def test_what_cannot_be_read_or_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("")

    with pytest.raises(ConfigError, match="cannot be read"):
        read_credentials(tmp_path / "text" / "below")
    with pytest.raises(ConfigError, match="cannot be written"):
        store_credentials(tmp_path / "text" / "below", CREDENTIALS)
    with pytest.raises(ConfigError, match=r"cannot be (read|written)|chmod"):
        read_credentials(tmp_path / "folder")


def test_printed_they_are_what_the_environment_takes(tmp_path: Path) -> None:
    lines = as_variables(CREDENTIALS).splitlines()
    environ = {name: json.loads(value) for name, _, value in (line.partition("=") for line in lines)}

    assert credentials_from(environ, tmp_path) == replace(CREDENTIALS, bot_id=None)


def test_a_running_process_sees_them_come_and_change(tmp_path: Path) -> None:
    moment = Moment()
    watched = WatchedCredentials({}, tmp_path, moment)
    assert watched() is None
    store_credentials(tmp_path / FILE_NAME, CREDENTIALS)
    assert watched() == CREDENTIALS

    changed = replace(CREDENTIALS, webhook_secrets=(b"the-new-secret-of-ours", SECRET.encode()))
    store_credentials(tmp_path / FILE_NAME, changed)
    assert watched() == CREDENTIALS
    moment.now += LOOK_S
    assert watched() == changed
    assert {SECRET, KEY, "the-new-secret-of-ours"} == set(watched.secrets())


def test_a_file_that_is_being_written_turns_nothing_away(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    moment, path = Moment(), tmp_path / FILE_NAME
    store_credentials(path, CREDENTIALS)
    watched = WatchedCredentials({}, tmp_path, moment)
    formatter = LineFormatter(watched.secrets)
    caplog.handler.setFormatter(formatter)
    whole = path.read_bytes()
    path.write_bytes(whole[:40])
    for _ in range(3):
        moment.now += LOOK_S
        assert watched() == CREDENTIALS
    assert caplog.text.count("the credentials of before are used") == 1
    changed = replace(CREDENTIALS, slug="another")
    store_credentials(path, changed)
    moment.now += LOOK_S

    assert watched() == changed


def test_credentials_that_cannot_be_right_are_found_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="at least 16"):
        WatchedCredentials({**ENVIRON, "REVIEWBOT_WEBHOOK_SECRET": "short"}, tmp_path)
