"""A search through a snapshot that scans many files at once finds what a search of each file finds."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewbot.domain.repository_files import Expression, Searchable
from reviewbot.llm.tools import RepositoryTools
from reviewbot.llm.tools.arguments import ToolResult
from reviewbot.sources.blobs.store import BlobStore
from tests.snapshots import InMemorySnapshot

FILES: dict[str, str | bytes] = {
    "a.py": "first = 1",  # no line end, so that it touches the next one
    "b.py": "second = 2\nend",
    "c.py": "",
    "crlf.py": "third = 3;\r\nend\r\n",
    "d.bin": b"first\0second",
    "e.py": "\n\nlast = 4\n\n",
    "f.py": "first = 1",  # the same bytes as a.py
    "g.py": "x" * 3_000 + "\nneedle = 5\n",
    **{f"many/{number}.py": f"# {number}\nvalue_{number} = {number}\nend\n" for number in range(50)},
}
PATTERNS = (
    "first",
    "^second",
    "1$",
    "3;$",
    "^end$",
    "^$",
    "first = 1second",
    r"\Asecond",
    r"end\z",
    "(?i)FIRST",
    "(?-m)^second",
    r"\bvalue_7\b",
    r"value_\d+ = 49",
    "needle",
    "nothing at all",
    ".",
    "x{2000}",
)


@pytest.fixture
def stored(tmp_path: Path) -> Any:
    """A repository whose files are kept in a store."""
    folder = BlobStore(tmp_path / "trees").repository(1)
    contents = {path: text if isinstance(text, bytes) else text.encode() for path, text in FILES.items()}
    names = {path: hashlib.sha1(b"blob %d\0" % len(raw) + raw).hexdigest() for path, raw in contents.items()}
    with folder.adding(names.values(), 1) as addition:
        for raw in contents.values():
            addition.keep(raw)

    class Stored(InMemorySnapshot):
        scans = 0

        def matching(self, expression: Expression, paths: Collection[str], *, crlf: bool) -> Iterator[str]:
            self.scans += 1
            hits = set(folder.scan(expression, {names[path] for path in paths}, crlf=crlf))
            return (path for path in paths if names[path] in hits)

        def contents(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
            return ((path, raw) for path, raw in super().contents(paths) if b"\0" not in raw)

    return Stored(FILES, whole=True)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_both_ways_of_searching_find_the_same(stored: Any, calls: Callable[..., Any], pattern: str) -> None:
    class Plain:
        def __getattr__(self, name: str) -> Any:
            if name == "matching":
                raise AttributeError
            return getattr(stored, name)

    plain: Any = Plain()
    assert [isinstance(each, Searchable) for each in (stored, plain)] == [True, False]
    results: list[ToolResult] = [
        asyncio.run(RepositoryTools(each).call("search", {"pattern": pattern})) for each in (stored, plain)
    ]

    assert results[0] == results[1]
    assert stored.scans == (0 if pattern in {r"\Asecond", r"end\z", "(?i)FIRST", "(?-m)^second"} else 1)
