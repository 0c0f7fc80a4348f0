"""What a file of a change needs: a review, plain-line scans alone, or nothing.

Nothing that the change itself says lowers the need: a generated-looking name, a vendor folder or a line "@generated"
comes from its author. Only the base side (settings, `.gitattributes`) does, and three kinds of text in which no code
runs: prose, lock files, and empty files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from reviewbot.config.globs import matches_glob
from reviewbot.diff.language import UNKNOWN
from reviewbot.diff.rows import hunk_rows
from reviewbot.domain.contracts import FileChange, Need, ParsedFile, PlannedFile
from reviewbot.tables import words_in

Declared = Callable[[str], str | None]
"""Why the base side declares a path generated or vendored; None where it does not."""

LOCK_FILES = words_in("names/files", "lock_files")

GIT_SYMLINK, GIT_SUBMODULE, GIT_EXECUTABLE = "120000", "160000", "100755"
NO_TEXT = {GIT_SYMLINK: "a symbolic link", GIT_SUBMODULE: "a submodule"}
PROSE = "prose"


class Needs(NamedTuple):
    """What a file needs, and whether readers (models, analyzers) are to get it beside the scans."""

    planned: PlannedFile
    to_read: bool = False


def needs_of(
    file: FileChange, parsed: ParsedFile, *, ignore: Sequence[str], paths: Sequence[str], declared: Declared
) -> Needs:
    """Decide on one file. Empty `paths` mean all of them."""
    if is_removed(file, parsed):
        return _needs(file, "nothing", "deleted")
    if parsed.state not in ("read", "partial", "binary"):
        return _needs(file, "review", parsed.reason)
    if file.mode in NO_TEXT:
        return _needs(file, "nothing", f"{NO_TEXT[file.mode]}, which is never followed")
    spared = _excluded(file, ignore, paths) or declared(file.path)
    if parsed.state == "binary":
        return _needs(file, "review" if _is_named_like_text(file) and not spared else "nothing", parsed.reason)
    if spared:
        return _needs(file, "scan", spared)
    harmless = _harmless(file, parsed)
    need: Need = "scan" if harmless else "review"
    # Prose is scanned and, where a worker is for it, read as well.
    to_read = bool(file.hunks) and harmless in ("", PROSE)
    return Needs(PlannedFile(path=file.path, need=need, reason=harmless), to_read)


def is_removed(file: FileChange, parsed: ParsedFile) -> bool:
    """Whether the change deletes a file; what a malformed or refused section says of it is not believed."""
    return file.status == "deleted" and parsed.state not in ("malformed", "refused")


def _needs(file: FileChange, need: Need, reason: str) -> Needs:
    return Needs(PlannedFile(path=file.path, need=need, reason=reason))


def _harmless(file: FileChange, parsed: ParsedFile) -> str:
    """Which kind of text it is in which no code runs; empty for all others."""
    if file.status == "added" and not file.hunks and parsed.state == "read":
        return "an empty file"
    if _is_runnable(file):
        return ""
    if file.path.rpartition("/")[2] in LOCK_FILES:
        return "a lock file"
    return PROSE if file.kind == "prose" else ""


def _excluded(file: FileChange, ignore: Sequence[str], paths: Sequence[str]) -> str | None:
    """Why the settings leave a file out; the change cannot set them."""
    if paths and not any(matches_glob(glob, file.path) for glob in paths):
        return "not among the paths to review"
    pattern = next((glob for glob in ignore if matches_glob(glob, file.path)), None)
    return None if pattern is None else f"matches the ignore pattern {pattern!r}"


def _is_runnable(file: FileChange) -> bool:
    """Whether a system would run it as a program, whatever its name says."""
    if file.mode == GIT_EXECUTABLE:
        return True
    if not file.hunks or file.hunks[0].new_start > 1:
        return False
    first = next((row for row in hunk_rows(file.hunks[0]) if row.new is not None), None)
    return first is not None and first.text.startswith("#!")


def _is_named_like_text(file: FileChange) -> bool:
    """Whether a reader would read this file if the diff showed it; an image or a lock file is not read."""
    return file.path.rpartition("/")[2] not in LOCK_FILES and file.kind != "prose" and file.language != UNKNOWN
