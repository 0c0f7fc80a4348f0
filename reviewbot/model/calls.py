"""The discipline of calls: everything that stands between those who ask a model and the one adapter that can.

    Traced        the trace has one event for each question, however it was answered
    Remembered    an answer that was paid for is not asked for again, and needs no budget
    Metered       what the budgets have no room for is not asked
    Patient       tries again, within the deadline, the rate and the number of calls at once
    adapter       one try

Remembered stands outside of Metered because a stored answer must be had also when nothing more may be spent; and
Metered outside of Patient because the tries of one call share its reservation, and a wait for room in the budget takes
no place among the calls under way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reviewbot.budget import Deadline, Ledger
from reviewbot.contracts import Tier
from reviewbot.errors import EngineError
from reviewbot.model.bucket import Bucket
from reviewbot.model.metered import Metered
from reviewbot.model.patience import Patience, Patient
from reviewbot.model.remembered import Remembered
from reviewbot.model.requests import digest
from reviewbot.ports import Clock, Journal, Model, ModelReply, ModelRequest, Recorder
from reviewbot.prices import PriceTable


@dataclass(frozen=True)
class Discipline:
    """What the calls of one run share."""

    clock: Clock
    deadline: Deadline
    ledger: Ledger
    journal: Journal
    recorder: Recorder
    models: Mapping[Tier, str]
    """The id of each tier's model."""
    prices: PriceTable = field(default_factory=PriceTable)
    patience: Patience = field(default_factory=Patience)
    bucket: Bucket | None = None
    """None: as fast as it goes."""
    origin: str = ""
    """Who serves the models, such as a base URL: an answer of one is none of another."""


def disciplined(adapter: Model, by: Discipline) -> Model:
    """The model that everybody in a run asks. For one event loop."""
    patient = Patient(adapter, by.clock, by.deadline, by.patience, by.bucket)
    metered = Metered(patient, by.ledger, by.prices, by.models)
    return Traced(Remembered(metered, by.journal, by.models, by.origin), by)


class Traced:
    """Writes `call` for every answer, and `call_failed` (with our own one line) for every question without one."""

    def __init__(self, inner: Model, by: Discipline) -> None:
        self._inner = inner
        self._by = by

    async def ask(self, request: ModelRequest) -> ModelReply:
        """As `Model.ask`."""
        begin = self._by.clock.monotonic()
        asked = {
            "purpose": request.purpose,
            "subject": request.subject,
            "tier": request.tier,
            "request": digest(request, self._by.models[request.tier], self._by.origin),
        }
        try:
            reply = await self._inner.ask(request)
        except EngineError as error:
            self._by.recorder.record(
                "call_failed", **asked, error=type(error).__name__, message=str(error), duration_ms=self._since(begin)
            )
            raise
        self._by.recorder.record(
            "call",
            **asked,
            model=reply.model,
            usage=reply.usage.model_dump(mode="json"),
            duration_ms=self._since(begin),
            stored=reply.stored,
            stop=reply.stop,
        )
        return reply

    def _since(self, begin: float) -> int:
        return round((self._by.clock.monotonic() - begin) * 1000)
