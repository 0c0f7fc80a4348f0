from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from reviewbot.app.store.durable.journal import DurableJournal
from reviewbot.app.store.durable.runs import Heads
from reviewbot.domain.errors import ConfigError
from tests.app.conftest import A, B, C, order

if TYPE_CHECKING:
    from tests.app.conftest import Stage
    from tests.still_clock import Moment


def test_an_order_becomes_a_run_in_the_lane_of_its_installation(stage: Stage) -> None:
    run = stage.submit(order())

    assert run == f"review:5:7:{A}:p"
    assert stage.shelf.waiting[run] == ("review", "1", order().as_json())
    assert stage.state(run) == "waiting"


def test_one_head_has_one_run_however_often_it_is_told(stage: Stage) -> None:
    assert stage.submit(order(cause="opened", as_of=1)) == stage.submit(order(cause="synchronize", as_of=2))
    assert len(stage.shelf.waiting) == 1


def test_a_new_head_supersedes_the_run_on_the_old_one(stage: Stage) -> None:
    old, new = stage.submit(order(A)), stage.submit(order(B))

    assert (stage.shelf.cancelled, stage.state(old), stage.state(new)) == ([old], "superseded", "waiting")


def test_a_thousand_pushes_leave_one_open_run(stage: Stage) -> None:
    for number in range(200):
        stage.submit(order(f"{number:040x}", as_of=number + 1))

    counts = stage.runs.counts()
    assert (counts["waiting"] + counts["running"], counts["superseded"]) == (1, 199)


def test_pull_requests_do_not_supersede_each_other(stage: Stage) -> None:
    runs = [stage.submit(order(number=7)), stage.submit(order(number=8)), stage.submit(order(repository_id=6))]

    assert [stage.state(run) for run in runs] == ["waiting"] * 3


def test_a_delivery_that_comes_late_takes_nobodys_place(stage: Stage) -> None:
    new = stage.submit(order(B, as_of=2))

    assert stage.submit(order(A, as_of=1)) == new
    assert (stage.state(new), list(stage.shelf.waiting)) == ("waiting", [new])


def test_a_head_that_comes_back_goes_on_where_it_had_not_begun(stage: Stage) -> None:
    first = stage.submit(order(A))
    stage.submit(order(B))

    assert (stage.submit(order(A)), stage.state(first)) == (first, "waiting")


def test_a_head_that_comes_back_is_begun_anew_where_its_run_was_stopped(stage: Stage) -> None:
    """What that one has recorded of its end would be its end again."""
    first = stage.submit(order(A))
    stage.runs.begin(first, "me", "worker")
    stage.submit(order(B))
    second = stage.submit(order(A))

    assert (second, stage.submit(order(A))) == (f"{first}:r1", second)
    assert (stage.state(first), stage.state(second), second in stage.shelf.waiting) == ("superseded", "waiting", True)


def test_every_run_of_one_head_has_a_name_of_its_own(stage: Stage) -> None:
    """Also where older ones have been forgotten meanwhile."""
    names = []
    for _ in range(4):
        names.append(stage.submit(order(A)))
        stage.runs.end(names[-1], "refused", "a label")
    stage.runs.forget(names[0])
    names.append(stage.submit(order(A)))

    assert len(set(names)) == 5
    assert stage.state(names[-1]) == "waiting"


def test_what_a_stopped_run_may_have_left_on_its_head_is_ended_before_the_next_one_begins(stage: Stage) -> None:
    idle = stage.submit(order(A))
    begun = stage.submit(order(B))
    stage.runs.begin(begun, "me", "worker")
    new = stage.submit(order(C))

    assert list(stage.shelf.waiting) == [idle, begun, f"close:{begun}", new]
    assert stage.closings() == [f"close:{begun}"]
    stage.close(f"close:{begun}")
    assert stage.play.closed == [(B, f"superseded by {C}, a newer head of the pull request")]


def test_so_is_what_is_left_where_the_pull_request_was_closed(stage: Stage) -> None:
    run = stage.submit(order(A))
    stage.runs.begin(run, "me", "worker")
    stage.scheduler.cancel(order())
    stage.close(f"close:{run}")

    assert stage.play.closed == [(A, "the pull request was closed")]


@pytest.mark.parametrize("number", [7, 8])
def test_nothing_is_ended_on_a_head_that_somebody_is_at(stage: Stage, number: int) -> None:
    """It came back, or is the head of another pull request as well."""
    run = stage.submit(order(A))
    stage.runs.begin(run, "me", "worker")
    stage.submit(order(B))
    stage.submit(order(A, number=number))
    stage.close(f"close:{run}")

    assert stage.play.closed == []


def test_of_an_app_that_was_removed_nothing_can_be_ended(stage: Stage) -> None:
    stage.runs.begin(stage.submit(order(A)), "me", "worker")
    stage.scheduler.delete_installation(1)

    assert stage.closings() == []


def test_who_died_right_after_the_claim_is_made_good_by_the_next_try(stage: Stage) -> None:
    stage.shelf.trouble = ConfigError("the queue cannot be used")
    with pytest.raises(ConfigError):
        stage.submit(order())
    stage.shelf.trouble = None
    run = stage.submit(order())

    assert run in stage.shelf.waiting


def test_who_died_before_the_cancel_is_made_good_by_the_next_try(stage: Stage) -> None:
    old = stage.submit(order(A))
    Heads(stage.database).claim((5, 7), B, order(B).run_id("p"))
    new = stage.submit(order(B))

    assert (stage.state(old), stage.state(new), new in stage.shelf.waiting) == ("superseded", "waiting", True)


def test_whoever_asks_again_gets_another_run_of_the_same_head(stage: Stage) -> None:
    first = stage.submit(order())
    stage.runs.end(first, "posted")
    again = order(again="d12")

    assert stage.submit(again) == stage.submit(again) == f"{first}:d12"
    assert stage.submit(order()) == f"{first}:d12"


def test_whoever_asks_again_while_one_is_under_way_gets_that_one(stage: Stage) -> None:
    first = stage.submit(order())

    assert stage.submit(order(again="d12")) == first
    assert len(stage.shelf.waiting) == 1


def test_a_refusal_is_in_nobodys_way(stage: Stage) -> None:
    refused = stage.submit(order(refusal="it is a draft", as_of=1))
    ready = stage.submit(order(as_of=2))

    assert (refused, ready) == (f"review:5:7:{A}:p:refused", f"review:5:7:{A}:p")
    assert (stage.state(refused), stage.state(ready)) == ("superseded", "waiting")


def test_a_refusal_after_a_review_changes_nothing(stage: Stage) -> None:
    run = stage.submit(order())
    stage.runs.end(run, "posted")

    assert stage.submit(order(refusal="it is a draft now")) == run
    assert list(stage.shelf.waiting) == [run]


def test_what_the_repository_refused_is_looked_at_again_when_it_is_told_again(stage: Stage) -> None:
    first = stage.submit(order())
    stage.runs.end(first, "refused", "a label says not to")
    second = stage.submit(order())

    assert second == stage.submit(order()) == f"{first}:r1"
    assert stage.state(second) == "waiting"


def test_an_order_without_a_head_becomes_a_question_that_is_asked_once(stage: Stage) -> None:
    command = order(head="", again="d3", trigger={"kind": "command", "comment_id": 9})
    name = stage.submit(command)

    assert name == stage.submit(command)
    assert stage.shelf.waiting[name][0] == "ask"
    assert stage.submit(replace(command, again="d4")) != name
    assert stage.submit(order(number=0, again="d5")).startswith("ask:5:0:")


def test_a_closed_pull_request_wants_no_review_until_it_is_opened_again(stage: Stage) -> None:
    run = stage.submit(order())
    stage.scheduler.cancel(order())

    assert (stage.state(run), stage.shelf.cancelled) == ("superseded", [run])
    assert [kind for kind, _, _ in stage.shelf.waiting.values()] == ["review", "ask"]
    assert (stage.submit(order()), stage.state(run)) == (run, "waiting")


def test_an_end_that_comes_late_ends_nothing(stage: Stage) -> None:
    """It was claimed by a worker that died, and comes again after the pull request was opened once more."""
    run = stage.submit(order(as_of=5))
    stage.scheduler.cancel(order(as_of=4))
    stage.scheduler.cancel(order(number=8, as_of=4))

    assert stage.state(run) == "waiting"


def test_what_was_said_before_the_end_takes_nobodys_place_after_it(stage: Stage) -> None:
    """A worker died over the push, and whoever takes it up comes after the closing."""
    stage.submit(order(A, as_of=1))
    stage.scheduler.cancel(order(as_of=3))
    stage.submit(order(B, as_of=2))

    assert Heads(stage.database).wanted_run((5, 7)) is None
    assert stage.submit(order(A, as_of=4)) == order(A).run_id("p")


def test_an_installation_that_ended_is_forgotten(stage: Stage) -> None:
    run, other = stage.submit(order()), stage.submit(order(installation=2, number=8))
    DurableJournal(stage.database, 1, 5).put("key", "x")
    stage.scheduler.delete_installation(1)

    assert (stage.shelf.cancelled, stage.state(run), stage.state(other)) == ([run], "none", "waiting")
    assert DurableJournal(stage.database, 1, 5).get("key") is None


def test_what_the_steps_of_ended_runs_gave_is_forgotten_with_their_installation(stage: Stage) -> None:
    ended = stage.submit(order())
    other = stage.submit(order(installation=2, number=8))
    for run in (ended, other):
        stage.runs.end(run, "posted")
    stage.submit(order(number=9))
    stage.scheduler.delete_installation(1)

    assert stage.shelf.forgotten == [ended]
    assert (stage.state(ended), stage.state(other)) == ("none", "posted")


def test_three_heads_in_the_wrong_order_end_with_the_last_one(stage: Stage, moment: Moment) -> None:
    for head, said in ((B, 2), (A, 1), (C, 3)):
        moment.now += 1
        stage.submit(order(head, as_of=said))

    assert [each.head for each in stage.runs.latest(9) if each.state == "waiting"] == [C]
