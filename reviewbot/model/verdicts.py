"""What a ruling does to a finding: how far it lifts or sinks it, and what it must quote to be believed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reviewbot.contracts import Finding, Payload, Ruling
from reviewbot.diff.rows import payload_rows
from reviewbot.supervisor.verifier import HIGHEST_CONFIDENCE, UNVERIFIED_CAP, capped

PROOF_CHARS = 1_000
"""Of what is kept of a ruling: a review shows it, and nobody reads more."""

SHORTEST_QUOTE = 6
"""Characters without white space. Less than that stands in any code, unless it is a line by itself."""

UNQUOTED = f"its evidence quotes nothing of the code that was shown, so it counts for {UNVERIFIED_CAP} at most"

_MARKED = re.compile(r"```[\w+-]{0,20}\n(.{1,2000}?)```|`([^`]{1,1000})`", re.DOTALL)
_LONE_WORD = re.compile(r"[\w.]*[^\w\s]?")
"""`return`, `else:` or `self.x` prove nothing wherever they stand."""


@dataclass(frozen=True)
class Shown:
    """The code that a model was shown, without any white space."""

    texts: tuple[str, ...]
    """Everything, as it reads with and without marks, and each side of a change by itself."""
    lines: frozenset[str]

    @classmethod
    def of(cls, slices: Iterable[Payload], others: Iterable[str]) -> Shown:
        """What some slices and some other texts show."""
        texts: list[str] = list(others)
        lines = [line for text in texts for line in text.split("\n")]
        for payload in slices:
            rows = [row for _, row in payload_rows(payload)]
            lines += [row.text for row in rows]
            texts += [payload.code, "\n".join(row.text for row in rows)]
            texts += ["\n".join(row.text for row in rows if row.kind != other) for other in "-+"]
        return cls(tuple(_squeezed(text) for text in texts), frozenset(map(_squeezed, lines)))

    def holds(self, quote: str) -> bool:
        """Whether a quote stands in it, white space apart, and says anything at all."""
        if _LONE_WORD.fullmatch(quote.strip().lstrip("+-").strip()):  # a mark in front makes no more of it
            return False
        for reading in (quote, "\n".join(line.strip().lstrip("+-") for line in quote.split("\n"))):
            wanted = _squeezed(reading)
            if any(char.isalnum() for char in wanted) and (
                wanted in self.lines or (len(wanted) >= SHORTEST_QUOTE and any(wanted in text for text in self.texts))
            ):
                return True
        return False


def is_anchored(evidence: str, shown: Shown) -> bool:
    """Whether some part of an evidence quotes code that was shown: a part between backticks, or a whole line of it."""
    return any(shown.holds(quote) for quote in _quotes(evidence))


def ruled(finding: Finding, ruling: Ruling, shown: Shown) -> Finding:
    """The finding with the confidence and the severity that a ruling gives it, and why."""
    anchored = is_anchored(ruling.evidence, shown)
    confidence = min(ruling.confidence, HIGHEST_CONFIDENCE if anchored else UNVERIFIED_CAP)
    note = "" if anchored or ruling.confidence <= UNVERIFIED_CAP else f"({UNQUOTED}) "
    against = f" Against it: {ruling.argument_against}" if ruling.argument_against.strip() else ""
    proof = note + _short(ruling.evidence, PROOF_CHARS * 2 // 3) + against
    judged = {"confidence": confidence, "severity": ruling.severity, "judgement": _short(proof, PROOF_CHARS)}
    return finding.model_copy(update=judged)


def unverified(finding: Finding, why: str) -> Finding:
    """The finding as it stays where nobody could judge it: at its cap, with the reason."""
    return capped(finding).model_copy(update={"judgement": _short(f"not verified: {why}", PROOF_CHARS)})


def refuted_by_search(finding: Finding, names: Iterable[str]) -> Finding:
    """The finding as it stays where what it speaks of is nowhere to be found."""
    why = f"it speaks of {', '.join(names)}, which a search of the whole repository did not find"
    return finding.model_copy(update={"confidence": 0, "judgement": _short(why, PROOF_CHARS)})


def _quotes(evidence: str) -> Iterator[str]:
    for block, span in _MARKED.findall(evidence):
        yield block or span
        yield from (block or span).split("\n")
    yield from evidence.split("\n")


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _short(text: str, limit: int) -> str:
    plain = text.strip()
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"
