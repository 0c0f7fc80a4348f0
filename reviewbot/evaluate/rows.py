"""The result of one case, as the fields of a row of results.

Every finding has a row: shown, withheld, for a person or in conflict; a scorer chooses its own threshold of confidence.
`stated_numbers` reads from the trace the numbers that models stated for each claim, before any calibration.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter

from reviewbot.domain.contracts import Escalation, Finding, Outcome, Plan, Review, Severity, WorkerResult
from reviewbot.domain.contracts.base import Confidence, Contract, Worth
from reviewbot.domain.contracts.results import NOT_RUN
from reviewbot.redact.mask import redact
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


def stated_numbers(
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


Json = dict[str, Any]

SEVERITIES: Mapping[Severity, str] = {"critical": "critical", "warning": "medium", "info": "low"}
"""In the words that rows of results use. "high" is not used: three severities cannot stand for four."""

_OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)


SET_ASIDE = frozenset({"over_cap", "minor"})
"""Places of findings that a review holds for true and does not show."""
NOT_SHOWN = 79
"""What a scorer reads as their confidence: it takes everything of 80 and more for shown."""


def review_fields(review: Review, events: Sequence[Mapping[str, Any]]) -> Json:
    """The row of a whole review. `events` are those of its trace, which name the tools that ran."""
    outcomes = _outcomes(events)
    return _fields(review, _placed(review, stated_numbers(events, outcomes)), outcomes)


def worker_fields(review: Review, events: Sequence[Mapping[str, Any]]) -> Json:
    """The row with the findings as the workers gave them: verified, and nothing merged or weighed."""
    outcomes = _outcomes(events)
    # What an escalation brought so far comes again with the answer of the next attempt.
    found = dict.fromkeys(finding for outcome in outcomes for finding in outcome.findings)
    stated = stated_numbers(events, outcomes)
    return _fields(review, [finding_row(finding, stated=stated(finding)) for finding in found], outcomes)


def plan_fields(plan: Plan) -> Json:
    """The row of a plan, which has no findings yet."""
    tasks = [{"id": task.task_id, "worker": task.worker, "file": task.payload.file_path} for task in plan.tasks]
    unlooked = [entry.model_dump(mode="json") for entry in plan.unlooked]
    files = [entry.model_dump(mode="json") for entry in plan.files if entry.reason]
    return {
        "findings": [],
        "plan": {"origin": plan.origin, "reason": plan.reason, "tasks": tasks, "unlooked": unlooked} | {"files": files},
    }


def finding_row(finding: Finding, place: str = "worker", stated: Sequence[Json] = ()) -> Json:
    """One finding; `place` says where in the review it stands, `stated` is what models stated for it."""
    return {
        "file": finding.path,
        "line": finding.line,
        "end_line": finding.end_line,
        "also": list(finding.also),
        "type": finding.type,
        "category": finding.category,
        "severity": SEVERITIES[finding.severity],
        "confidence": min(finding.confidence, NOT_SHOWN) if place in SET_ASIDE else finding.confidence,
        "judged": finding.confidence,
        "text": redact(" ".join(filter(None, (finding.message, finding.trigger, finding.contract, finding.symptom)))),
        "cwe": None if finding.cwe is None else f"CWE-{finding.cwe}",
        "rule": finding.rule,
        "sources": list(finding.sources),
        "place": place,
        "stated": list(stated),
    }


def _fields(review: Review, findings: list[Json], outcomes: Iterable[WorkerResult]) -> Json:
    # A tool that could not look, or had nothing to look at, may not know its version either.
    runs_by = [(run, outcome.metadata.readers) for outcome in outcomes for run in outcome.metadata.tool_runs]
    runs = {run.tool: run.version for run, names in runs_by if run.tool in names and run.version != NOT_RUN}
    return {
        "verdict": review.verdict,
        "gaps": len(review.gaps),
        "tokens": review.usage.input_tokens + review.usage.output_tokens,
        "tool_versions": dict(sorted(runs.items())),
        "findings": findings,
    }


def _placed(review: Review, stated: Callable[[Finding], list[Json]]) -> list[Json]:
    """All findings of a review, each once."""
    placed = [(finding, "shown") for finding in review.findings]
    placed += [(finding, "conflict") for conflict in review.conflicts for finding in conflict.findings]
    placed += [(item.finding, "person") for item in review.human if item.finding is not None]
    placed += [(entry.finding, entry.reason) for entry in review.withheld]
    first: dict[Finding, str] = {}
    for finding, place in placed:
        first.setdefault(finding, place)
    return [finding_row(finding, place, stated(finding)) for finding, place in first.items()]


def _outcomes(events: Sequence[Mapping[str, Any]]) -> list[WorkerResult]:
    """What the workers answered, from the trace of the run; what an escalation brought so far included."""
    return list(_results(event for event in events if event["event"] == "result"))


def _results(events: Iterable[Mapping[str, Any]]) -> Iterator[WorkerResult]:
    for event in events:
        outcome = _OUTCOME.validate_json(json.dumps(event["outcome"]))
        if isinstance(outcome, WorkerResult):
            yield outcome
        elif isinstance(outcome, Escalation) and outcome.partial_result is not None:
            yield outcome.partial_result
