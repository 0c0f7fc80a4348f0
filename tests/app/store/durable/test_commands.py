"""Commands as they are kept, on SQLite and on Postgres: pauses, dismissals and counts, by pull request and account."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewbot.app.store.durable.commands import CommandRecord, Commands
from reviewbot.app.store.durable.database import Database, open_database
from reviewbot.app.store.durable.journal import forget_old_rows

PULL, OTHER = (1, 7), (1, 8)
NAME = "d" * 32


class Aging(Commands):
    """Commands that a test makes older: a server has a clock of its own."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.database = database

    def age(self, seconds: float) -> None:
        self.database.run("UPDATE reviewbot_commands SET written = written - ?", seconds)


@pytest.fixture(params=["sqlite", "postgres"])
def commands(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Aging]:
    url = str(tmp_path / "app.sqlite")
    if request.param == "postgres":
        url = request.getfixturevalue("server")
    database = open_database(url)  # with the clock of the machine, or of the server
    database.run("DELETE FROM reviewbot_commands WHERE name <> ?", "")
    try:
        yield Aging(database)
    finally:
        database.close()


def said(name: str, verb: str, actor: str = "dev", pull: tuple[int, int] = PULL, **more: str) -> CommandRecord:
    return CommandRecord(name, 42, pull, verb, actor, **more)


def test_a_pull_request_is_paused_by_the_last_of_pause_and_resume(commands: Aging) -> None:
    assert commands.paused_by(PULL) == ""
    for name, verb, paused in (("1", "pause", "dev"), ("2", "help", "dev"), ("3", "resume", ""), ("4", "pause", "dev")):
        commands.age(1)
        commands.add(said(name, verb))
        assert commands.paused_by(PULL) == paused
    assert commands.paused_by(OTHER) == ""


def test_a_comment_gives_its_command_once(commands: Aging) -> None:
    commands.add(said("1", "pause"))
    commands.add(said("1", "resume", actor="another"))

    assert commands.paused_by(PULL) == "dev"
    assert commands.count(PULL, 3_600, "") == 1


def test_commands_are_counted_by_pull_request_account_and_time_besides_the_one_at_hand(commands: Aging) -> None:
    for number in range(5):
        commands.add(said(str(number), "help", actor=f"dev{number % 2}"))
    commands.add(said("elsewhere", "help", pull=OTHER))
    assert [commands.count(PULL, 3_600, ""), commands.count(PULL, 3_600, "0")] == [5, 4]
    assert [commands.count(PULL, 3_600, "0", "dev0"), commands.count(PULL, 3_600, "", "nobody")] == [2, 0]

    commands.age(3_601)
    assert commands.count(PULL, 3_600, "") == 0


@pytest.mark.parametrize("actor", ["'; DROP TABLE reviewbot_commands; --", "%", "", "\u202edev", "d" * 500])
@pytest.mark.parametrize("reason", ["x'); DELETE FROM reviewbot_commands; --", "\x00\ud800 half", "\u202e" * 300])
def test_hostile_words_are_kept_as_they_are(commands: Aging, actor: str, reason: str) -> None:
    commands.add(said("1", "dismiss", actor=actor, finding=NAME, reason=reason))
    commands.add(said("2", "dismiss", pull=OTHER, finding=NAME, reason="other"))

    assert commands.dismissals(PULL) == ((NAME, actor, reason),)
    assert commands.count(PULL, 3_600, "", actor) == 1


def test_dismissals_come_in_the_order_in_which_they_were_written(commands: Aging) -> None:
    for name in ("b", "a", "c"):
        commands.age(1)
        commands.add(said(name, "dismiss", finding=NAME, reason=name))

    assert [reason for _, _, reason in commands.dismissals(PULL)] == ["b", "a", "c"]


def test_old_commands_are_forgotten(commands: Aging) -> None:
    commands.add(said("1", "pause"))
    commands.age(100)
    commands.add(said("2", "pause", pull=OTHER))
    forget_old_rows(commands.database, 50)

    assert (commands.paused_by(PULL), commands.paused_by(OTHER)) == ("", "dev")
