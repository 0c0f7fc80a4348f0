"""The repository as a model may see it: without withheld files, with masked secrets, in numbered lines.

Withheld are files that usually hold credentials, and those that the repository keeps private.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from threading import Lock

from reviewbot.config.globs import matches_any
from reviewbot.context.symbols.index import SymbolIndex
from reviewbot.diff.paths import is_test
from reviewbot.domain.ports import RepositorySnapshot
from reviewbot.llm.tools.arguments import EvidenceEntry, Refused, Side, ToolLimits

CREDENTIALS = "files like this one usually hold credentials, so that no model is shown them"
PRIVATE = "the repository's settings keep this file private"

_DATA = r"(?:\.(?:json|ya?ml|ini|toml|cfg|conf|env|properties|xml|csv|txt|enc|bak|db|gpg|local))*"
"""Endings of data. A file such as `credentials.py` is a program, and is read like any other."""

_NAME = re.compile(
    "|".join(
        (
            r"\.env(?:rc)?",
            r"\.env\.(?!(?:example|sample|template|dist|defaults?|schema)$).*",
            r".*\.env",
            r".*\.(?:pem|key|p12|pfx|pkcs12|jks|keystore|kdbx?|ppk|ovpn|tfstate|tfvars|kubeconfig)",
            r".*\.tfstate\.backup",
            r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-].*)?(?<!\.pub)",
            r"\.(?:npmrc|pypirc|my\.cnf|htpasswd|dockercfg|s3cfg|boto|vault-token|git-credentials|terraformrc)",
            r"[._]netrc|\.?pgpass(?:\.conf)?|kubeconfig",
            r"(?:\.|(?:aws|google|gcp|application[._-]default)[._-])?credentials?" + _DATA,
            r"\.?secrets?" + _DATA,
            r"(?:service[._-]?account|client[._-]secret).*\.json",
        )
    ),
    re.IGNORECASE,
)
_FOLDERS = frozenset({".ssh", ".gnupg", ".aws"})
_FILES = (".kube/config", ".docker/config.json")


def withheld(path: str, private: Sequence[str] = ()) -> str | None:
    """The reason for which a model is not shown a file; None where it may be shown.

    Args:
        path: a label as in `FileChange.path`.
        private: globs of the base side's settings.
    """
    if private and matches_any(tuple(private), path):
        return PRIVATE
    *folders, name = path.lower().split("/")
    inside = not _FOLDERS.isdisjoint(folders) or "/".join([*folders[-1:], name]) in _FILES
    return CREDENTIALS if inside or _NAME.fullmatch(name) else None


NO_TREE = "only the changed files are at hand, not the whole repository"
CUT = " ... (line cut)"

_TITLE = 1_500
"""Characters that are left for the line above: a path has at most 1,000."""

_NUMBER = 8
"""Characters that a line needs beside its own."""

_KEPT_FILES = 64
"""Masked files that are held in memory."""

_NEAR = 5
"""Files of the same name that are offered instead of one that is not there."""


class RepositoryView:
    """Both sides of a change for one review; safe to use from several threads. Blocks."""

    def __init__(
        self,
        snapshot: RepositorySnapshot,
        limits: ToolLimits,
        mask: Callable[[str], str],
        private: Sequence[str],
    ) -> None:
        """`mask`: a text with masked secrets and as many lines as before."""
        self.snapshot = snapshot
        self.limits = limits
        self.mask = mask
        self._private = tuple(private)
        self._lock = Lock()
        self._kept: OrderedDict[tuple[Side, str], tuple[str, ...]] = OrderedDict()

    @cached_property
    def files(self) -> tuple[str, ...] | None:
        """The files of the head that a model may see, sources before tests; None where the tree is not at hand."""
        found = self.snapshot.files()
        if found is None:
            return None
        shown = (path for path in found if not self.is_withheld(path))
        return tuple(sorted(shown, key=lambda path: (is_test(path), path)))

    @cached_property
    def symbols(self) -> SymbolIndex:
        """The definitions of the files that a model may see; of none where the tree is not at hand."""
        return SymbolIndex(self.files or (), self.snapshot.contents)

    def text(self, path: str) -> str | None:
        """The text of a file of the head that a model may see, with its secrets: for looking things up in."""
        return None if self.is_withheld(path) else self.snapshot.head(path)

    def is_withheld(self, path: str) -> bool:
        """Whether a model is not shown a file."""
        return withheld(path, self._private) is not None

    def check(self, path: str) -> None:
        """Raise Refused for a file that is withheld."""
        reason = withheld(path, self._private)
        if reason is not None:
            raise Refused(f"{path}: {reason}")

    def lines(self, path: str, side: Side = "head") -> tuple[str, ...]:
        """The masked lines of a text file, without line ends. Raises Refused where there is none to be shown."""
        self.check(path)
        with self._lock:
            if (side, path) in self._kept:
                self._kept.move_to_end((side, path))
                return self._kept[side, path]
        text = self.snapshot.head(path) if side == "head" else self.snapshot.base(path)
        if text is None:
            raise Refused(self._missing(path, side))
        lines = tuple(line.removesuffix("\r") for line in self.mask(text).removesuffix("\n").split("\n"))
        with self._lock:
            self._kept[side, path] = lines
            while len(self._kept) > _KEPT_FILES:
                self._kept.popitem(last=False)
        return lines

    def lines_or_none(self, path: str, side: Side = "head") -> tuple[str, ...]:
        """The lines as `lines` gives them; none where there is nothing to be shown."""
        try:
            return self.lines(path, side)
        except Refused:
            return ()

    def entry(self, path: str, side: Side, first: int, last: int) -> EvidenceEntry:
        """Lines of a file as evidence; those behind its end are left out. Raises Refused as `lines` does."""
        lines = self.lines(path, side)
        last = min(last, len(lines))
        return EvidenceEntry(path, side, first, last, lines[first - 1 : last])

    def number_lines(self, entry: EvidenceEntry) -> str:
        """The lines of an entry, each after its number."""
        return "\n".join(f"{number:6} {self.cut(line)}" for number, line in enumerate(entry.lines, entry.first))

    def fitting(self, entry: EvidenceEntry) -> EvidenceEntry:
        """The beginning of an entry that fits into one answer; at least one line."""
        left, fitting = self.limits.chars - _TITLE, 0
        for line in entry.lines:
            left -= len(self.cut(line)) + _NUMBER
            if left < 0:
                break
            fitting += 1
        fitting = max(1, fitting)
        return replace(entry, last=entry.first + fitting - 1, lines=entry.lines[:fitting])

    def cut(self, line: str) -> str:
        """A line as it is shown."""
        return line if len(line) <= self.limits.line_chars else line[: self.limits.line_chars] + CUT

    def _missing(self, path: str, side: Side) -> str:
        other = self.snapshot.base(path) if side == "head" else self.snapshot.head(path)
        if other is not None:
            where = "base" if side == "head" else "head"
            return f"{path} is not on the {side} side; the {where} side has it"
        if self.files is None:
            return f"there is no text file {path}, or it is not at hand: {NO_TREE}"
        if path in self.files:
            return f"{path} is no text, or is too large to be shown"
        if any(each.startswith(f"{path}/") for each in self.files):
            return f"{path} is a folder; list it"
        name = path.rpartition("/")[2]
        near = [each for each in self.files if each.rpartition("/")[2] == name][:_NEAR]
        return f"there is no text file {path}" + (f"; there is {', '.join(near)}" if near else "")
