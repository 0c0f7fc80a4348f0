"""A run of the Action in this process, with a pull request that is played."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from reviewbot.action.event import ForkRun
from reviewbot.action.inputs import read_inputs
from reviewbot.action.outcome import ActionReview, PostOutcome
from reviewbot.action.pulls import ActionPulls
from reviewbot.action.run import WorkflowStep, act
from reviewbot.action.runner import StepOutput, runner_of
from reviewbot.cli.running import run_to_end
from reviewbot.delivery import DeliveredReview
from reviewbot.domain.contracts import Review
from reviewbot.domain.errors import ExitCode, HostError, ReviewbotError
from reviewbot.memory.fingerprints import of_review
from tests.action_runner.composite import outputs_in

T = TypeVar("T")

URL = "https://github.com/acme/shop/pull/1#pullrequestreview-9"


def reviewed(review: Review, code: ExitCode = ExitCode.REVIEWED) -> ActionReview:
    return ActionReview(DeliveredReview(review, of_review(review)), code, "pull request 1, aaa..bbb")


def given(answer: T | ReviewbotError) -> T:
    """What a test lets happen: a value, or an error that is raised."""
    if isinstance(answer, ReviewbotError):
        raise answer
    return answer


@dataclass
class PlayedPulls(ActionPulls):
    """A pull request whose review and fate are given."""

    answer: ActionReview | ReviewbotError
    fate: PostOutcome | HostError = field(default_factory=lambda: PostOutcome(URL, marks=True))
    asked: list[int | ForkRun] = field(default_factory=list)
    posts: int = 0

    def review(self, number: int) -> ActionReview:
        self.asked.append(number)
        return given(self.answer)

    def review_fork(self, run: ForkRun) -> ActionReview:
        self.asked.append(run)
        return given(self.answer)

    def post(self, reviewed: ActionReview) -> PostOutcome:
        assert reviewed is self.answer
        self.posts += 1
        return given(self.fate)


@dataclass
class ActionResult:
    """What a run said in each place."""

    code: int
    outputs: dict[str, str]
    summary: str
    log: str


Run = Callable[..., ActionResult]


def played_run(folder: Path) -> Run:
    """Acts on an event in a folder; the workspace is `folder`/work."""

    def act_on(event: str, payload: object, pulls: PlayedPulls | None = None, **inputs: str) -> ActionResult:
        files = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_EVENT_PATH")}
        files["GITHUB_EVENT_PATH"].write_text(json.dumps(payload))
        places = {"GITHUB_WORKSPACE": folder / "work", "RUNNER_TEMP": folder, **files}
        named = {"GITHUB_EVENT_NAME": event, "GITHUB_REPOSITORY": "acme/shop", "GITHUB_API_URL": "http://127.0.0.1:1"}
        runner = runner_of(named | {name: str(path) for name, path in places.items()})
        read = read_inputs({f"INPUT_{name.upper()}": text for name, text in inputs.items()})
        log = io.StringIO()
        voice = StepOutput(runner, log, read.secrets)
        played = pulls or PlayedPulls(HostError("no pull request is played"))
        code = act(WorkflowStep(runner, read, voice, run_to_end, lambda: played))
        texts = [files[name].read_text() if files[name].exists() else "" for name in list(files)[:2]]
        return ActionResult(code, outputs_in(texts[0]), texts[1], log.getvalue())

    return act_on
