"""The two stages of a fork's review as a step of a workflow starts them: with GitHub, the environment and the log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from reviewbot import pulls, wiring
from reviewbot.action.fork_seam import Desk, inputs_of
from reviewbot.action.inputs import BEDROCK_KEY, Inputs, settings_by
from reviewbot.action.outcome import STOPPED, Posted, Reviewed
from reviewbot.action.pulls import check_not_posted, signer_of, told_of
from reviewbot.action.ranges import Work
from reviewbot.action.run import failed
from reviewbot.action.runner import Runner, Voice, runner_of
from reviewbot.action.stage_one import analyze, check_no_secret
from reviewbot.action.stage_two import review_fork
from reviewbot.adapters.github.access import Access
from reviewbot.adapters.github.client import GithubClient
from reviewbot.adapters.memory import SystemClock
from reviewbot.contracts import ChangeSet
from reviewbot.contracts.pulls import PullRef
from reviewbot.errors import ReviewbotError
from reviewbot.ports import Clock
from reviewbot.publish.marker import Signer
from reviewbot.wording import counted

ANALYZERS = {"engine": "analyzers"}
"""What stage one may use, whatever anybody says."""


_SHOWN = 12


def stage_one(environ: Mapping[str, str], work: Work) -> int:
    """Analyze the pull request of the event `pull_request`, and write the artifact. The result is the exit code."""

    def carried_out(runner: Runner, inputs: Inputs, voice: Voice, closing: ExitStack) -> int:
        check_no_secret(environ)
        client = closing.enter_context(GithubClient(Access(inputs.token, runner.api_url)))
        analyzing = replace(inputs, values={**inputs.values, **ANALYZERS})
        terms = pulls.Terms(settings=partial(settings_by, analyzing), to_post=False)
        office = pulls.Office(client, Signer.from_environment({}))
        return analyze(Desk(runner, inputs, voice, GithubPulls(office, runner.repository, terms, work, closing)))

    return _step(environ, carried_out)


def stage_two(environ: Mapping[str, str], work: Work, clock: Clock | None = None) -> int:
    """Review and post for the event `workflow_run`. The result is the exit code."""

    def carried_out(runner: Runner, inputs: Inputs, voice: Voice, closing: ExitStack) -> int:
        client = closing.enter_context(GithubClient(Access(inputs.token, runner.api_url)))
        given = wiring.Given(environ=inputs.environment(environ))
        terms = pulls.Terms(given=given, settings=partial(settings_by, inputs))
        office = pulls.Office(client, signer_of(inputs), clock=clock or SystemClock())
        desk = Desk(runner, inputs, voice, GithubPulls(office, runner.repository, terms, work, closing))
        return review_fork(desk, client)

    return _step(environ, carried_out)


def _step(environ: Mapping[str, str], carried_out: Callable[[Runner, Inputs, Voice, ExitStack], int]) -> int:
    """One step, which tells of an error that is raised on purpose in all places of the run."""
    runner = runner_of(environ)
    voice, why = Voice(runner, sys.stdout), STOPPED
    try:
        inputs = inputs_of(environ)
        voice = Voice(runner, sys.stdout, (*inputs.secrets, environ.get(BEDROCK_KEY, "")))
        with ExitStack() as closing:
            code = carried_out(runner, inputs, voice, closing)
        why = ""
    except ReviewbotError as error:
        why, code = str(error), error.exit_code
    finally:
        if why:
            failed(voice, why)
    return code


@dataclass(frozen=True)
class GithubPulls:
    """The pull requests of one repository of GitHub."""

    office: pulls.Office
    repository: str
    terms: pulls.Terms
    work: Work
    closing: ExitStack

    def fetch(self, number: int) -> GithubPull:
        """Read one: what it is, its change, and what its base side says of the review."""
        ref = self.work(partial(pulls.fetch, self.office, self.repository, number))
        prepared = pulls.prepare(self.office, ref, self.terms, self.closing)
        return GithubPull(self.office, self.work, prepared)


@dataclass(frozen=True)
class GithubPull:
    """One of them, read."""

    office: pulls.Office
    work: Work
    prepared: pulls.Prepared

    @property
    def pull(self) -> PullRef:
        """Which it is, and at which commits."""
        return self.prepared.ref

    @property
    def change(self) -> ChangeSet:
        """All of its change."""
        return self.prepared.subject.change

    def review(self) -> Reviewed:
        """Review it."""
        self.work(partial(check_not_posted, self.office, self.prepared))
        made = self.work(partial(pulls.carry_out, self.office, self.prepared))
        ref, number = self.pull, counted(len(self.change.files), "file")
        what = f"#{ref.number} of a fork, {ref.base_sha[:_SHOWN]}..{ref.head_sha[:_SHOWN]}, {number}"
        return Reviewed(made.told, made.code, what, from_fork=True, notes=made.value.notes, value=made.value)

    def post(self, reviewed: Reviewed) -> Posted:
        """Post it, with what has been added to its lists and notes."""
        if reviewed.value is None:
            raise ReviewbotError("there is no review of a pull request to post")
        value = pulls.retold(reviewed.value, reviewed.told)
        return told_of(self.work(partial(pulls.post, self.office, value)))
