"""What any file of results is read into: runs of programs, each with its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

MAX_BYTES = 32 * 1024 * 1024
"""Of one file. GitHub takes 10 MB of SARIF, compressed."""

MAX_RESULTS = 25_000
"""Of one run, as GitHub takes them. What is behind them is counted."""

MAX_LOG_RESULTS = 2 * MAX_RESULTS
"""Of all runs of one SARIF log: what many results share stands once in the log, and with each of them in memory."""

MAX_RUNS = 100
"""Of one file; GitHub takes 20. Each gets a note, so a file of thousands is refused."""

Omission = Literal["suppressed", "no problem", "without a line", "too many"]

LEVELS = {
    **dict.fromkeys(("error", "fatal", "critical", "high"), "error"),
    **dict.fromkeys(("warning", "warn", "medium", "unknown_severity", ""), "warning"),
    **dict.fromkeys(("info", "information", "note", "notice", "hint", "low", "ignore"), "note"),
}
"""SARIF's level for each word that other formats have for a severity, in lower case."""


class Result(NamedTuple):
    """One result that is a problem at a place."""

    rule: str
    level: str
    """As SARIF has it: "none", "note", "warning", "error"."""
    message: str
    uri: str
    """As written, joined with its bases."""
    line: int
    end_line: int
    tags: frozenset[str] = frozenset()
    cwe: int | None = None
    score: float = 0.0
    """See `RuleProperties` for these three."""


@dataclass(frozen=True)
class ProgramRun:
    """One run of one program, and how many of its results are not reported, by reason."""

    tool: str
    results: tuple[Result, ...]
    omitted: Counter[Omission] = field(default_factory=Counter)
    failed: bool = False
    """It did not look, or not to the end: it says so, or has no list of results, not even an empty one."""


def to_level(severity: str) -> str:
    """The level of a severity in another format's words; of an unknown one "warning", as SARIF has it."""
    return LEVELS.get(severity.strip().lower(), "warning")


def collect_run(
    tool: str, given: Iterable[Any], read: Callable[[Any], Result | Omission], most: int = MAX_RESULTS
) -> ProgramRun:
    """The run of a program: each of the given values read, those behind the first `most` counted."""
    results: list[Result] = []
    omitted: Counter[Omission] = Counter()
    for at, each in enumerate(given):
        found = read(each) if at < most else "too many"
        if isinstance(found, Result):
            results.append(found)
        else:
            omitted[found] += 1
    return ProgramRun(tool, tuple(results), omitted)
