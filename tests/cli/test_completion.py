"""`reviewbot completion`: the scripts, tried in the shells that are there."""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewbot.cli.arguments import build_parser
from reviewbot.cli.commands.completion import completion_command, completion_script

ROOT = Path(__file__).parents[2]
BASH = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
ASK = """
source {script}
COMP_WORDS=({words}); COMP_CWORD={last}; COMPREPLY=()
"$(complete -p reviewbot | sed 's/.*-F \\([^ ]*\\).*/\\1/')"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def complete(tmp_path: Path) -> Callable[..., set[str]]:
    """What bash offers for the last of some words."""
    script = tmp_path / "reviewbot.bash"
    script.write_text(completion_script(build_parser(), "bash", ["security", "style"]))

    def ask(*words: str) -> set[str]:
        quoted = " ".join(map(shlex.quote, ("reviewbot", *words)))
        program = ASK.format(script=shlex.quote(str(script)), words=quoted, last=len(words))
        bash = ["bash", "--norc", "--noprofile", "-c", program]
        done = subprocess.run(bash, capture_output=True, text=True, check=True, cwd=ROOT)
        assert done.stderr == ""
        return set(done.stdout.split("\n")) - {""}

    return ask


@BASH
def test_bash_completes_our_name(tmp_path: Path) -> None:
    script = completion_script(build_parser(), "bash", [])

    asked = subprocess.run(
        ["bash", "--norc", "-c", f"{script}\ncomplete -p reviewbot"], capture_output=True, text=True, check=True
    )

    assert asked.stdout.startswith("complete ")
    assert asked.stdout.endswith(" reviewbot\n")


@BASH
def test_bash_offers_the_commands(complete: Callable[..., set[str]]) -> None:
    assert {"review", "plan", "workers", "schema", "version"} <= complete("")
    assert complete("revi") == {"review"}


@BASH
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("review", "--form"), {"--format"}),
        (("review", "--format", ""), {"terminal", "json", "markdown"}),
        (("review", "--fail-on", ""), {"critical", "warning", "info"}),
        (("review", "--engine", "an"), {"analyzers"}),
        (("review", "--worker", "s"), {"security", "style"}),
        (("plan", "--engine", ""), {"analyzers", "scripted"}),
        (("review", "examples/orders/change.d"), {"examples/orders/change.diff"}),
        (("review", "--trace", "README"), {"README.md"}),
        (("review", "--repo", "examp"), {"examples"}),
        (("review", "--repo", "README"), set()),
        (("schema", "pl"), {"plan"}),
        (("nothing-of-ours", "x-no-such-thing"), set()),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_bash_offers_what_may_stand_there(
    complete: Callable[..., set[str]], words: tuple[str, ...], offered: set[str]
) -> None:
    assert offered <= complete(*words)
    assert complete(*words) - offered == set() or words[-1] == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_reads_its_script_without_complaint(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    script = tmp_path / "script"
    script.write_text(completion_script(build_parser(), shell, ["security"]))

    done = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_every_flag_of_a_review_is_in_each_script(shell: str) -> None:
    parser = build_parser()
    script = completion_script(parser, shell, [])

    assert all(word in script for word in ("review", "plan", "parse", "workers", "schema", "version"))
    assert all(flag in script for flag in ("staged", "fail-on", "min-confidence", "allow-partial"))
    assert script.endswith("\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_command_prints_the_script_with_the_shipped_workers(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert completion_command(argparse.Namespace(shell=shell)) == 0

    printed = capsys.readouterr().out
    assert "reviewbot" in printed
    assert "security" in printed
