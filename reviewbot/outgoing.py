"""What leaves the process: a review, a plan or a trace, complete and masked. No door shows another."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from reviewbot.adapters.memory import SystemClock
from reviewbot.context.service import Context
from reviewbot.context.statements import Statements
from reviewbot.contracts import Finding, Plan, Review
from reviewbot.diff.language import language_of
from reviewbot.output.fingerprints import Place, PlaceOf, all_of, known_place
from reviewbot.redact import redact
from reviewbot.trace import Trace

if TYPE_CHECKING:
    from reviewbot.adapters.sqlite import SteadyJournal
    from reviewbot.ports import Snapshot

NAME_FIELDS = frozenset({"path", "file_path", "old_path", "task_id", "worker", "type"})
"""Fields of a review or trace that name something and hold no text of the change."""


MAX_WITHHELD = 500
"""Withheld findings whose definition is looked up: each look parses a file, and nobody reads more of them."""

_STATEMENT_CHARS = 4_000
"""A longer statement is a table of data: a change of one entry must not rename what is found in the others."""


def with_symbols(answer: Review, snapshot: Snapshot) -> Review:
    """The review with the definition around each finding, as far as the whole files tell it.

    Withheld findings are named as well: one that crosses the threshold tomorrow must be the same defect as today.
    """
    context = Context(snapshot)

    def named(finding: Finding) -> Finding:
        around = context.enclosing(finding.path, finding.line, finding.end_line)
        return finding if around is None else finding.model_copy(update={"symbol": around.name})

    return answer.model_copy(
        update={
            "findings": tuple(named(finding) for finding in answer.findings),
            "conflicts": tuple(
                conflict.model_copy(update={"findings": tuple(named(finding) for finding in conflict.findings)})
                for conflict in answer.conflicts
            ),
            "human": tuple(
                item if item.finding is None else item.model_copy(update={"finding": named(item.finding)})
                for item in answer.human
            ),
            "withheld": (
                *(
                    entry.model_copy(update={"finding": named(entry.finding)})
                    for entry in answer.withheld[:MAX_WITHHELD]
                ),
                *answer.withheld[MAX_WITHHELD:],
            ),
        }
    )


def places(answer: Review, snapshot: Snapshot) -> PlaceOf:
    """The statement around each finding of a review, for its fingerprint.

    Where none is known (another language, a file that does not parse, a very long statement) the finding's own lines
    are its place.
    """
    files: dict[str, Statements] = {}
    known: dict[Finding, Place] = {}
    for finding in all_of(answer):
        path = finding.path
        if path not in files:
            files[path] = Statements(snapshot.head(path) if language_of(path) == "python" else None)
        over = files[path].over(finding.line, finding.end_line)
        if over and sum(len("".join(each.code.split())) for each in over) <= _STATEMENT_CHARS:
            known[finding] = Place("\n".join(each.code for each in over), over[0].first)
    return lambda finding: known.get(finding) or known_place(finding)


def masked_review(answer: Review, journal: SteadyJournal | None = None) -> Review:
    """The review with every secret in its texts masked. The one way out: no door shows a review that did not pass."""
    if journal is not None and journal.trouble is not None:
        answer = answer.model_copy(update={"notes": (*answer.notes, journal.trouble)})
    return Review.model_validate_json(json.dumps(_masked(answer.model_dump(mode="json"))))


def masked_plan(plan: Plan) -> Plan:
    """The plan, masked likewise: its tasks hold the code of the change."""
    return Plan.model_validate_json(json.dumps(_masked(plan.model_dump(mode="json"))))


def masked_trace(trace: Trace) -> str:
    """The trace as JSON, masked likewise."""
    masked = Trace(SystemClock())
    masked.events = [{key: _masked(value, key) for key, value in event.items()} for event in trace.events]
    return masked.as_json()


def _masked(value: object, key: str = "") -> object:
    """The same JSON value with its texts masked. Names are left alone: they must go on fitting the change."""
    if isinstance(value, dict):
        return {name: _masked(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_masked(inner, key) for inner in value]
    return redact(value) if isinstance(value, str) and key not in NAME_FIELDS else value
