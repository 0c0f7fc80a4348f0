"""`reviewbot replay` and `reviewbot trace` from the command line, over traces in files."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reviewbot.cli.commands.traces.explain import explain_command
from reviewbot.cli.commands.traces.replay import events_of, replay_command
from reviewbot.cli.commands.traces.timeline import trace_command
from reviewbot.delivery import deliver, mask_trace
from reviewbot.domain.contracts import ChangeSet, Finding, Plan, Review, ReviewTask, Timings, WorkerResult
from reviewbot.domain.errors import InputError, ReviewbotError
from reviewbot.domain.ports import TaskResult
from reviewbot.replay.recorded_inputs import RecordedInputs, record_inputs
from reviewbot.report.formats import ReportInput
from reviewbot.report.json_report import render_json
from reviewbot.report.markdown.comment import render_markdown
from reviewbot.report.sarif import log
from reviewbot.review.combine.synthesizer import ReviewFacts, RuledSynthesizer
from reviewbot.review.combine.visibility import Rules
from reviewbot.review.trace import Trace, write_trace
from tests.rendering import render_annotations, render_terminal

Make = Callable[..., Any]


class Recorded:
    """A trace on disk, and the review that it tells of."""

    def __init__(self, folder: Path, review: Review, fingerprints: Any) -> None:
        self.path = folder / "run.trace"
        self.review = review
        self.fingerprints = fingerprints

    def arguments(self, form: str = "json", output: Path | None = None) -> argparse.Namespace:
        return argparse.Namespace(trace=self.path, format=form, output=output, verbose=False)


@pytest.fixture(name="recorded")
def _recorded(
    tmp_path: Path, clock: Any, a_change: Make, a_file: Make, a_task: Make, a_finding: Make, no_snapshot: Any
) -> Recorded:
    """The shortest run that there is: one task and one finding."""
    change: ChangeSet = a_change(a_file())
    task: ReviewTask = a_task("security:src/app.py#1")
    finding: Finding = a_finding()
    plan = Plan(goal="g", tasks=(task,), reason="r")
    rules = Rules({"security": 80}, 10)
    result = WorkerResult(task_id=task.task_id, findings=(finding,))
    settled = {task.task_id: TaskResult(task, (result,), done=True)}
    answer = asyncio.run(
        RuledSynthesizer(rules, ReviewFacts("scripted", ("a note",))).synthesize(change, plan, settled)
    )
    answer = answer.model_copy(update={"timings": Timings(wall_ms=1_200, critical_path_ms=0, sequential_ms=0)})
    trace = Trace(clock)
    record_inputs(trace, change, RecordedInputs(rules, (), "scripted", ("a note",)))
    trace.record("plan_made", plan=plan.model_dump(mode="json", exclude={"tasks": {"__all__": {"payload": {"code"}}}}))
    about = {"task_id": task.task_id, "attempt": 1}
    trace.record("task_started", worker="security", **about)
    trace.record("result", outcome=result.model_dump(mode="json"), **about)
    clock.now = 1.2
    trace.record("step", task_id=task.task_id, root=task.task_id, action="done", reason="answered", gaps=[], human=None)
    trace.record("review", **answer.model_dump(mode="json"))
    shown = deliver(answer, no_snapshot, trace)
    found = Recorded(tmp_path, shown.review, shown.fingerprints)
    found.path.write_text(mask_trace(trace))
    return found


@pytest.mark.parametrize("form", ["json", "markdown", "annotations", "sarif", "terminal"])
def test_the_report_is_the_same_in_every_format(
    form: str, recorded: Recorded, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    expected = {
        "json": render_json(recorded.review),
        "markdown": render_markdown(recorded.review),
        "annotations": render_annotations(recorded.review),
        "sarif": log.render(ReportInput(recorded.review, recorded.fingerprints)),
        "terminal": render_terminal(recorded.review, width=100, colour=False),
    }

    assert replay_command(recorded.arguments(form)) == 0

    assert capsys.readouterr().out == expected[form]


def test_the_report_goes_to_a_file(recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replay_command(recorded.arguments("json", tmp_path / "report.json"))

    assert (tmp_path / "report.json").read_text() == render_json(recorded.review)
    assert capsys.readouterr().out == ""


def test_the_trace_is_not_overwritten_by_its_report(recorded: Recorded, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(recorded.path)
    before = recorded.path.read_text()

    with pytest.raises(InputError, match="different files"):
        replay_command(recorded.arguments("json", tmp_path / "link"))

    assert recorded.path.read_text() == before


def test_a_place_that_cannot_be_written_is_said_in_one_line(recorded: Recorded, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot write .*: No such file or directory"):
        replay_command(recorded.arguments("json", tmp_path / "nowhere" / "report.json"))


def test_a_trace_that_was_changed_is_refused_by_its_record(recorded: Recorded) -> None:
    recorded.path.write_text(recorded.path.read_text().replace("user input", "no input"))

    with pytest.raises(InputError, match=r"record 5 of the trace \(result\)"):
        replay_command(recorded.arguments())


def test_a_trace_of_other_rules_is_a_fault(recorded: Recorded) -> None:
    events = events_of(recorded.path)
    events[1]["thresholds"] = {"security": 100}
    recorded.path.write_text(write_trace(events))

    with pytest.raises(ReviewbotError, match="gives another review") as caught:
        replay_command(recorded.arguments())

    assert caught.value.exit_code == 3


class _Still:
    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        del seconds


@pytest.mark.parametrize("content", [b"\xff\xfe", b"", b"diff --git a/a b/a\n", json.dumps({"a": 1}).encode()])
def test_a_file_that_is_no_trace_is_refused(content: bytes, recorded: Recorded) -> None:
    recorded.path.write_bytes(content)

    for command in (replay_command, trace_command):
        with pytest.raises(InputError, match="this is no trace"):
            command(recorded.arguments())


def test_a_file_that_is_not_there_is_said_in_one_line(recorded: Recorded) -> None:
    recorded.path.unlink()

    with pytest.raises(InputError, match="cannot read"):
        trace_command(recorded.arguments())


def test_the_timeline_of_a_run_is_printed(
    recorded: Recorded, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")

    assert trace_command(recorded.arguments()) == 0

    out = capsys.readouterr().out
    assert out.startswith("1.2 s in all")
    assert "security  security:src/app.py#1" in out
    assert "\x1b" not in out


def test_explain_says_why_a_finding_of_a_trace_is_shown(recorded: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    [name] = recorded.fingerprints.values()

    for place in ("src/app.py:1", name[:8]):
        assert explain_command(argparse.Namespace(trace=recorded.path, place=place)) == 0
        out = capsys.readouterr().out
        assert out.startswith("src/app.py:1 shown: user input reaches a shell command\n")
        assert "Found in security:src/app.py#1." in out


@pytest.mark.parametrize(
    ("place", "says"),
    [("src/app.py", "is no place"), ("src/app.py:0", "is no place"), ("b.py:3", "the change has no file b.py")],
)
def test_explain_refuses_what_names_no_line_of_the_change(recorded: Recorded, place: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        explain_command(argparse.Namespace(trace=recorded.path, place=place))


def test_explain_reads_the_trace_of_another_version(recorded: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    events = events_of(recorded.path)
    events[-1]["digest"] = "of another version"
    recorded.path.write_text(write_trace(events))

    assert explain_command(argparse.Namespace(trace=recorded.path, place="src/app.py:1")) == 0

    assert " shown: " in capsys.readouterr().out
