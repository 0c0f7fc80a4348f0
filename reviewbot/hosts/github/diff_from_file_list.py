"""Build the diff of a change from GitHub's lists of files, where it does not give the diff as a whole.

Each file is put together as git would write it and read alone, so that what stands in one file's lines can never be
taken for another file. What GitHub withholds is named with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reviewbot.diff.parse import parse_diff
from reviewbot.diff.parser.file_names import encode, label, quote
from reviewbot.domain.contracts import ChangeSet, FileChange, ParsedFile
from reviewbot.domain.errors import DiffError

EMPTY_BLOBS = frozenset(
    {
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    }
)
"""What git calls a file of no bytes, with SHA-1 and SHA-256."""

WITHHELD = "GitHub withholds the text of this change, which is too large for it"


@dataclass(frozen=True)
class ListedFile:
    """One file of a list, as far as it is used."""

    path: str
    old_path: str | None
    status: str
    """"added", "removed", "modified", "renamed", "copied", "changed" or "unchanged"."""
    sha: str
    added: int
    removed: int
    patch: str
    """The hunks without a header; empty where GitHub gives none."""

    @property
    def withheld(self) -> bool:
        """Whether lines were changed and none is shown."""
        return not self.patch and self.added + self.removed > 0


def read_file_list(rows: Iterable[Mapping[str, Any]]) -> list[ListedFile]:
    """The files of a list. Source: https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files."""
    found = []
    for row in rows:
        path, old = row.get("filename"), row.get("previous_filename")
        if not isinstance(path, str) or not path:
            continue
        moved = old if isinstance(old, str) and row.get("status") in {"renamed", "copied"} else None
        added, removed = (row[k] if isinstance(row.get(k), int) else 0 for k in ("additions", "deletions"))
        status, sha, patch = (row[k] if isinstance(row.get(k), str) else "" for k in ("status", "sha", "patch"))
        found.append(ListedFile(path, moved, status, sha, max(0, added), max(0, removed), patch))
    return found


def text_of(files: Iterable[ListedFile]) -> bytes:
    """All sections as one text, for its digest."""
    return b"".join(_section(file) for file in files)


def change_of(files: Iterable[ListedFile], modes: Mapping[str, str]) -> ChangeSet:
    """The change. `modes` are git's modes of the new side by label, as far as they are known."""
    read = [_read(file, modes.get(label(encode(file.path)))) for file in files]
    return ChangeSet(files=tuple(file for file, _ in read), parsed=tuple(parsed for _, parsed in read))


def _read(file: ListedFile, mode: str | None) -> tuple[FileChange, ParsedFile]:
    path = label(encode(file.path))
    try:
        found = parse_diff(_section(file))
    except DiffError as error:
        return _unread_file(file, f"GitHub's text of this file cannot be read: {error}")
    if [each.path for each in found.files] != [path]:
        return _unread_file(file, "GitHub's text of this file holds more than one file")
    change, parsed = found.files[0], found.parsed[0]
    if file.withheld:
        parsed = ParsedFile(path=path, state="over_budget", reason=f"{WITHHELD} (+{file.added} -{file.removed} lines)")
    elif parsed.state == "read" and (change.added, change.removed) != (file.added, file.removed):
        reason = f"GitHub counts +{file.added} -{file.removed} lines and shows +{change.added} -{change.removed}"
        parsed = ParsedFile(path=path, state="partial", reason=reason)
    return change.model_copy(update={"mode": mode} if mode or file.status == "added" else {}), parsed


def _unread_file(file: ListedFile, reason: str) -> tuple[FileChange, ParsedFile]:
    bare = ListedFile(file.path, file.old_path, file.status, file.sha, 0, 0, "")
    change = parse_diff(_section(bare)).files[0]
    return change, ParsedFile(path=change.path, state="malformed", reason=reason)


def _section(file: ListedFile) -> bytes:
    """The section of a diff, as git writes it, with every name quoted."""
    old, new = (b"a/" + encode(file.old_path or file.path), b"b/" + encode(file.path))
    lines = [f"diff --git {quote(old)} {quote(new)}", *_header(file)]
    sides = (
        "/dev/null" if file.status == "added" else quote(old),
        "/dev/null" if file.status == "removed" else quote(new),
    )
    if file.patch:
        lines += [f"--- {sides[0]}", f"+++ {sides[1]}", file.patch]
    elif not _has_no_text(file):
        lines.append(f"Binary files {sides[0]} and {sides[1]} differ")
    return encode("\n".join(lines)) + b"\n"


def _header(file: ListedFile) -> list[str]:
    if file.old_path is not None:
        word = "copy" if file.status == "copied" else "rename"
        names = (quote(encode(file.old_path)), quote(encode(file.path)))
        index = "100" if _has_no_text(file) else "50"
        return [f"similarity index {index}%", f"{word} from {names[0]}", f"{word} to {names[1]}"]
    return {"added": ["new file mode 100644"], "removed": ["deleted file mode 100644"]}.get(file.status, [])


def _has_no_text(file: ListedFile) -> bool:
    """Whether there is nothing to show: a pure rename, or a file without a byte."""
    moved = file.old_path is not None
    empty = file.status in {"added", "removed"} and file.sha in EMPTY_BLOBS
    return not file.patch and not file.withheld and (moved or empty)
