"""Find the commit of a push that removed the code of a finding: a bounded search through the files of its commits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.contracts.ledger import Ledger, Record
from reviewbot.domain.errors import HostError
from reviewbot.memory.recall import CODE_GONE
from reviewbot.memory.standing_code import standing_codes

MAX_READS = 24
"""Files of commits that one review reads for it, each in a request. Four findings in a push of sixty commits."""

TextAt = Callable[[str, str], str | None]
"""The text of a file (path) at a commit (hash); None where there is none. Raises HostError where it is not known."""


def name_fixing_commits(ledger: Ledger, head: str, commits: Sequence[str], change: ChangeSet, text: TextAt) -> Ledger:
    """The ledger with the commit that fixed each finding which this head fixed, as far as it can be found.

    Args:
        ledger: after the review of the head.
        head: the commit that was reviewed.
        commits: of the push, oldest first.
        change: what the push changed, with its renames.
        text: the files of these commits.
    """
    old_paths = {file.path: file.old_path for file in change.files if file.old_path}
    reader = _Reader(text)
    fixed = {each.name: _commit_of(each, commits, old_paths, reader) for each in fixed_at(ledger, head)}
    records = (each.model_copy(update={"commit": fixed.get(each.name, each.commit)}) for each in ledger.records)
    return ledger.model_copy(update={"records": tuple(records)})


def fixed_at(ledger: Ledger, head: str) -> tuple[Record, ...]:
    """The findings whose code this head has removed, and of which no commit is known."""
    mine = ("fixed", head, CODE_GONE, "")
    return tuple(each for each in ledger.records if (each.state, each.head, each.reason, each.commit) == mine)


class _Reader:
    """Reads each file of a commit once, and no more files than `MAX_READS`. Raises HostError."""

    def __init__(self, text: TextAt) -> None:
        self._text = text
        self._found: dict[tuple[str, str], str | None] = {}

    def read(self, commit: str, path: str) -> str | None:
        if (commit, path) not in self._found:
            if len(self._found) >= MAX_READS:
                raise HostError("too many files of commits were read")
            self._found[commit, path] = self._text(commit, path)
        return self._found[commit, path]


def _commit_of(record: Record, commits: Sequence[str], old_paths: Mapping[str, str], reader: _Reader) -> str:
    """The commit after which the code is gone; empty where it is not found. It stood before the first one."""
    paths = dict.fromkeys((record.path, *(new for new, old in old_paths.items() if old == record.path)))
    first, last = 0, len(commits) - 1
    try:
        while first < last:
            middle = (first + last) // 2
            if any(_stands(record, path, partial(reader.read, commits[middle])) for path in paths):
                first = middle + 1
            else:
                last = middle
    except HostError:
        return ""
    return commits[last] if commits else ""


def _stands(record: Record, path: str, read: Callable[[str], str | None]) -> bool:
    here = record.model_copy(update={"path": path})
    found = standing_codes((here,), {}, read, lambda _path: True)[record.name]
    if found == "unknown":
        raise HostError("a file is too large to look for code in")
    return found != "gone"
