"""Record and read a review's inputs beside the workers' answers: the change without its code, and the rules.

Values of a trace are validated as strictly as any other input from outside.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from reviewbot import __version__
from reviewbot.domain.contracts import ChangeSet, FileChange, ReadBefore, Suppression
from reviewbot.domain.contracts.base import first_fault
from reviewbot.domain.errors import InputError
from reviewbot.domain.ports import Recorder
from reviewbot.review.calibration import Calibration
from reviewbot.review.combine.visibility import Rules
from reviewbot.review.feedback import FeedbackTable
from reviewbot.review.model_calibration import NumberMaps
from reviewbot.review.trace import Event
from reviewbot.review.verify.verifier import JointConfidence

M = TypeVar("M", bound=BaseModel)


def first_of(events: Sequence[Event], kind: str) -> Event:
    """The first event of a kind. Raises InputError where there is none."""
    found = next((event for event in events if event["event"] == kind), None)
    if found is None:
        raise InputError(f"the trace has no record of the kind {kind!r}: its run ended before it wrote one")
    return found


def read(contract: type[M], value: object) -> M:
    """A value as a contract. Raises InputError."""
    try:
        return contract.model_validate_json(json.dumps(value))
    except ValidationError as error:
        raise InputError(f"a {contract.__name__} in this trace does not fit at {first_fault(error)[0][:80]}") from None


JointRow = tuple[str, str, int]
"""Tools and rules, each joined by "+", and the confidence that was counted for places of which all of these speak."""


class RecordedInputs(NamedTuple):
    """Inputs that decide, beside the workers' answers, what a review says."""

    rules: Rules
    joint: tuple[JointRow, ...]
    """What `rules.together` knows."""
    engine: str
    notes: tuple[str, ...]
    synthesizer: str = "rules"
    """Who made the review: "rules", a "judge", or rules from readers' "claims"."""
    version: str = __version__
    refused: tuple[Suppression, ...] = ()
    """Comments that silence nothing."""
    number_maps: NumberMaps = NumberMaps()
    """What takes the place of the numbers that models state."""


def joint_rows(table: Calibration) -> tuple[JointRow, ...]:
    """The rows of a table from which the trust in several tools together follows."""
    return tuple((row.tool, row.rule, row.confidence) for row in table.rows.values() if "+" in row.tool and row.counted)


def record_inputs(trace: Recorder, change: ChangeSet, given: RecordedInputs) -> None:
    """Record the change and the rules, before the review begins."""
    bare = change.model_copy(update={"description": "", "files": tuple(_without_code(file) for file in change.files)})
    trace.record("change", change=bare.model_dump(mode="json"))
    trace.record(
        "rules",
        version=given.version,
        engine=given.engine,
        synthesizer=given.synthesizer,
        notes=list(given.notes),
        thresholds=dict(given.rules.thresholds),
        max_findings=given.rules.max_findings,
        together=[list(row) for row in given.joint],
        refused=[entry.model_dump(mode="json") for entry in given.refused],
        number_maps=given.number_maps.model_dump(mode="json"),
        feedback=given.rules.feedback.model_dump(mode="json"),
    )


def read_recorded_inputs(events: Sequence[Event]) -> tuple[ChangeSet, RecordedInputs]:
    """Read the change and the rules from a trace. Raises InputError where it does not hold them."""
    change = read(ChangeSet, first_of(events, "change").get("change"))
    if (scope := next((each for each in events if each["event"] == "read_before"), None)) is not None:
        change = change.model_copy(update={"read_before": read(ReadBefore, scope.get("read_before"))})
    recorded = first_of(events, "rules")
    try:
        joint = tuple((str(tool), str(rule), int(confidence)) for tool, rule, confidence in recorded["together"])
        feedback = read(FeedbackTable, recorded.get("feedback") or {})
        numbers = (_numbers(recorded["thresholds"]), int(recorded["max_findings"]))
        rules = Rules(*numbers, _joint_confidence(joint), feedback)
        notes = tuple(str(note) for note in recorded["notes"])
        engine, synthesizer, version = (str(recorded[name]) for name in ("engine", "synthesizer", "version"))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError("the rules in this trace are not what this version writes") from None
    refused = tuple(read(Suppression, entry) for entry in recorded.get("refused") or ())
    maps = read(NumberMaps, recorded.get("number_maps") or {})
    return change, RecordedInputs(rules, joint, engine, notes, synthesizer, version, refused, maps)


def _numbers(fields: dict[str, Any]) -> dict[str, int]:
    return {name: int(number) for name, number in fields.items()}


def _joint_confidence(joint: Iterable[JointRow]) -> JointConfidence:
    known = {(tools, rules): confidence for tools, rules, confidence in joint}

    def joint_confidence(sources: Iterable[str], rules: Iterable[str]) -> int | None:
        return known.get(("+".join(sorted(set(sources))), "+".join(sorted(set(rules)))))

    return joint_confidence


def _without_code(file: FileChange) -> FileChange:
    """The file with the places of its hunks alone: what was read of it is compared with them."""
    bare = {"heading": "", "body": ""}
    return file.model_copy(update={"hunks": tuple(hunk.model_copy(update=bare) for hunk in file.hunks)})
