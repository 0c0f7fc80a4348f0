"""The boundary of verification: whatever breaks or hangs in it, what was found is kept, and the review says so."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

from reviewbot.contracts import Gap, GapReason, WorkerResult
from reviewbot.ports import Verifier, WorkOrder
from reviewbot.supervisor.selection import VERIFIER
from reviewbot.supervisor.verifier import by_a_model_alone, verified

GRACE_S = 0.05
"""Beyond the time that is left. Models are given up when it ends, and what they have ruled on by then is to count."""

LATE = "the review's deadline left no time for it"


class GuardedVerifier:
    """Another `Verifier`, held to its promise to raise nothing, and to the time of the review."""

    def __init__(self, inner: Verifier, left_s: Callable[[], float]) -> None:
        """`left_s`: seconds in which a result must be there to be told; infinity where there is no end."""
        self._inner = inner
        self._left_s = left_s

    async def verify(self, order: WorkOrder, result: WorkerResult) -> WorkerResult:
        """The verified result; where that fails the result at its caps, with a gap for each file that this concerns."""
        limit = asyncio.timeout(self._left_s() + GRACE_S)
        try:
            async with limit:
                return await self._inner.verify(order, result)
        except Exception as error:  # noqa: BLE001 - the boundary of verification: a fault in it costs no finding
            if limit.expired():
                return _unverified(order, result, "deadline", LATE)
            # The type alone: the text of a foreign error may hold anything.
            return _unverified(order, result, "crashed", f"{type(error).__name__} in the verifier")


def _unverified(order: WorkOrder, result: WorkerResult, reason: GapReason, why: str) -> WorkerResult:
    """The findings of programs as they are, those of models at their cap and with the reason."""
    findings = tuple(
        finding.model_copy(update={"judgement": f"not verified: {why}"}) if by_a_model_alone(finding) else finding
        for finding in verified(result).findings
    )
    open_still = Counter(finding.path for finding in findings if by_a_model_alone(finding))
    task = order.task
    gaps = [
        Gap(
            path=path,
            worker=task.worker,
            reason=reason,
            message=f"{'1 finding' if count == 1 else f'{count} findings'} could not be verified: {why}",
            task_id=task.task_id,
            tool=VERIFIER,
        )
        for path, count in open_still.items()
    ]
    return result.model_copy(update={"findings": findings, "gaps": (*result.gaps, *gaps)})
