"""What is added to a review before it leaves, and what is taken out of all that does: names of definitions, secrets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reviewbot.delivery import deliver, mask_plan, mask_trace
from reviewbot.delivery.deliver import mask_review
from reviewbot.delivery.places import MAX_WITHHELD, add_symbols, places
from reviewbot.domain.contracts import (
    DESCRIPTION,
    TITLE,
    Conflict,
    Finding,
    HumanItem,
    Plan,
    Review,
    Timings,
    Usage,
    Withheld,
    WorkerUsage,
)
from reviewbot.journal.sqlite import SqliteJournal, SteadyJournal
from reviewbot.memory.fingerprints import CodePlace, of_review
from reviewbot.review.trace import Trace, read_trace
from tests.make import MakeFinding
from tests.snapshots import InMemorySnapshot

TEXT = "def save(db, key):\n    db.run(\n        key,\n    )\n    db.run(key)\n    db.run(key)\n"


def a_review(**fields: object) -> Review:
    known = {"engine": "analyzers", "verdict": "issues", "headline": "x", "summary": "x"}
    return Review.model_validate(
        {**known, "timings": Timings(wall_ms=1, critical_path_ms=1, sequential_ms=1), **fields}
    )


def withheld(finding: Finding) -> Withheld:
    return Withheld(finding=finding, reason="below_threshold", message="x")


def test_every_finding_is_named_wherever_it_is_told(a_finding: MakeFinding) -> None:
    one = a_finding(path="app.py", line=3, end_line=3)
    answer = a_review(
        findings=(one,),
        withheld=(withheld(one),),
        human=(HumanItem(path="app.py", reason="x", finding=one), HumanItem(path="app.py", reason="y")),
        conflicts=(Conflict(findings=(one, one), reason="x"),),
    )

    named = add_symbols(answer, InMemorySnapshot({"app.py": TEXT}))

    told = [*named.findings, named.withheld[0].finding, named.human[0].finding, *named.conflicts[0].findings]
    assert [finding and finding.symbol for finding in told] == ["save"] * 5
    assert named.human[1].finding is None


@pytest.mark.parametrize("path", [TITLE, DESCRIPTION])
def test_what_is_about_a_text_of_the_change_is_looked_up_in_no_file(a_finding: MakeFinding, path: str) -> None:
    one = a_finding(path=path, line=3, end_line=3)

    assert add_symbols(a_review(findings=(one,)), InMemorySnapshot({path: TEXT})).findings == (one,)


def test_what_crosses_the_threshold_renames_neither_itself_nor_the_next_equal_line(a_finding: MakeFinding) -> None:
    first, second = (a_finding(path="app.py", line=line, end_line=line, evidence="db.run(key)") for line in (5, 6))
    files = InMemorySnapshot({"app.py": TEXT})

    def names(answer: Review) -> set[str]:
        named = add_symbols(answer, files)
        return set(of_review(named, place_of=places(named, files)).values())

    shown = names(a_review(findings=(first, second)))

    assert len(shown) == 2
    assert names(a_review(findings=(second,), withheld=(withheld(first),))) == shown
    assert names(a_review(findings=(first,), withheld=(withheld(second),))) == shown


def test_of_a_flood_of_withheld_findings_the_first_are_named(a_finding: MakeFinding) -> None:
    flood = [withheld(a_finding(path="app.py", line=5, end_line=5, message=str(n))) for n in range(MAX_WITHHELD + 2)]

    named = add_symbols(a_review(withheld=tuple(flood)), InMemorySnapshot({"app.py": TEXT})).withheld

    assert [entry.finding.message for entry in named] == [entry.finding.message for entry in flood]
    assert [entry.finding.symbol for entry in named].count("save") == MAX_WITHHELD


def test_the_place_of_a_finding_is_its_statement(a_finding: MakeFinding) -> None:
    split, flat = (a_finding(path="app.py", line=line, end_line=line, evidence="key") for line in (3, 5))

    place_of = places(a_review(findings=(split, flat)), InMemorySnapshot({"app.py": TEXT}))

    assert place_of(split) == CodePlace("db.run(\n        key,\n    )", 2)
    assert place_of(flat) == CodePlace("db.run(key)", 5)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("app.js", TEXT),
        ("app.py", "def ("),
        ("other.py", TEXT),
        ("app.py", "TABLE = [\n" + "    'an entry',\n" * 1_000 + "]\n"),
    ],
    ids=["another language", "broken", "no such file", "a table"],
)
def test_without_a_statement_the_lines_of_the_finding_are_its_place(
    a_finding: MakeFinding, path: str, text: str
) -> None:
    finding = a_finding(path="app.js" if path == "app.js" else "app.py", line=3, end_line=3, evidence="key")

    assert places(a_review(findings=(finding,)), InMemorySnapshot({path: text}))(finding) == CodePlace("key", 3)


def test_a_finding_of_another_review_keeps_its_lines(a_finding: MakeFinding) -> None:
    finding = a_finding(path="app.py", line=3, end_line=3, evidence="key")

    assert places(a_review(), InMemorySnapshot({"app.py": TEXT}))(finding) == CodePlace("key", 3)


TOKEN = "ghp_c4nAryc4nAryc4nAryc4nAryc4nAryc4nAry"


def test_a_delivered_review_is_named_and_masked_and_the_trace_says_what_was_added(
    clock: Any, a_finding: MakeFinding
) -> None:
    finding = a_finding(path="app.py", line=3, end_line=3, message=f"it holds {TOKEN}")
    trace = Trace(clock)

    shown = deliver(a_review(findings=(finding,)), InMemorySnapshot({"app.py": TEXT}), trace)

    [named] = shown.review.findings
    assert (named.symbol, named.message) == ("save", "it holds ghp_****")
    assert shown.fingerprints == of_review(
        shown.review, place_of=places(shown.review, InMemorySnapshot({"app.py": TEXT}))
    )
    [event] = trace.events
    assert event["symbols"] == [{"path": "app.py", "line": 3, "end_line": 3, "symbol": "save"}]
    assert event["fingerprints"] == list(shown.fingerprints.values())
    assert event["notes"] == []


def test_a_worker_that_cost_unusually_much_is_named_in_the_notes(clock: Any) -> None:
    spent = {"logic": 9_000, "style": 1_000, "security": 1_000}
    rows = tuple(
        WorkerUsage(worker=name, tasks=1, findings=0, duration_ms=1, usage=Usage(calls=1, input_tokens=count))
        for name, count in spent.items()
    )
    trace = Trace(clock)

    shown = deliver(a_review(workers=rows, notes=("first",)), InMemorySnapshot({}), trace)

    assert len(shown.review.notes) == 2
    assert shown.review.notes[1].startswith("logic took 9,000 tokens, 9.0 times what is usual")
    assert trace.events[0]["notes"] == [shown.review.notes[1]]


def test_trouble_with_the_journal_is_told(clock: Any, tmp_path: Path) -> None:
    journal = SteadyJournal(SqliteJournal(tmp_path / "journal.sqlite"))
    with journal:
        journal.trouble = "progress could not be kept"
        shown = deliver(a_review(), InMemorySnapshot({}), trace := Trace(clock), journal)

    assert shown.review.notes == ("progress could not be kept",)
    assert trace.events[0]["notes"] == ["progress could not be kept"]


def test_no_secret_is_in_a_written_trace_and_names_still_fit(clock: Any) -> None:
    trace = Trace(clock)
    trace.record("result", task_id=TOKEN, outcome={"paths": [TOKEN], "dropped": [{"quote": TOKEN}], "tries": 1})
    trace.record("tool_call", arguments={TOKEN: TOKEN, "word": ["x", TOKEN]})

    result, call = read_trace(mask_trace(trace))

    assert (result["task_id"], result["outcome"]["paths"]) == (TOKEN, [TOKEN])
    assert result["outcome"]["dropped"] == [{"quote": "ghp_****"}]
    assert call["arguments"] == {"ghp_****": "ghp_****", "word": ["x", "ghp_****"]}


def test_a_model_cannot_bring_a_secret_past_the_mask_by_the_name_of_an_argument(clock: Any) -> None:
    trace = Trace(clock)
    trace.record("tool_call", task_id=TOKEN, arguments={"path": TOKEN, "paths": [{"worker": TOKEN}], "type": "x.py"})

    [call] = read_trace(mask_trace(trace))

    assert call["task_id"] == TOKEN
    assert call["arguments"] == {"path": "ghp_****", "paths": [{"worker": "ghp_****"}], "type": "x.py"}


def test_hashes_are_of_what_is_written_and_say_nothing_of_what_is_masked(clock: Any) -> None:
    traces = []
    for secret in (TOKEN, TOKEN.replace("c4nA", "b4nA")):
        trace = Trace(clock)
        trace.record("step", reason=f"it holds {secret}")
        traces.append(mask_trace(trace))

    assert traces[0] == traces[1]


def test_a_plan_leaves_without_the_secrets_of_its_code(
    a_task: Callable[..., Any], a_payload: Callable[..., Any]
) -> None:
    plan = Plan(goal="g", tasks=(a_task(payload=a_payload(f"+token = {TOKEN}")),), reason="r")

    assert "ghp_****" in mask_plan(plan).tasks[0].payload.code


def test_whatever_a_model_gave_to_a_tool_can_be_written(clock: Any) -> None:
    deep: Any = {"x": float("nan"), "y": float("-inf"), "z": 0.5}
    for _ in range(5_000):
        deep = {"a": [deep]}
    trace = Trace(clock)
    trace.record("tool_call", arguments=deep)
    trace.record("tool_call", arguments={"x": float("nan"), "y": float("-inf"), "z": 0.5, "\udc80": "\udc80"})

    first, second = read_trace(mask_trace(trace))

    assert "(nested too deeply)" in str(first)
    assert second["arguments"] == {"x": "nan", "y": "-inf", "z": 0.5, "\udc80": "\udc80"}


def test_a_replacement_that_holds_a_secret_is_left_out_and_any_other_is_kept(
    a_finding: MakeFinding,
) -> None:
    secret = f'token = "ghp_{"a1B2c3D4e5F6g7H8i9" * 2}"'
    answer = a_review(findings=(a_finding(replacement=secret), a_finding(line=2, replacement="token = read()")))

    shown = mask_review(answer)

    assert [finding.replacement for finding in shown.findings] == [None, "token = read()"]
    assert mask_review(shown) == shown


@pytest.mark.parametrize(("levels", "kept"), [(39, "yes"), (40, "no")])
def test_what_is_nested_deeper_than_any_value_of_ours_is_cut_off(levels: int, kept: str, clock: Any) -> None:
    deep: Any = "the innermost"
    for _ in range(levels):
        deep = [deep]
    trace = Trace(clock)
    trace.record("tool_call", arguments=deep)

    [call] = read_trace(mask_trace(trace))

    assert ("yes" if "the innermost" in str(call) else "no") == kept


@pytest.mark.parametrize(
    "name",
    ["path", "paths", "file_path", "old_path", "task_id", "task_ids", "root", "depends_on", "worker", "type"],
)
def test_what_names_something_goes_on_fitting_the_change(name: str, clock: Any) -> None:
    trace = Trace(clock)
    trace.record("step", outcome={name: TOKEN, "said": [TOKEN]})

    [step] = read_trace(mask_trace(trace))

    assert step["outcome"] == {name: TOKEN, "said": ["ghp_****"]}


def test_masking_takes_nothing_from_a_review_without_secrets(a_finding: MakeFinding) -> None:
    answer = a_review(
        findings=(a_finding(also=(3, 4), cwe=78, replacement="x = 1"),),
        human=(HumanItem(path="a.py", line=3, reason="look"),),
        usage=Usage(calls=1, cost_usd=0.1),
        notes=("a note",),
    )

    assert mask_review(answer) == answer
