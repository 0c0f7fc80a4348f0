"""Parse the bytes of a diff into a ChangeSet in which each file has exactly one state."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from reviewbot.diff.limits import DiffLimits
from reviewbot.diff.parser import decode_input, file_names
from reviewbot.diff.parser.build import Built, build
from reviewbot.diff.parser.mail import Mail, description_of, read_mails, title_of
from reviewbot.diff.parser.scan import scan
from reviewbot.diff.parser.series import join_series
from reviewbot.diff.parser.state import Section
from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.errors import DiffError

_LIMITS = DiffLimits()


def parse_diff(data: bytes, limits: DiffLimits = _LIMITS) -> ChangeSet:
    """Read a unified diff: git's in any configuration, Mercurial's, Subversion's, GNU diff's.

    Mails of `git format-patch` and GitHub's `.patch` as well, whose messages become title and description. No bytes
    give an empty ChangeSet. A file that cannot be read is listed as such and costs no other file anything.

    Raises:
        DiffError: no file at all can be found, or the input is of another form (packed, coloured, combined, word
            diff), or mails whose patches and messages cannot be separated. Nothing else, whatever the bytes are.
    """
    lines, open_end = decode_input.lines_of(data, limits)
    if not lines:
        return ChangeSet()
    mails = read_mails(lines)
    if mails is not None:
        return _of_mails(mails, limits)
    decode_input.check_preamble(lines, limits)
    sections = scan(lines, limits, open_end=open_end)
    if not sections:
        raise decode_input.nothing_found(lines)
    _check_form(sections)
    return _change(sections)


def parse_fragment(data: bytes, name: str, limits: DiffLimits = _LIMITS) -> ChangeSet:
    """Read the hunks of one file without its header, as GitHub's list of files carries them in `patch`.

    Args:
        data: the hunks; the last line may lack its newline.
        name: the exact name of the file, with surrogate escapes for bytes that are not UTF-8.
        limits: caps, as for a whole diff.

    Raises:
        DiffError: as for a whole diff, where the input as a whole is of another form.
    """
    lines, _ = decode_input.lines_of(data, limits)
    sections = scan(lines, limits, open_end=False, fragment=True)
    section = sections[0]
    section.title = file_names.quote(file_names.encode(name)).encode("ascii")
    if len(sections) > 1:
        section.blame(sections[1].line - 1, "another file begins inside the patch of this one")
    if not section.hunks:
        section.unseen = "no text of the change came with the file's name"
    return _change([section])


def _of_mails(mails: Sequence[Mail], limits: DiffLimits) -> ChangeSet:
    """All patches are scanned as one, so that the limits hold for all of them together."""
    lines: list[bytes] = []
    starts: list[int] = []
    for mail in mails:
        starts.append(len(lines))
        lines += mail.patch
    sections = scan(lines, limits, open_end=False, mailed=True)
    if not sections:
        raise decode_input.nothing_found(lines)
    _check_form(sections)
    patches: list[list[Built]] = [[] for _ in mails]
    for section in sections:
        patches[bisect_right(starts, section.line - 1) - 1].append(build(section))
    built = patches[0] if len(patches) == 1 else join_series(patches)
    about = {"title": title_of(mails), "description": description_of(mails)}
    return _change_of(built).model_copy(update=about)


def _check_form(sections: Sequence[Section]) -> None:
    """Refuse forms that show only once the sections are read, where none of them has text to review."""
    if all(section.style == "combined" for section in sections):
        raise DiffError(f"The input is a combined diff of a merge (diff --cc): {decode_input.WANTED}.")
    if any(section.word_diff for section in sections) and not any(
        section.hunks for section in sections if not section.trouble
    ):
        raise DiffError(f"The input is a word diff: {decode_input.WANTED} without --word-diff.")


def _change(sections: Sequence[Section]) -> ChangeSet:
    return _change_of([build(section) for section in sections])


def _change_of(built: Sequence[Built]) -> ChangeSet:
    return ChangeSet(files=tuple(each.file for each in built), parsed=tuple(each.parsed for each in built))
