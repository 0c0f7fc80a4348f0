"""Review what a workflow run is about: a pull request (`ActionPulls`), or a range of commits (`review_range`).

A pull request is read from the API and its review is posted. No file of a checkout is read, only git's objects: a file
that the API lists is not fetched where an object of its hash is there. A range, for pushes and manual runs, is read
from git's objects as well; nothing is checked out.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import os
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from functools import partial
from typing import Protocol, TypeVar

from reviewbot import delivery, wiring
from reviewbot.action.event import MOVED, ForkRun, find_number
from reviewbot.action.inputs import Inputs, settings_by
from reviewbot.action.outcome import ActionReview, PostOutcome
from reviewbot.action.results import read_step_results
from reviewbot.action.runner import JobRunner
from reviewbot.domain.contracts.pulls import PullPosted
from reviewbot.domain.errors import (
    AlreadyPostedError,
    ConfigError,
    EmptyChangeError,
    HostMovedError,
    InputError,
    ReviewbotError,
)
from reviewbot.hosts.github.auth.access import GithubAccess
from reviewbot.hosts.github.host import github_host
from reviewbot.llm.preload import preload_models
from reviewbot.memory.decisions import decisions_of
from reviewbot.memory.recall import Recall
from reviewbot.publish.marker import KEY_VARIABLE, Signer
from reviewbot.pull_requests import post
from reviewbot.pull_requests.fetch import fetch
from reviewbot.pull_requests.host_session import HostSession, RunOptions
from reviewbot.pull_requests.review import Prepared, carry_out, prepare
from reviewbot.wording import with_count

T = TypeVar("T")


class Work(Protocol):
    """Runs a coroutine to its end, and ends it in order at a stop."""

    def __call__(self, work: Callable[[], Coroutine[None, None, T]], /) -> T:
        """What `work()` returns."""


DEPTH = "actions/checkout must bring both ends of the range and what lies between them, with fetch-depth: 0"


def review_range(text: str, runner: JobRunner, inputs: Inputs, work: Work) -> ActionReview:
    """Review a range of the checkout, as `GitRepository.range_diff` takes it. Raises InputError and ConfigError."""
    # Only what the workflow named is known to the review; the login of a provider comes from the job.
    environ = inputs.environment(os.environ)
    with ExitStack() as closing:
        try:
            subject = wiring.from_range(runner.workspace, text, closing)
        except InputError as error:
            raise InputError(f"{error} ({DEPTH})") from None
        settings = settings_by(inputs, subject.base)
        preload_models(environ, settings.engine)
        results = read_step_results(inputs.results, runner)
        given = wiring.RunInputs(environ=environ, results=results)
        run = wiring.setup(subject, settings, given)
        answer = work(partial(run.review, subject.change))
        # What a range has is reviewed once: decisions count, and no ledger is kept.
        decisions, notes = decisions_of(subject.base, dt.datetime.now(dt.UTC).date())
        memory = Recall(subject.change, subject.change.head_sha or "", "", decisions=decisions)
        delivered = delivery.deliver(answer, subject.snapshot, run.trace, None, notes, memory)
    change = subject.change
    base = f"{change.base_sha[:12]}.." if change.base_sha else ""
    what = f"{base}{(change.head_sha or '')[:12]}, {with_count(len(change.files), 'file')}"
    return ActionReview(delivered, delivery.exit_code(delivered.review, settings, run.rules), what)


OUTCOMES = {
    "already_posted": "This head has its review already; nothing was posted again.",
    "head_moved": "Nothing was posted: the pull request has a newer head, whose own run reviews it.",
    "busy": "Nothing was posted: another run is posting the review of this head.",
}
"""The outcome of posting, where it is not "posted"."""


class ActionPulls:
    """One pull request in one run, read and reviewed through the API. Blocking; `closing` closes what it opens."""

    def __init__(self, runner: JobRunner, inputs: Inputs, work: Work, closing: ExitStack) -> None:
        self._runner = runner
        self._inputs = inputs
        self._work = work
        self._closing = closing
        self._session: HostSession | None = None

    def review(self, number: int) -> ActionReview:
        """Review it, from the API's own data alone. Raises ReviewbotError."""
        self._session = self._opened()
        return self._work(partial(self._review, self._session, number))

    def post(self, reviewed: ActionReview) -> PostOutcome:
        """Post what was reviewed. Raises HostError where GitHub does not take it."""
        if self._session is None or reviewed.value is None:
            raise ReviewbotError("there is no review of a pull request to post")
        return to_posted(self._work(partial(post.post, self._session, reviewed.value)))

    def review_fork(self, run: ForkRun) -> ActionReview:
        """Review the pull request of a fork's run. Raises EmptyChangeError where none is due, and ReviewbotError."""
        self._session = self._opened()
        number = find_number(self._session.host, run)
        try:
            return self._work(partial(self._review, self._session, number, run))
        except HostMovedError:
            raise EmptyChangeError(MOVED) from None

    async def _review(self, session: HostSession, number: int, run: ForkRun | None = None) -> ActionReview:
        environ = self._inputs.environment(os.environ)
        preload_models(environ, str(self._inputs.values.get("engine") or "") or None)
        options = RunOptions(
            # Beside the key of a fork's review nothing is read that another step may have fetched.
            inputs=wiring.RunInputs(
                environ=environ,
                checkout=None if run else self._runner.workspace,
                results=read_step_results(self._inputs.results, self._runner),
            ),
            settings=partial(settings_by, self._inputs),
            to_post=self._inputs.posts,
        )
        ref = await fetch(session, self._runner.repository, number)
        if run is not None and (ref.repository_id, ref.head_sha) != (run.repository_id, run.head_sha):
            raise EmptyChangeError(MOVED)
        with ExitStack() as closing:
            prepared = await asyncio.to_thread(prepare, session, ref, options, closing)
            await check_not_posted(session, prepared)
            done = await carry_out(session, prepared)
        what = f"pull request {number}, {ref.base_sha[:12]}..{ref.head_sha[:12]}"
        return ActionReview(done.delivered, done.code, what, value=done.value)

    def _opened(self) -> HostSession:
        if not self._inputs.token:
            raise ConfigError("the input github-token is empty: a pull request is read through GitHub's API")
        signer = Signer.from_environment({KEY_VARIABLE: self._inputs.marker_key})
        host = self._closing.enter_context(github_host(GithubAccess(self._inputs.token, self._runner.api_url)))
        return HostSession(host, signer)


async def check_not_posted(session: HostSession, prepared: Prepared) -> None:
    """Raise AlreadyPostedError where the review stands there, so that none is made that would not be posted."""
    before = await post.find_posted(session, prepared)
    if before is not None:
        raise AlreadyPostedError(f"{OUTCOMES['already_posted']} It was not reviewed again: {before.url}", before.url)


def to_posted(posted: PullPosted) -> PostOutcome:
    """The outcome of posting, as a message."""
    note = OUTCOMES.get(posted.outcome)
    return PostOutcome(posted.url, marks=bool(posted.check_url), notes=(*((note,) if note else ()), *posted.notes))
