"""Review commits in the checkout, for pushes and manual runs. Nothing is checked out; git's objects are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from functools import partial
from typing import Protocol, TypeVar

from reviewbot import delivery, wiring
from reviewbot.action.inputs import Inputs, settings_by
from reviewbot.action.outcome import Reviewed
from reviewbot.action.runner import Runner
from reviewbot.domain.errors import InputError
from reviewbot.wording import counted

T = TypeVar("T")


class Work(Protocol):
    """Runs a coroutine to its end, and ends it in order at a stop."""

    def __call__(self, work: Callable[[], Coroutine[None, None, T]], /) -> T:
        """What `work()` returns."""


DEPTH = "actions/checkout must bring both ends of the range and what lies between them, with fetch-depth: 0"


def review_range(text: str, runner: Runner, inputs: Inputs, work: Work) -> Reviewed:
    """Review a range of the checkout, as `GitRepository.range_diff` takes it. Raises InputError and ConfigError."""
    # Only what the workflow named is known to the review; the login of a provider comes from the job.
    environ = inputs.environment(os.environ)
    with ExitStack() as closing:
        try:
            subject = wiring.from_range(runner.workspace, text, closing)
        except InputError as error:
            raise InputError(f"{error} ({DEPTH})") from None
        settings = settings_by(inputs, subject.base)
        sdk = wiring.loading(environ, settings.engine)
        run = wiring.setup(subject, settings, wiring.Given(environ=environ, sdk=sdk))
        answer = work(partial(run.review, subject.change))
        delivered = delivery.deliver(answer, subject.snapshot, run.trace)
    change = subject.change
    base = f"{change.base_sha[:12]}.." if change.base_sha else ""
    what = f"{base}{(change.head_sha or '')[:12]}, {counted(len(change.files), 'file')}"
    return Reviewed(delivered, delivery.exit_code(delivered.review, settings, run.rules), what)
