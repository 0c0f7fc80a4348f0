"""A further setting is a further row: tried in a program whose declarations have one more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reviewbot.config import settings

ROW = """\
    colour: str | None = setting(
        Choice(("red", "blue")), default=None, flag=Flag("--colour", "C", "the report"), repository=True,
        meaning="The colour of the report; none: no colour.")
    # fmt: on
"""
PROGRAM = """
import sys
from importlib.machinery import SourceFileLoader
row, as_stored = sys.argv.pop(1), SourceFileLoader.get_code
def get_code(self, name):
    if name != "reviewbot.config.settings":
        return as_stored(self, name)
    return compile(self.get_source(name).replace("    # fmt: on\\n", row), self.path, "exec")
SourceFileLoader.get_code = get_code
from reviewbot.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def run(folder: Path, *argv: str, row: str = ROW, **variables: str) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **variables}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, row, *argv], cwd=folder, env=environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / ".reviewbot.toml").write_text('colour = "red"\n')
    return tmp_path


@pytest.mark.slow
def test_without_the_row_the_key_is_unknown(repository: Path) -> None:
    told = run(repository, "config", "--repo", ".", row="    # fmt: on\n")

    assert told.startswith("reviewbot: .reviewbot.toml:1: unknown key 'colour'")


@pytest.mark.slow
def test_the_row_is_loaded_from_a_file_and_a_variable_and_shown_with_its_origin(repository: Path) -> None:
    by_file = run(repository, "config", "--repo", ".", "--show-origin").splitlines()
    by_variable = run(repository, "config", "--repo", ".", "--show-origin", REVIEWBOT_COLOUR="blue").splitlines()

    assert by_file[-1].split("  # ") == [by_file[-1].partition("  #")[0], ".reviewbot.toml:1"]
    assert by_file[-1].startswith('colour = "red" ')
    assert (by_variable[-1].split()[2], by_variable[-1].split()[-1]) == ('"blue"', "REVIEWBOT_COLOUR")
    assert "must be one of red, blue, none, not 'x'" in run(repository, "config", REVIEWBOT_COLOUR="x")


@pytest.mark.slow
def test_the_row_is_a_flag_with_its_help_and_in_the_schema(repository: Path) -> None:
    (repository / "a.diff").write_text("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n")

    assert "--colour C            the colour of the report; none: no colour" in run(repository, "review", "--help")
    assert "--colour must be one of red, blue, none, not 'x'" in run(repository, "review", "a.diff", "--colour", "x")
    properties = json.loads(run(repository, "schema", "settings"))["properties"]
    assert properties["colour"] == {
        "default": "none", "description": "The colour of the report; none: no colour.", "enum": ["red", "blue", "none"]
    }  # fmt: skip


def test_the_declarations_are_one_block() -> None:
    assert Path(str(settings.__file__)).read_text("utf-8").count("# fmt: on") == 1
