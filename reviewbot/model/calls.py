"""The discipline of calls: everything that stands between those who ask a model and the one adapter that can.

    Traced        the trace has one event for each question, however it was answered
    Remembered    an answer that was paid for is not asked for again, and needs no budget
    Admitted      what the budgets have no room for is refused before it waits for anything
    Patient       tries again, within the deadline, the rate and the number of calls at once
    Metered       each try needs room in the budgets, and is in the books however it ends
    adapter       one try

Remembered stands outside of all budgets because a stored answer must be had also when nothing more may be spent; and
Metered inside of Patient because each try is sent and may be charged, and a wait for room in the budgets, too, must end
with the deadline.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from reviewbot.budget import Deadline, Ledger
from reviewbot.contracts import Tier
from reviewbot.errors import EngineError
from reviewbot.model.bucket import Rate
from reviewbot.model.metered import Admitted, Meter, Metered
from reviewbot.model.patience import Patience, Patient
from reviewbot.model.remembered import Remembered
from reviewbot.model.requests import digest
from reviewbot.ports import Clock, Journal, Model, ModelReply, ModelRequest, Recorder
from reviewbot.prices import PriceTable

STOPPED = "nobody waits for the answer any more"
"""Of a question that was cancelled, by a task's time or by the end of the run."""


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
    bucket: Rate | None = None
    """None: as fast as it goes."""
    origin: str = ""
    """Who serves the models, such as a base URL: an answer of one is none of another."""


def disciplined(adapter: Model, by: Discipline) -> Model:
    """The model that everybody in a run asks. For one event loop."""
    meter = Meter(by.ledger, by.prices, by.models)
    patient = Patient(Metered(adapter, meter), by.clock, by.deadline, by.patience, by.bucket)
    return Traced(Remembered(Admitted(patient, meter), by.journal, by.models, by.origin), by)


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
        except (EngineError, asyncio.CancelledError) as error:
            why = str(error) if isinstance(error, EngineError) else STOPPED
            self._by.recorder.record(
                "call_failed", **asked, error=type(error).__name__, message=why, duration_ms=self._since(begin)
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
