#!/usr/bin/env python3
"""Look again at the judged places of docs/patterns-judged.tsv where a pattern was wrong: does it still say so?

    python -m benchmarks.judged_patterns MIRRORS [--write]

MIRRORS holds bare clones of the projects as OWNER+NAME or OWNER+NAME/repo. Each place is read at the commit where it
was judged, and the patterns of the product look at the whole file. With --write the last column of the table says
`quiet` where the rule is silent within three lines of the place, or less sure there than elsewhere and below 80. A
place whose clone is missing keeps what it has.
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
from pathlib import Path
from typing import NamedTuple

from benchmarks.patterns import as_new, found, git, is_wanted
from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.patterns.languages import TABLES
from reviewbot.domain.contracts.base import SURE

TABLE = Path(__file__).resolve().parent.parent / "docs" / "patterns-judged.tsv"
LEAST_RIGHT, SHARE = 2, 0.9
"""At how many places a rule at 80 or more was right, and the share of them in all at which it still speaks."""

PROVEN = {"js-async-predicate": "a promise is an object, and so true for `filter`, `some`, `every`, `find`; no hit yet"}
"""Rules without judged places that need none, with the reason."""

_NEAR = 3


class Judged(NamedTuple):
    """A place at which a rule spoke of foreign code, and what a reader of that code said of it."""

    rule: str
    project: str
    commit: str
    place: str
    verdict: str
    now: str
    """`quiet` where the rule has been narrowed since, so that it says nothing there any more; else empty."""


def read_judged(text: str) -> list[Judged]:
    """The rows of the table, without its head."""
    return [Judged(*line.split("\t")) for line in text.splitlines()[1:]]


def stands(rows: Iterable[Judged]) -> bool:
    """Whether the judged places of one rule allow it 80 or more."""
    count = Counter(row.verdict for row in rows if row.now != "quiet")
    return count["right"] >= LEAST_RIGHT and count["right"] >= SHARE * count.total()


@cache
def confidences() -> Mapping[str, int]:
    """All patterns, with their confidence."""
    tables = sorted(set(TABLES.values()))
    return {code: rule.confidence for table in tables for code, rule in packaged_rules(table).rules.items()}


def sure_rules() -> list[str]:
    """The patterns that are reported at 80 or more, less `PROVEN`."""
    return [code for code, confidence in confidences().items() if confidence >= SURE and code not in PROVEN]


def speaks(row: Judged, tree: Path) -> bool:
    """Whether the rule still says at this place what was judged. Raises CalledProcessError without the commit."""
    path, _, line = row.place.rpartition(":")
    text = git(tree, "show", f"{row.commit}:{path}").decode("utf-8", "replace")
    if not is_wanted(path, ""):
        return False
    least = min(SURE, confidences().get(row.rule, SURE))
    return any(
        each.rule == row.rule and each.confidence >= least and abs((each.line or 0) - int(line.split("-")[0])) <= _NEAR
        for each in asyncio.run(found(as_new(path, text)))
    )


def look_again(row: Judged, mirrors: Path) -> Judged:
    """The row with what the rule says now."""
    tree = mirrors / row.project.replace("/", "+")
    if row.verdict == "right" or not tree.is_dir():
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
    refused = [code for code in sure_rules() if not stands(row for row in rows if row.rule == code)]
    print(Counter((row.verdict, row.now or "as judged") for row in rows))
    print(f"{len(refused)} rules at {SURE} or more do not stand: {', '.join(refused) or 'none'}")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
