"""A review told again from its trace, to the byte: whatever happened on the way, without engine, model or change."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.delivery import DeliveredReview
from reviewbot.diff.parse import parse_diff
from reviewbot.domain.contracts import ChangeSet, Plan
from reviewbot.domain.ports import ModelRequest, TaskResult
from reviewbot.domain.ports import Text as SentText
from reviewbot.report.formats import ReportInput
from reviewbot.report.json_report import render_json
from reviewbot.report.sarif import log
from reviewbot.review.plan.planner import RoutedPlanner
from reviewbot.review.trace import read_trace
from reviewbot.sources.memory import MemoryJournal
from tests.messages_api import ruled

TOKEN = "ghp_c4nAryc4nAryc4nAryc4nAryc4nAryc4nAry"
SHELL = {
    "severity": "critical",
    "quote": 'os.system("bill " + order.name)',
    "message": "the name of an order reaches a shell",
    "confidence": 95,
    "category": "injection",
    "source": "ruff",
}
LEAK = {
    **SHELL,
    "quote": f'token = "{TOKEN}"',
    "message": f'the token = "{TOKEN}" is in the code',
    "category": "secret",
}
USED = {"calls": 2, "input_tokens": 1_000, "output_tokens": 10, "cost_usd": 0.1, "unpriced_calls": 1}


def says(**fields: Any) -> dict[str, Any]:
    return {"findings": [{**SHELL, **fields}]}


def escalates(reason: str, **fields: Any) -> dict[str, Any]:
    return {"escalate": {"reason": reason, "message": "two readings", **fields}}


Begin = Callable[..., Any]
Again = Callable[[str], DeliveredReview]


def kinds(text: str) -> set[str]:
    return {event["action"] for event in read_trace(text) if event["event"] == "step"}


SCRIPTS: Mapping[str, list[dict[str, Any]]] = {
    "nothing found": [],
    "found and named": [{"path": "*/cart.py", "replies": [{"findings": [LEAK]}]}, {"replies": [says()]}],
    "two tools together": [
        {"worker": "logic", "replies": [says(rule="S605", cwe=78)]},
        {"worker": "security", "replies": [says(source="taint", rule="shell", cwe=78)]},
    ],
    "in conflict": [
        {"worker": "logic", "replies": [says()]},
        {"worker": "security", "replies": [says(severity="info")]},
    ],
    "for a person": [{"replies": [{**says(confidence=60), "origin": "model"}]}],
    "over the cap": [
        {"replies": [{"findings": [{**SHELL, "message": f"{n} is wrong", "category": f"c{n}"} for n in range(9)]}]}
    ],
    "anchored nowhere": [{"replies": [says(quote="not there")]}],
    "paid for": [{"replies": [{**says(), "usage": USED}]}],
    "tried again": [{"worker": "logic", "replies": [{"fail": "bad_answer"}, says()]}],
    "busy once": [{"worker": "logic", "replies": [{"fail": "transient"}, says()]}],
    "busy for ever": [{"worker": "logic", "replies": [{"fail": "transient"}]}],
    "crashed for ever": [{"worker": "security", "replies": [{"fail": "crash"}]}],
    "climbing to the top": [{"worker": "logic", "replies": [escalates("confidence_too_low")]}],
    "climbing once": [{"worker": "logic", "replies": [{**escalates("confidence_too_low"), **says()}, says()]}],
    "moved": [{"worker": "logic", "replies": [escalates("out_of_scope", better_worker="style")]}],
    "moved nowhere": [{"worker": "logic", "replies": [escalates("out_of_scope", better_worker="janitor")]}],
    "not understood": [{"worker": "style", "replies": [escalates("ambiguous_input")]}],
    "split": [{"worker": "logic", "path": "*/orders.py", "replies": [escalates("timeout"), says()]}],
    "split for ever": [{"worker": "logic", "replies": [{**escalates("timeout"), **says()}]}],
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_replayed_review_is_the_same_to_the_byte(name: str, run: Begin, again: Again) -> None:
    shown, text = run(*SCRIPTS[name]).told()

    told = again(text)

    assert render_json(told.review) == render_json(shown.review)
    assert log.render(ReportInput(told.review, told.fingerprints)) == log.render(
        ReportInput(shown.review, shown.fingerprints)
    )
    assert told.review.timings.wall_ms == 137 * round(told.review.timings.wall_ms / 137) > 0


@pytest.mark.slow
def test_these_runs_take_every_decision_there_is(run: Begin) -> None:
    taken = {kind for script in SCRIPTS.values() for kind in kinds(run(*script).told()[1])}

    assert taken == {"done", "retry", "climb", "reassign", "split", "human", "give_up"}


def test_what_is_replayed_has_everything_that_a_review_can_have(run: Begin) -> None:
    shown = [run(*script).told()[0].review for script in SCRIPTS.values()]

    for part in ("findings", "withheld", "conflicts", "gaps", "human", "coverage", "notes", "workers"):
        assert any(getattr(told, part) for told in shown), part
    assert {finding.symbol for told in shown for finding in told.findings} >= {"", "items"}
    assert 73 in {finding.confidence for told in shown for finding in told.findings} | {
        entry.finding.confidence for told in shown for entry in told.withheld
    } | {item.finding.confidence for told in shown for item in told.human if item.finding}


@pytest.mark.parametrize("hanging", ["logic", "security", "style", "*"])
def test_what_the_deadline_cut_off_is_cut_off_again(hanging: str, run: Begin, again: Again) -> None:
    script = {"worker": hanging, "path": "*/orders.py", "replies": [escalates("ambiguous_input"), {"hang": True}]}

    shown, text = run(script, {"replies": [says()]}, deadline_s=0.15).told()

    assert {gap.reason for gap in shown.review.gaps} == {"deadline"}
    assert again(text) == shown


def test_a_resumed_run_is_replayed_like_a_whole_one(run: Begin, again: Again) -> None:
    script = [{"worker": "logic", "replies": [{"fail": "bad_answer"}, says()]}]
    journal = MemoryJournal()
    first, _ = run(*script, journal=journal).told()

    second, text = run(*script, journal=journal).told()

    assert "resumed" in {event["event"] for event in read_trace(text)}
    assert again(text) == second
    assert second.review.findings == first.review.findings


class Twice:
    """A planner that asks for what the first round did not answer once more."""

    def __init__(self, routed: RoutedPlanner) -> None:
        self._routed = routed

    async def plan(self, change: ChangeSet) -> Plan:
        return await self._routed.plan(change)

    async def more(self, change: ChangeSet, plan: Plan, settled: Mapping[str, TaskResult]) -> Plan | None:
        del change
        names = {task.task_id for task in plan.tasks if settled[task.task_id].gaps}
        tasks = [
            task.model_copy(update={"task_id": f"{task.task_id}~2", "depends_on": ()})
            for task in plan.tasks
            if task.task_id in names
        ]
        return plan.model_copy(update={"tasks": tuple(tasks)}) if tasks else None


def test_a_second_round_is_replayed_as_well(run: Begin, again: Again) -> None:
    busy = escalates("ambiguous_input")
    script = [{"worker": "logic", "path": "*/orders.py", "replies": [busy, busy]}, {"replies": [says()]}]

    shown, text = run(*script, planner=Twice).told()

    assert [event["event"] for event in read_trace(text)].count("plan_made") == 2
    assert again(text) == shown


def test_a_review_in_two_levels_is_replayed_as_well(run: Begin, again: Again) -> None:
    shown, text = run({"replies": [says(), says(confidence=60)]}, fan_out=1).told()

    [plan] = [event["plan"] for event in read_trace(text) if event["event"] == "plan_made"]
    assert plan["parts"]
    assert again(text) == shown


def rules(request: ModelRequest) -> str:
    """Refutes the first claim and confirms the others, with a secret in its words."""
    asked = "".join(part.text for turn in request.turns for part in turn.parts if isinstance(part, SentText))
    rulings = [
        {"claim": claim, "argument_against": f"no: {TOKEN}", "reason": "seen", "confidence": 95 if number else 20,
         "severity": "warning", "worth": 70, "contradicts": []}
        for number, claim in enumerate(re.findall(r"^Claim ([^ ]+):", asked, re.MULTILINE))
    ]  # fmt: skip
    return json.dumps(ruled(*rulings))


DISPUTE = [
    {"worker": "logic", "replies": [{**says(suggestion="a()"), "origin": "model"}]},
    {"worker": "security", "replies": [{**says(suggestion="b()", severity="info"), "origin": "model"}]},
    {"worker": "style", "replies": [says(message="a program says so", quote="import hashlib")]},
]


@pytest.mark.parametrize(("answers", "calls"), [(rules, 2), (lambda _: "no JSON", 1)], ids=["ruled", "no answer"])
def test_what_a_judge_ruled_is_ruled_again_without_it(
    answers: Callable[[ModelRequest], str], calls: int, run: Begin, again: Again
) -> None:
    """A critical claim that was refuted was asked about once more."""
    shown, text = run(*DISPUTE, answers=answers).told()

    asked = [event["purpose"] for event in read_trace(text) if event["event"] == "answered"]
    assert asked == ["judge"] * calls
    assert {row.worker: row.usage.calls for row in shown.review.workers}["judge"] == 1, "as the usage ledger says"
    assert TOKEN not in text
    assert again(text) == shown


@pytest.mark.parametrize("judge_s", [0.05, 0.0], ids=["while it answers", "before it is asked"])
def test_a_judge_that_runs_out_of_time_is_told_in_the_same_words(judge_s: float, run: Begin, again: Again) -> None:
    shown, text = run(*DISPUTE, answers=lambda _: None, judge_s=judge_s).told()

    assert any(note.endswith("without a judge's ruling: no time was left") for note in shown.review.notes)
    assert again(text) == shown


REPLIES = st.one_of(
    st.fixed_dictionaries(
        {
            "findings": st.lists(
                st.fixed_dictionaries(
                    {
                        "severity": st.sampled_from(("critical", "warning", "info")),
                        "quote": st.sampled_from(("import hashlib", "for order in orders:", f'"{TOKEN}"', " ")),
                        "message": st.sampled_from(("this is never right", f"this is slow: token={TOKEN!r}", "bad")),
                        "confidence": st.integers(0, 100),
                        "category": st.sampled_from(("bug", "cost", "injection")),
                        "source": st.sampled_from(("ruff", "taint")),
                        "suggestion": st.sampled_from(("", "a()", "b()")),
                        "disputed": st.sampled_from(("", "it is not so")),
                    }
                ),
                max_size=4,
            ),
            "origin": st.sampled_from(("program", "model")),
        }
    ),
    st.fixed_dictionaries({"fail": st.sampled_from(("transient", "bad_answer", "crash"))}),
    st.builds(
        escalates,
        st.sampled_from(("out_of_scope", "ambiguous_input", "confidence_too_low", "timeout")),
        better_worker=st.sampled_from((None, "style", "janitor")),
    ),
)
ENTRIES = st.fixed_dictionaries(
    {
        "worker": st.sampled_from(("logic", "security", "style", "*")),
        "path": st.sampled_from(("*", "*/orders.py")),
        "replies": st.lists(REPLIES, min_size=1, max_size=3),
    }
)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(script=st.lists(ENTRIES, max_size=4))
def test_whatever_happened_is_told_again(script: list[dict[str, Any]], run: Begin, again: Again) -> None:
    shown, text = run(*script).told()

    assert again(text) == shown
    assert TOKEN not in text


def test_neither_secrets_nor_code_nor_the_environment_are_in_a_trace(
    run: Begin, change_with_a_secret: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-env-c4nAryc4nAryc4nAry")

    shown, text = run(*SCRIPTS["found and named"]).told()

    assert TOKEN in parse_diff(change_with_a_secret).files[1].hunks[0].body
    assert any("ghp_****" in finding.evidence for finding in shown.review.findings)
    assert "c4nAry" not in text
    assert "Subproject commit" not in text
