"""What one worker may see of a snapshot: its scope is a rule over paths, and nothing reads past it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.context.conventions import ANYWHERE, TOP
from reviewbot.context.service import Context
from reviewbot.diff.paths import is_test
from reviewbot.tools.reading.arguments import Refused

if TYPE_CHECKING:
    from reviewbot.context.service import Side
    from reviewbot.context.symbols import Reference, Symbol
    from reviewbot.ports import Occurrence, WorkOrder

_NO_SEARCH = "nothing can be searched: only the change itself is at hand, or the repository is too large"


@dataclass(frozen=True)
class Scope:
    """Which files a worker reads. `said` names them in an answer that refuses another one."""

    allows: Callable[[WorkOrder, str], bool]
    said: str


def _any_file(order: WorkOrder, path: str) -> bool:
    del order, path
    return True


def _program(order: WorkOrder, path: str) -> bool:
    del order
    return not is_test(path)


def _own_file(order: WorkOrder, path: str) -> bool:
    return path in order.task.paths


def _beside(order: WorkOrder, path: str) -> bool:
    return folder_of(path) in {folder_of(own) for own in order.task.paths} or _is_convention(path)


def folder_of(path: str) -> str:
    """The folder of a path; empty at the top."""
    return path.rpartition("/")[0]


def _is_convention(path: str) -> bool:
    return path in TOP or path.rpartition("/")[2] in ANYWHERE


EVERYTHING = Scope(_any_file, "files of the repository")
PROGRAM = Scope(_program, "code that is no test: a test is no hot path")
OWN = Scope(_own_file, "the files of this task")
BESIDE = Scope(_beside, "the folders of this task's files, and files of conventions")


class View:
    """One worker's sight of the snapshot around one task. Blocks."""

    def __init__(self, order: WorkOrder, scope: Scope) -> None:
        self._order = order
        self._scope = scope
        self.context = Context(order.snapshot)

    def allows(self, path: str) -> bool:
        """Whether the worker may read a file of this name."""
        return self._scope.allows(self._order, path)

    def check(self, path: str) -> None:
        """Raise Refused for a path out of scope, and for one that neither side has as a text file."""
        if not self.allows(path):
            raise Refused(f"this tool reads {self._scope.said}; that path is outside of it")
        if self._text(path) is None and self._text(path, "base") is None:
            raise Refused("there is no such text file, or only the change itself is at hand")

    def lines(self, path: str, side: Side = "head") -> list[str]:
        """The lines of a file. Raises Refused as `check` does, and where this side does not have it."""
        self.check(path)
        text = self._text(path, side)
        if text is None:
            raise Refused(f"that file is not on the {side} side")
        return text.split("\n")

    def _text(self, path: str, side: Side = "head") -> str | None:
        """A file of any scope; the base side also goes by the new name of a file that the task is about."""
        if side == "head":
            return self._order.snapshot.head(path)
        return self._order.snapshot.base(self.old_name(path))

    def old_name(self, path: str) -> str:
        """The name on the old side of a file of the task; of any other file the same name."""
        olds = {each.file_path: each.old_path for each in self._order.task.slices if each.old_path}
        return olds.get(path, path)

    def symbol(self, name: str, near: str) -> tuple[Symbol, tuple[Reference, ...]]:
        """What is known of a name, and the references within the scope. Raises Refused where nobody could search."""
        found = self.context.symbol(name.rpartition(".")[2], near)
        if not found.searched:
            raise Refused(_NO_SEARCH)
        return found, tuple(each for each in found.references if self.allows(each.path))

    def occurrences(self, word: str, limit: int) -> tuple[Occurrence, ...]:
        """Lines within the scope with a word, of the first so many of the repository. Raises Refused as above."""
        found = self._order.snapshot.search(word, limit)
        if found is None:
            raise Refused(_NO_SEARCH)
        return tuple(each for each in found if self.allows(each.path))
