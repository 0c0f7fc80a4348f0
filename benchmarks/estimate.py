# ruff: noqa: INP001 - a script, no package
"""What `--estimate` says of labelled cases, to be held against what recorded reviews of them took.

    python benchmarks/estimate.py CASES [--group own --group seeded]

CASES is a folder of GROUP/CASE/ folders as `reviewbot eval` takes them. Asks no model and needs no key. Printed for
each case: calls, what is read in equivalents of uncached input tokens (what is written to the provider's cache counts
1.25, what is read from it .1), output tokens, dollars, and dollars at most.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from reviewbot import wiring
from reviewbot.cli.output.delivering import estimate_of
from reviewbot.domain.contracts import Usage
from reviewbot.domain.errors import InputError
from reviewbot.evaluate.labels import Case, list_cases

GROUPS = ("own", "seeded")
NO_KEY = "no-model-is-asked"
WRITTEN, CACHED = 1.25, 0.1


class Row(NamedTuple):
    """What is said of one case."""

    case: str
    calls: int
    equivalents: float
    output: int
    dollars: float
    most: float


def rows(cases: list[Case]) -> Iterator[Row]:
    """Yield one row a case."""
    for case in cases:
        subject = subject_of(case)
        settings = wiring.settings_for(subject.base, {}, {"engine": "models", "max_cost": "none"})
        run = wiring.setup(subject, settings, wiring.RunInputs(environ={"ANTHROPIC_API_KEY": NO_KEY}))
        found = estimate_of(subject, settings, run)
        yield Row(
            case.key,
            found.calls.likely,
            equivalents(found.usage),
            found.usage.output_tokens,
            found.dollars or 0.0,
            found.most or 0.0,
        )


def subject_of(case: Case) -> wiring.Subject:
    """The change beside the side of it that the case has."""
    for folder in case.sides():
        try:
            subject = wiring.from_diff(case.diff(), folder)
        except InputError:
            continue  # a file that is missing there
        return wiring.with_words(subject, **case.words())
    return wiring.with_words(wiring.from_diff(case.diff(), None), **case.words())


def equivalents(usage: Usage) -> float:
    """What was read, as so many uncached input tokens."""
    return usage.input_tokens + WRITTEN * usage.cache_write_tokens + CACHED * usage.cached_tokens


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", type=Path)
    parser.add_argument("--group", action="append")
    arguments = parser.parse_args()
    found = list(rows(list_cases(arguments.cases, arguments.group or GROUPS)))
    print(f"{'case':24} {'calls':>5} {'equivalents':>11} {'output':>7} {'dollars':>8} {'at most':>8}")
    for row in found:
        print(
            f"{row.case:24} {row.calls:5} {row.equivalents:11,.0f} {row.output:7,} {row.dollars:8.2f} {row.most:8.2f}"
        )
    print(
        f"median of {len(found)}: {statistics.median(row.equivalents for row in found):,.0f} equivalents, "
        f"${statistics.median(row.dollars for row in found):.2f}"
    )


if __name__ == "__main__":
    main()
