"""Find out what of a pull request's change its models have to read: what was pushed since the last review, or all."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from reviewbot.context.dependents import changed_names, dependents_of, numbered_lines, pushed_definitions, touched_lines
from reviewbot.context.relied_on import relied_on
from reviewbot.domain.contracts import ChangeSet, ReadBefore
from reviewbot.domain.contracts.ledger import Ledger
from reviewbot.domain.errors import HostError
from reviewbot.domain.ports import Snapshot
from reviewbot.hosts.base import CodeHost, PullRequest
from reviewbot.memory.incremental import (
    Scope,
    claims_about,
    files_read_before,
    scope_note,
    shown_rows,
)

MODELS = "models"
"""The engine whose readers cost something: programs look at the whole change each time."""

MAX_PUSHED = 1_000
"""Lines of a push around which definitions are looked up; with more of them, there is little that is not new."""

_SHORT_SHA = 10
_WHOLE = frozenset({"read", "binary"})
"""States of a file of a push whose changed lines are all known, or that is read as a whole."""


class Known(NamedTuple):
    """The inputs from which the scope of a review is found."""

    ledger: Ledger
    change: ChangeSet
    snapshot: Snapshot
    is_withheld: Callable[[str], bool]
    """Whether no model is shown a file."""


def read_before(host: CodeHost, pull: PullRequest, scope: Scope, known: Known) -> ReadBefore | None:
    """How the change is read; None at its first head. Blocks; what the host does not tell leads to a full review."""
    entry, change, text = scope.entry, known.change, known.snapshot.head
    if entry is None:
        return _in_full(scope.why_full) if scope.why_full else None
    name = entry.head[:_SHORT_SHA]
    try:
        push = host.push(pull, entry.head)
    except HostError as error:
        return _in_full(f"what was pushed since {name} could not be read: {error}")
    if push is None:
        return _in_full(f"{name}, which was reviewed, is not in the history of this head (a forced push)")
    if any(each.state not in _WHOLE for each in push.change.parsed):
        return _in_full(f"a part of what was pushed since {name} could not be read")
    pushed = sum(len(touched_lines(file.hunks)) for file in push.change.files)
    if pushed > MAX_PUSHED:
        return _in_full(f"{pushed:,} lines were pushed since {name}")
    files = files_read_before(known.ledger, entry, change, push.change, text)
    shown = shown_rows(change, files)

    def is_read(path: str, line: int) -> bool:
        return line in shown.get(path, ()) or known.is_withheld(path)

    around = (*pushed_definitions(push.change, text), *relied_on(push.change, text, known.snapshot))
    uses = dependents_of(changed_names(push.change, text), known.snapshot, is_read, around)
    again = {file.path for file in change.files} - {each.path for each in files if not each.again}
    seen = {*numbered_lines(uses.excerpts)}
    return ReadBefore(
        head=entry.head,
        files=files,
        dependents=uses.excerpts,
        uses_shown=uses.is_all,
        claims=claims_about(known.ledger, lambda path, line: path in again or (path, line) in seen),
        note=scope_note(entry, change, files, uses.places),
    )


def _in_full(why: str) -> ReadBefore:
    return ReadBefore(note=f"The whole change was in scope: {why}")
