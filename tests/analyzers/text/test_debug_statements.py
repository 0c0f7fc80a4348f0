"""Calls that were meant for the time of debugging."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.text.debug_statements import DebugLeftovers

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.domain.contracts import FileChange
    from reviewbot.domain.ports import Snapshot

    FileOf = Callable[..., FileChange]


def found(change: FileChange, snapshot: Snapshot) -> list[tuple[int | None, int]]:
    report = asyncio.run(DebugLeftovers().run(changed_file([change], snapshot), snapshot))
    return [(candidate.line, candidate.confidence) for candidate in report.candidates]


@pytest.mark.parametrize(
    ("language", "line", "confidence"),
    [
        ("python", "    breakpoint()", 90),
        ("python", "    import pdb; pdb.set_trace()", 90),
        ("python", "ipdb.set_trace()", 90),
        ("python", "print('here')", 75),
        ("python", "print(f'>>> DEBUG {x}')", 75),
        ("python", 'print("got here 2!!")', 75),
        ("python", "    print(x)", 60),
        ("javascript", "debugger;", 90),
        ("typescript", "  if (x) { debugger; }", 90),
        ("tsx", "console.log('here')", 75),
        ("javascript", "x.then(r => console.log(r))", 60),
        ("ruby", "  binding.pry", 90),
        ("ruby", "puts 'here'", 75),
        ("rust", "let x = dbg!(y);", 75),
        ("rust", 'println!("DEBUG {}", x);', 75),
        ("php", "var_dump($x);", 75),
        ("go", 'fmt.Println("DEBUG", x)', 75),
        ("java", 'System.out.println("here");', 75),
        ("java", "System.out.println(x);", 60),
        ("elixir", "require IEx; IEx.pry()", 90),
    ],
)
def test_a_leftover_is_told_with_how_sure_it_is(
    file_of: FileOf, bare: Snapshot, language: str, line: str, confidence: int
) -> None:
    assert found(file_of(f"+{line}", language=language), bare) == [(1, confidence)]


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("python", "# breakpoint()"),
        ("python", "x = 1  # ; breakpoint()"),
        ("python", "s = '; breakpoint()'"),
        ("python", "self.breakpoint()"),
        ("python", "pprint(x)"),
        ("python", ">>> print(x)"),
        ("python", "set_breakpoint()"),
        ("javascript", "// debugger;"),
        ("javascript", " * debugger;"),
        ("javascript", "x(); // console.log(x)"),
        ("javascript", 's = "a\\" ; debugger;"'),
        ("javascript", "const debuggerOptions = 1;"),
        ("javascript", "console.error(x)"),
        ("go", 'fmt.Println("Usage: x")'),
        ("ruby", "# binding.pry"),
        ("rust", "// dbg!(x)"),
        ("yaml", "breakpoint()"),
    ],
)
def test_a_near_miss_is_none(file_of: FileOf, bare: Snapshot, language: str, line: str) -> None:
    assert found(file_of(f"+{line}", language=language), bare) == []


@pytest.mark.parametrize(
    "path", ["tests/test_a.py", "scripts/run.py", "src/cli.py", "src/app/__main__.py", "bin/x.py", "examples/a.py"]
)
def test_tests_scripts_and_command_lines_may_print(file_of: FileOf, bare: Snapshot, path: str) -> None:
    assert found(file_of("print(x)", path=path), bare) == []


def test_only_added_lines_are_told(file_of: FileOf, bare: Snapshot) -> None:
    assert found(file_of(" breakpoint()\n-breakpoint()\n+x = 1\n+breakpoint()", start=5), bare) == [(7, 90)]


def test_a_debugger_call_says_when_it_bites(file_of: FileOf, bare: Snapshot) -> None:
    (candidate,) = asyncio.run(DebugLeftovers().run(changed_file([file_of("breakpoint()")], bare), bare)).candidates

    assert candidate.trigger == "The program stops here and waits for input."
    assert (candidate.severity, candidate.rule, candidate.category) == ("warning", "leftover-debugger", "debug")


def test_it_is_a_scan_of_plain_lines_and_claims_to_understand_no_language() -> None:
    assert DebugLeftovers.languages is None


def test_a_call_in_a_comment_of_several_lines_of_ruby_is_no_leftover(file_of: FileOf, bare: Snapshot) -> None:
    text = "=begin\n  put this where you are:\n  binding.pry\n=end\nbinding.pry"

    assert found(file_of(text, path="lib/plug.rb", language="ruby"), bare) == [(5, 90)]
