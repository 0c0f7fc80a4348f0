from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewbot.app.store.durable.database import open_database
from reviewbot.app.store.durable.human_queue import HumanQueue, LeavingReview, Left
from reviewbot.domain.contracts import Finding, HumanItem
from tests.command_line import Run


@pytest.fixture
def queue(home: Path, monkeypatch: pytest.MonkeyPatch, a_finding: Callable[..., Finding], run: Run) -> HumanQueue:
    monkeypatch.setenv("REVIEWBOT_STATE_DIR", str(home / "state"))
    queue = HumanQueue(open_database(str(home / "state" / "app.sqlite")))
    finding = a_finding(severity="critical", title="A \x1b[31mname\u202e reaches\na shell", confidence=70)
    human = HumanItem(path=finding.path, line=1, reason="critical if true", finding=finding)
    queue.put(LeavingReview(1, 5, 7, "o/n", "a" * 40, "run"), [Left(("1" * 32,), human)])
    return queue


def test_what_waits_is_listed_on_one_line_each_that_no_terminal_obeys(queue: HumanQueue, run: Run) -> None:
    found = run("queue")

    assert found.code == 0
    assert len(found.out.splitlines()) == 2
    assert "o/n#7" in found.out
    assert not any(bad in found.out for bad in ("\x1b", "\u202e"))


def test_an_item_is_decided_by_the_start_of_its_name(queue: HumanQueue, run: Run) -> None:
    [item] = queue.list_items()
    found = run("queue", item.item[:8], "confirm", "reproduced", "--author", "jo")

    assert found.code == 0
    last = queue.list_items()[0].last
    assert (last.action, last.actor, last.channel, last.reason) == ("confirmed", "jo", "command line", "reproduced")
    assert run("queue").out.splitlines()[1:] == []
    [listed] = json.loads(run("queue", "--all", "--format", "json").out)
    assert (listed["status"], listed["last"]["actor"]) == ("confirmed", "jo")
    assert "confirmed already" in run("queue", item.item[:8], "dismiss", "no").err


@pytest.mark.parametrize(
    ("words", "message"),
    [(("0000",), "say what is decided"), (("xyz", "confirm", "true"), "no item of the queue begins with xyz")],
)
def test_what_cannot_be_decided_is_said(queue: HumanQueue, run: Run, words: tuple[str, ...], message: str) -> None:
    found = run("queue", *words)

    assert (found.code, message in found.err) == (2, True)


def test_without_an_app_the_message_names_the_database(home: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWBOT_STATE_DIR", str(home / "state"))

    assert "the App has not run here yet" in run("queue").err
