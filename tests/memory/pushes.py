"""A change that is pushed to again and again, and what a scripted reviewer says of each head."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reviewbot.delivery.places import add_symbols, places
from reviewbot.diff.language import language_of
from reviewbot.domain.contracts import ChangeSet, FileChange, FileCoverage, Finding, Hunk, ParsedFile, Review, Withheld
from reviewbot.domain.contracts.ledger import Ledger, Record
from reviewbot.memory.decisions import Decision
from reviewbot.memory.fingerprints import Identity, all_of, identities
from reviewbot.memory.grave_notes import grave_notes
from reviewbot.memory.recall import Recall, Recalled, recall, withhold
from reviewbot.memory.standing_code import Listing
from tests.report.conftest import a_finding, a_review
from tests.snapshots import InMemorySnapshot

POLICY = "0" * 32


def sha(number: int) -> str:
    """The n-th head."""
    return f"{number:040x}"


def change_of(base: Mapping[str, str], head: Mapping[str, str], renames: Mapping[str, str] | None = None) -> ChangeSet:
    """What git would say of two states; `renames` has new names by old ones."""
    old_of = {new: old for old, new in (renames or {}).items()}
    files = []
    for path in sorted({*base, *head} - set(renames or {})):
        old = old_of.get(path, path)
        before, after = base.get(old, ""), head.get(path, "")
        if before == after and old == path:
            continue
        status: Any = "renamed" if old != path else "added" if old not in base else "modified"
        status = "deleted" if path not in head else status
        language = language_of(path)
        old_path = old if old != path else None
        files.append(
            FileChange(
                path=path,
                old_path=old_path,
                status=status,
                language=language,
                kind="code",
                hunks=_hunks(before, after),
                added=1,
            )
        )
    parsed = tuple(ParsedFile(path=file.path, state="read") for file in files)
    return ChangeSet(files=tuple(files), parsed=parsed)


def _hunks(before: str, after: str) -> tuple[Hunk, ...]:
    old, new = (text.split("\n") if text else [] for text in (before, after))
    found = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        rows = [f"{mark}{row}" for tag, *at in group for mark, row in _rows(tag, old, new, at)]
        first, last = group[0], group[-1]
        found.append(
            Hunk(
                old_start=first[1] + 1,
                old_count=last[2] - first[1],
                new_start=first[3] + 1,
                new_count=last[4] - first[3],
                body="\n".join(rows),
            )
        )
    return tuple(found)


def _rows(tag: str, old: list[str], new: list[str], at: list[int]) -> list[tuple[str, str]]:
    if tag == "equal":
        return [(" ", row) for row in old[at[0] : at[1]]]
    return [("-", row) for row in old[at[0] : at[1]]] + [("+", row) for row in new[at[2] : at[3]]]


class Said(NamedTuple):
    """What the reviewer says of the one row that holds `code`; `fields` are those of a finding."""

    path: str
    code: str
    fields: dict[str, Any] = {}  # noqa: RUF012 - read alone

    def on(self, head: Mapping[str, str]) -> Finding:
        """The finding where the row is now."""
        rows = head[self.path].split("\n")
        line = next(number for number, row in enumerate(rows, 1) if self.code in row)
        known = {"path": self.path, "line": line, "end_line": line, "evidence": rows[line - 1]}
        known |= {"sources": ("model:x",), "cause": "wrong-value", "severity": "warning", "rule": "", "cwe": None}
        return a_finding(**{**known, **self.fields})


@dataclass
class Pushes:
    """One change over its heads. `base` may be changed between pushes."""

    base: dict[str, str]
    ledger: Ledger = field(default_factory=Ledger)
    number: int = 0
    policy: str = POLICY
    names: Mapping[Finding, Identity] = field(default_factory=dict)
    """Of the last head's findings."""

    def notes(self, made: Recalled) -> tuple[str, ...]:
        """What a reader of the last head's review is told of grave findings that were decided against."""
        return grave_notes(made, self.names)

    def push(
        self,
        head: Mapping[str, str],
        *said: Said,
        withheld: tuple[tuple[Said, Any], ...] = (),
        renames: Mapping[str, str] | None = None,
        decisions: tuple[Decision, ...] = (),
        again: bool = False,
        listing: Listing = lambda: None,
        **fields: Any,
    ) -> tuple[Review, Recalled]:
        """Review a new head (`again`: the last one); the review as it is shown, and what was made of it."""
        self.number += not again
        change = change_of(self.base, head, renames)
        coverage = tuple(FileCoverage(path=file.path, state="reviewed") for file in change.files)
        entries: tuple[Any, ...] = tuple(
            Withheld(finding=each.on(head), reason=reason, message="below") for each, reason in withheld
        )
        found = tuple(each.on(head) for each in said)
        files = InMemorySnapshot(dict(head), self.base)
        given = {"coverage": coverage, "findings": found, "withheld": entries, "verdict": "issues", **fields}
        review = add_symbols(a_review(**given), files)
        names = identities(all_of(review), place_of=places(review, files))
        memory = Recall(change, sha(self.number), "2026-01-01T00:00:00Z", self.ledger, decisions, self.policy)
        made = recall(review, names, memory, files.head, listing)
        self.names = names
        self.ledger = made.ledger
        return withhold(review, made.held), made

    @property
    def states(self) -> list[tuple[str, str]]:
        """The state and reason of each record."""
        return [(each.state, each.reason) for each in self.ledger.records]

    @property
    def record(self) -> Record:
        """The only record."""
        (record,) = self.ledger.records
        return record
