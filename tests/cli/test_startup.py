"""What a start loads: measured in fresh interpreters by the modules that are there afterwards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reviewbot.cli.arguments import build_parser
from tests.make import one_fast

EXAMPLE = Path(__file__).parents[2] / "examples/orders/change.diff"
NEVER = {"anthropic", "github", "flask", "dbos"}
OF_MODELS = {"reviewbot.llm.agents", "reviewbot.llm.providers", "reviewbot.domain.contracts.answers", "re2"}
"""What only a review with models needs."""
OF_OTHERS = {"reviewbot.hosts.base", "reviewbot.publish.marker", "reviewbot.report.estimate_report"}
"""What only a review that is published, or an estimate, needs."""

PROGRAM = """
import sys
from reviewbot.cli.main import main
try:
    code = main(sys.argv[1:])
except SystemExit as ending:
    code = ending.code
sys.stderr.write("loaded " + " ".join(sorted(sys.modules)))
sys.exit(code)
"""


def loaded(tmp_path: Path, *argv: str, key: str = "") -> set[str]:
    """The modules that are there after a run."""
    environment = {"XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    environment |= {"ANTHROPIC_API_KEY": key} if key else {}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *argv], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.rpartition("loaded ")[2].split())


@pytest.mark.parametrize("argv", [["--help"], ["review", "--help"], ["version"]])
def test_help_loads_neither_pydantic_nor_rich_nor_any_client(tmp_path: Path, argv: list[str]) -> None:
    assert not loaded(tmp_path, *argv) & (NEVER | {"pydantic", "rich", "asyncio", "unidiff", "sqlite3"})


@pytest.mark.parametrize("form", one_fast(["terminal", "json", "markdown", "sarif"]))
def test_an_offline_review_loads_nothing_that_asks_a_model_and_without_a_terminal_no_colours(
    tmp_path: Path, form: str
) -> None:
    assert not loaded(tmp_path, "review", str(EXAMPLE), "--format", form) & (NEVER | OF_MODELS | OF_OTHERS | {"rich"})


def test_only_the_command_that_is_run_gets_its_options() -> None:
    def commands_with_options(*words: str) -> set[str]:
        [commands] = [action.choices for action in build_parser(*words)._actions if isinstance(action.choices, dict)]
        assert len(commands) > 20
        return {name for name, parser in commands.items() if len(parser._actions) > 1}

    assert commands_with_options("review") == {"review"}
    assert commands_with_options("reviw") == commands_with_options() > {"review", "plan"}


@pytest.mark.slow
def test_a_review_with_a_key_loads_what_asks_a_model(tmp_path: Path) -> None:
    assert loaded(tmp_path, "review", str(EXAMPLE), "--estimate", key="sk-ant-none") >= {"reviewbot.llm.agents"}
