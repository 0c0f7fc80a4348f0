"""Resolve the file of a section. All lines that hold a name must agree; a section whose names disagree is malformed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from reviewbot.diff.parser import file_names
from reviewbot.diff.parser.state import Section

_BAD_QUOTES = "a quoted file name cannot be read"
_DISAGREE = "the lines that name the file disagree"


class Title(NamedTuple):
    """The names of a section. With a fault `path` is only the best guess."""

    path: bytes
    old: bytes | None = None
    """Where it differs from `path`."""
    fault: str = ""


def title(section: Section) -> Title:
    """Find the names; without any the path says where the section stands."""
    old = None if section.old is None else file_names.read_name(section.old)
    new = None if section.new is None else file_names.read_name(section.new)
    if (section.old is not None and old is None) or (section.new is not None and new is None):
        return Title(_guess(section, None, None), None, _BAD_QUOTES)
    if section.style == "git":
        return _git(section, old, new)
    if section.style == "plain":
        return _plain(section, old, new)
    if section.style in {"orphan", "combined"}:
        return Title(_guess(section, old, new))
    if section.style == "fragment":
        return Title(file_names.whole(section.title) or b"")
    return Title(file_names.whole(section.title) or _guess(section, None, None))


def _guess(section: Section, old: bytes | None, new: bytes | None) -> bytes:
    """The name that is shown where the lines do not determine one."""
    pair = file_names.split_git_line(section.title) if section.style == "git" else None
    whole = section.title if section.style == "combined" else section.moved_to
    known = (
        None if whole is None else file_names.whole(whole),
        None if pair is None else file_names.common(*pair),
        *(file_names.without_prefix(name) for name in (new, old, pair and pair[1]) if name and name != file_names.NULL),
    )
    return next((name for name in known if name), b"(unnamed section at line %d of the diff)" % section.line)


def _git(section: Section, old: bytes | None, new: bytes | None) -> Title:
    guess = _guess(section, old, new)
    if section.moved_from is not None or section.moved_to is not None:
        return _moved(section, old, new, guess)
    pair = file_names.split_git_line(section.title)
    if section.binary is not None and old is None and new is None:
        old, new = _binary_names(section.binary) or (None, None)
    moded = section.added_mode or section.deleted_mode
    if old and new and not moded and (pair == (old, new) or section.title == old + b" " + new):
        # Both names twice, alike. Without the lines of a rename they differ in `git diff --no-index` alone.
        return _both(old, new)
    if pair is None:
        return Title(guess, None, "the names in its diff line are ambiguous")
    name = file_names.common(*pair)
    if not name:
        return Title(guess, None, _DISAGREE)
    wanted_old = file_names.NULL if section.added_mode else pair[0]
    wanted_new = file_names.NULL if section.deleted_mode else pair[1]
    if old not in {None, wanted_old} or new not in {None, wanted_new}:
        return Title(guess, None, _DISAGREE)
    return Title(name)


def _moved(section: Section, old: bytes | None, new: bytes | None, guess: bytes) -> Title:
    """A rename or a copy: its own two lines carry no prefix and the others are compared with them."""
    if section.moved_from is None or section.moved_to is None:
        return Title(guess, None, "one of the two names of a rename is missing")
    source, target = file_names.whole(section.moved_from), file_names.whole(section.moved_to)
    if not source or not target:
        return Title(guess, None, _BAD_QUOTES)
    agree = (
        source != target
        and file_names.joins(section.title, source, target)
        and (old is None or file_names.ends(old, source))
        and (new is None or file_names.ends(new, target))
    )
    return Title(target, source, "" if agree else _DISAGREE)


def _plain(section: Section, old: bytes | None, new: bytes | None) -> Title:
    if section.binary is not None and new is None:
        old, new = _binary_names(section.binary) or (None, None)
    if old is None or new is None:
        name = file_names.whole(section.title)
        return Title(name) if name else Title(_guess(section, old, new), None, "its file name is missing")
    found = _both(old, new)
    if section.svn and not found.fault:
        # Subversion and quilt differ in what they put above a name; the shorter one is the file's own.
        longer, shorter = sorted((section.title, found.path), key=len, reverse=True)
        return Title(shorter, None, "" if file_names.tails(longer, shorter) else _DISAGREE)
    return found


def _both(old: bytes, new: bytes) -> Title:
    """Names of a diff that no git line explains."""
    if old == new == file_names.NULL or not old or not new:
        return Title(b"(nameless)", None, "its file name is missing")
    if old == file_names.NULL:
        return Title(file_names.without_prefix(new))
    if new == file_names.NULL:
        return Title(file_names.without_prefix(old))
    name = file_names.common(old, new)
    if name is not None:
        return Title(name)
    shorter = (file_names.without_prefix(old), file_names.without_prefix(new))
    if shorter[0] != old and shorter[1] != new:
        old, new = shorter
    return Title(new, old)


def _binary_names(line: bytes) -> tuple[bytes, bytes] | None:
    """Read "Binary files A and B differ" and Mercurial's "Binary file A has changed"."""
    if line.startswith(b"Binary file "):
        name = line.removeprefix(b"Binary file ").removesuffix(b" has changed")
        return name, name
    if not line.startswith(b"Binary files ") or not line.endswith(b" differ"):
        return None
    text = line.removeprefix(b"Binary files ").removesuffix(b" differ")
    for old, new in _parts(text):
        first, second = file_names.whole(old), file_names.whole(new)
        if first and second:
            return first, second
    return None


def _parts(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield where "A and B" can be split, the surest way first; names may hold the joint themselves."""
    joint = b" and "
    if text.startswith(file_names.NULL + joint):
        yield file_names.NULL, text.removeprefix(file_names.NULL + joint)
    middle = (len(text) - len(joint)) // 2
    if text == text[:middle] + joint + text[middle + len(joint) :] and len(text) == 2 * middle + len(joint):
        yield text[:middle], text[middle + len(joint) :]
    if text.endswith(joint + file_names.NULL):
        yield text.removesuffix(joint + file_names.NULL), file_names.NULL
    old, _, new = text.partition(joint)
    yield old, new
