"""Whatever changes and whatever becomes of it: the numbers of a report agree in every format, and green is earned."""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

from hypothesis import event, given
from hypothesis import strategies as st

from reviewbot.action.outcome import ActionReview, Ending, outputs_of, summary_of
from reviewbot.config import Settings
from reviewbot.coverage.readings import reading_of
from reviewbot.coverage.verdict import STATE_WORDS, count_of
from reviewbot.delivery import DeliveredReview, exit_code
from reviewbot.delivery.deliver import mask_review
from reviewbot.domain.contracts import (
    Candidate,
    ChangeSet,
    FileChange,
    Gap,
    Hunk,
    Metadata,
    ParsedFile,
    ParseState,
    Reading,
    Review,
    Status,
    WorkerCard,
)
from reviewbot.domain.errors import EngineError, ExitCode
from reviewbot.domain.ports import Answer, Escalated, WorkerSet, WorkOrder
from reviewbot.hosts.base import CheckDraft
from reviewbot.memory.fingerprints import of_review
from reviewbot.publish.body import body_of
from reviewbot.publish.check_run import check_of
from reviewbot.report.json_report import render_json
from reviewbot.report.markdown.brief import is_brief
from reviewbot.report.markdown.comment import render_markdown
from reviewbot.review.combine.synthesizer import ReviewFacts, RuledSynthesizer
from reviewbot.review.combine.visibility import Rules
from reviewbot.review.execution import PlanExecutor
from reviewbot.review.pipeline import Setup, review
from reviewbot.review.plan.planner import PlanLimits, RoutedPlanner
from reviewbot.review.trace import Trace
from reviewbot.sources.memory import DiffSnapshot, MemoryJournal
from tests.conftest import RecordingClock
from tests.publishing import SIGNER, an_order
from tests.rendering import render_annotations, render_terminal
from tests.sarif_log import render_sarif

# --- changes


class Sort(NamedTuple):
    """A sort of file: how its name goes on, and what its name says that it is."""

    name: str
    language: str
    kind: str
    scans_suffice: bool = False
    """Whether it is prose or a lock file, or the base side declares or ignores it."""


SORTS = (
    Sort("{}.py", "python", "code"),
    Sort("{}_pb2.py", "python", "code"),
    Sort("vendor/{}.go", "go", "code"),
    Sort(".github/workflows/{}.yml", "yaml", "config"),
    Sort("{}.png", "text", "code"),
    Sort("docs/{}.md", "markdown", "prose", scans_suffice=True),
    Sort("{}/uv.lock", "lockfile", "config", scans_suffice=True),
    Sort("gen/{}.py", "python", "code", scans_suffice=True),
    Sort("ignored/{}.py", "python", "code", scans_suffice=True),
)
BODIES = ("+x = 1\n+y = 2", "-x\n+# @generated", " a\n-b\n-c", "+#!/bin/sh\n+echo")


class Made(NamedTuple):
    """A file of a change, and of which sort it is."""

    file: FileChange
    parsed: ParsedFile
    sort: Sort

    @property
    def needs_no_review(self) -> bool:
        """Whether a check may be green though nothing reviewed it, told from the file alone."""
        runs = self.file.mode == "100755" or "#!" in self.file.hunks[0].body if self.file.hunks else False
        by_base = self.sort.name.startswith(("gen/", "ignored/"))
        empty = self.file.status == "added" and not self.file.hunks and self.parsed.state == "read"
        if self.parsed.state == "binary":
            return self.sort.scans_suffice or self.sort.name.endswith(".png")
        return empty or by_base or (self.sort.scans_suffice and not runs)


@st.composite
def made_files(draw: st.DrawFn) -> list[Made]:
    files = []
    for number in range(draw(st.integers(1, 7))):
        sort = draw(st.sampled_from(SORTS))
        state = draw(st.sampled_from(("read",) * 30 + get_args(ParseState)))
        status = draw(st.sampled_from(("added", "modified", *get_args(Status))))
        mode = draw(st.sampled_from((None,) * 40 + ("100755", "120000", "160000")))
        bodies = (
            draw(st.lists(st.sampled_from(BODIES), min_size=draw(st.integers(0, 1)), max_size=3))
            if state in ("read", "partial")
            else []
        )
        hunks = tuple(_hunk(body, 1 + 10 * at) for at, body in enumerate(bodies))
        marks = Counter(row[0] for body in bodies for row in body.split("\n"))
        file = FileChange(
            path=sort.name.format(f"f{number}"),
            status=status,
            language=sort.language,
            kind=sort.kind,  # type: ignore[arg-type] # of the table above
            mode=mode,
            hunks=hunks,
            added=marks["+"],
            removed=marks["-"],
            minified=draw(st.integers(0, 19)) == 0,
        )
        reason = "" if state == "read" else f"it is {state}"
        files.append(Made(file, ParsedFile(path=file.path, state=state, reason=reason), sort))
    return files


def _hunk(body: str, start: int) -> Hunk:
    old, new = (sum(row[0] != mark for row in body.split("\n")) for mark in "+-")
    return Hunk(old_start=start, old_count=old, new_start=start, new_count=new, body=body)


# --- what becomes of it

SEVERITIES = ("critical", "warning", "info")
OUTCOMES = ("both", "both", "models", "analyzers", "scans", "half", "nothing", "gap", "fail", "ask", *SEVERITIES)


@dataclass(frozen=True)
class Fate:
    """An engine of which each task ends as it was drawn."""

    outcomes: Sequence[str]
    name: str = "fated"

    def covers(self, card: WorkerCard, language: str) -> bool:
        del card, language
        return True

    async def work(self, order: WorkOrder) -> Answer | Escalated:
        task = order.task
        outcome = self.outcomes[zlib.crc32(task.task_id.encode()) % len(self.outcomes)]
        if outcome == "fail":
            raise EngineError("no answer")
        if outcome == "ask":
            return Escalated("confidence_too_low", "could be meant so")
        metadata = Metadata(readings=tuple(_readings(order, outcome)))
        path = task.payload.file_path
        if outcome == "gap":
            return Answer(gaps=(Gap(path=path, worker=task.worker, reason="crashed", message="m"),), metadata=metadata)
        found = (_candidate(path, outcome),) if outcome in SEVERITIES else ()
        return Answer(candidates=found, metadata=metadata)


def _readings(order: WorkOrder, outcome: str) -> list[Reading]:
    payload = order.task.payload
    if outcome == "nothing":
        return []
    if outcome == "half":
        whole = reading_of(payload, models=["m"])
        return [whole.model_copy(update={"spans": whole.spans[: len(whole.spans) // 2]})]
    if order.task.scans_only:
        return [reading_of(payload, scans=["secrets"])]
    models = ["m"] if outcome in ("models", "both", *SEVERITIES) else []
    analyzers = ["ruff"] if outcome not in ("models", "scans") else []
    return [reading_of(payload, models=models, analyzers=analyzers, scans=["secrets"])]


def _candidate(path: str, severity: str) -> Candidate:
    return Candidate.model_validate(
        {
            "severity": severity,
            "path": path,
            "quote": "x = 1",
            "line": 1,
            "message": "told",
            "confidence": 95,
            "source": "ruff",
            "category": "bug",
        }
    )


def told(files: Sequence[Made], outcomes: Sequence[str]) -> tuple[Review, Rules]:
    """The review by the spine itself, with two workers."""
    change = ChangeSet(files=tuple(each.file for each in files), parsed=tuple(each.parsed for each in files))
    cards = tuple(
        WorkerCard(
            name=name,
            description="finds what such workers find",
            task_type=name,
            prompt=f"{name}.md",
            success_criterion="every line was read",
            applies_to=globs,
        )
        for name, globs in (("logic", ("@code",)), ("security", ("@code", "@config", "@prose")))
    )
    worker_set = WorkerSet(cards, {card.name: "" for card in cards}, {card.name: "package" for card in cards})
    engine, clock, rules = Fate(outcomes), RecordingClock(), Rules.of(cards, 50)
    limits = PlanLimits(
        ignore=("ignored/*",),
        declared=lambda path: "declared by the base side" if path.startswith("gen/") else None,
        scans=lambda card: card.name == "security",
        max_files=5,
    )
    planner = RoutedPlanner(worker_set, engine.covers, lambda _path: None, limits)
    executor = PlanExecutor(
        worker_set=worker_set,
        engine=engine,
        tools={},
        snapshot=DiffSnapshot(change),
        journal=MemoryJournal(),
        clock=clock,
        trace=Trace(clock),
        run_id="numbers",
        concurrency=4,
        deadline_s=60.0,
    )
    synthesizer = RuledSynthesizer(rules, ReviewFacts(engine.name))
    setup = Setup(planner, executor, synthesizer, clock, Trace(clock))
    return mask_review(asyncio.run(review(change, setup))), rules


# --- what a report says

COUNT = re.compile(r"([\d,]+) of ([\d,]+) files? reviewed(?: \(([^)]*)\))?")
STATES = {words: state for state, words in STATE_WORDS.items()}


def counts_in(text: str) -> list[dict[str, int]]:
    """Each count of files that a text holds, by state."""
    found = []
    for reviewed, files, rest in COUNT.findall(" ".join(text.split())):
        others = (part.partition(" ") for part in rest.split(", ") if part)
        count: dict[str, int] = {"files": int(files), "reviewed": int(reviewed)}
        found.append(count | {STATES[words]: int(number) for number, _, words in others})
    assert len(found) == len(re.findall(r"\d of \d+ files?\b", " ".join(text.split()))), "no other count of files"
    return found


def rows_of(markdown: str) -> Counter[str]:
    """How many files the folded coverage has in each state."""
    rows = re.findall(r"^- \*\*([a-z ]+)(?:, which is enough)?\*\*.* \(([0-9,]+): ", markdown, re.MULTILINE)
    found: Counter[str] = Counter()
    for words, number in rows:
        if words in STATES:
            found[STATES[words]] += int(number.replace(",", ""))
    return found


def listed_in(terminal: str) -> Counter[str]:
    """The states of the files that stand under "Not reviewed in full", in a page that is wide enough for them."""
    section = terminal.partition("\nNot reviewed in full\n")[2].partition("\n\n")[0].split("\n")
    found: Counter[str] = Counter()
    for at, line in enumerate(section):
        words = re.split(r"[:,]", line.removeprefix("  - "))[0]
        if line.startswith("  - ") and words in STATES:
            found[STATES[words]] += len(section[at + 1].split(","))
    return found


def texts_of(found: Review, draft: CheckDraft, body: str, summary: str) -> dict[str, str]:
    """Every text that is made of a review and holds its headline."""
    return {
        "terminal": render_terminal(found, width=300, colour=False),
        "json": json.loads(render_json(found))["headline"],
        "markdown": render_markdown(found),
        "sarif": json.loads(render_sarif(found))["runs"][0]["invocations"][0]["toolExecutionNotifications"][0][
            "message"
        ]["text"],
        "check": draft.title.removeprefix("Gate closed: "),
        "check summary": draft.summary,
        "check text": draft.text,
        "body": body,
        "action": summary,
    }


@given(
    files=made_files(),
    outcomes=st.lists(st.sampled_from(OUTCOMES), min_size=1, max_size=3),
    gate=st.sampled_from((None, "critical", "info")),
)
def test_the_numbers_of_a_report_add_up_in_every_format_and_no_check_is_green_unearned(
    files: list[Made], outcomes: list[str], gate: Any
) -> None:
    found, rules = told(files, outcomes)
    change = ChangeSet(files=tuple(each.file for each in files), parsed=tuple(each.parsed for each in files))
    code = exit_code(found, Settings(fail_on=gate), rules)
    draft = check_of(found, change, gate_closed=code == ExitCode.GATE)
    event(f"{found.verdict} {draft.conclusion}")

    # every file has one state, and the states add up
    count = count_of(found.coverage).model_dump()
    assert [entry.path for entry in found.coverage] == [each.file.path for each in files]
    assert count.pop("files") == len(files) == sum(count.values())
    by_state = Counter(entry.state for entry in found.coverage)
    assert count == {state: by_state[state] for state in STATE_WORDS}

    # one count, the same in every format
    delivered = DeliveredReview(found, of_review(found))
    ending = Ending(ActionReview(delivered=delivered, code=code, what="3 commits"), code)
    body = body_of(an_order(found, change), SIGNER)
    wanted = {"files": len(files), "reviewed": by_state["reviewed"]}
    wanted |= {state: by_state[state] for state in STATE_WORDS if state != "reviewed" and by_state[state]}
    texts = texts_of(found, draft, body, summary_of(ending))
    for name, text in texts.items():
        assert counts_in(text) == [wanted], name
    marks = render_annotations(found)
    assert counts_in(marks) in ([], [wanted])
    assert outputs_of(ending, {})["coverage"] == f"{by_state['reviewed']}/{len(files)}"

    # and the lists hold as many files as it counts
    log = json.loads(render_sarif(found))["runs"][0]["invocations"][0]
    assert log["properties"]["coverage"] == {"files": len(files), **count}
    for name in ("markdown", "check summary", "check text", "body", "action"):
        listed = rows_of(texts[name])
        assert listed == by_state or (name == "body" and not listed and is_brief(found)), name
    assert listed_in(texts["terminal"]) == +Counter({**by_state, "reviewed": 0})

    # green is earned
    lacking = [
        each.file.path
        for each, entry in zip(files, found.coverage, strict=True)
        if entry.state not in ("reviewed", "removed") and not each.needs_no_review
    ]
    if draft.conclusion == "success":
        assert lacking == []
        assert found.verdict in ("clean", "issues")
        assert all(finding.severity == "info" for finding in found.findings)
        assert (found.gaps, found.human, marks) == ((), (), marks)
    if found.verdict == "clean":
        assert lacking == []
    assert bool(counts_in(marks)) or bool(found.human) or not lacking, "annotations tell of it"
