"""The archive of a commit, as a stream of the files in it.

Nothing is unpacked. Of an archive only the bytes of its regular files are looked at: no name in it is read, no link is
followed, and whether a file is one that is wanted is for its hash to say. A hostile archive can therefore waste some
time, within the bounds here, and nothing else.

Source: https://docs.github.com/en/rest/repos/contents#download-a-repository-archive-tar: the API redirects to another
host, with a short-lived permission in the address for what is private.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from urllib.parse import urlsplit

from reviewbot.domain.errors import HostError
from reviewbot.domain.repository_files import MAX_FILE_BYTES
from reviewbot.hosts.github.auth.access import web_host_of
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.pull import check_repository, check_sha
from reviewbot.hosts.github.transport import BrokenError, HttpSession, origin_of

MAX_PACKED_BYTES = 512 * 2**20
"""Of an archive as it comes."""

MAX_PLAIN_BYTES = 2 * 2**30
"""Of an archive unpacked: files that are too large to be kept are passed over, and count all the same."""

MAX_ENTRIES = 400_000
"""Of an archive, folders included. GitHub lists at most 100,000 files of a commit."""

_BLOCK = 512
_PIECE = 256 * 1024
_REGULAR = frozenset({b"0", b"\0", b"7"})
_SIZE, _KIND = slice(124, 136), slice(156, 157)


class ArchiveError(HostError):
    """An archive that cannot be fetched, is not an archive, or is over a bound."""


def read_archive(client: GithubClient, repository: str, commit: str, left: Callable[[], float]) -> Iterator[bytes]:
    """Yield the content of each regular file of a commit's archive, without a name.

    `left` returns the seconds until it must be done. Raises HostError and its kinds.
    """
    path = f"/repos/{check_repository(repository)}/tarball/{check_sha(commit)}"
    address = client.redirection(path)
    if not is_known(address, client.access.api_url):
        raise ArchiveError("GitHub sends us to a host that is not its own for the archive of a commit")
    with closing(HttpSession(address)) as session:
        try:
            # Without the token: the address holds the permission, and is never shown for that.
            yield from files_of(session.stream(address, left, MAX_PACKED_BYTES))
        except BrokenError as error:
            raise ArchiveError(f"the archive of the commit did not come: {error}") from None


def is_known(address: str, api_url: str) -> bool:
    """Whether an address is where the GitHub of this API keeps archives: itself, or its host "codeload"."""
    api, there = urlsplit(api_url), origin_of(address)
    host = web_host_of(api_url)
    return bool(there) and there in {origin_of(api_url), origin_of(f"{api.scheme}://codeload.{host}")}


def files_of(
    packed: Iterator[bytes], max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_PLAIN_BYTES
) -> Iterator[bytes]:
    """Yield the content of each regular file of a gzipped tar archive that is not too large. Raises ArchiveError."""
    plain = _Plain(packed, max_bytes)
    for _ in range(max_entries):
        header = plain.take(_BLOCK)
        if len(header) < _BLOCK:
            raise ArchiveError("the archive of the commit ends in the middle")
        if not header.strip(b"\0"):
            return
        size = _size_of(header)
        if header[_KIND] in _REGULAR and size <= MAX_FILE_BYTES:
            content = plain.take(size)
            if len(content) < size:
                raise ArchiveError("the archive of the commit ends in the middle")
            yield content
            plain.skip(-size % _BLOCK)
        else:
            plain.skip(size + -size % _BLOCK)
    raise ArchiveError(f"the archive of the commit has more than {max_entries:,} entries")


def _size_of(header: bytes) -> int:
    """The size of an entry: octal digits, or from 8 GiB on a binary number."""
    field = header[_SIZE]
    if field[0] & 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \0") or b"0"
    if not digits.isdigit() or b"8" in digits or b"9" in digits:
        raise ArchiveError("the archive of the commit is no tar file")
    return int(digits, 8)


class _Plain:
    """An unpacked stream, of bounded length and in bounded memory. Raises ArchiveError."""

    def __init__(self, packed: Iterator[bytes], max_bytes: int) -> None:
        self._packed = packed
        self._max_bytes = max_bytes
        self._unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        self._buffer = bytearray()
        self._passed = 0

    def take(self, size: int) -> bytes:
        """The next bytes; fewer at the end."""
        while len(self._buffer) < size and self._grow():
            pass
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    def skip(self, size: int) -> None:
        """Pass over the next bytes."""
        while size > len(self._buffer):
            size -= len(self._buffer)
            self._buffer.clear()
            if not self._grow():
                return
        del self._buffer[:size]

    def _grow(self) -> bool:
        """Unpack a piece more, and return whether there was one."""
        while not self._unpacker.eof:
            packed = self._unpacker.unconsumed_tail or next(self._packed, b"")
            try:
                piece = self._unpacker.decompress(packed, _PIECE)  # at the end of the input, what is left inside
            except zlib.error:
                raise ArchiveError("the archive of the commit is not packed as gzip does") from None
            self._passed += len(piece)
            if self._passed > self._max_bytes:
                raise ArchiveError(f"the archive of the commit unpacks to more than {self._max_bytes >> 20} MiB")
            self._buffer += piece
            if piece or not packed:
                return bool(piece)
        return False
