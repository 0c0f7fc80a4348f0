"""Claims of models with what is known of them, from rows of results: what their numbers are fitted on."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from reviewbot.domain.contracts.base import Contract, first_fault
from reviewbot.domain.errors import InputError
from reviewbot.evaluate.labels import CaseLabels, Ruling, judge, labelled_rows, read_text
from reviewbot.evaluate.model_fit import LabelledClaim
from reviewbot.evaluate.rows import Json, Stated
from reviewbot.review.model_calibration import Key, Quantity


class HandLabel(Contract):
    """A claim that a person judged. Its place and its text are those of its row; None: nothing was said of that."""

    case: str
    file: str
    line: int
    text: str
    true: bool | None = None
    labelled: bool | None = None
    """Whether people named it in their review of the change."""


HandLabels = Mapping[tuple[object, ...], HandLabel]
"""By case, file, line and text."""


def read_hand_labels(path: Path) -> HandLabels:
    """Claims that were judged by hand, one JSON object per line. Raises InputError."""
    found: dict[tuple[object, ...], HandLabel] = {}
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            label = HandLabel.model_validate_json(line)
        except ValidationError as error:
            raise InputError(f"{path}, line {number}: {': '.join(first_fault(error, 'the line'))}") from None
        if found.setdefault((label.case, label.file, label.line, label.text), label) != label:
            raise InputError(f"{path}, line {number}: this claim has another label further up")
    return found


def labelled_claims(
    rows: Iterable[Json],
    labels: Mapping[str, CaseLabels],
    hands: HandLabels,
    truth: Collection[str],
    worth: Collection[str],
) -> dict[Key, list[LabelledClaim]]:
    """The stated numbers with what is known of their claims.

    `truth`: groups whose labels name every defect, so that a claim away from all of them is false. `worth`: groups of
    real changes, whose labels are what people wrote there. Judgements by hand override both. Raises InputError.
    """
    found: dict[Key, list[LabelledClaim]] = defaultdict(list)
    for case, row in labelled_rows(rows, labels):
        group = case.partition("/")[0]
        for finding, ruling in zip(row["findings"], judge(row["findings"], labels[case]), strict=True):
            hand = hands.get(claim_key(case, finding))
            true, labelled = (None, None) if hand is None else (hand.true, hand.labelled)
            right: dict[Quantity, bool | None] = {
                "confidence": _by_place(ruling) if true is None and group in truth else true,
                "worth": _by_place(ruling) if labelled is None and group in worth else labelled,
            }
            for key, claim in _numbers(case, finding, right):
                found[key].append(claim)
    return dict(found)


def _numbers(case: str, finding: Json, right: Mapping[Quantity, bool | None]) -> Iterator[tuple[Key, LabelledClaim]]:
    """Each number that models stated for a finding, where it is known whether that was right."""
    for each in _read(case, finding):
        stated = {"confidence": each.confidence, "worth": each.worth}
        for quantity, answer in right.items():
            if answer is not None:
                key = (each.role, quantity, each.model, each.prompt)
                yield key, LabelledClaim(case, stated[quantity], answer)


def claim_key(case: str, finding: Json) -> tuple[object, ...]:
    """What a claim is known by in a file of labels."""
    return case, finding.get("file"), finding.get("line"), finding.get("text")


def _by_place(ruling: Ruling) -> bool | None:
    return None if ruling == "neutral" else ruling == "true"


def _read(case: str, finding: Json) -> list[Stated]:
    try:
        return [Stated.model_validate_json(json.dumps(each)) for each in finding.get("stated") or ()]
    except (ValidationError, TypeError):
        raise InputError(f"a finding of {case!r:.80} states numbers in an unknown form") from None
