# ruff: noqa: INP001 - a script, no package
"""How many hunks of Python parse on their own, as they are and repaired, and what the repair leaves out.

    python benchmarks/fragments.py DIFF_OR_FOLDER ...

Each folder is searched for `*.diff`. Counted are hunks that add something to a file of Python. A hunk of a new file is
a whole file; it is counted apart, because it parses as it is. Printed are the shares that parse, the lines of the new
side that no attempt kept, what could not be read, and the time of the slowest hunk.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot.analyzers.python.hunk_repair import repair
from reviewbot.context.python_text import is_parsable
from reviewbot.diff.parse import parse_diff
from reviewbot.diff.rows import hunk_rows
from reviewbot.domain.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHOWN = 5
"""Hunks that cannot be read, by their place."""


@dataclass
class Count:
    """What was counted of some hunks."""

    hunks: int = 0
    raw: int = 0
    repaired: int = 0
    lines: int = 0
    left_out: int = 0
    slowest_s: float = 0.0
    unread: list[str] = field(default_factory=list)

    def add(self, place: str, texts: Sequence[str]) -> None:
        """Count one hunk."""
        began = time.perf_counter()
        made = repair(texts)
        self.slowest_s = max(self.slowest_s, time.perf_counter() - began)
        self.hunks += 1
        self.raw += is_parsable("\n".join(texts))
        self.repaired += made.parses
        self.lines += len(texts)
        self.left_out += len(texts) - sum(origin is not None for origin in made.origin)
        if not made.parses:
            self.unread.append(place)

    def told(self, name: str) -> str:
        """The figures on one line."""
        share = 100 / max(self.hunks, 1)
        figures = f"{self.hunks:>6} {self.raw * share:>7.1f}% {self.repaired * share:>8.1f}%"
        return f"{name:<34} {figures} {self.left_out:>8} of {self.lines:<8} {self.slowest_s:>6.2f}s"


def hunks_of(path: Path) -> Iterator[tuple[str, bool, list[str]]]:
    """The place of each hunk of Python that adds something, whether its file is new, and the lines of its new side."""
    try:
        change = parse_diff(path.read_bytes())
    except InputError as error:
        print(f"{path}: {error}")
        return
    for file in (file for file in change.files if file.language == "python"):
        for hunk in file.hunks:
            rows = [row for row in hunk_rows(hunk) if row.new is not None]
            if any(row.kind == "+" for row in rows):
                yield f"{path}:{file.path}:{hunk.new_start}", file.status == "added", [row.text for row in rows]


def measured(given: Path) -> None:
    """Print the figures of one diff, or of all diffs in a folder together."""
    parts, whole = Count(), Count()
    for path in sorted(given.rglob("*.diff")) if given.is_dir() else [given]:
        for place, new, texts in hunks_of(path):
            (whole if new else parts).add(place, texts)
    name = "/".join(given.parts[-2:])
    print(parts.told(name))
    if whole.hunks:
        print(whole.told(f"{name} (new files)"))
    for place in (*parts.unread[:SHOWN], *whole.unread[:SHOWN]):
        print(f"  unread: {place}")


def main() -> None:
    """Measure what is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("given", nargs="+", type=Path, help="a diff, or a folder with diffs in it")
    print(f"{'':<34} {'hunks':>6} {'as is':>8} {'repaired':>9} {'lines left out':>20} {'slowest':>7}")
    for given in parser.parse_args().given:
        measured(given)


if __name__ == "__main__":
    main()
