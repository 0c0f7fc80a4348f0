"""The numbers that models stated for each claim of a review, from its trace, before anything was made of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from reviewbot.domain.contracts import Finding, WorkerResult
from reviewbot.domain.contracts.base import Confidence, Contract, Worth
from reviewbot.review.model_calibration import ModelId, PromptHash, Role

MODEL = "model:"
"""How the source of a finding begins that a model made."""


class Stated(Contract):
    """What one model stated for one claim."""

    role: Role
    model: ModelId
    prompt: PromptHash
    confidence: Confidence
    worth: Worth


def stated_in(
    events: Sequence[Mapping[str, Any]], outcomes: Iterable[WorkerResult]
) -> Callable[[Finding], list[dict[str, Any]]]:
    """What reader and judge stated for a finding of a review, before anything was made of it."""
    maps: Mapping[str, Any] = next((event["number_maps"] for event in events if event["event"] == "rules"), {})
    prompts: Mapping[str, str] = maps.get("prompts", {})
    if not prompts:
        return lambda _finding: []  # no model was asked
    readers: dict[tuple[str, int], list[tuple[str, Stated]]] = defaultdict(list)
    for found in (finding for outcome in outcomes for finding in outcome.findings):
        if found.claimed is not None and found.worth is not None and found.sources[0].startswith(MODEL):
            model = found.sources[0].removeprefix(MODEL)
            said = Stated(
                role="reader",
                model=model,
                prompt=prompts["reader"],
                confidence=found.claimed,
                worth=found.worth,
            )
            readers[found.path, found.line].append((found.message, said))
    judges = {
        (event["path"], event["line"], event["message"]): Stated(
            role="judge",
            model=event["model"],
            prompt=prompts["judge"],
            confidence=event["confidence"],
            worth=event["worth"],
        )
        for event in events
        if event["event"] == "judged"
    }

    def stated(finding: Finding) -> list[dict[str, Any]]:
        # A claim that others were joined to names their places behind its own words.
        at = readers.get((finding.path, finding.line), ())
        said = [each for words, each in at if finding.message.startswith(words)][:1]
        if ruling := judges.get((finding.path, finding.line, finding.message)):
            said.append(ruling)
        return [each.model_dump(mode="json") for each in said]

    return stated
