"""A segment: many files in one, written once and never changed.

The files stand one behind the other; then comes an index, sorted by hash, of fixed rows; then a footer. A reader keeps
the index in memory, 32 bytes for each file, and reads a file with one `pread`: a segment that is cut short by somebody
else gives a short read, where a mapped one would end the process.
"""

from __future__ import annotations

import os
import stat
import struct
import weakref
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BLOB_BYTES = 2 * 2**20
"""Of a file that is kept. Nobody wrote a longer one by hand."""

_MAGIC = b"RBBLOBS1"
_ROW = struct.Struct(">QI")
_FOOTER = struct.Struct(">QIBI8s")
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_INDEX_BYTES = 256 * 2**20


class DamagedError(Exception):
    """A file is no whole segment of ours."""


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
        offset, length = found
        content = os.pread(self._descriptor, length, offset)
        return content if len(content) == length else None

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
            self._rows[key] = (self._at, len(content))
            self._at += len(content)

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
