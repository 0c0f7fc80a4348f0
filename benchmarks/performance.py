#!/usr/bin/env python3
"""What a review with models costs beside the models: wall, calls in turn, tokens, memory; into docs/performance.md.

    python benchmarks/performance.py --measure ../shared/perf/measure.py [--reps 3] [--base-ms 2000] [--write FILE]

It runs the installed program against a fake Messages API that answers each call after a fixed time and lets readers
call tools in three turns, so that the figures are those of the product and its plan and not of a model. The answers
hold no finding; one more run has a server that answers anything that fits the schema. Exits with 1 where a goal is
missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from reviewbot.llm.agents.conversation import Bounds

Row = dict[str, Any]

PROGRAM = str(Path(sys.executable).with_name("reviewbot"))
TOOL_TURNS = 3
FURTHER_CALLS = 8
"""In turn after the one that writes the cache, on the large diff: the planner, three turns of tools and an answer."""
NONSENSE = 1.3
"""Times the calls that schema-valid answers without a true quote may cause."""
NOTHING = {"summary": "", "themes": [], "findings": [], "hints": [], "tasks": []}
AS_ROUTED = {"reason": "the routed plan is right", "strategy": "merge", "tasks": [], "workers": []}
ASKED = rf"answered: {Bounds().tool_turns - TOOL_TURNS}\b"
"""What a conversation says after so many turns of tools."""
NONSENSE_ANSWERS: list[Row] = [
    {"match": r"# Planner\b", "text": json.dumps(AS_ROUTED)},
    {"match": rf"You review one part(?!.*{ASKED})", "tool": "search", "input": {"pattern": "def", "literal": True}},
]
"""By what stands in the prompt; the first that fits answers. Else the server makes something that fits the schema."""
ANSWERS: list[Row] = [*NONSENSE_ANSWERS, {"match": r"You review one part", "text": json.dumps(NOTHING)}]


@dataclass(frozen=True)
class Goal:
    """A bound on a figure of one diff."""

    diff: str
    what: str
    figure: Callable[[Row], float]
    bound: Callable[[Row], float]
    least: bool = False

    def holds(self, row: Row) -> bool:
        """Whether the figure keeps to it."""
        figure, bound = self.figure(row), self.bound(row)
        return figure >= bound if self.least else figure <= bound


def goals(base_s: float) -> list[Goal]:
    """All of them, for calls of `base_s` seconds."""
    made = []
    for diff, overhead in (("small", 0.8), ("medium", 0.8), ("large", 1.2)):
        made += [
            Goal(diff, "wall, s", lambda r: r["wall"], partial(_wall, base_s=base_s)),
            Goal(
                diff,
                "overhead without the SDK, s",
                lambda r: r["overhead"] - r["sdk_s"],
                partial(_fixed, bound=overhead),
            ),
            Goal(diff, "added lines shown", lambda r: r["lines_shown"], lambda _: 1.0, least=True),
            Goal(
                diff,
                "calls, where answers are nonsense that fits",
                lambda r: r["nonsense_calls"],
                lambda r: NONSENSE * r["requests"],
            ),
        ]
    return [
        *made,
        Goal("large", "calls in turn", lambda r: r["depth"], lambda _: 1 + FURTHER_CALLS),
        Goal("large", "memory of the process tree, MB", lambda r: r["rss_mb"], lambda _: 300.0),
        Goal("huge", "added lines shown", lambda r: r["lines_shown"], lambda _: 1.0, least=True),
    ]


def _fixed(_row: Row, bound: float) -> float:
    return bound


def _wall(row: Row, base_s: float) -> float:
    return 1.25 * float(row["depth"]) * base_s + float(row["overhead"])


def sdk_seconds() -> float:
    """The time that Python takes to load the SDK, above nothing."""
    code = "import time; t = time.perf_counter(); import anthropic; print(time.perf_counter() - t)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def measured(
    arguments: argparse.Namespace, diff: str, reps: int, *more: str, rules: Sequence[Row] = ANSWERS
) -> list[Row]:
    """The rows of one diff. The SDK is timed in turn with the runs."""
    with tempfile.TemporaryDirectory() as name:
        answers, report = Path(name, "answers.json"), Path(name, "report.json")
        answers.write_text(json.dumps(rules))
        command = [sys.executable, str(arguments.measure), "--diff", diff, "--reps", "1"]
        command += [
            "--base-ms",
            str(arguments.base_ms),
            "--server",
            f"--answers {answers}",
            "--",
        ]
        command += [PROGRAM, "review", "{diff}", "--engine", "models"]
        command += ["--format", "json", "--output", str(report), *more]
        rows = []
        for _ in range(reps):
            sdk_s = sdk_seconds()
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode or not done.stdout.strip():
                sys.exit(f"measure.py failed: {done.stderr[-2000:]}")
            row: Row = json.loads(done.stdout.splitlines()[-1])
            rows.append(row | {"sdk_s": sdk_s})
            print(json.dumps(rows[-1]), flush=True)
        return rows


def median(rows: Sequence[Row]) -> Row:
    """Each figure's median; what is no number is that of the first row."""
    numbers = {key for key, value in rows[0].items() if isinstance(value, int | float) and not isinstance(value, bool)}
    return rows[0] | {key: statistics.median(row[key] for row in rows) for key in numbers}


def table(rows: Sequence[Row], judged: Sequence[tuple[Goal, Row]], reps: int) -> str:
    """The page."""
    heads = ["diff", "wall s", "overhead s", "CPU s", "RSS MB", "calls", "in turn", "tokens in", "per diff token"]
    heads += ["cached", "lines shown", "SDK s", "load"]
    keys = ["diff", "wall", "overhead", "cpu", "rss_mb", "requests", "depth", "in_tok", "tok_per_diff_tok"]
    keys += ["cached_tok", "lines_shown", "sdk_s", "load1"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(_told(row[key]) for key in keys) + " |" for row in rows]
    lines += ["", f"Medians of {reps} (huge: 1). SDK: `import anthropic` alone, timed in turn with the runs.", ""]
    lines += ["| diff | goal | measured | bound | |", "|---|---|---|---|---|"]
    for goal, row in judged:
        sign = ">=" if goal.least else "<="
        verdict = "held" if goal.holds(row) else "**missed**"
        lines.append(
            f"| {goal.diff} | {goal.what} | {goal.figure(row):.2f} | {sign} {goal.bound(row):.2f} | {verdict} |"
        )
    return "\n".join(lines) + "\n"


def _told(value: object) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, int | float) else str(value)


def main() -> int:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", type=Path, required=True, help="the harness")
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--base-ms", type=int, default=2000)
    parser.add_argument("--write", type=Path, help="a page with a table between the two marks")
    arguments = parser.parse_args()
    rows = [median(measured(arguments, diff, arguments.reps, "--no-cache")) for diff in ("small", "medium", "large")]
    rows.append(median(measured(arguments, "huge", 1, "--no-cache", "--max-cost", "100")))
    by_diff = {row["diff"]: row for row in rows}
    for diff in ("small", "medium", "large"):
        [row] = measured(arguments, diff, 1, "--no-cache", rules=NONSENSE_ANSWERS)
        by_diff[diff]["nonsense_calls"] = row["requests"]
    judged = [(goal, by_diff[goal.diff]) for goal in goals(arguments.base_ms / 1000)]
    page = table(rows, judged, arguments.reps)
    print(page)
    if arguments.write:
        before, mark, rest = arguments.write.read_text("utf-8").partition("<!-- figures:start -->\n")
        after = rest.partition("<!-- figures:end -->")[2]
        arguments.write.write_text(f"{before}{mark}{page}<!-- figures:end -->{after}", "utf-8")
    missed = [goal for goal, row in judged if not goal.holds(row)]
    print(f"{len(judged) - len(missed)} of {len(judged)} goals held")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
