"""Decode the bytes of the input into lines before any section is read, or raise an error that names their form."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence

from reviewbot.diff.limits import DiffLimits
from reviewbot.domain.errors import DiffError

WANTED = "give the output of `git diff base...head`"

_PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "a zip archive",
}
"""First bytes of packed files."""
_WIDE = {
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_EXPORTED = b"# HG changeset patch"
_TAG = b"tag "
_START = re.compile(rb"diff -|Index: |@@|--- .")
"""A line that can begin the first section. What stands above it is the preamble."""


def lines_of(data: bytes, limits: DiffLimits) -> tuple[list[bytes], bool]:
    """Give the lines of a diff without their LF, and whether the last one had none.

    Raises DiffError where the bytes are too many or packed.
    """
    data = _unwrap(data, limits)
    lines = data.split(b"\n")
    open_end = bool(lines[-1])
    if not open_end:
        lines.pop()
    return lines, open_end


def _unwrap(data: bytes, limits: DiffLimits) -> bytes:
    if len(data) > limits.input_bytes:
        raise DiffError(f"The diff has more than {limits.input_bytes} bytes: review it in parts.")
    if data.count(b"\n") > limits.input_lines:
        raise DiffError(f"The diff has more than {limits.input_lines} lines: review it in parts.")
    for magic, name in _PACKED.items():
        if data.startswith(magic):
            raise DiffError(f"The input is {name}: unpack it first.")
    for mark, encoding in _WIDE.items():
        if data.startswith(mark):
            data = data.decode(encoding, "replace").encode("utf-8", "replace")
            break
    if data[:8].count(b"\0") >= 3:  # noqa: PLR2004 - every other byte of a wide text that begins without a mark
        raise DiffError("The input is UTF-16 without a byte order mark, or binary: save the diff as UTF-8.")
    data = data.removeprefix(codecs.BOM_UTF8)
    returns = data.count(b"\r\n")
    if returns and returns == data.count(b"\n"):
        # Not even git's own header lines end in LF alone: the transport did that, not the files.
        data = data.replace(b"\r\n", b"\n")
    return data


def check_preamble(lines: Sequence[bytes], limits: DiffLimits) -> None:
    """Refuse exported commits and tags, whose message may hold lines that look like a change. Raises DiffError."""
    tagged = False
    for line in lines:
        if _START.match(line, 0, limits.header_bytes):
            break
        tagged = tagged or line.startswith(_TAG)
        if line.startswith(_EXPORTED):
            raise DiffError(f"The input is an exported commit, whose message is not part of the change: {WANTED}.")
        if tagged and line.startswith(b"Tagger: "):
            raise DiffError(f"The input begins with a tag, whose message is not part of the change: {WANTED}.")


def begins_section(line: bytes) -> bool:
    """Whether a line can begin a file."""
    return _START.match(line) is not None


def check_coloured(line: bytes) -> None:
    """Refuse a line outside every hunk that begins with a colour. Raises DiffError."""
    if line.startswith(b"\x1b["):
        raise DiffError(f"The diff is coloured: {WANTED} with --no-color.")


def nothing_found(lines: Sequence[bytes]) -> DiffError:
    """Make the error for a text in which no file section was found."""
    if not b"".join(lines[:1000]).strip():
        return DiffError("The input holds only white space: a diff without changes has no bytes at all.")
    size = sum(map(len, lines)) + len(lines)
    return DiffError(f"No file section was found in {size} bytes, so this is no unified diff: {WANTED}.")
