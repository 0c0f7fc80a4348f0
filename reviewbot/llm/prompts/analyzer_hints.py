"""Show a model the analyzers' findings as hints, and weigh what it says of each of them.

A model can add its voice to a hint or dispute it. It can delete none: see `weighed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from reviewbot.domain.contracts import SEVERITY_ORDER, Candidate
from reviewbot.domain.contracts.answers import Judged

MAX_HINTS = 40
"""Shown with one task, the worst first; each is some forty tokens. The rest count like hints the model leaves out."""
MAX_QUOTE = 300
"""Characters of a hint's quote: enough to find the line."""
MAX_MESSAGE = 400
"""Characters of a hint's message."""
NO_REASON = "the model that read this holds it to be wrong, and gave no reason"

_NUMBERED = re.compile(r"\blines? \d+(?:(?:, | and | to |-)\d+)*|(?<=\w):\d+\b")
"""Where a program's message counts lines of the file: a change further up would alter the request."""


class Hint(NamedTuple):
    """A program's candidate under the name by which a model may speak of it."""

    handle: str
    candidate: Candidate


class JudgedHints(NamedTuple):
    """The findings of programs after what a model said of the hints."""

    programs: tuple[Candidate, ...]
    """All that programs found, in their order, with the reasons of a model that disputes one of them."""
    confirmed: tuple[Candidate, ...]
    """What a model says too, at the same place and under the same rule, so that both count as two votes."""


def hints_of(programs: Iterable[Candidate]) -> tuple[Hint, ...]:
    """The worst of what programs found, named in the order of their places."""
    worst = sorted(programs, key=lambda each: (SEVERITY_ORDER[each.severity], -each.confidence, _place(each)))
    return tuple(Hint(f"h{n}", each) for n, each in enumerate(sorted(worst[:MAX_HINTS], key=_place), 1))


def render_hints(hints: Sequence[Hint]) -> str:
    """The hints in words: handle, tool, rule, code and message; no line number."""
    return "\n".join(_line(hint) for hint in hints)


def weigh_hints(
    programs: Sequence[Candidate], hints: Sequence[Hint], judged: Iterable[Judged], source: str
) -> JudgedHints:
    """What programs found, and what the model `source` agrees with.

    An unknown handle, one that was judged in two ways, or one that the model is unsure of changes nothing.
    """
    said = _settled(judged)
    verdicts = [(hint.candidate, said[hint.handle]) for hint in hints if hint.handle in said]
    refuted = {id(each): word.reason.strip() or NO_REASON for each, word in verdicts if word.verdict == "refuted"}
    confirmed = [each for each, word in verdicts if word.verdict == "confirmed"]
    return JudgedHints(
        tuple(_disputed(each, refuted.get(id(each))) for each in programs),
        tuple(each.model_copy(update={"source": source}) for each in confirmed),
    )


def _settled(judged: Iterable[Judged]) -> Mapping[str, Judged]:
    """The last word on each hint that has but one verdict."""
    said: dict[str, Judged] = {}
    torn: set[str] = set()
    for word in judged:
        if said.setdefault(word.hint, word).verdict != word.verdict:
            torn.add(word.hint)
    return {handle: word for handle, word in said.items() if handle not in torn}


def _disputed(candidate: Candidate, reason: str | None) -> Candidate:
    return candidate if reason is None else candidate.model_copy(update={"disputed": reason})


def _place(candidate: Candidate) -> tuple[str, int, str, str, str]:
    return (candidate.path, candidate.line or 0, candidate.source, candidate.rule, candidate.message)


def _line(hint: Hint) -> str:
    found = hint.candidate
    rule = f"{found.source} {found.rule}".strip()
    message = " ".join(_NUMBERED.sub(_unnumbered, found.message).split())[:MAX_MESSAGE]
    quote = "\n".join(f"    {line}" for line in found.quote[:MAX_QUOTE].split("\n"))
    where = "in" if found.side == "new" else "removed from"
    return f"{hint.handle} [{rule}, {found.category}] {where} {found.path}: {message}\n{quote}"


def _unnumbered(found: re.Match[str]) -> str:
    return "" if found.group().startswith(":") else "another line"
