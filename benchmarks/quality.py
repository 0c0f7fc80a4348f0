#!/usr/bin/env python3
"""How good the reviews are on labelled cases, with `reviewbot eval` and `calibrate`: the tables of docs/quality.md.

    python benchmarks/quality.py [--shared DIR] [--jobs N] [--work DIR] [--write docs/quality.md]

Each family of groups is reviewed with a table of calibration that was counted without it, so that no rule is judged on
the cases that say how far it is trusted. DIR holds `bench/` with the cases and their scorer (default: $SHARED, or
../shared). Without --write the tables go to standard output.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CUT = 80
"""Confidence from which a finding is shown."""

FAMILIES = {
    "securityeval": ("securityeval",),
    "owasp": ("owasp_py", "clean_owasp_py"),
    "quixbugs": ("quixbugs", "clean_quixbugs"),
    "bugsinpy": ("bugsinpy", "clean_fix"),
    "planstack": ("planstack_django", "clean_planstack"),
    "clean_real": ("clean_real",),
    "others": ("discourse_security", "martian", "reviewbench", "shim52"),
}
"""Groups of one origin: a table counted on one half of a family would know the other half."""

COUNTED = ("securityeval", "owasp_py", "clean_owasp_py", "clean_real", "clean_fix", "clean_quixbugs", "clean_planstack")
"""Groups whose labels can say that a report at a place is right or wrong. Left out are the reversed fixes, where nearly
every changed line belongs to the bug, and prose about whole pull requests or against a specification."""

CLEAN = ("clean_real", "clean_fix", "clean_quixbugs", "clean_planstack", "clean_owasp_py")
LOGIC = {"bugsinpy": "location", "quixbugs": "location", "planstack_django": "text", "shim52": "text"}
OTHER = {"discourse_security": "location", "martian": "text", "reviewbench": "text"}
BEGIN, END = "<!-- figures: begin -->\n", "<!-- figures: end -->\n"

Rows = dict[str, dict[str, Any]]


def reviewbot(program: Path, *words: str | Path) -> None:
    """Run one command; a case with an error is not enough to stop."""
    done = subprocess.run([program, *map(str, words)], check=False, stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 4):
        sys.exit(f"reviewbot {words[0]} ended with {done.returncode}")


def cross_fitted(program: Path, cases: Path, work: Path, jobs: int, table: Path | None = None) -> Iterator[Path]:
    """The results of all families, each reviewed with the table of the others; `table` gets the one of them all."""
    workers = work / "workers.jsonl"
    common = ("--jobs", str(jobs), "--fresh")
    reviewbot(program, "eval", cases, "--stage", "workers", "--out", workers, *common)
    counted = ("--cases", cases, "--group", *COUNTED, "--type", "security")
    if table is not None:
        reviewbot(program, "calibrate", workers, *counted, "--out", table)
    for family, groups in FAMILIES.items():
        without, results = work / f"without-{family}.toml", work / f"{family}.jsonl"
        reviewbot(program, "calibrate", workers, *counted, "--leave-out", *groups, "--out", without)
        reviewbot(program, "eval", cases, "--group", *groups, "--calibration", without, "--out", results, *common)
        yield results


def scorer(bench: Path) -> Any:  # noqa: ANN401 - a module that is not ours
    """The scorer that comes with the cases."""
    spec = importlib.util.spec_from_file_location("bench_load", bench / "load.py")
    if spec is None or spec.loader is None:
        sys.exit(f"there is no scorer in {bench}")
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_load"] = module
    spec.loader.exec_module(module)
    return module


class Scores:
    """The figures of one set of results."""

    def __init__(self, load: Any, bench: Path, rows: Rows) -> None:  # noqa: ANN401 - the scorer's module
        self._load, self._rows = load, rows
        self._cases = list(load.iter_cases(bench))

    def of(self, *groups: str, match: str = "location", parsable: bool = False) -> dict[str, Any]:
        """The summary of some groups together, of what is shown."""
        report = self._report(groups, match, self._rows, parsable=parsable)
        return dict(report["groups"]["= all"])

    def security(self, *groups: str) -> dict[str, Any]:
        """How far the confidence of all security findings holds, in some groups or in all."""
        kept = {
            key: {**row, "findings": [f for f in row["findings"] if f["type"] == "security"]}
            for key, row in self._rows.items()
        }
        return dict(self._report(groups, "location", kept)["calibration"])

    def _report(self, groups: Sequence[str], match: str, rows: Rows, *, parsable: bool = False) -> dict[str, Any]:
        cases = [case for case in self._cases if case.group in groups or not groups]
        if parsable:
            cases = [case for case in cases if case.meta["parses_on_py311"]]
        return dict(self._load.score(rows, cases, self._load.Matcher(match), CUT))


def share(value: float | None) -> str:
    """A share with two digits."""
    return "-" if value is None else f"{value:.2f}".replace("0.", ".", 1)


def precision(summary: dict[str, Any]) -> str:
    """The share of true findings; "-" where nothing was said."""
    return share(summary["precision"] if summary["true_findings"] + summary["false_findings"] else None)


def table(head: Sequence[str], *rows: Sequence[object]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(str(cell) for cell in line)} |\n" for line in lines) + "\n"


def security_tables(scores: Scores) -> str:
    """What is found where a weakness was planted, and what is said of safe code that looks like it."""
    found = scores.of("securityeval")
    rows = [("SecurityEval", f"{found['goldens_found']} of {found['goldens']}", share(found["recall"]),
             precision(found), "-")]  # fmt: skip
    for name, parsable in (("OWASP, all files", False), ("OWASP, files of Python 3.11", True)):
        bad = scores.of("owasp_py", parsable=parsable)
        both = scores.of("owasp_py", "clean_owasp_py", parsable=parsable)
        false_rate = both["clean_share_flagged"]
        above = f"{share(bad['recall'] - false_rate)} ({share(false_rate)} false)"
        rows.append((name, f"{bad['goldens_found']} of {bad['goldens']}", share(bad["recall"]),
                     precision(both), above))  # fmt: skip
    return table(("security", "found", "true rate", "precision", "true rate - false rate"), *rows)


def other_tables(scores: Scores) -> str:
    """False alarms on clean code, then what is found of other defects."""
    clean = [(group, scores.of(group)) for group in CLEAN]
    text = table(("clean code", "cases flagged", "false findings"),
                 *((name, f"{n['clean_cases_flagged']} of {n['clean_cases']}", n["false_findings"])
                   for name, n in clean))  # fmt: skip
    kinds = [(group, match, scores.of(group, match=match)) for group, match in {**LOGIC, **OTHER}.items()]
    return text + table(
        ("other defects", "matcher", "found", "recall", "precision", "false findings"),
        *((name, match, f"{n['goldens_found']} of {n['goldens']}", share(n["recall"]),
           precision(n), n["false_findings"]) for name, match, n in kinds),
    )  # fmt: skip


def calibration_tables(scores: Scores) -> str:
    """What confidence is worth: the share of true findings among those that claim about as much."""
    pooled = scores.security()
    text = table(("security findings that claim", "findings", "mean confidence", "true"),
                 *((f"{row['bucket']}", row["findings"], share(row["mean_confidence"]), share(row["precision"]))
                   for row in pooled["buckets"] if row["findings"]))  # fmt: skip
    groups = [("all groups", pooled)] + [(name, scores.security(*groups)) for name, groups in FAMILIES.items()]
    return text + table(("security findings of", "findings", "calibration error (ECE)"),
                        *((name, found["findings"], share(found["ece"])) for name, found in groups))  # fmt: skip


def cost_line(rows: Rows) -> str:
    """What it took, and what could not be looked at."""
    seconds = sorted(row.get("seconds", 0.0) for row in rows.values())
    gaps, failed = (sum(bool(row.get(name)) for row in rows.values()) for name in ("gaps", "error"))
    middle, total = seconds[len(seconds) // 2], sum(seconds)
    return (
        f"{len(rows)} cases, {total:.0f} s of reviewing in all, {middle:.2f} s in the middle, {seconds[-1]:.1f} s at"
        f" most; {gaps} case{'' if gaps == 1 else 's'} with a gap, {failed} that failed.\n"
    )


def main() -> int:
    """Review, calibrate, score, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SHARED", HERE.parent.parent / "shared")))
    parser.add_argument("--program", type=Path, default=Path(sys.executable).with_name("reviewbot"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--work", type=Path, help="keep the results and tables in this folder")
    parser.add_argument("--write", type=Path, help="replace the figures of this page")
    parser.add_argument("--table", type=Path, help="write the table of calibration, counted on all families, here")
    arguments = parser.parse_args()
    bench = arguments.shared / "bench"
    if not (bench / "load.py").is_file():
        print(f"no labelled cases in {bench}; nothing was measured")
        return 0
    rows: Rows = {}
    with tempfile.TemporaryDirectory() as passing:
        work = arguments.work or Path(passing)
        work.mkdir(parents=True, exist_ok=True)
        for results in cross_fitted(arguments.program, bench / "cases", work, arguments.jobs, arguments.table):
            rows |= {row["case"]: row for row in map(json.loads, results.read_text().splitlines())}
    scores = Scores(scorer(bench), bench, rows)
    text = security_tables(scores) + other_tables(scores) + calibration_tables(scores) + cost_line(rows)
    if arguments.write is None:
        print(text)
        return 0
    page = arguments.write.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    arguments.write.write_text(before + BEGIN + text + END + rest.partition(END)[2], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
