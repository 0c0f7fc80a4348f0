"""The ledger of a branch on this machine, beside the other entries of the journal: findings and their states."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from reviewbot import wiring
from reviewbot.config import Settings
from reviewbot.domain.contracts.ledger import Ledger
from reviewbot.domain.errors import InputError
from reviewbot.domain.ports import Journal
from reviewbot.memory.decisions import Decision, decisions_of
from reviewbot.memory.recall import Recall
from reviewbot.publish.options import policy_of
from reviewbot.sources.git.place import find_work_tree
from reviewbot.sources.git.repository import GitRepository

_PREFIX = "ledger/"


class LocalMemory(NamedTuple):
    """The memory of a local review, and the key of its ledger; an empty key keeps no ledger."""

    recall: Recall
    notes: tuple[str, ...]
    key: str

    @property
    def lasts(self) -> bool:
        """Whether the same review says the same tomorrow: no decision ends by its date."""
        return all(decision.until is None for decision in self.recall.decisions)


def work_tree_top(start: Path) -> Path | None:
    """The top of the work tree around a folder; None where there is none."""
    try:
        found = find_work_tree(start)
    except (InputError, OSError):
        return None
    return None if found is None else start.joinpath(*(".." for part in Path(found[0]).parts)).resolve()


def branch_key(folder: Path) -> str:
    """The key of the ledger of the branch that is checked out; empty where there is none."""
    top = work_tree_top(folder)
    if top is None:
        return ""
    with GitRepository(folder) as repository:
        return f"{_PREFIX}{top}\n{repository.branch()}"


def read_ledger(journal: Journal, key: str) -> Ledger:
    """The ledger under a key; an empty one where none is kept, or none of this version."""
    try:
        return Ledger.model_validate_json((journal.get(key) if key else None) or "{}")
    except ValidationError:
        return Ledger()


def local_memory(
    subject: wiring.Subject, settings: Settings, run: wiring.PreparedRun, folder: Path, journal: Journal | None
) -> LocalMemory:
    """The memory of a review on this machine: decisions of its base side, and the ledger of its branch.

    What is staged, and a bare diff, have no commit that a state could be of: of them no ledger is kept.
    """
    now = dt.datetime.now(dt.UTC)
    decisions, notes = decisions_of(subject.base, now.date())
    head = subject.change.head_sha
    key = branch_key(folder) if head is not None and journal is not None else ""
    ledger = read_ledger(journal, key) if journal is not None else Ledger()
    policy = policy_of(settings, run.worker_set, run.engine)
    at = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return LocalMemory(
        Recall(subject.change, head or "", at, ledger, decisions, policy, withholds_late=False), notes, key
    )


def find_top(folder: Path) -> Path:
    """The top of the work tree around a folder. Raises InputError."""
    if (top := work_tree_top(folder)) is None:
        raise InputError(f"{folder} is in no git repository; name one with --repo DIR")
    return top


def about(decision: Decision, ledger: Ledger) -> Decision:
    """The decision with the place and title of its finding, where the ledger has it."""
    record = ledger.find(decision.finding) if decision.finding else None
    if record is None:
        return decision
    symbol = f", {record.symbol}" if record.symbol else ""
    return decision._replace(about=f"{record.title[:200]} ({record.path}{symbol})"[:400])
