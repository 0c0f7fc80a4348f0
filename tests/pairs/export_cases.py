"""Our own pairs as labelled cases, or as a table of what is told of them.

    python tests/pairs/export_cases.py TARGET
    python tests/pairs/export_cases.py --table

TARGET is filled with one folder for each side of each pair, `pairs_TOOL/CASE` for what is wrong and
`clean_pairs_TOOL/CASE` for what is right: `change.diff`, the files before and after it in `base` and `head`,
`meta.json` with a title and whether it is clean, and `golden.json` with each defect's file, line, category and CWE.
The table counts, for each rule, in how many pairs it tells what is wrong and in how many it speaks of what is right,
its highest confidence, and what any rule would post about what is right.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.diff.language import language_of

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.pairs.pair_cases import (
    SIDES,
    Change,
    Pair,
    Side,
    all_pairs,
    answers,
    certain,
    diff_of,
    tables,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


class Label(NamedTuple):
    """What is known of the findings of a rule."""

    category: str
    severity: str
    cwe: int | None = None


SCANS = {
    "secrets": Label("secret", "critical", 798),
    "debug-leftovers": Label("debug", "warning", 489),
    "merge-conflicts": Label("merge-conflict", "critical"),
    "ruff-logic": Label("syntax", "critical"),
    "repository-rules": Label("repository-rule", "info"),
}
"""Of rules that stand in no table: the scans of lines, a file that does not parse, and what repositories ask for."""

_TITLE = "Change {path}"
_SLUG = re.compile(r"[^a-z0-9]{1,80}")
_MAX_NAME_CHARS = 60


def export(target: Path) -> int:
    """Write all cases below a folder; the number of them."""
    labels = known_labels()
    written = 0
    for pairs in all_pairs().values():
        for number, pair in enumerate(pairs):
            label = labels.get((pair.tool, pair.rule)) or SCANS[pair.tool]
            for side in SIDES:
                group = f"{'' if side == 'wrong' else 'clean_'}pairs_{pair.tool}"
                write_case(target / group / f"{number:03}-{slug(pair)}", pair, side, label)
                written += 1
    return written


def known_labels() -> dict[tuple[str, str], Label]:
    """What the tables say, by tool and rule."""
    rules = [rule for name in tables() for rule in packaged_rules(name).rules.values()]
    return {(rule.tool, rule.code): Label(rule.category, rule.severity, rule.cwe) for rule in rules}


def write_case(folder: Path, pair: Pair, side: Side, label: Label) -> None:
    """One side of one pair as a case."""
    head = pair.text(side)
    base = {pair.path: pair.base} if pair.base else {}
    if not pair.bare:
        write_files(folder / "base", {**base, **pair.others})
        write_files(folder / "head", {pair.path: head, **pair.others})
    wrong = side == "wrong"
    meta = {
        "title": _TITLE.format(path=pair.path),
        "description": "",
        "language": language_of(pair.path),
        "clean": not wrong,
        "tool": pair.tool,
        "rule": pair.rule,
        "full_context": not pair.bare,
    }
    goldens = [golden(pair, line, label) | {"id": f"g{number}"} for number, line in enumerate(pair.marks)]
    write_files(
        folder,
        {
            "change.diff": diff_of(Change(pair.path, pair.base, head)),
            "meta.json": json.dumps(meta, indent=1),
            "golden.json": json.dumps(goldens if wrong else [], indent=1),
        },
    )


def golden(pair: Pair, line: int, label: Label) -> dict[str, object]:
    """One defect that is to be found."""
    return {
        "file": pair.path,
        "line": line,
        "end_line": line,
        "severity": label.severity,
        "category": label.category,
        "cwe": f"CWE-{label.cwe}" if label.cwe else None,
        "text": pair.name,
    }


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Some files below a folder."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())


def slug(pair: Pair) -> str:
    """A name of a folder."""
    return _SLUG.sub("-", f"{pair.rule} {pair.name}".lower()).strip("-")[:_MAX_NAME_CHARS]


def table() -> str:
    """What is told of the pairs, rule by rule."""
    rows = [f"{'tool':<18} {'rule':<28} {'pairs':>5} {'told':>5} {'wrongly':>7} {'highest':>7} {'noise':>5}"]
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
    for pairs in all_pairs().values():
        told = answers(pairs)
        for pair in pairs:
            found, near = told[pair.name, "wrong"].of_rule(pair), told[pair.name, "right"]
            count = counts[pair.tool, pair.rule]
            count[0] += 1
            count[1] += bool(found)
            count[2] += bool(near.of_rule(pair))
            count[3] = max([count[3], *(finding.confidence for finding in found)])
            count[4] += len(certain(near.findings))
    for (tool, rule), (pairs_of, told_of, wrongly, highest, noise) in sorted(counts.items()):
        rows.append(f"{tool:<18} {rule:<28} {pairs_of:>5} {told_of:>5} {wrongly:>7} {highest:>7} {noise:>5}")
    return "\n".join(rows)


def main() -> None:
    """Export the pairs, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", type=Path, help="the folder to fill")
    parser.add_argument("--table", action="store_true", help="print what is told, rule by rule")
    chosen = parser.parse_args()
    if chosen.target is not None:
        print(f"{export(chosen.target)} cases in {chosen.target}")
    if chosen.table:
        print(table())


if __name__ == "__main__":
    main()
