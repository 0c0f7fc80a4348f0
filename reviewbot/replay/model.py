"""Record the answers of models that a review asked outside of its workers, and replay them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from reviewbot.domain.contracts import Usage
from reviewbot.domain.errors import (
    BudgetError,
    DeadlineError,
    EngineError,
    InputError,
    ProviderError,
    RefusedError,
    TransientError,
)
from reviewbot.domain.ports import Model, ModelReply, ModelRequest, Recorder, StopReason, UsageLedger
from reviewbot.redact.mask import redact
from reviewbot.replay.recorded_inputs import read
from reviewbot.review.trace import Event

_ERRORS: dict[str, type[EngineError]] = {
    error.__name__: error
    for error in (EngineError, TransientError, RefusedError, BudgetError, DeadlineError, ProviderError)
}


class RecordingModel:
    """A model whose answers a replay will need: the trace keeps their text, and errors as well.

    For synthesizer and critic. What workers and planner were answered shows in their outcomes.
    """

    def __init__(self, inner: Model, trace: Recorder) -> None:
        self._inner = inner
        self._trace = trace

    async def ask(self, request: ModelRequest) -> ModelReply:
        """The inner model's answer."""
        about = {"purpose": request.purpose, "subject": request.subject}
        try:
            reply = await self._inner.ask(request)
        except EngineError as error:
            self._trace.record("answered", **about, error=type(error).__name__, message=str(error))
            raise
        usage = reply.usage.model_dump(mode="json")
        self._trace.record("answered", **about, text=reply.text, stop=reply.stop, model=reply.model, usage=usage)
        return reply


class RecordedModel:
    """Gives the answers of a trace again: for each purpose and subject, in their recorded order.

    The requests themselves are not compared. They quote code, which a trace does not hold.
    """

    def __init__(self, events: Sequence[Event]) -> None:
        self._answers: dict[tuple[Any, Any], deque[Event]] = defaultdict(deque)
        self._timed_out: set[str] = set()
        for event in events:
            if event["event"] == "answered":
                self._answers[str(event.get("purpose")), str(event.get("subject"))].append(event)
            elif event["event"] == "judge_failed" and event.get("error") == TimeoutError.__name__:
                self._timed_out.add(str(event.get("subject")))

    async def ask(self, request: ModelRequest) -> ModelReply:
        """The next answer. Raises the error of then, and EngineError where the trace has no answer.

        A question that ran out of time was cancelled, so that no answer was written down, and no error either.
        """
        subject = redact(request.subject)  # as the trace was written
        waiting = self._answers[request.purpose, subject]
        if not waiting and subject in self._timed_out:
            raise DeadlineError("no answer came in time")
        if not waiting:
            raise EngineError("the trace holds no answer to this")
        event = waiting.popleft()
        if "error" in event:
            raise _ERRORS.get(str(event["error"]), EngineError)(str(event.get("message", "")))
        said = str(event.get("stop"))
        stop: StopReason = next((reason for reason in get_args(StopReason) if reason == said), "other")
        usage = read(Usage, event.get("usage"))
        return ModelReply(str(event.get("text", "")), (), stop, usage, str(event.get("model")))


class RecordingLedger:
    """A `UsageLedger` that records in the trace what a review reads from it at its end."""

    def __init__(self, inner: UsageLedger, trace: Recorder) -> None:
        self._inner = inner
        self._trace = trace

    def usage_by_purpose(self) -> Mapping[str, Usage]:
        """By purpose."""
        spent = self._inner.usage_by_purpose()
        self._trace.record("books", spent={name: usage.model_dump(mode="json") for name, usage in spent.items()})
        return spent


class RecordedUsage:
    """The `UsageLedger` of a run that is over: the usage that its trace recorded, or the sum of its calls."""

    def __init__(self, events: Sequence[Event]) -> None:
        recorded = next((event.get("spent") for event in reversed(events) if event["event"] == "books"), None)
        self._spent = _summed(events) if recorded is None else _read_all(recorded)

    def usage_by_purpose(self) -> Mapping[str, Usage]:
        """By purpose."""
        return dict(self._spent)


def _read_all(recorded: object) -> dict[str, Usage]:
    if not isinstance(recorded, dict):
        raise InputError("the usage ledger in this trace is not in the form that this version writes")
    return {str(name): read(Usage, usage) for name, usage in recorded.items()}


def _summed(events: Sequence[Event]) -> dict[str, Usage]:
    """Calls in their order; an answer that was known already is no call."""
    spent: dict[str, Usage] = {}
    for event in events:
        if event["event"] == "call" and not event.get("stored"):
            purpose = str(event.get("purpose"))
            spent[purpose] = spent.get(purpose, Usage()) + read(Usage, event.get("usage"))
    return spent
