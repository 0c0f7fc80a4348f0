"""What a run leaves behind when it ends, and what it never keeps."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest

from reviewbot.app.runtime.logs import LineFormatter
from reviewbot.app.store.durable.journal import DurableJournal
from reviewbot.app.worker.work import End, Json, ReviewRequest, RunContext, StoredReview, UnwantedError
from reviewbot.domain.errors import HostError, HostMissingError
from tests.app.conftest import A, B, Straight, order, raising

if TYPE_CHECKING:
    from tests.app.conftest import Stage


def test_what_was_begun_on_the_host_while_the_run_was_stopped_is_ended_too(stage: Stage) -> None:
    """Whoever superseded it has looked before; a worker that died instead has left that to the other one."""
    run = stage.submit(order(A))

    def fetch(mine: RunContext) -> Json:
        stage.submit(order(B))
        return {"check": "begun"}

    stage.play.on_fetch = fetch
    stage.carry_out(run)
    owner = stage.play.runs[0].owner

    assert stage.closings() == [f"close:{run}", f"close:{run}:{owner}"]


@pytest.mark.parametrize("state", ["posted", "failed", "refused"])
def test_a_run_that_came_to_its_own_end_leaves_nothing_to_end(stage: Stage, state: str) -> None:
    stage.play.on_review = lambda _: End(state, "so it is")  # type: ignore[arg-type] # one of them
    stage.carry_out(stage.submit(order()))

    assert stage.closings() == []


def test_an_end_that_the_host_does_not_take_is_tried_again(stage: Stage) -> None:
    run = stage.submit(order(A))
    stage.runs.begin(run, "me", "worker")
    stage.submit(order(B))
    answers = iter([HostError("no answer"), None])

    def close(_: ReviewRequest) -> None:
        if (error := next(answers)) is not None:
            raise error

    stage.play.on_close = close
    stage.close(f"close:{run}")

    assert [head for head, _ in stage.play.closed] == [A]


def test_a_head_that_comes_back_after_its_run_moved_on_is_reviewed(stage: Stage) -> None:
    """Each of the two runs has recorded that the head is the other one by now."""
    heads = iter([B, B, A])
    last = [""]

    def fetch(mine: RunContext) -> Json | End:
        last[0] = next(heads, last[0])
        return {} if mine.request.head_sha == last[0] else End("moved", head_sha=last[0])

    stage.play.on_fetch = fetch
    recorded: dict[str, Straight] = {}
    run = stage.submit(order(A))
    for _ in range(9):
        stage.durable = recorded.setdefault(run, Straight()).again()
        stage.carry_out(run)
        if stage.runs.counts()["waiting"] == 0:
            stage.submit(order(A))  # somebody pushes the first one again
        waiting = [each.run for each in stage.runs.latest(9) if each.state == "waiting"]
        if not waiting:
            break
        run = waiting[0]

    posted = [each.head for each in stage.runs.latest(9) if each.state == "posted"]
    assert sorted(posted) == [A, B]


def test_a_review_that_stands_already_is_the_end_of_its_run(stage: Stage) -> None:
    run = stage.submit(order())
    stage.play.on_review = lambda _: End("posted", "it stands", url="https://host.test/7")
    stage.carry_out(run)
    found = stage.runs.get(run)

    assert found is not None
    assert (found.state, found.url, stage.play.called) == ("posted", "https://host.test/7", ["fetch", "review"])


def test_the_log_says_why_a_run_failed_and_shows_no_secret(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    secret = "ghp_" + "aB3" * 12
    run = stage.submit(order())
    stage.play.on_fetch = raising(HostMissingError(f"GitHub does not show {secret}"))
    lines: list[object] = []
    caplog.set_level(logging.INFO, "reviewbot.app.worker")

    def seen(record: logging.LogRecord) -> bool:
        lines.append(json.loads(LineFormatter().format(record))["run"])
        return True

    caplog.handler.addFilter(seen)
    stage.carry_out(run)
    found = stage.runs.get(run)

    assert "HostMissingError: GitHub does not show ghp_****" in caplog.text
    assert "ended: failed (GitHub does not show ghp_****)" in caplog.text
    assert secret not in caplog.text + str(found) + str(stage.durable.recorded)
    assert lines[-1] == run


def test_what_a_run_keeps_after_its_installation_was_forgotten_goes_with_it(stage: Stage) -> None:
    run = stage.submit(order())

    def review(mine: RunContext) -> StoredReview:
        stage.scheduler.delete_installation(1)
        mine.journal.put("key", "x")
        mine.keep("so far")
        raise UnwantedError

    stage.play.on_review = review
    stage.carry_out(run)

    assert DurableJournal(stage.database, 1, 5).get("key") is None
    assert (stage.runs.trace(run), stage.state(run)) == (None, "none")
