"""Sections to files: status, policy, and the one state in which each file is left.

`disagreement` checks the result against unidiff, which reads each file once more: both must have counted the same.
unidiff is given one file at a time in a canonical form: placeholder names, generated headers, lines as a list. So no
text of the change meets its regular expressions for headers, two of which can be made slow by one line, and no control
character is taken for the end of a line. Only its markers and counts are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from reviewbot.diff.language import UNKNOWN, kind_of, language_of
from reviewbot.diff.parser import file_names
from reviewbot.diff.parser.resolve_name import Title, title
from reviewbot.diff.parser.state import Section
from reviewbot.diff.policy import refusal
from reviewbot.domain.contracts import FileChange, Hunk, ParsedFile, ParseState, Status

_NAMES = ("--- a/f\n", "+++ b/f\n")


def disagreement(hunks: Sequence[Hunk], added: int, removed: int) -> str:
    """Say how unidiff's reading differs from ours; "" where it does not."""
    try:
        patch = PatchSet(chain(_NAMES, _lines(hunks)), metadata_only=True)
    except UnidiffParseError as error:
        return f"a second reader refuses it: {error}".splitlines()[0][:200]
    if len(patch) != 1 or len(patch[0]) != len(hunks):
        return "a second reader finds other hunks in it"
    if (patch[0].added, patch[0].removed) != (added, removed):
        return "a second reader counts other lines in it"
    return ""


def _lines(hunks: Sequence[Hunk]) -> Iterator[str]:
    for hunk in hunks:
        yield f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@\n"
        yield from hunk.body.split("\n")


_EMPTY_BLOBS = (
    b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    b"473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
)
"""What git calls a file of no bytes, with SHA-1 and SHA-256."""
_MIN_BLOB = 4
"""git abbreviates an id to no fewer digits."""


class Built(NamedTuple):
    """One file of the change and its parse state."""

    file: FileChange
    parsed: ParsedFile


def build(section: Section) -> Built:
    """Decide on one section. Never raises."""
    named = title(section)
    state, reason = _state(section, named)
    kept = state in {"read", "partial"}
    path = file_names.label(named.path)
    language = language_of(file_names.exact(path))
    file = FileChange(
        path=path,
        old_path=None if named.old is None or named.old == named.path else file_names.label(named.old),
        status=_status(section, named),
        language=language,
        kind=kind_of(language),
        mode=section.added_mode or section.new_mode or section.deleted_mode or section.index_mode,
        mode_changed=section.old_mode != section.new_mode,
        hunks=tuple(section.hunks) if kept else (),
        added=section.added if kept else 0,
        removed=section.removed if kept else 0,
        minified=section.minified and kept,
    )
    return Built(file, ParsedFile(path=path, state=state, reason=reason))


def _state(section: Section, named: Title) -> tuple[ParseState, str]:
    for name in (named.path, named.old):
        refused = None if name is None else refusal(name.decode("utf-8", "surrogateescape"))
        if refused is not None:
            return "refused", refused
    lacks = _lacks(section)
    cut = section.cut or ("the diff ends inside the header of this file" if section.last and lacks else "")
    if cut and not section.hunks and not section.trouble:
        return "partial", cut
    fault = section.trouble or named.fault or _fault(section)
    if fault:
        return "malformed", fault
    if section.over:
        return "over_budget", section.over
    if section.binary is not None:
        return "binary", _why_binary(named.path)
    other = disagreement(section.hunks, section.added, section.removed) if section.hunks else ""
    if other:
        return "malformed", other
    unseen = cut or section.unseen or ("the diff names this file and shows no line of its change" if lacks else "")
    return ("partial", unseen) if unseen else ("read", "")


def _fault(section: Section) -> str:
    """What is wrong with a section whose lines could all be read."""
    if section.style == "orphan":
        return "the line that begins a file section is missing above it"
    origins = (section.added_mode, section.deleted_mode, section.moved_from)
    if sum(each is not None for each in origins) > 1:
        return "it is said to be added, deleted or renamed at once"
    if section.new is not None and _lacks(section):
        return "no hunk follows its names"
    if (section.old_mode is None) != (section.new_mode is None):
        return "one of its two modes is missing"
    if section.added_mode and any(hunk.old_count for hunk in section.hunks):
        return "a new file has lines of an old one"
    if section.deleted_mode and any(hunk.new_count for hunk in section.hunks):
        return "a deleted file has lines of a new one"
    return ""


def _lacks(section: Section) -> bool:
    """Whether the header announces lines that are not there. git has options that leave them out."""
    if section.hunks or section.over or section.binary is not None or section.unseen or section.style == "fragment":
        return False
    if section.new is not None or section.style != "git":
        return True
    if section.index is not None:
        ids = [each for each in section.index if each.strip(b"0")]
        empty = (section.added_mode or section.deleted_mode) and len(ids) == 1 and _is_empty(ids[0])
        return not empty and section.index[0] != section.index[1]
    return not (section.new_mode or section.added_mode or section.deleted_mode or section.moved_to is not None)


def _is_empty(blob: bytes) -> bool:
    return len(blob) >= _MIN_BLOB and any(empty.startswith(blob) for empty in _EMPTY_BLOBS)


def _status(section: Section, named: Title) -> Status:
    if section.added_mode or section.old == file_names.NULL:
        return "added"
    if section.deleted_mode or section.new == file_names.NULL:
        return "deleted"
    if named.old is not None and named.old != named.path:
        return "copied" if section.copied else "renamed"
    if section.style in {"plain", "fragment"} and len(section.hunks) == 1:
        hunk = section.hunks[0]
        if not (hunk.old_start or hunk.old_count):
            return "added"
        if not (hunk.new_start or hunk.new_count):
            return "deleted"
    return "modified"


def _why_binary(path: bytes) -> str:
    language = language_of(path.decode("utf-8", "replace"))
    if language != UNKNOWN and kind_of(language) == "code":
        return f"called binary, though its name says {language}: an attribute such as -diff may hide its text"
    return "binary: the diff shows no text of it"
