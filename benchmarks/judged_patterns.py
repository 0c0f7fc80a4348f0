#!/usr/bin/env python3
"""Look again at the judged places of docs/patterns-judged.tsv where a rule was wrong: does it still say so?

    python -m benchmarks.judged_patterns MIRRORS [--write]

MIRRORS holds bare clones of the projects as OWNER+NAME or OWNER+NAME/repo. Each place is read at the commit where it
was judged, and the tools of the product look at the whole file. With --write the last column of the table says
`quiet` where the rule is silent within three lines of the place, or less sure there than elsewhere and below 80. A
place whose clone is missing keeps what it has. A rule may also be known from labelled suites: rows of the project
`suite:NAME`, and the counts of `reviewbot/data/calibration.toml`.
Prints the counts, and each rule at 80 or more that `stands` refuses.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from benchmarks.patterns import FOREIGN, as_new, found, git
from reviewbot.analyzers.catalog import all_tools
from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.core.run import understands
from reviewbot.analyzers.text import debug_statements
from reviewbot.diff.language import language_of
from reviewbot.domain.contracts.base import SURE
from reviewbot.domain.ports import Tool
from reviewbot.review.calibration import packaged_calibration
from reviewbot.tables import packaged_table

TABLE = Path(__file__).resolve().parent.parent / "docs" / "patterns-judged.tsv"
SUITE = "suite:"
LEAST_RIGHT, SHARE = 2, 0.9
"""At how many places a rule at 80 or more was right, and the share of them in all at which it still speaks."""


def _of_kind(kind: str) -> str:
    return kind.lower().replace(" ", "-")


_FORM = (
    "the provider chose the form so that it can be recognised; held back are samples, invented ones in tests, and "
    "private keys whose place does not say that they are in use"
)
_HIDDEN = "the characters stand there and no reader sees them; honest texts with them are known and silent"
_ACTS = "a defence against hostile changes, counted on the hostile set; no honest project has it"
PROVEN = {
    "js-async-predicate": "a promise is an object, and so true for `filter`, `some`, `every`, `find`; no hit yet",
    "F632": "the identity of a literal is no comparison: Python warns of each; wrong in dead code (2 of 13)",
    "ASYNC251": "`time.sleep` in a coroutine stops every other task, whatever stands around it; no hit yet",
    **{_of_kind(row["kind"]): _FORM for row in packaged_table("secrets")["provider"] if row["confidence"] >= SURE},
    "leftover-debugger": "the program stops there and waits; tests and scripts are left out",
    **dict.fromkeys(("bidi-control", "hidden-text"), _HIDDEN),
    **dict.fromkeys(("hidden-in-name", "confusable-name"), _HIDDEN),
    **dict.fromkeys(("review-manipulation", "hidden-review-manipulation"), _ACTS),
}
"""Rules at 80 or more that need no judged place, with the reason."""

_NEAR = 3
_OF_CHANGES = ("dependencies", "diff_semantics", "message_keys", "migrations", "weakened_lines")
"""Tables of rules that need both sides of a change, so that a file alone does not show whether they still speak."""


class Judged(NamedTuple):
    """A place at which a rule spoke of foreign code, and what a reader of that code said of it."""

    rule: str
    project: str
    """`suite:NAME` where labels that the suite came with said it."""
    commit: str
    place: str
    verdict: str
    now: str
    """`quiet` where the rule has been narrowed since, so that it says nothing there any more; else empty."""


def read_judged(text: str) -> list[Judged]:
    """The rows of the table, without its head."""
    return [Judged(*line.split("\t")) for line in text.splitlines()[1:]]


def judged(rows: Iterable[Judged], code: str) -> list[Judged]:
    """The rows of one rule."""
    return [row for row in rows if row.rule == code]


def stands(rows: Iterable[Judged], suites: tuple[int, int] = (0, 0)) -> bool:
    """Whether what was judged of one rule allows it 80 or more; `suites`: right and wrong by the labels of suites.

    One place of a suite is enough: there a report at any other place of its code would have counted as wrong.
    """
    heard = [row for row in rows if row.now != "quiet"]
    right = suites[0] + sum(row.verdict == "right" for row in heard)
    least = 1 if suites[0] or any(row.project.startswith(SUITE) for row in heard) else LEAST_RIGHT
    return right >= least and right >= SHARE * (len(heard) + sum(suites))


@cache
def in_suites() -> Mapping[str, tuple[int, int]]:
    """How often each rule of the calibration table was right and wrong, alone and where others said the same."""
    found: dict[str, tuple[int, int]] = {}
    for row in packaged_calibration().rows.values():
        for code in row.rule.split("+"):
            right, wrong = found.get(code, (0, 0))
            found[code] = right + row.true, wrong + row.false
    return found


@cache
def confidences() -> Mapping[str, int]:
    """All rules of the packaged tables, with the most that their reports are trusted; secrets and leftovers as well."""
    tables = sorted(path.name.removesuffix(".toml") for path in (files("reviewbot") / "data/rules").iterdir())
    rules = (rule for table in tables for rule in packaged_rules(table).rules.values())
    found = {rule.code: max(rule.confidence, rule.words_confidence or 0) for rule in rules}
    found |= {_of_kind(row["kind"]): row["confidence"] for row in packaged_table("secrets")["provider"]}
    for row in packaged_table("debug_statements")["pattern"]:
        code = f"leftover-{row['rule']}"
        found[code] = max(found.get(code, 0), debug_statements.SURETY[row["surety"]])
    return found


def sure_rules() -> list[str]:
    """The rules that are reported at 80 or more, less `PROVEN`."""
    return [code for code, confidence in confidences().items() if confidence >= SURE and code not in PROVEN]


@cache
def every_tool() -> Mapping[str, Tool]:
    """The tools of the product, by name."""
    return all_tools()


def speaks(row: Judged, tree: Path) -> bool:
    """Whether the rule still says at this place what was judged. Raises CalledProcessError without the commit."""
    path, _, line = row.place.rpartition(":")
    text = git(tree, "show", f"{row.commit}:{path}").decode("utf-8", "replace")
    if FOREIGN.search(path):
        return False
    code = row.rule.rpartition(":")[2]
    least = min(SURE, confidences().get(code, SURE))
    tools = [tool for tool in every_tool().values() if understands(tool, language_of(path))]
    return any(
        each.rule == code and each.confidence >= least and abs((each.line or 0) - int(line.split("-")[0])) <= _NEAR
        for each in asyncio.run(found(as_new(path, text), tools))
    )


def look_again(row: Judged, mirrors: Path) -> Judged:
    """The row with what the rule says now."""
    tree = mirrors / row.project.replace("/", "+")
    if any(row.rule in packaged_rules(table).rules for table in _OF_CHANGES):
        return row
    if row.verdict == "right" or row.project.startswith(SUITE) or not tree.is_dir():
        return row
    tree = tree / "repo" if (tree / "repo").is_dir() else tree
    try:
        return row._replace(now="" if speaks(row, tree) else "quiet")
    except subprocess.CalledProcessError:
        return row


def main() -> int:
    """Look, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors", metavar="MIRRORS", type=Path)
    parser.add_argument("--write", action="store_true", help="write the last column of the table")
    arguments = parser.parse_args()
    text = TABLE.read_text("utf-8")
    rows = [look_again(row, arguments.mirrors) for row in read_judged(text)]
    if arguments.write:
        TABLE.write_text("".join(f"{line}\n" for line in [text.splitlines()[0], *map("\t".join, rows)]), "utf-8")
    refused = [code for code in sure_rules() if not stands(judged(rows, code), in_suites().get(code, (0, 0)))]
    print(Counter((row.verdict, row.now or "as judged") for row in rows))
    print(f"{len(refused)} rules at {SURE} or more do not stand: {', '.join(refused) or 'none'}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
