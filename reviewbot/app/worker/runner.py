"""Carry out one run: fetch, review, post; each step is recorded, and tried again where that may help."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Protocol
from uuid import uuid4

from reviewbot.app.feedback.apply_decision import record_result
from reviewbot.app.runtime.logs import run_named
from reviewbot.app.scheduling.scheduler import Scheduler
from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.durable.human_queue import HumanQueue
from reviewbot.app.store.durable.intents import DurableIntents
from reviewbot.app.store.durable.journal import DurableJournal
from reviewbot.app.store.durable.rate import SharedRate
from reviewbot.app.store.durable.runs import Heads, Runs, State
from reviewbot.app.worker.work import End, Json, ReviewRequest, RunContext, RunSteps, StoredReview, UnwantedError
from reviewbot.domain.errors import (
    HostAccessError,
    HostError,
    HostInvalidError,
    HostLimitError,
    HostMissingError,
    HostMovedError,
    ReviewbotError,
)
from reviewbot.domain.ports import Journal
from reviewbot.redact.mask import redact

logger = logging.getLogger("reviewbot.app.worker")

MAX_ATTEMPTS = 5
"""Executions of one run of which none came further than those before. What kills its worker so often will do so again:
it is parked, and shown. A run that only was at work when others killed the worker came further."""

MAX_TRIES = 5
"""Of one step, where the host could not be reached or asked us to wait."""

FIRST_WAIT_S = 5.0
"""Before the second try; it doubles from try to try."""

MAX_WAIT_S = 300.0
"""Between two tries. A run that waits takes up a place, so that it does not wait for hours."""

LOOK_S = 1.0
"""How often a review under way looks whether it is still wanted."""

MOVED = "the head moved on meanwhile"
NO_LONGER = "it was no longer wanted, or another worker had taken it over"

_FINAL_ERRORS = (HostAccessError, HostMissingError, HostInvalidError)
"""Of the host; no later try is answered otherwise."""


class Durable(Protocol):
    """What the durable engine gives to a run."""

    def step(self, name: str, act: Callable[[], Json]) -> Json:
        """What `act` gives, recorded: after a crash it is not carried out again."""

    def sleep(self, seconds: float) -> None:
        """Wait; after a crash only for the rest."""


@dataclass(frozen=True)
class RetryTimings:
    """Waits; tests need not sit through them."""

    first_wait_s: float = FIRST_WAIT_S
    longest_wait_s: float = MAX_WAIT_S
    look_s: float = LOOK_S


class _Noticed:
    """A journal that reports the first new entry of an execution."""

    def __init__(self, inner: Journal, tell: Callable[[], None]) -> None:
        self._inner = inner
        self._tell: Callable[[], None] | None = tell

    def get(self, key: str) -> str | None:
        return self._inner.get(key)

    def put(self, key: str, value: str) -> None:
        self._inner.put(key, value)
        tell, self._tell = self._tell, None
        if tell is not None:
            tell()


class Runner:
    """Carries out runs in this worker, each in a thread of the engine."""

    def __init__(
        self,
        database: Database,
        steps: RunSteps,
        scheduler: Scheduler,
        executor: str,
        timings: RetryTimings | None = None,
    ) -> None:
        self._database = database
        self._steps = steps
        self._scheduler = scheduler
        self._executor = executor
        self._timings = timings or RetryTimings()
        self._heads = Heads(database)
        self._runs = Runs(database)

    def review(self, run_id: str, payload: Json, durable: Durable) -> Json:
        """One execution of a run; how it ended.

        The same steps in the same order each time: the engine knows a recorded step by its place.
        """
        with run_named(run_id):
            owner = uuid4().hex
            attempts = self._runs.begin(run_id, owner, self._executor)
            if attempts is None:
                return {"end": asdict(End("superseded", NO_LONGER))}
            request = ReviewRequest.from_json(payload)
            try:
                return self._carry_out(self._run(run_id, request, owner), attempts, durable)
            finally:
                self._scheduler.clean_up(run_id, owner, request.installation)

    def _carry_out(self, run: RunContext, attempts: int, durable: Durable) -> Json:
        if attempts > MAX_ATTEMPTS:
            self._runs.never_began(run.run_id, run.owner)
            return self._close(run, End("parked", f"its worker died {MAX_ATTEMPTS} times over the same part of it"))
        value: Json = {}
        for name, act in (("fetch", self._fetch), ("review", self._review), ("post", self._post)):
            value = self._stage(name, partial(self._carry_out_wanted, run, act, value), durable, run)
            if "end" in value:
                return self._close(run, End(**value["end"]))
        raise AssertionError("the last step always ends the run")

    def ask(self, run_id: str, payload: Json, durable: Durable) -> Json:
        """Resolve the head of a review request, and submit it."""
        request = ReviewRequest.from_json(payload)

        def resolve() -> Json:
            resolved = None if self._steps.resolve is None else self._steps.resolve(request)
            if resolved is None:
                return {
                    "end": asdict(End("refused", "it was answered, or is not by this person, not here, or not open"))
                }
            return {"order": resolved.as_json()}

        with run_named(run_id):
            found = self._stage("resolve", resolve, durable)
            if "order" in found:
                self._scheduler.submit(ReviewRequest.from_json(found["order"]))
            else:
                logger.info("no review was ordered: %s", found["end"]["reason"])
            return found

    def close(self, payload: Json, durable: Durable) -> Json:
        """End the check run that a run, stopped after it had begun, may have left in progress on its head."""
        request, run = ReviewRequest.from_json(payload), str(payload.get("run", ""))

        def act() -> Json:
            # A run at work on this head, because it came back or is that of another pull request, ends it.
            if self._steps.close is not None and not self._runs.at_work(request.repository_id, request.head_sha, run):
                self._steps.close(request)
            return {}

        with run_named(run):
            return self._stage("close", act, durable)

    def decide(self, name: str, payload: Json, durable: Durable) -> Json:
        """Carry out a decision of the human queue, unless a later row of its log says that it was."""
        position = payload["position"]

        def act() -> Json:
            item = HumanQueue(self._database).get(str(payload["item"]))
            if item is None or item.last.position != position or self._steps.decide is None:
                return {}
            return self._steps.decide(item)

        with run_named(name):
            found = self._stage("decide", act, durable)
            if "end" in found:
                found = {"action": "failed", "reason": found["end"]["reason"]}
            if "order" in found:
                self._scheduler.submit(ReviewRequest.from_json(found["order"]))
            item = HumanQueue(self._database).get(str(payload["item"]))
            if item is not None and item.last.position == position and "action" in found:
                record_result(self._database, item, found)
                logger.info("a decision was carried out: %s", found["action"])
            return found

    def _run(self, run_id: str, request: ReviewRequest, owner: str) -> RunContext:
        def wanted() -> bool:
            return self._heads.wanted_run(request.pull) == run_id and self._runs.owner(run_id) == owner

        def further() -> None:
            self._runs.came_further(run_id, owner)

        return RunContext(
            run_id=run_id,
            request=request,
            owner=owner,
            journal=_Noticed(DurableJournal(self._database, request.installation, request.repository_id), further),
            intents=DurableIntents(self._database, request.installation),
            wanted=wanted,
            keep=partial(self._runs.cost, run_id, 0.0, 0),
            rate=partial(SharedRate, self._database),
        )

    def _stage(self, name: str, act: Callable[[], Json], durable: Durable, run: RunContext | None = None) -> Json:
        """One coarse step, tried again after what may pass. The tries of a run are counted, their reason is kept."""
        waits = False

        def try_once() -> Json:
            """Not called where the step is recorded, so that after a crash no try counts twice."""
            nonlocal waits
            if run is not None and waits:
                self._runs.try_again(run.run_id, run.owner)
            found, waited = self._guarded(act), waits
            waits = "again" in found
            if run is not None and (waits or waited):
                self._runs.wait(run.run_id, run.owner, redact(str(found["reason"])) if waits else "")
            return found

        found: Json = {}
        for number in range(MAX_TRIES):
            found = durable.step(name, try_once)
            if "again" not in found:
                return found
            growing = self._timings.first_wait_s * 2**number
            if number + 1 < MAX_TRIES:
                durable.sleep(min(max(growing, found["again"]), self._timings.longest_wait_s))
        return {"end": found.get("end_after") or asdict(End("failed", found["reason"]))}

    def _guarded(self, act: Callable[[], Json]) -> Json:
        """What a step gives, or what its error becomes. Nothing but JSON leaves a step."""
        try:
            return act()
        except UnwantedError:
            return {"end": asdict(End("superseded", NO_LONGER))}
        except _FINAL_ERRORS as error:
            return _failed(error)
        except HostError as error:
            asked = error.retry_after_s if isinstance(error, HostLimitError) else None
            logger.warning("the host (%s): %s", type(error).__name__, redact(str(error)))
            return {"again": asked or 0.0, "reason": str(error)}
        except ReviewbotError as error:
            return _failed(error)
        except Exception as error:  # noqa: BLE001 - the worker boundary: an internal error ends one run, and no worker
            # The error's own text may quote reviewed code.
            where = traceback.extract_tb(error.__traceback__)[-1]
            fault = f"internal fault ({type(error).__name__} in {where.name}, line {where.lineno})"
            logger.error("%s", fault)  # noqa: TRY400 - the trace back would quote code
            return {"end": asdict(End("failed", fault))}

    def _carry_out_wanted(self, run: RunContext, act: Callable[[RunContext, Json], Json | End], before: Json) -> Json:
        """What a step gives, or its end, as JSON; it looks first whether it is wanted."""
        if not run.wanted():
            raise UnwantedError
        try:
            found = act(run, before)
        except HostMovedError as error:
            found = End("moved", head_sha=error.head_sha)
        return self._ended(run, found) if isinstance(found, End) else found

    def _fetch(self, run: RunContext, _before: Json) -> Json | End:
        found = self._steps.fetch(run)
        self._runs.came_further(run.run_id, run.owner)
        return found if isinstance(found, End) else {"fetched": found}

    def _review(self, run: RunContext, before: Json) -> Json | End:
        found = asyncio.run(self._review_while_wanted(run, before["fetched"]))
        if isinstance(found, End):
            return found
        self._runs.cost(run.run_id, found.dollars, found.tokens, found.trace, found.workers)
        self._runs.came_further(run.run_id, run.owner)
        return {"reviewed": found.value}

    async def _review_while_wanted(self, run: RunContext, fetched: Json) -> StoredReview | End:
        """The review. Raises UnwantedError where it was superseded before its end, and stopped."""
        task = asyncio.ensure_future(self._steps.review(run, fetched))
        while not task.done():
            await asyncio.wait({task}, timeout=self._timings.look_s)
            if not task.done() and not await asyncio.to_thread(run.wanted):
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                raise UnwantedError
        return task.result()

    def _post(self, run: RunContext, before: Json) -> End:
        found = self._steps.post(run, before["reviewed"])
        if isinstance(found, End):
            return found
        # At once: of a run that is superseded before its end is written down it would not be known that it has posted.
        self._over(run, "posted", "", found.url)
        return End("posted", url=found.url)

    def _ended(self, run: RunContext, end: End) -> Json:
        """How a step ends a run. A host that reports a head whose run came before lags behind: ask again."""
        if end.state == "moved" and self._runs.on_head(run.request.pull, end.head_sha):
            return {"again": 0.0, "reason": MOVED, "end_after": asdict(end)}
        return {"end": asdict(end)}

    def _close(self, run: RunContext, end: End) -> Json:
        """Write down how a run ended, and see to what follows from it."""
        if end.state == "moved":
            self._follow(run.request, end.head_sha)
        elif end.state in ("failed", "parked") and self._steps.conclude is not None:
            # No recorded step: a parked run has other ones in this place.
            self._guarded(partial(self._conclude, self._steps.conclude, run, end))
        state: State = "superseded" if end.state == "moved" else end.state
        reason = redact(end.reason or (MOVED if end.state == "moved" else ""))
        self._over(run, state, reason, end.url)
        level = logging.WARNING if end.state in ("failed", "parked") else logging.INFO
        logger.log(level, "ended: %s%s", end.state, f" ({reason})" if reason else "")
        return {"end": asdict(end)}

    def _over(self, run: RunContext, state: State, reason: str, url: str = "") -> None:
        """Write down the end, and count it the first time."""
        if self._runs.end(run.run_id, state, reason, url, owner=run.owner) and self._steps.count is not None:
            record = self._runs.get(run.run_id)
            self._steps.count(state, 0.0 if record is None or record.ended is None else record.ended - record.created)

    @staticmethod
    def _conclude(say: Callable[[RunContext, End], None], run: RunContext, end: End) -> Json:
        if run.wanted():
            say(run, end)
        return {}

    def _follow(self, request: ReviewRequest, head: str) -> None:
        """Request a review of the head that the host names, where it is another one, if none newer is wanted."""
        if head and head != request.head_sha:
            moved = {"head_sha": head, "again": "", "as_of": 0, "refusal": "", "cause": "moved"}
            self._scheduler.submit(ReviewRequest.from_json({**request.as_json(), **moved}))


def _failed(error: ReviewbotError) -> Json:
    """The end of a run by an error whose text is ours; which kind it was stands in the log alone."""
    reason = redact(str(error))
    logger.warning("%s: %s", type(error).__name__, reason)
    return {"end": asdict(End("failed", reason))}
