"""Replace the numbers that a model states by what was measured of it, before anything is decided by them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256

from reviewbot.domain.contracts import MODEL_SOURCE, Contract, Finding
from reviewbot.domain.contracts.answers import JudgeRuling
from reviewbot.domain.ports import Recorder
from reviewbot.llm.client.answers import schema_of
from reviewbot.llm.prompts.delimiters import RULE
from reviewbot.review.model_calibration import NumberMaps, Quantity, Role, place_on
from reviewbot.review.verify.verifier import cap_finding


def prompt_hash(system: str, answer: type[Contract]) -> str:
    """What tells one prompt from another: its text and the schema of its answer, with the words of every field."""
    asked = f"{system.strip()}\n\n{RULE}\n{json.dumps(schema_of(answer), sort_keys=True)}"
    return sha256(asked.encode("utf-8", "replace")).hexdigest()[:16]


@dataclass
class Calibrator:
    """Build one for a run: it remembers which numbers were not measured."""

    trace: Recorder
    maps: NumberMaps = field(default_factory=NumberMaps)
    measured: bool = True
    """Whether readers had the prompts that the maps are for: those of a small push had others."""
    _unmeasured: set[tuple[Quantity, str]] = field(default_factory=set, init=False)

    def finding(self, finding: Finding) -> Finding:
        """A reader's claim with its fitted numbers, cut to what its evidence carries; any other finding as it is."""
        if finding.claimed is None or finding.worth is None:
            return finding  # a program's, or a model's word on one
        model = finding.sources[0].removeprefix(MODEL_SOURCE)
        numbers = self._fitted("reader", model, finding, finding.claimed, finding.worth)
        if numbers == (finding.claimed, finding.worth):
            return finding
        return cap_finding(finding.model_copy(update={"confidence": numbers[0], "worth": numbers[1]}))

    def ruling(self, ruling: JudgeRuling, model: str, finding: Finding) -> JudgeRuling:
        """A judge's ruling on a finding, with its fitted numbers."""
        numbers = self._fitted("judge", model, finding, ruling.confidence, ruling.worth)
        return ruling.model_copy(update={"confidence": numbers[0], "worth": numbers[1]})

    def notes(self) -> tuple[str, ...]:
        """One line on the numbers that were taken as stated, where there are any."""
        if not self._unmeasured:
            return ()
        quantities = " and ".join(sorted({quantity for quantity, _ in self._unmeasured}))
        models = " and ".join(sorted({model for _, model in self._unmeasured}))
        stated = f"{quantities.capitalize()} of claims stand as {models} stated them"
        return (f"{stated}; how often that holds was not measured with these prompts",)

    def _fitted(self, role: Role, model: str, finding: Finding, confidence: int, worth: int) -> tuple[int, int]:
        stated: dict[Quantity, int] = {"confidence": confidence, "worth": worth}
        fitted = dict(stated)
        for quantity, number in stated.items():
            if not self.measured or (found := self.maps.find(role, quantity, model)) is None:
                self._unmeasured.add((quantity, model))
            else:
                fitted[quantity] = place_on(found.points, number)
        if fitted != stated:
            place = {"path": finding.path, "line": finding.line}
            self.trace.record("calibrated", role=role, model=model, **place, stated=stated, fitted=fitted)
        return fitted["confidence"], fitted["worth"]
