"""The one file out of the archive in which GitHub hands out an artifact. Nothing is ever unpacked to disk."""

from __future__ import annotations

import stat
import zipfile
import zlib
from io import BytesIO

from reviewbot.errors import ArtifactError

MAX_ZIP_BYTES = 2 * 1024 * 1024
"""Of the archive: as long as its text may be, which compresses to a fifth."""

MAX_RATIO = 200
"""Bytes that one compressed byte may become. Lists of findings become about 20; deflate can reach 1,032."""

_FREE_BYTES = 64 * 1024
"""So small a file is no bomb, whatever its ratio: an empty list of many equal files compresses well."""

_START = b"PK\x03\x04"
_ENCRYPTED = 0x1
_PLAIN = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_UNIX_MODE = 16
"""Bits above which an entry's attributes hold a mode of Unix."""


def unpacked(data: bytes, name: str, most: int) -> bytes:
    """The content of the only entry, which must be the regular file `name`, of at most `most` bytes.

    Raises ArtifactError, in words that quote nothing of the archive.
    """
    if len(data) > MAX_ZIP_BYTES:
        raise ArtifactError(f"its archive is larger than {MAX_ZIP_BYTES >> 20} MiB")
    if not data.startswith(_START):
        raise ArtifactError("it is no zip archive")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            entry = _only_entry(archive, name)
            _check_size(entry, most)
            with archive.open(entry) as stream:
                # The library inflates no more than the entry says, and compares the sum of what came out.
                return stream.read(most + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, NotImplementedError):
        # All that the library raises for an archive that is damaged or uses what it does not know.
        raise ArtifactError("its zip archive is damaged") from None


def _only_entry(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    entries = archive.infolist()
    if len(entries) != 1:
        raise ArtifactError(f"its archive holds not one entry but {len(entries)}")
    entry = entries[0]
    # `filename` ends at a NUL character and has other separators; what was written stands in `orig_filename`.
    if entry.orig_filename != name or entry.filename != name:
        raise ArtifactError("the file in its archive has another name than it should have")
    kind = stat.S_IFMT(entry.external_attr >> _UNIX_MODE)
    if kind not in {0, stat.S_IFREG}:
        raise ArtifactError("the entry in its archive is a link or no regular file")
    if entry.flag_bits & _ENCRYPTED or entry.compress_type not in _PLAIN:
        raise ArtifactError("its archive is encrypted, or compressed in a way that is not taken")
    return entry


def _check_size(entry: zipfile.ZipInfo, most: int) -> None:
    """Refuse by what it says of itself, before a byte is inflated."""
    if entry.file_size > most:
        raise ArtifactError(f"its file is larger than {most >> 20} MiB")
    if entry.file_size > _FREE_BYTES and entry.file_size > MAX_RATIO * entry.compress_size:
        raise ArtifactError(f"its file grows more than {MAX_RATIO} times when it is unpacked")
