"""For tests of suggestions: a change, a snapshot that has both of its sides, and a check that says what it is told."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Callable, Iterable
from typing import Any

from reviewbot.diff.parse import parse_diff
from reviewbot.domain.contracts import Candidate, ChangeSet, FileChange, Finding, Gap
from reviewbot.domain.ports import Answer, Snapshot
from reviewbot.publish.suggestions.prover import Prover, SuggestionProof
from tests.snapshots import InMemorySnapshot

BEFORE = "import os\n\n\ndef f(x):\n    return 0\n"
AFTER = "import os\n\n\ndef f(x):\n    if x is 3:\n        return 1\n    return 0\n"


class Says:
    """A check that says of a file whatever a rule tells of its text, and writes down each text."""

    def __init__(self, rule: Callable[[str], Iterable[Candidate]] = lambda text: (), gap: Gap | None = None) -> None:
        self.rule, self.gap = rule, gap
        self.texts: list[str] = []

    async def __call__(self, file: FileChange, snapshot: Snapshot) -> Answer:
        text = snapshot.head(file.path) or ""
        self.texts.append(text)
        return Answer(tuple(self.rule(text)), () if self.gap is None else (self.gap,))


def change_of(before: str, after: str, path: str = "src/app.py") -> ChangeSet:
    rows = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{path}", f"b/{path}"
    )
    return parse_diff("".join(rows).encode())


def prover(before: str, after: str, check: Any = None, path: str = "src/app.py") -> Prover:
    return Prover(change_of(before, after, path), InMemorySnapshot({path: after}, {path: before}), check or Says())


def offered(finding: Finding, before: str = BEFORE, after: str = AFTER, check: Any = None) -> SuggestionProof:
    return asyncio.run(prover(before, after, check, finding.path).prove(finding))
