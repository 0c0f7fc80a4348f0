"""What the tests of the tools share: changed files, snapshots and programs that misbehave."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.snapshots import InMemorySnapshot

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reviewbot.domain.contracts import FileChange, Hunk
    from reviewbot.domain.ports import Snapshot


class FakeSnapshot(InMemorySnapshot):
    """Has one file, on either side, under any name; remembers which names it was asked for."""

    def __init__(self, head: str | None = None, base: str | None = None) -> None:
        super().__init__()
        self._head = head
        self._base = base

    def head(self, path: str) -> str | None:
        self.asked.append(path)
        return self._head

    def base(self, path: str) -> str | None:
        self.asked.append(path)
        return self._base


@pytest.fixture
def bare() -> Snapshot:
    """A snapshot of a bare diff: it has no file."""
    return FakeSnapshot()


@pytest.fixture
def snapshot_of() -> Callable[..., Snapshot]:
    return FakeSnapshot


@pytest.fixture(scope="session")
def file_of(a_file: Callable[..., FileChange], a_hunk: Callable[..., Hunk]) -> Callable[..., FileChange]:
    """A changed file from marked lines, one text for each hunk; a text without any marker is taken as added."""

    def make(*hunks: str, path: str = "src/app.py", language: str = "python", start: int = 1) -> FileChange:
        made = []
        for number, text in enumerate(hunks):
            lines = text.split("\n")
            if any(line[:1] not in ("+", "-", " ", "\\") for line in lines):
                lines = [f"+{line}" for line in lines]
            made.append(a_hunk("\n".join(lines), start + 1000 * number))
        return a_file(path, *made, language=language)

    return make


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Path]:
    """A real program, written in Python, that runs the given lines."""

    def make(body: str, name: str = "program") -> Path:
        path = tmp_path / name
        path.write_text(f"#!{sys.executable} -I\nimport json, os, pathlib, sys, time\n{body}\n", "utf-8")
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def fake_ruff(program: Callable[..., Path]) -> Callable[[str], Path]:
    """A program in ruff's place. It tells its version and then does what the given lines say."""

    def make(body: str) -> Path:
        return program(f"if '--version' in sys.argv:\n    sys.exit(print('ruff 0.17.6') or 0)\n{body}", "ruff")

    return make
