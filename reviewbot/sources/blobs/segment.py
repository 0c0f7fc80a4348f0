"""A segment: many files in one, written once and never changed.

The files stand one behind the other, with a line end between them; then comes an index, sorted by hash, of fixed rows;
then a footer. A reader keeps the index in memory, 32 bytes for each file, and reads a file with one `pread`: a segment
that another process cuts short gives a short read, where a mapped one would end the process. A search reads long
pieces of many files at once.
"""

from __future__ import annotations

import os
import stat
import struct
import weakref
import zlib
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from reviewbot.domain.repository_files import Expression

_Row = tuple[int, int, str]
"""Offset, length with flags, hash."""

MAX_BLOB_BYTES = 2 * 2**20
"""Of a file that is kept. Longer ones are not written by hand."""

_MAGIC = b"RBBLOBS2"
_ROW = struct.Struct(">QI")
"""Where a file begins, and its length with `_CRLF` and `_BINARY` in the bits above."""

_CRLF, _BINARY = 1 << 31, 1 << 30
_LENGTH = _BINARY - 1
_BINARY_PROBE = 8_000
"""Git's own rule: a NUL this near to the start makes a file binary."""

_PIECE = 2 * 2**20
"""Of a segment, that is read and searched at once; with the file that it ends in."""
_FOOTER = struct.Struct(">QIBI8s")
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_INDEX_BYTES = 256 * 2**20


class DamagedError(Exception):
    """A file is not a whole segment."""


class Segment:
    """A segment that is open for reading; safe to use from several threads, also after its file was removed."""

    def __init__(self, path: Path) -> None:
        """Raises OSError, and DamagedError."""
        self.path = path
        self._descriptor = os.open(path, _FLAGS)
        self.close = weakref.finalize(self, os.close, self._descriptor)
        status = os.fstat(self._descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            raise DamagedError("not ours")
        self.size = status.st_size
        self._width, self._index = self._read_index()
        self._row = self._width + _ROW.size

    def _read_index(self) -> tuple[int, bytes]:
        end = self.size - _FOOTER.size
        footer = os.pread(self._descriptor, _FOOTER.size, max(0, end))
        if end < 0 or len(footer) != _FOOTER.size:
            raise DamagedError("too short")
        start, count, width, checksum, magic = _FOOTER.unpack(footer)
        size = count * (width + _ROW.size)
        if magic != _MAGIC or start + size != end or size > _MAX_INDEX_BYTES:
            raise DamagedError("no footer")
        index = os.pread(self._descriptor, size, start)
        if len(index) != size or zlib.crc32(index) != checksum:
            raise DamagedError("another index")
        return width, index

    def __contains__(self, sha: str) -> bool:
        return self._find(sha) is not None

    def read(self, sha: str) -> bytes | None:
        """A file; None where it is not in here, or the segment was cut short."""
        found = self._find(sha)
        if found is None:
            return None
        offset, length = found[0], found[1] & _LENGTH
        content = os.pread(self._descriptor, length, offset)
        return content if len(content) == length else None

    def scan(self, expression: Expression, wanted: Collection[str], *, crlf: bool) -> Iterator[str]:
        """Yield the hashes of those wanted text files that match, as they stand in the segment; some that do not, too.

        `crlf`: whether a file with CR LF counts in any case, since the expression may take it for LF.
        """
        rows = self._by_offset
        first = 0
        while first < len(rows):
            base, last = rows[first][0], first
            while last < len(rows) and rows[last][0] - base < _PIECE:
                last += 1
            end = rows[last - 1][0] + (rows[last - 1][1] & _LENGTH)
            piece = os.pread(self._descriptor, end - base, base)
            starts = [row[0] - base for row in rows[first:last]]
            yield from self._matching(expression, piece, rows[first:last], starts, wanted)
            if crlf:
                yield from (sha for _, flags, sha in rows[first:last] if flags & _CRLF and sha in wanted)
            first = last

    def _matching(
        self, expression: Expression, piece: bytes, rows: Sequence[_Row], starts: Sequence[int], wanted: Collection[str]
    ) -> Iterator[str]:
        at = 0
        while at < len(piece) and (match := expression.search(piece, at)):
            number = bisect_right(starts, match.start()) - 1
            start, flags, sha = starts[number], rows[number][1], rows[number][2]
            if not flags & _BINARY and sha in wanted:
                yield sha
            at = start + (flags & _LENGTH) + 1

    @cached_property
    def _by_offset(self) -> list[_Row]:
        rows = []
        for at in range(0, len(self._index), self._row):
            offset, flags = _ROW.unpack_from(self._index, at + self._width)
            rows.append((offset, flags, self._index[at : at + self._width].hex()))
        rows.sort()
        return rows

    def _find(self, sha: str) -> tuple[int, int] | None:
        wanted = bytes.fromhex(sha)
        if len(wanted) != self._width:
            return None
        low, high = 0, len(self._index) // self._row
        while low < high:
            middle = (low + high) // 2
            at = middle * self._row
            found = self._index[at : at + self._width]
            if found == wanted:
                offset, length = _ROW.unpack_from(self._index, at + self._width)
                return offset, length
            low, high = (middle + 1, high) if found < wanted else (low, middle)
        return None


class SegmentWriter:
    """Writes a segment to an open file. All hashes have one length."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._rows: dict[bytes, tuple[int, int]] = {}
        self._at = 0

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, sha: str, content: bytes) -> None:
        """Add a file, once. Raises OSError."""
        key = bytes.fromhex(sha)
        if key not in self._rows:
            self._file.write(content)
            self._file.write(b"\n")
            flags = (b"\r\n" in content) * _CRLF | (b"\0" in content[:_BINARY_PROBE]) * _BINARY
            self._rows[key] = (self._at, len(content) | flags)
            self._at += len(content) + 1

    def finish(self) -> None:
        """Write index and footer, down to the disk. Raises OSError."""
        index = b"".join(self._index_rows())
        width = len(next(iter(self._rows), b""))
        self._file.write(index)
        self._file.write(_FOOTER.pack(self._at, len(self._rows), width, zlib.crc32(index), _MAGIC))
        self._file.flush()
        os.fsync(self._file.fileno())

    def _index_rows(self) -> Iterator[bytes]:
        for sha, (offset, length) in sorted(self._rows.items()):
            yield sha + _ROW.pack(offset, length)
