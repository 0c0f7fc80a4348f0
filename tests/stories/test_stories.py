"""Whole reviews with the scripted engine, each told as a story: what went wrong, and what the reader sees."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.diff.parse import parse_diff
from reviewbot.domain.contracts import CardBudget, Finding, WorkerCard

Tell = Callable[..., Any]

SHELL = {
    "severity": "critical",
    "quote": 'os.system("bill " + order.name)',
    "message": "the name of an order reaches a shell",
    "confidence": 95,
    "category": "injection",
    "source": "ruff",
}
NOTHING: dict[str, Any] = {"findings": []}


def says(**fields: Any) -> dict[str, Any]:
    """A reply with one finding: `SHELL`, but for what is named."""
    return {"findings": [{**SHELL, **fields}]}


def test_nothing_is_wrong_and_every_file_was_read(story: Tell, orders: bytes, cart: bytes) -> None:
    told = story(diff=orders + cart, notes=("a note",)).told()

    assert told.verdict == "clean"
    assert told.headline == "No issues found; 2 of 2 files reviewed"
    assert [(entry.path, entry.state, entry.models) for entry in told.coverage] == [
        ("src/orders.py", "reviewed", ("scripted",)),
        ("src/cart.py", "reviewed", ("scripted",)),
    ]
    assert told.notes == ("a note",)


def test_a_finding_stands_at_the_line_that_it_quotes(story: Tell) -> None:
    told = story(script=[{"replies": [says()]}]).told()

    [finding] = told.findings
    assert (finding.path, finding.line, finding.evidence) == (
        "src/orders.py",
        43,
        '        os.system("bill " + order.name)',
    )
    assert told.verdict == "issues"


def test_a_worker_that_is_not_sure_climbs_a_tier_and_answers(story: Tell, a_card: Callable[..., WorkerCard]) -> None:
    unsure = {"escalate": {"reason": "confidence_too_low", "message": "could be meant so"}}
    telling = story(
        a_card("logic", tiers=("medium", "large")),
        script=[{"replies": [unsure, {**says(), "usage": {"cost_usd": 0.5}}]}],
    )

    told = telling.told()

    assert telling.steps() == ["climb", "done"]
    assert [finding.message for finding in told.findings] == [SHELL["message"]]
    assert told.usage.cost_usd == 0.5
    outcomes = [event["outcome"] for event in telling.events if event["event"] == "result"]
    assert outcomes[-1]["metadata"]["model_used"] == "large"


def test_a_worker_that_is_never_sure_asks_a_person_and_its_file_is_not_called_clean(
    story: Tell, a_card: Callable[..., WorkerCard]
) -> None:
    unsure = {"escalate": {"reason": "confidence_too_low", "message": "could be meant so"}}

    told = story(a_card("logic", tiers=("medium", "large")), script=[{"replies": [unsure]}]).told()

    assert told.verdict == "needs_person"
    assert [item.reason for item in told.human] == [
        "logic could not settle this (confidence too low): could be meant so"
    ]
    assert [entry.state for entry in told.coverage] == ["not_reviewed"]


def test_a_garbled_answer_is_retried_with_a_refined_task(story: Tell) -> None:
    telling = story(script=[{"replies": [{"fail": "bad_answer", "message": "no JSON in it"}, says()]}])

    told = telling.told()

    assert telling.steps() == ["retry", "done"]
    assert telling.asked() == [("logic:src/orders.py#1", 1), ("logic:src/orders.py#1", 2)]
    assert "no JSON in it" in [event.get("reason") for event in telling.events]
    assert len(told.findings) == 1
    assert told.gaps == ()


def test_an_engine_that_is_busy_is_asked_again(story: Tell) -> None:
    telling = story(script=[{"replies": [{"fail": "transient"}, {"fail": "transient"}, says()]}])

    assert len(telling.told().findings) == 1
    assert telling.steps() == ["retry", "retry", "done"]


def test_two_workers_find_the_same_and_the_reader_sees_it_once(story: Tell, a_card: Callable[..., WorkerCard]) -> None:
    telling = story(
        a_card("logic"),
        a_card("security"),
        script=[
            {"worker": "logic", "replies": [says(source="model:x", confidence=70, severity="warning")]},
            {"worker": "security", "replies": [says(confidence=85)]},
        ],
    )

    [finding] = telling.told().findings

    assert (finding.sources, finding.confidence, finding.severity) == (("model:x", "ruff"), 95, "critical")


def test_two_workers_contradict_each_other_and_both_are_shown(story: Tell, a_card: Callable[..., WorkerCard]) -> None:
    telling = story(
        a_card("logic"),
        a_card("security"),
        script=[
            {"worker": "logic", "replies": [says(severity="info", suggestion="leave it")]},
            {"worker": "security", "replies": [says(suggestion="use a list of arguments")]},
        ],
    )

    told = telling.told()

    [conflict] = told.conflicts
    assert [finding.type for finding in conflict.findings] == ["logic", "security"]
    assert told.findings == ()
    assert told.headline.startswith("1 issue found")


@pytest.mark.parametrize("fail", ["bad_answer", "crash", "transient"])
def test_a_worker_that_fails_three_times_leaves_a_named_gap_and_the_review_goes_on(
    fail: str, story: Tell, a_card: Callable[..., WorkerCard], orders: bytes, cart: bytes
) -> None:
    telling = story(
        a_card("logic"),
        a_card("security"),
        script=[
            {"worker": "logic", "path": "*/orders.py", "replies": [{"fail": fail, "message": "as usual"}]},
            {"worker": "security", "path": "*/orders.py", "replies": [says()]},
        ],
        diff=orders + cart,
    )

    told = telling.told()

    [gap] = told.gaps
    assert (gap.path, gap.worker, gap.reason) == ("src/orders.py", "logic", "breaker")
    assert gap.message.startswith("given up after 3 failures: ")
    assert [finding.type for finding in told.findings] == ["security"]
    assert [(entry.path, entry.state) for entry in told.coverage] == [
        ("src/orders.py", "partial"),
        ("src/cart.py", "reviewed"),
    ]


def test_every_worker_fails_and_the_review_does_not_say_that_all_is_well(story: Tell) -> None:
    told = story(script=[{"replies": [{"fail": "crash"}]}]).told()

    assert told.verdict == "not_reviewed"
    assert told.headline == "No review: 0 of 1 file reviewed (1 not reviewed)"
    assert [gap.message for gap in told.gaps] == ["given up after 3 failures: RuntimeError in engine scripted"]


def test_a_worker_waits_for_another_one_and_gets_its_result(story: Tell, a_card: Callable[..., WorkerCard]) -> None:
    telling = story(
        a_card("judge", depends_on=("logic",)),
        a_card("logic"),
        script=[
            {"worker": "judge", "replies": [{**says(), "requires": ["logic:src/orders.py#1"]}]},
            {"worker": "logic", "replies": [NOTHING]},
        ],
    )

    told = telling.told()

    assert [task_id for task_id, _ in telling.asked()] == ["logic:src/orders.py#1", "judge:src/orders.py#1"]
    assert [finding.type for finding in told.findings] == ["judge"]


@pytest.mark.parametrize(
    ("needs", "gaps"),
    [
        (True, [("logic", "breaker"), ("judge", "dependency")]),
        (False, [("logic", "breaker")]),
    ],
)
def test_the_worker_that_another_one_waits_for_fails(
    *, needs: bool, gaps: list[tuple[str, str]], story: Tell, a_card: Callable[..., WorkerCard]
) -> None:
    told = story(
        a_card("judge", depends_on=("logic",), needs_dependencies=needs),
        a_card("logic"),
        script=[{"worker": "logic", "replies": [{"fail": "crash"}]}, {"worker": "judge", "replies": [says()]}],
    ).told()

    assert [(gap.worker, gap.reason) for gap in told.gaps] == gaps
    assert len(told.findings) == (0 if needs else 1)


def test_what_is_out_of_scope_goes_to_the_worker_whose_job_it_is(
    story: Tell, a_card: Callable[..., WorkerCard]
) -> None:
    not_mine = {"escalate": {"reason": "out_of_scope", "message": "a shell", "better_worker": "security"}}
    telling = story(
        a_card("logic"),
        a_card("security", applies_to=("*.sh",)),
        script=[{"worker": "logic", "replies": [not_mine]}, {"worker": "security", "replies": [says()]}],
    )

    told = telling.told()

    assert telling.asked() == [("logic:src/orders.py#1", 1), ("logic:src/orders.py#1>security", 2)]
    assert [finding.type for finding in told.findings] == ["security"]
    assert told.gaps == ()


def test_a_job_for_nobody_here_goes_to_a_person(story: Tell) -> None:
    not_mine = {"escalate": {"reason": "out_of_scope", "message": "a licence", "better_worker": "lawyer"}}

    told = story(script=[{"replies": [not_mine]}]).told()

    assert told.verdict == "needs_person"
    assert [item.reason for item in told.human] == [
        "logic says that this is a job for 'lawyer', and there is no such worker: a licence"
    ]


def test_a_hang_is_cut_off_and_the_chunk_is_split(story: Tell, a_card: Callable[..., WorkerCard]) -> None:
    telling = story(a_card("logic", budget=CardBudget(timeout_ms=100)), script=[{"replies": [{"hang": True}, says()]}])

    told = telling.told()

    assert telling.steps() == ["split", "done", "done"]
    assert [task_id for task_id, _ in telling.asked()] == [
        "logic:src/orders.py#1",
        "logic:src/orders.py#1.1",
        "logic:src/orders.py#1.2",
    ]
    assert [finding.line for finding in told.findings] == [43], "only the second half holds the quoted line"
    assert told.verdict == "issues"
    assert told.gaps == ()


def test_an_engine_that_hangs_for_ever_ends_at_the_deadline_of_the_review(
    story: Tell, a_card: Callable[..., WorkerCard]
) -> None:
    told = story(
        a_card("logic"),
        a_card("security"),
        script=[{"worker": "logic", "replies": [{"hang": True}]}, {"worker": "security", "replies": [says()]}],
        deadline_s=0.3,
    ).told()

    assert [(gap.worker, gap.reason) for gap in told.gaps] == [("logic", "deadline")]
    assert [finding.type for finding in told.findings] == ["security"]


def test_an_unverified_model_finding_stays_below_the_threshold_and_a_critical_one_reaches_a_person(
    story: Tell,
) -> None:
    shell = {**SHELL, "source": "model:medium", "confidence": 99}
    loop = {**shell, "severity": "warning", "quote": "for order in orders:", "category": "cost", "message": "slow"}

    told = story(script=[{"replies": [{"findings": [shell, loop]}]}]).told()

    assert told.findings == ()
    assert [(entry.finding.line, entry.finding.confidence, entry.reason) for entry in told.withheld] == [
        (42, 70, "below_threshold")
    ]
    assert [(item.line, item.reason) for item in told.human] == [
        (43, "critical if true, and below the threshold: confidence 70 is below 80")
    ]
    assert told.verdict == "needs_person"


def test_what_a_worker_found_before_it_gave_up_is_worth_no_more_than_other_model_findings(
    story: Tell, a_finding: Callable[..., Finding], orders: bytes
) -> None:
    reply = {
        **says(severity="critical", confidence=99),
        "escalate": {"reason": "out_of_scope", "message": "enough"},
        "origin": "model",
    }

    told = story(script=[{"replies": [reply]}]).told()

    assert [item.finding and item.finding.confidence for item in told.human] == [70, None]
    assert told.findings == ()


def test_a_quote_that_is_not_in_the_change_is_never_shown(story: Tell) -> None:
    telling = story(script=[{"replies": [says(quote="os.system(order.address)")]}])

    told = telling.told()

    assert (told.findings, told.withheld, told.human) == ((), (), ())
    [result] = [event["outcome"] for event in telling.events if event["event"] == "result"]
    assert result["dropped"][0]["reason"].startswith("the quoted code is not in this part of the change")


def test_files_that_nobody_reads_are_named_and_cost_nothing(story: Tell, orders: bytes, cart: bytes) -> None:
    lock = cart.replace(b"src/cart.py", b"poetry.lock")
    link = b"""\
diff --git a/current b/current
new file mode 120000
index 0000000..4444444
--- /dev/null
+++ b/current
@@ -0,0 +1 @@
+../../etc/passwd
\\ No newline at end of file
"""
    telling = story(diff=orders + lock + link)

    told = telling.told()

    assert [(entry.path, entry.state) for entry in told.coverage] == [
        ("src/orders.py", "reviewed"),
        ("poetry.lock", "not_reviewed"),
        ("current", "not_reviewed"),
    ]
    assert {task_id for task_id, _ in telling.asked()} == {"logic:src/orders.py#1"}
    assert [item.path for item in told.human] == ["current"]


def test_one_spoiled_file_is_a_gap_and_the_others_are_reviewed(story: Tell, orders: bytes, cart: bytes) -> None:
    spoiled = cart.replace(b"+1,2 @@", b"+1,9 @@")

    told = story(diff=spoiled + orders, script=[{"replies": [says()]}]).told()

    assert [(entry.path, entry.state) for entry in told.coverage] == [
        ("src/cart.py", "not_reviewed"),
        ("src/orders.py", "reviewed"),
    ]
    assert [(gap.path, gap.worker, gap.reason) for gap in told.gaps] == [("src/cart.py", "reader", "unreadable")]
    assert len(told.findings) == 1


def test_a_plan_can_be_seen_before_anything_runs(story: Tell, orders: bytes, cart: bytes) -> None:
    telling = story(diff=orders + cart)
    change = parse_diff(telling.diff)

    plan = asyncio.run(telling.setup(change).planner.plan(change))

    assert [task.task_id for task in plan.tasks] == ["logic:src/cart.py#1", "logic:src/orders.py#1"]
    assert telling.events == []


def test_the_trace_tells_the_whole_story_and_does_not_repeat_the_code(story: Tell) -> None:
    telling = story(script=[{"replies": [says()]}])
    told = telling.told()

    kinds = [event["event"] for event in telling.events]

    assert kinds == ["plan_made", "task_started", "result", "step", "task_finished", "review"]
    assert json.loads(json.dumps(telling.events)) == telling.events
    plan, written = telling.events[0], telling.events[-1]
    assert plan["total"] == 1
    assert "code" not in plan["plan"]["tasks"][0]["payload"]
    assert written["headline"] == told.headline
