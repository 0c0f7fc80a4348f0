"""File names as git writes them, as bytes, and as labels.

A label is how a name travels through the product: valid Unicode, one label per name and one name per label. It is the
name itself where that is UTF-8 and does not begin with a double quote, else git's own C-quoted form.
"""

from __future__ import annotations

import re

NULL = b"/dev/null"
"""What stands for the missing side of an added or deleted file."""

_LETTERS = dict(
    zip(b'\a\b\t\n\v\f\r"\\', ("\\a", "\\b", "\\t", "\\n", "\\v", "\\f", "\\r", '\\"', "\\\\"), strict=True)
)
_QUOTED = re.compile(rb'"((?:[^"\\]|\\[abtnvfr"\\]|\\[0-3][0-7]{2})*+)"')
"""Possessive: a failing match never tries again. Each alternative begins with another byte."""
_PREFIX = re.compile(rb"[abciow12]/")
"""git's own prefixes: "a/" and "b/", "c/" "i/" "o/" "w/" with diff.mnemonicPrefix, "1/" "2/" with --no-index."""


def unquote(text: bytes) -> tuple[bytes, bytes] | None:
    """Split a text that begins with a C-quoted string into (its value, the rest); None where it is badly quoted."""
    match = _QUOTED.match(text)
    if match is None:
        return None
    # What has matched holds no escape but those that Python knows as well.
    return match[1].decode("unicode_escape").encode("latin-1"), text[match.end() :]


def quote(name: bytes) -> str:
    """Write a name in git's C-quoted form, always with quotes."""
    return '"' + "".join(_LETTERS.get(byte) or _plain(byte) for byte in name) + '"'


def _plain(byte: int) -> str:
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"  # noqa: PLR2004 - the printable part of ASCII


def label(name: bytes) -> str:
    """Give the label of a name."""
    if not name.startswith(b'"'):
        try:
            return name.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return quote(name)


def to_bytes(label: str) -> bytes:
    """Give the name that a label stands for. A text that is not a label stands for itself."""
    raw = encode(label)
    if raw.startswith(b'"'):
        quoted = unquote(raw)
        if quoted is not None and not quoted[1]:
            return quoted[0]
    return raw


def encode(text: str) -> bytes:
    """Encode a name from outside.

    A surrogate that stands for no byte, as JSON can carry one, becomes bytes that are not UTF-8: its label escapes it.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def exact(label: str) -> str:
    """Give the real name, with surrogate escapes for bytes that are not UTF-8: what a file system takes."""
    return to_bytes(label).decode("utf-8", "surrogateescape")


def whole(text: bytes) -> bytes | None:
    """Read a name that fills its line, as after "rename from "; None where it is badly quoted."""
    if not text.startswith(b'"'):
        return text
    quoted = unquote(text)
    return None if quoted is None or quoted[1] else quoted[0]


def read_name(text: bytes) -> bytes | None:
    """Read the name of a "---" or "+++" line: up to a TAB, behind which time or nothing stands."""
    if not text.startswith(b'"'):
        return text.split(b"\t", 1)[0]
    quoted = unquote(text)
    return None if quoted is None or (quoted[1] and not quoted[1].startswith(b"\t")) else quoted[0]


def split_git_line(text: bytes) -> tuple[bytes, bytes] | None:
    """Split what follows "diff --git " into both names with their prefixes; None where they cannot be separated.

    An unquoted line is split in the middle, which is right for every change that is no rename, whatever blanks the
    name holds: both names are then equally long.
    """
    if text.startswith(b'"'):
        first = unquote(text)
        if first is None or not first[1].startswith(b" "):
            return None
        second = whole(first[1][1:])
        return None if second is None else (first[0], second)
    if text.endswith(b'"'):
        # An unquoted name holds no quote, so the first one begins the second name.
        before, blank, after = text.partition(b' "')
        second = whole(b'"' + after) if blank else None
        return None if second is None else (before, second)
    middle = len(text) // 2
    return (text[:middle], text[middle + 1 :]) if len(text) % 2 and text[middle : middle + 1] == b" " else None


def joins(text: bytes, old: bytes, new: bytes) -> bool:
    """Whether "diff --git " + text may stand above a change of `old` into `new`, both known without their prefixes."""
    if text.startswith(b'"') or text.endswith(b'"'):
        pair = split_git_line(text)
        return pair is not None and ends(pair[0], old) and ends(pair[1], new)
    if not text.endswith(new):
        return False
    # What is left is: prefix, old name, blank, prefix. The second prefix holds no blank.
    before, blank, prefix = text[: len(text) - len(new)].rpartition(b" ")
    return bool(blank) and ends(before, old) and _is_prefix(prefix)


def ends(name: bytes, tail: bytes) -> bool:
    """Whether a name is `tail` with or without a prefix of one folder."""
    return name.endswith(tail) and _is_prefix(name[: len(name) - len(tail)])


def tails(name: bytes, tail: bytes) -> bool:
    """Whether a name is `tail` below any folder or none."""
    return name == tail or name.endswith(b"/" + tail)


def _is_prefix(text: bytes) -> bool:
    return not text or text.find(b"/") == len(text) - 1


def common(old: bytes, new: bytes) -> bytes | None:
    """Give the one name that both sides have once their prefixes are cut; None where the names differ.

    Equal sides carry no prefix: git never gives both the same one.
    """
    if old == new:
        return old
    old_rest, new_rest = old.partition(b"/")[2], new.partition(b"/")[2]
    return new_rest if old_rest == new_rest and new_rest else None


def without_prefix(name: bytes) -> bytes:
    """Cut one of git's own prefixes, where only one side of a change has a name."""
    return name[2:] if _PREFIX.match(name) else name
