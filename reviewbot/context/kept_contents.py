"""Cache the contents of files that are read repeatedly, as by one search after the other, up to a bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from threading import Lock

MAX_KEPT_BYTES = 64 * 2**20
"""Of all files of a snapshot; those behind it are read each time."""


class KeptContents:
    """The bytes of text files by label; safe to use from several threads."""

    def __init__(self, read: Callable[[str], bytes | None], limit: int = MAX_KEPT_BYTES) -> None:
        """`read` gives the bytes of a text file, None where there is none."""
        self._read = read
        self._left = limit
        self._lock = Lock()
        self._kept: dict[str, bytes] = {}

    def of(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the text files among these, in this order: label and bytes."""
        for path in paths:
            content = self._kept.get(path)
            if content is None:
                content = self._read(path)
                self._keep(path, content)
            if content is not None:
                yield path, content

    def _keep(self, path: str, content: bytes | None) -> None:
        with self._lock:
            if content is not None and path not in self._kept and len(content) <= self._left:
                self._left -= len(content)
                self._kept[path] = content
