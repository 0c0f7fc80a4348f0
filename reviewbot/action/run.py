"""Run the Action from end to end: read the event, review, post, write summary and outputs, return the exit code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reviewbot.action.event import NothingEvent, PullEvent, read_event, read_fork_run
from reviewbot.action.inputs import Inputs, by_input
from reviewbot.action.outcome import (
    UNKNOWN_POST,
    ActionReview,
    Ending,
    PostOutcome,
    end_of,
    no_outputs,
    outputs_of,
    summary_of,
    summary_of_failure,
    summary_of_nothing,
)
from reviewbot.action.pulls import ActionPulls, Work, review_range
from reviewbot.action.runner import JobRunner, StepOutput
from reviewbot.coverage.verdict import is_lacking
from reviewbot.delivery import DeliveredReview
from reviewbot.domain.errors import (
    AlreadyPostedError,
    EmptyChangeError,
    ExitCode,
    HostAccessError,
    HostError,
    HostUnknownError,
    InputError,
    ReviewbotError,
)
from reviewbot.report.formats import FORMATS, ReportInput
from reviewbot.report.text import one_line

FORK_NOTE = (
    "Nothing was posted: a workflow on a fork's pull request has a token that can only read. "
    "The review is on this page; docs/forks.md says how it gets onto the pull request."
)
NOT_POSTED = "nothing was posted"
NOTHING_TO_POST_TO = "Nothing was posted: these commits were reviewed without a pull request."


@dataclass(frozen=True)
class WorkflowStep:
    """One step of a workflow."""

    runner: JobRunner
    inputs: Inputs
    voice: StepOutput
    work: Work
    pulls: Callable[[], ActionPulls]
    """Opens the way to the pull request; asked only where there is one."""


def act(step: WorkflowStep) -> ExitCode:
    """Review the event's change and report the review; returns the step's exit code.

    An error that is raised on purpose becomes one mark at the run, a summary and outputs that claim nothing.
    """
    try:
        return _act(step)
    except EmptyChangeError as error:
        return _nothing(step, str(error))
    except AlreadyPostedError as error:
        return _nothing(step, str(error), error.url)
    except ReviewbotError as error:
        report_failure(step.voice, by_input(str(error)))
        return error.exit_code


def report_failure(voice: StepOutput, message: str) -> None:
    """Say that there was no review, in every place where a reader may look for one."""
    voice.say("error", one_line(message))
    voice.outputs(no_outputs("not_reviewed"))
    voice.summary(summary_of_failure(message))


def _act(step: WorkflowStep) -> ExitCode:
    given = (step.runner.event_name, step.runner.event(), step.runner.repository)
    if step.inputs.mode == "fork-review":
        run, pulls = read_fork_run(*given), step.pulls()
        ending = _of_pull(step, pulls.review_fork(run), pulls)
        # A SARIF log would be filed under the commit that the workflow runs at, which is not the reviewed one.
        _tell(step, ending, to_files=False)
        return ending.code
    event = read_event(*given)
    if isinstance(event, NothingEvent):
        return _nothing(step, event.why)
    if isinstance(event, PullEvent):
        pulls = step.pulls()
        ending = _of_pull(step, pulls.review(event.number), pulls, may_only_read=event.from_fork)
    else:
        reviewed = review_range(event.text, step.runner, step.inputs, step.work)
        notes = (NOTHING_TO_POST_TO,) if step.inputs.posts else ()
        ending = _ending(step, reviewed, PostOutcome(notes=notes))
    _tell(step, ending)
    return ending.code


def _nothing(step: WorkflowStep, why: str, url: str = "") -> ExitCode:
    step.voice.say("notice", f"nothing to review: {one_line(why)}")
    step.voice.outputs({**no_outputs("nothing_to_review"), "review-url": url})
    step.voice.summary(summary_of_nothing(why))
    return ExitCode.REVIEWED


def _of_pull(step: WorkflowStep, reviewed: ActionReview, pulls: ActionPulls, *, may_only_read: bool = False) -> Ending:
    """Post a review. What cannot be posted still stands in the log and the summary, and the gate counts the same."""
    if not step.inputs.posts:
        return _ending(step, reviewed)
    try:
        posted = pulls.post(reviewed)
    except HostAccessError as error:
        # Only GitHub can give a fork's run more, and its author can do nothing about it.
        note, code = (FORK_NOTE, reviewed.code) if may_only_read else (_not_posted(error), ExitCode.HOST)
    except HostError as error:
        note, code = _not_posted(error), ExitCode.HOST
    else:
        if not posted.url:
            step.voice.say("warning", one_line(" ".join(posted.notes)) or NOT_POSTED)
        return _ending(step, reviewed, posted)
    step.voice.say("warning" if code == reviewed.code else "error", note)
    # A closed gate is what the reader must see first.
    worst = reviewed.code if reviewed.code == ExitCode.GATE else code
    return Ending(reviewed, worst, PostOutcome(notes=(note,)), _no_model(step.inputs, reviewed))


def _ending(step: WorkflowStep, reviewed: ActionReview, posted: PostOutcome | None = None) -> Ending:
    return Ending(reviewed, reviewed.code, posted or PostOutcome(), _no_model(step.inputs, reviewed))


def _no_model(inputs: Inputs, reviewed: ActionReview) -> bool:
    return inputs.keyless and reviewed.delivered.review.engine == "analyzers"


def _not_posted(error: HostError) -> str:
    known = UNKNOWN_POST if isinstance(error, HostUnknownError) else NOT_POSTED
    return f"{known[:1].upper()}{known[1:]}: {one_line(str(error))}"


def _tell(step: WorkflowStep, ending: Ending, *, to_files: bool = True) -> None:
    """The marks at lines, the outputs and the summary."""
    delivered = ending.reviewed.delivered
    marks = step.inputs.mode != "report" and not ending.posted.marks
    if marks:
        step.voice.commands(FORMATS["annotations"].render(ReportInput(delivered.review, delivered.fingerprints)))
    level = "error" if ending.code in (ExitCode.INCOMPLETE, ExitCode.PROVIDER) else "warning"
    if cause := delivered.review.provider_failure:
        step.voice.say(level, by_input(f"the model provider could not be used: {one_line(cause)}"))
    # In most modes the job is the only check: it says in any case how much was reviewed. The marks say it too.
    if is_lacking(delivered.review) and not marks:
        step.voice.say(level, delivered.review.headline)
    elif delivered.review.verdict == "nothing_to_review":
        step.voice.say("notice", delivered.review.headline)
    step.voice.line(f"{delivered.review.headline}. Check {end_of(ending)}.")
    step.voice.outputs(outputs_of(ending, _write_reports(step, delivered) if to_files else {}))
    step.voice.summary(summary_of(ending))


def _write_reports(step: WorkflowStep, delivered: DeliveredReview) -> dict[str, str]:
    """Write the formats that the Action keeps as files; their paths by the name of the format."""
    paths: dict[str, str] = {}
    for form in FORMATS.values():
        if form.action_file:
            place = step.runner.place(f"reviewbot{form.suffix}")
            try:
                place.write_text(form.render(ReportInput(delivered.review, delivered.fingerprints)), encoding="utf-8")
            except OSError as error:
                raise InputError(f"cannot write the {form.name} report: {error.strerror}") from None
            paths[form.name] = str(place)
    return paths
