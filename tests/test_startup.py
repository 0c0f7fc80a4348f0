"""What a start loads: measured in fresh interpreters by the modules that are there afterwards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent / "examples/orders/change.diff"
NEVER = {"anthropic", "github", "flask", "dbos"}

PROGRAM = """
import sys
from reviewbot.cli import main
try:
    code = main(sys.argv[1:])
except SystemExit as ending:
    code = ending.code
sys.stderr.write("loaded " + " ".join(sorted({name.partition(".")[0] for name in sys.modules})))
sys.exit(code)
"""


def loaded(tmp_path: Path, *argv: str) -> set[str]:
    environment = {"XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *argv], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.rpartition("loaded ")[2].split())


@pytest.mark.parametrize("argv", [["--help"], ["review", "--help"], ["version"]])
def test_help_loads_neither_pydantic_nor_rich_nor_any_client(tmp_path: Path, argv: list[str]) -> None:
    assert not loaded(tmp_path, *argv) & (NEVER | {"pydantic", "rich", "asyncio", "unidiff", "sqlite3"})


def test_an_offline_review_loads_no_client_no_server_and_no_job_engine(tmp_path: Path) -> None:
    assert not loaded(tmp_path, "review", str(EXAMPLE), "--format", "json") & (NEVER | {"rich"})
