"""For tests of suggestions: a change, a snapshot that has both of its sides, and a check that says what it is told."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from reviewbot.diff.parse import parse_diff
from reviewbot.domain.contracts import Candidate, ChangeSet, FileChange, Finding, Gap
from reviewbot.domain.ports import Answer, Commit, Occurrence, Snapshot
from reviewbot.publish.suggestions import Proof, Prover

BEFORE = "import os\n\n\ndef f(x):\n    return 0\n"
AFTER = "import os\n\n\ndef f(x):\n    if x is 3:\n        return 1\n    return 0\n"


class Files:
    """A snapshot of both sides of some files."""

    def __init__(self, head: Mapping[str, str], base: Mapping[str, str] | None = None) -> None:
        self._head, self._base = head, base or {}

    def head(self, path: str) -> str | None:
        return self._head.get(path)

    def base(self, path: str) -> str | None:
        return self._base.get(path)

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        del word, limit
        return None

    def history(self, path: str, limit: int) -> tuple[Commit, ...]:
        del path, limit
        return ()


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
    return Prover(change_of(before, after, path), Files({path: after}, {path: before}), check or Says())


def offered(finding: Finding, before: str = BEFORE, after: str = AFTER, check: Any = None) -> Proof:
    return asyncio.run(prover(before, after, check, finding.path).offered(finding))
