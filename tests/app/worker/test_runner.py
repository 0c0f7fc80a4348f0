from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING

import pytest

from reviewbot.app.runtime.logs import LineFormatter
from reviewbot.app.store.durable.runs import Heads
from reviewbot.app.worker.runner import MAX_ATTEMPTS, MAX_TRIES, NO_LONGER, RetryTimings, Runner
from reviewbot.app.worker.work import (
    End,
    Json,
    Posted,
    ReviewRequest,
    RunContext,
    RunSteps,
    StoredReview,
    UnwantedError,
)
from reviewbot.domain.errors import (
    ConfigError,
    HostAccessError,
    HostError,
    HostInvalidError,
    HostLimitError,
    HostMissingError,
    HostMovedError,
    HostUnknownError,
)
from tests.app.conftest import A, B, KilledError, order, raising

if TYPE_CHECKING:
    from tests.app.conftest import Stage


def test_a_run_fetches_reviews_and_posts(stage: Stage) -> None:
    run = stage.submit(order())
    end = stage.carry_out(run)
    found = stage.runs.get(run)

    assert (end.state, stage.play.called) == ("posted", ["fetch", "review", "post"])
    assert found is not None
    assert (found.state, found.url, found.dollars, found.tokens) == ("posted", "https://host.test/42", 0.5, 100)
    assert stage.runs.trace(run) == "the trace"


@pytest.mark.parametrize("name", ["fetch", "review", "post"])
def test_a_run_that_was_killed_goes_on_behind_its_last_recorded_step(stage: Stage, name: str) -> None:
    run = stage.submit(order())
    stage.durable.dies_before = name
    with pytest.raises(KilledError):
        stage.carry_out(run)
    stage.durable.again()

    assert (stage.carry_out(run).state, stage.play.called) == ("posted", ["fetch", "review", "post"])


def test_a_run_that_was_killed_after_the_post_was_recorded_is_over(stage: Stage) -> None:
    run = stage.submit(order())
    stage.durable.dies_after = "post"
    with pytest.raises(KilledError):
        stage.carry_out(run)
    stage.durable.again()

    assert stage.carry_out(run).reason == NO_LONGER
    assert (stage.state(run), stage.play.called.count("post")) == ("posted", 1)


def test_what_kills_its_worker_each_time_is_parked_and_said(stage: Stage) -> None:
    run = stage.submit(order())
    for _ in range(1 + MAX_ATTEMPTS):  # the first one came as far as the review
        stage.durable.again().dies_before = "review"
        with pytest.raises(KilledError):
            stage.carry_out(run)
    stage.durable.again()

    assert stage.carry_out(run).state == stage.state(run) == "parked"
    assert [each.state for each in stage.play.concluded] == ["parked"]


def test_tries_of_a_step_are_counted_and_the_reason_stands_there_while_it_waits(stage: Stage) -> None:
    run = stage.submit(order())
    result: list[tuple[int, str]] = []

    def unreachable(mine: RunContext) -> Json:
        found = stage.runs.get(mine.run_id)
        assert found is not None
        result.append((found.attempts, found.reason))
        if len(result) < 3:
            raise HostError("the host could not be reached")
        return {}

    stage.play.on_fetch = unreachable
    assert stage.carry_out(run).state == "posted"
    found = stage.runs.get(run)

    assert result == [(1, ""), (2, "the host could not be reached"), (3, "the host could not be reached")]
    assert found is not None
    assert (found.attempts, found.reason) == (3, "")


def test_a_run_that_never_reached_the_host_shows_all_of_its_tries(stage: Stage) -> None:
    run = stage.submit(order())
    stage.play.on_fetch = raising(HostError("the host could not be reached"))
    stage.carry_out(run)
    found = stage.runs.get(run)

    assert found is not None
    assert (found.state, found.attempts, found.reason) == ("failed", MAX_TRIES, "the host could not be reached")


def test_tries_that_are_recorded_count_once_and_a_parked_run_counts_no_try_that_it_was_not_given(stage: Stage) -> None:
    run = stage.submit(order())
    stage.play.on_fetch = raising(HostError("away"), times=1)
    stage.durable.dies_before = "review"
    with pytest.raises(KilledError):
        stage.carry_out(run)
    found = stage.runs.get(run)
    assert found is not None
    assert found.attempts == 2
    for _ in range(MAX_ATTEMPTS):
        stage.durable.again().dies_before = "review"
        with pytest.raises(KilledError):
            stage.carry_out(run)
    stage.durable.again()

    assert stage.carry_out(run).state == "parked"
    found = stage.runs.get(run)
    assert found is not None
    assert found.attempts == 2 + MAX_ATTEMPTS


def test_a_run_that_comes_further_each_time_is_not_parked(stage: Stage) -> None:
    run, numbers = stage.submit(order()), iter(range(99))

    def further(mine: RunContext) -> StoredReview:
        mine.journal.put(f"answer-{next(numbers)}", "x")
        assert mine.journal.get("answer-0") == "x"
        raise KilledError

    stage.play.on_review = further
    for _ in range(MAX_ATTEMPTS + 3):
        stage.durable.again()
        with pytest.raises(KilledError):
            stage.carry_out(run)
    stage.durable.again()
    stage.play.on_review = lambda _: StoredReview({})

    assert stage.carry_out(run).state == "posted"


def test_a_stop_in_good_order_is_no_attempt(stage: Stage) -> None:
    run = stage.submit(order())
    for _ in range(MAX_ATTEMPTS + 3):
        stage.durable.again().dies_before = "review"
        with pytest.raises(KilledError):
            stage.carry_out(run)
        stage.runs.give_back("worker")
    stage.durable.again()

    assert stage.carry_out(run).state == "posted"


def test_what_may_pass_is_tried_again_later_and_later(stage: Stage) -> None:
    stage.play.on_fetch = raising(HostError("no answer"), times=3)

    assert stage.carry_out(stage.submit(order())).state == "posted"
    assert stage.durable.slept == [1.0, 2.0, 4.0]


def test_a_host_that_asks_us_to_wait_is_asked_again_after_that(stage: Stage) -> None:
    stage.play.on_fetch = raising(HostLimitError("slower", 7.0), times=1)
    stage.carry_out(stage.submit(order()))

    assert stage.durable.slept == [7.0]


def test_no_wait_is_longer_than_it_may_be(stage: Stage) -> None:
    stage.play.on_fetch = raising(HostLimitError("slower", 1e9), times=1)
    stage.carry_out(stage.submit(order()))

    assert stage.durable.slept == [10.0]


def test_what_never_passes_fails_after_some_tries(stage: Stage) -> None:
    run = stage.submit(order())
    stage.play.on_post = raising(HostUnknownError("no answer"))  # type: ignore[assignment] # it never returns
    end = stage.carry_out(run)

    assert (end.state, end.reason, stage.play.called.count("post")) == ("failed", "no answer", MAX_TRIES)
    assert (stage.state(run), stage.play.concluded) == ("failed", [end])


@pytest.mark.parametrize(
    "error",
    [HostAccessError("no"), HostMissingError("no"), HostInvalidError("no"), ConfigError("no")],
    ids=lambda error: type(error).__name__,
)
def test_what_no_later_try_changes_fails_at_once(stage: Stage, error: Exception) -> None:
    stage.play.on_fetch = raising(error)

    assert (stage.carry_out(stage.submit(order())).reason, stage.durable.slept) == ("no", [])


def test_a_fault_of_ours_ends_one_run_and_tells_nothing_of_the_code(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    run = stage.submit(order())
    stage.play.on_fetch = raising(ValueError("canary-code"))
    end = stage.carry_out(run)

    assert end.state == "failed"
    assert end.reason.startswith("internal fault (ValueError in act, line ")
    assert "canary-code" not in caplog.text + str(stage.runs.get(run))


def test_a_host_that_cannot_be_told_of_the_failure_costs_nothing_more(stage: Stage) -> None:
    run = stage.submit(order())
    stage.play.on_fetch = raising(HostMissingError("gone"))
    stage.play.concluded = None  # type: ignore[assignment] # whoever appends to it fails

    assert (stage.carry_out(run).state, stage.state(run)) == ("failed", "failed")


def test_a_refusal_ends_the_run_with_its_reason(stage: Stage) -> None:
    run = stage.submit(order())
    stage.play.on_review = lambda _: End("refused", "a label says not to")
    stage.carry_out(run)
    found = stage.runs.get(run)

    assert found is not None
    assert (found.state, found.reason, stage.play.concluded) == ("refused", "a label says not to", [])


@pytest.mark.parametrize("step", ["on_fetch", "on_review", "on_post"])
def test_a_head_that_moved_on_is_followed(stage: Stage, step: str) -> None:
    run = stage.submit(order(A))
    setattr(stage.play, step, lambda _: End("moved", head_sha=B))
    stage.carry_out(run)

    assert (stage.state(run), stage.state(order(B).run_id("p"))) == ("superseded", "waiting")


def test_an_error_that_says_that_the_head_moved_is_the_same(stage: Stage) -> None:
    run = stage.submit(order(A))
    stage.play.on_fetch = raising(HostMovedError("moved", B))

    assert stage.carry_out(run).state == "moved"
    assert stage.state(order(B).run_id("p")) == "waiting"


def test_a_host_that_lags_behind_is_asked_again(stage: Stage) -> None:
    stage.submit(order(A))
    run = stage.submit(order(B))
    heads = iter([A, A, B])

    def fetch(found: RunContext) -> Json | End:
        head = next(heads)
        return {} if head == found.request.head_sha else End("moved", head_sha=head)

    stage.play.on_fetch = fetch
    assert (stage.carry_out(run).state, stage.durable.slept) == ("posted", [1.0, 2.0])


def test_a_host_that_stays_with_an_earlier_head_is_believed_in_the_end(stage: Stage) -> None:
    first = stage.submit(order(A))
    run = stage.submit(order(B))
    stage.play.on_fetch = lambda _: End("moved", head_sha=A)

    assert stage.carry_out(run).state == "moved"
    assert (stage.state(run), stage.state(first)) == ("superseded", "waiting")


@pytest.mark.parametrize("before", ["fetch", "review", "post"])
def test_no_step_is_begun_of_what_was_superseded(stage: Stage, before: str) -> None:
    run = stage.submit(order(A))
    stage.durable.dies_before = before
    with pytest.raises(KilledError):
        stage.carry_out(run)
    Heads(stage.database).claim((5, 7), B, "another")
    done = list(stage.play.called)

    stage.durable.again()
    assert (stage.carry_out(run).state, stage.play.called) == ("superseded", done)


def test_a_write_that_is_refused_because_nobody_wants_it_ends_the_run_quietly(stage: Stage) -> None:
    run = stage.submit(order())
    stage.play.on_post = raising(UnwantedError())  # type: ignore[assignment] # it never returns

    assert (stage.carry_out(run).state, stage.durable.slept) == ("superseded", [])


def test_an_execution_that_was_replaced_may_not_write(stage: Stage) -> None:
    """As a worker that was frozen and goes on: another one has begun the run meanwhile."""
    run = stage.submit(order())

    def frozen(mine: RunContext) -> Posted | End:
        assert mine.wanted()
        stage.runs.begin(run, "another", "other-worker")
        assert not mine.wanted()
        raise UnwantedError

    stage.play.on_post = frozen
    stage.carry_out(run)

    assert (stage.state(run), stage.runs.owner(run)) == ("running", "another")


def test_a_review_under_way_is_stopped_when_it_is_superseded(stage: Stage) -> None:
    run = stage.submit(order(A))
    stopped = []

    async def review(_: RunContext, fetched: Json) -> StoredReview:
        stage.submit(order(B))
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.append(fetched)
            raise
        raise AssertionError

    play = stage.play.steps()
    steps = RunSteps("p", play.fetch, review, play.post)
    runner = Runner(stage.database, steps, stage.scheduler, "worker", RetryTimings(look_s=0.01))
    found = runner.review(run, order(A).as_json(), stage.durable)

    assert (found["end"]["state"], stopped, stage.play.called) == ("superseded", [{"code": A}], ["fetch"])


def test_the_trace_of_a_review_that_broke_off_is_kept(stage: Stage) -> None:
    run = stage.submit(order())

    def broken(mine: RunContext) -> StoredReview:
        mine.keep("so far")
        raise HostMissingError("gone")

    stage.play.on_review = broken
    stage.carry_out(run)

    assert stage.runs.trace(run) == "so far"


def test_a_step_sees_the_things_of_its_own_run(stage: Stage) -> None:
    run = stage.submit(order())

    def fetch(mine: RunContext) -> Json:
        mine.journal.put("key", "x")
        assert mine.intents.begin("key", mine.owner, 60)
        assert mine.rate("provider", None, None).take(1) == 0.0
        return {"run": mine.run_id}

    stage.play.on_fetch = fetch
    assert stage.carry_out(run).state == "posted"


def test_every_line_of_a_run_carries_its_id(stage: Stage) -> None:
    run, seen = stage.submit(order()), []

    def current_run() -> object:
        return json.loads(LineFormatter().format(logging.makeLogRecord({})))["run"]

    def review(_: RunContext) -> StoredReview:
        seen.append(current_run())
        return StoredReview({})

    stage.play.on_review = review
    stage.carry_out(run)

    assert (seen, current_run()) == ([run], None)


# --- questions ---


def test_an_answer_becomes_an_order(stage: Stage) -> None:
    stage.play.on_resolve = lambda result: order(B, again=result.again)
    stage.carry_out(stage.submit(order(head="", again="d3")))

    assert stage.state(f"review:5:7:{B}:p:d3") == "waiting"


def test_a_command_that_is_refused_orders_nothing(stage: Stage) -> None:
    assert stage.carry_out(stage.submit(order(head="", again="d3"))).state == "refused"
    assert len(stage.shelf.waiting) == 1


def test_a_question_is_asked_again_where_the_host_gave_no_answer(stage: Stage) -> None:
    answers = iter([HostError("no answer"), None])

    def resolve(result: ReviewRequest) -> ReviewRequest | None:
        if (error := next(answers)) is not None:
            raise error
        return result

    stage.play.on_resolve = lambda result: order(B) if resolve(result) else None
    assert (stage.carry_out(stage.submit(order(head=""))).state, stage.durable.slept) == ("posted", [1.0])
