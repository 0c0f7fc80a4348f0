# ruff: noqa: INP001 - a script, no package
"""What the diff front costs beside unidiff alone, and what one hostile line costs.

    python benchmarks/front.py [DIFF ...]

Each diff, and 200,000 generated lines, are read by the front (unidiff's second reading included) and by
`unidiff.PatchSet` alone, in turn, each run in a fresh process, best of five. Printed are CPU time and peak memory above
a process that only imports, the ratios of both, raw peak memory, and what twice the input costs. Exit status 1 where a
limit is passed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
RUNS = 5
LINES = 200_000
MAX_CPU = 2.5
"""Front and unidiff together, as a multiple of unidiff alone."""
MAX_MEMORY = 3.0
MAX_GROWTH = 2.3
"""CPU time for twice the input, as a multiple."""
MAX_LINE_SECONDS = 0.1
MIB = 1024 * 1024


class Cost(NamedTuple):
    """Seconds of CPU time and bytes of peak memory."""

    cpu: float
    peak: int


class Ratios(NamedTuple):
    """The front with both readers, as multiples of unidiff alone."""

    cpu: float
    memory: float


def peak_bytes() -> int:
    """Give the peak resident size of this process.

    On Linux from the kernel's own note: `ru_maxrss` begins there with the size of the process that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # only macOS counts bytes


def child(reader: str, path: str) -> None:
    """Read one diff in this process and print what it cost; without a path only import."""
    read: Callable[[bytes], object]
    if reader == "front":
        sys.path.insert(0, str(ROOT))
        from reviewbot.diff.parse import parse_diff  # noqa: PLC0415 - each child imports its own reader only

        read = parse_diff
    else:
        from unidiff.patch import PatchSet  # noqa: PLC0415 - the same

        read = PatchSet
    cpu = 0.0
    if path:
        data = Path(path).read_bytes()
        started = time.process_time()
        kept = read(data)
        cpu = time.process_time() - started
        del kept
    print(json.dumps([cpu, peak_bytes()]))


def measure(reader: str, path: str) -> Cost:
    """Run one reader in a fresh process."""
    command = [sys.executable, "-I", __file__, "--child", reader, "--", path]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    return Cost(*json.loads(done.stdout))


def best(costs: list[Cost]) -> Cost:
    """The least of each figure: what disturbs a run only ever adds."""
    return Cost(min(cost.cpu for cost in costs), min(cost.peak for cost in costs))


def compare(path: str, idle: dict[str, Cost]) -> Ratios:
    """Measure both readers in turn and print what they cost."""
    runs: dict[str, list[Cost]] = {"front": [], "unidiff": []}
    for _ in range(RUNS):
        for reader, costs in runs.items():
            costs.append(measure(reader, path))
    front, alone = best(runs["front"]), best(runs["unidiff"])
    cpu = front.cpu / alone.cpu
    memory = (front.peak - idle["front"].peak) / max(1, alone.peak - idle["unidiff"].peak)
    for reader, cost in (("front", front), ("unidiff", alone)):
        above = (cost.peak - idle[reader].peak) / MIB
        print(f"  {reader:8} {cost.cpu:.3f} s CPU, {above:.1f} MiB above import, {cost.peak / MIB:.0f} MiB in all")
    print(f"  CPU x{cpu:.2f} (limit {MAX_CPU}), memory x{memory:.2f} (limit {MAX_MEMORY})")
    return Ratios(cpu, memory)


def growth_of(once: str, twice: str) -> float:
    """Measure the front on both in turn, so that a busy machine slows both; the ratio of CPU time."""
    costs = [(measure("front", once).cpu, measure("front", twice).cpu) for _ in range(RUNS)]
    return min(cost[1] for cost in costs) / min(cost[0] for cost in costs)


def generated(lines: int) -> bytes:
    """A diff of so many marked lines: 200 a file, in four hunks, half of them context."""
    parts = []
    for number in range(lines // 200):
        name = f"src/package_{number % 40}/module_{number}.py"
        parts.append(
            f"diff --git a/{name} b/{name}\nindex {number:07x}..{number + 1:07x} 100644\n--- a/{name}\n+++ b/{name}\n"
        )
        for hunk in range(4):
            start = 1 + hunk * 100
            parts.append(f"@@ -{start},37 +{start},38 @@ def function_{hunk}(self, value):\n")
            parts += [f"     context = call_{row}(value, {number})\n" for row in range(25)]
            parts += [f"-    removed = self.method_{row}({number})\n" for row in range(12)]
            parts += [f"+    added = self.method_{row}({number}, key='value')\n" for row in range(13)]
    return "".join(parts).encode()


def hostile_lines() -> dict[str, bytes]:
    """One long line each, of the forms that make a careless reader back-track."""
    size = 1_000_000
    head = b"diff --git a/x b/x\nindex 1..2 100644\n"
    names = b"--- a/x\n+++ b/x\n"
    return {
        "scheme names": b"diff --git " + b"://" * 2700 + b" " * 190 + b"\n",
        "long scheme names": b"diff --git " + b"://" * (size // 4) + b" " * (size // 4) + b"\n",
        "binary and": head + b"Binary files " + b" and " * 1600 + b"x differ\n",
        "long binary and": head + b"Binary files " + b" and " * (size // 5) + b"x\n",
        "plain binary and": b"Binary files " + b" and " * 1600 + b"x differ\n",
        "quoted name": b'diff --git "' + b"\\\\" * 4000 + b' "' + b"\\" * 200 + b"\n",
        "open quote": b'diff --git "a/' + b"\\303" * 2000 + b"\n",
        "many quotes": b"diff --git a" + b' "' * 4000 + b'"\n',
        "rename": head + b"rename from " + b" b/" * 2700 + b"\nrename to " + b" b/" * 2700 + b"\n",
        "blanks": b"diff --git " + b" " * 8200 + b"\n",
        "digits": head + names + b"@@ -" + b"9" * size + b" +1 @@\n",
        "header digits": head + names + b"@@ -" + b"9" * 8000 + b",1 +1 @@\n",
        "submodule": b"Submodule " + b"0000.." * 1370 + b"\n",
        "property": b"Index: x\nProperty changes on: x\n## " + b"## " * 2700 + b"\n",
        "first word": b"x" * size + b"\n" + head + names + b"@@ -0,0 +1 @@\n+a\n",
        "content": head + names + b"@@ -1 +1 @@\n-" + b"a" * size + b"\n+" + b"\xc3\xa9" * (size // 2) + b"\n",
        "continuations": head + names + b"@@ -0,0 +1 @@\n+" + b"\x80" * size + b"\n",
        "carriage returns": head + names + b"@@ -0,0 +1 @@\n+" + b"\r" * size + b"\n",
        "escapes": b"\x1b[" * (size // 2) + b"\n",
        "word marks": head + names + b"@@ -1,2 +1,2 @@\nx" + b"[-" * (size // 2) + b"\n",
    }


def worst_line() -> float:
    """Time each hostile line in this process; print the slowest ones."""
    sys.path.insert(0, str(ROOT))
    from reviewbot.diff.parser.protocol import answer  # noqa: PLC0415 - the children must not inherit it

    seconds = {}
    for name, data in hostile_lines().items():
        started = time.perf_counter()
        answer(data, None)
        seconds[name] = time.perf_counter() - started
    slowest = sorted(seconds, key=lambda name: -seconds[name])[:3]
    print("one hostile line:", ", ".join(f"{name} {seconds[name] * 1000:.1f} ms" for name in slowest))
    return seconds[slowest[0]]


def main() -> int:
    """Measure everything; 1 where a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("diffs", nargs="*", metavar="DIFF")
    parser.add_argument("--child", choices=("front", "unidiff"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child, *arguments.diffs)
        return 0
    idle = {reader: best([measure(reader, "") for _ in range(RUNS)]) for reader in ("front", "unidiff")}
    passed = []
    with tempfile.TemporaryDirectory() as folder:
        once, twice = Path(folder) / "once.diff", Path(folder) / "twice.diff"
        once.write_bytes(generated(LINES))
        twice.write_bytes(generated(2 * LINES))
        for path in arguments.diffs:
            print(path)
            passed.append(compare(path, idle))
        print(f"{LINES} generated lines")
        passed.append(compare(str(once), idle))
        growth = growth_of(str(once), str(twice))
    print(f"twice the input: x{growth:.2f} (limit {MAX_GROWTH})")
    line = worst_line()
    held = all(each.cpu <= MAX_CPU and each.memory <= MAX_MEMORY for each in passed)
    return 0 if held and growth <= MAX_GROWTH and line <= MAX_LINE_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
