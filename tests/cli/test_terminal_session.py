"""The command line on a real terminal: what is live is cleared, and findings are links where they are shown."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.git_repo import GitRepo

RANGE = ("review", "--git", "HEAD~1..HEAD", "--no-cache", "--engine", "analyzers")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    repo = GitRepo(tmp_path / "a shop")
    repo.commit({"app.py": "x = 1\n"})
    repo.commit({"app.py": "x = 1\n\n\ndef f(seen: list[str] = []) -> None:\n    seen.append('a')\n"})
    return repo.folder


def session(folder: Path, *words: str, **environ: str) -> str:
    """All that a terminal is sent until the program has ended, which must be with 0."""
    leader, follower = pty.openpty()
    known = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    program = subprocess.Popen(
        [sys.executable, "-m", "reviewbot", *words],
        cwd=folder,
        env={**known, "TERM": "xterm-256color", "COLUMNS": "100", **environ},
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    seen, until = b"", time.monotonic() + 240.0
    while time.monotonic() < until:
        if select.select([leader], [], [], 0.2)[0]:
            try:
                seen += os.read(leader, 65_536)
            except OSError:  # the terminal's other end is closed
                break
    assert program.wait(60) == 0
    os.close(leader)
    return seen.decode()


def test_a_terminal_that_shows_links_gets_the_file_and_the_rule_as_links(shop: Path) -> None:
    seen = session(shop, *RANGE, KITTY_WINDOW_ID="1")

    address = f"file://{shop.resolve()}/app.py".replace(" ", "%20")
    assert f"\x1b]8;;{address}\x1b\\app.py:4\x1b]8;;\x1b\\" in seen
    assert "\x1b]8;;https://docs.astral.sh/ruff/rules/B006\x1b\\B006\x1b]8;;" in seen
    assert "reviewing " in seen
    assert "reviewing " not in seen.rpartition("\x1b[2K")[2], "what was live is cleared before the report"


@pytest.mark.slow
def test_another_terminal_gets_no_link_and_with_quiet_no_progress(shop: Path) -> None:
    seen = session(shop, *RANGE, "--quiet")

    assert "app.py:4" in seen
    assert "\x1b]8" not in seen
    assert "reviewing " not in seen


@pytest.mark.slow
def test_a_file_gets_neither_links_nor_colours(shop: Path, tmp_path: Path) -> None:
    session(shop, *RANGE, "--output", str(tmp_path / "report.txt"), KITTY_WINDOW_ID="1")

    assert "\x1b" not in (tmp_path / "report.txt").read_text()
