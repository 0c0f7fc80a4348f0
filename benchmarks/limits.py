#!/usr/bin/env python3
"""Peak memory and time of the review of ten hostile changes, into docs/operations.md. Linux.

    python benchmarks/limits.py [--deadline S] [--only SHAPE...] [--write FILE]

Each shape is one review of the installed program in a process of its own, without a model and without a cache, with
the deadline that is given. The memory is that of the whole process tree (the review and the programs that it starts),
sampled twenty times a second. Ends with 1 where one takes more than MAX_MEGABYTES, or is over its deadline by more than
MAX_LATE_S.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

MAX_MEGABYTES = 600
MAX_LATE_S = 5.0
DEADLINE_S = 30
SAMPLE_S = 0.05
PROGRAM = str(Path(sys.executable).with_name("reviewbot"))
REVIEWED = (0, 4)
"""Exit codes of a review that came to its end: everything was read, or some of it is a named gap."""


@dataclass(frozen=True)
class Change:
    """A hostile change: what `reviewbot review` is given."""

    diff: str
    files: dict[str, str] = field(default_factory=dict)
    """The folder around it, at the head of the change; none: a bare diff."""
    sarif: str = ""
    archive: bytes = b""
    """In place of a change: a repository as GitHub packs it, read like one that was fetched."""


class Shape(NamedTuple):
    """A kind of hostile change, and which bound of ours is to hold it."""

    name: str
    what: str
    bound: str
    make: Callable[[], Change]


class Measured(NamedTuple):
    """What one review took, and what it says."""

    megabytes: float
    seconds: float
    said: str


def new_file(path: str, lines: list[str]) -> str:
    """The section of a diff that adds a file."""
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    return f"{head}@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)


def many_files() -> Change:
    """5,000 small files of Python."""
    body = ["import os", "", "def run(name):", "    return os.system('ls ' + name)"]
    return Change("".join(new_file(f"pkg{number % 50}/mod{number}.py", body) for number in range(5_000)))


def many_functions() -> Change:
    """15,000 functions in one file, each of them changed, with both sides of the file at hand."""
    old = [f"def f{n}(a, b):\n    c = a + b * {n}\n    d = str(c)\n    return d + 'x' * 9" for n in range(15_000)]
    new = [text.replace("str(c)", "repr(c)") for text in old]
    hunks = []
    for number in range(15_000):
        first = 1 + 4 * number
        a, b = old[number].split("\n"), new[number].split("\n")
        hunks.append(f"@@ -{first},4 +{first},4 @@\n {a[0]}\n {a[1]}\n-{a[2]}\n+{b[2]}\n {a[3]}\n")
    head = "diff --git a/big.py b/big.py\n--- a/big.py\n+++ b/big.py\n"
    return Change(head + "".join(hunks), {"big.py": "\n".join(new) + "\n"})


def new_functions() -> Change:
    """15,000 new functions in one file."""
    body = "def f{n}(a, b):\n    c = a + b * {n}\n    d = str(c)\n    return d + 'x' * 9"
    text = "\n".join(body.format(n=number) for number in range(15_000))
    return Change(new_file("big.py", text.split("\n")), {"big.py": text + "\n"})


def many_hunks() -> Change:
    """20,000 hunks of Python in one bare diff, each of them cut out of its function."""
    head = "diff --git a/hunks.py b/hunks.py\n--- a/hunks.py\n+++ b/hunks.py\n"
    hunk = "@@ -{at},3 +{at},4 @@\n         if x:\n+            y = eval(x)\n             return y\n     else:\n"
    return Change(head + "".join(hunk.format(at=1 + 20 * number) for number in range(20_000)))


def deep_nesting() -> Change:
    """Blocks, brackets, operators and formatted texts that stand deep inside each other, in 200 files."""
    blocks = [" " * depth + "if x:" for depth in range(90)] + [" " * 90 + "y = eval(x)"]
    brackets = ["x = " + "[" * 190 + "]" * 190]
    operators = ["x = " + "-" * 5_000 + "1", "y = " + " + ".join(["a"] * 20_000)]
    lambdas = ["z = " + "lambda: " * 2_000 + "0"]
    calls = ["w = " + "f(" * 180 + ")" * 180, "v = a" + ".b()" * 5_000]
    kinds = [blocks, brackets, operators, lambdas, calls]
    return Change("".join(new_file(f"deep{number}.py", kinds[number % len(kinds)] * 5) for number in range(200)))


def merge_markers() -> Change:
    """25,000 markers of merge conflicts in one file of Python, and as many in prose."""
    lines = ["<<<<<<< HEAD", "x = 1", "=======", "x = 2", ">>>>>>> other"] * 8_334
    return Change(new_file("conflict.py", lines) + new_file("conflict.md", lines))


def many_globs() -> Change:
    """Configurations with hundreds of expensive patterns, and 2,000 files with long names to hold against them."""
    globs = [f"**/{'*a' * 9}*/**/x{number}*" for number in range(500)]
    own = f"ignore = {json.dumps(globs[:100])}\n"
    ruff = f"[tool.ruff]\nexclude = {json.dumps(globs)}\n[tool.ruff.lint]\nselect = ['ALL']\n"
    ruff += "[tool.ruff.lint.per-file-ignores]\n" + "".join(f"{json.dumps(glob)} = ['E501']\n" for glob in globs)
    names = [f"{'/'.join(['aaaaaaaaaaaaaaaa'] * 8)}/{'a' * 60}{number}.py" for number in range(2_000)]
    diff = "".join(new_file(name, ["x = 1"]) for name in names)
    return Change(diff, {".reviewbot.toml": own, "pyproject.toml": ruff, **dict.fromkeys(names, "x = 1\n")})


def long_lines() -> Change:
    """Lines of megabytes: of Python, of JavaScript, of text without a break."""
    python = "x = [" + "1, " * 1_000_000 + "]"
    script = "var a=" + "b+" * 1_000_000 + "c;"
    return Change(
        new_file("long.py", [python])
        + new_file("long.js", [script])
        + new_file("long.txt", ["a" * 3_000_000])
        + new_file("wide.py", [f"x{n} = '{'y' * 9_000}'" for n in range(300)])
    )


def many_findings() -> Change:
    """40,000 lines with several findings each, in four files with whole sides."""
    line = "eval(x); os.system(x); password = 'hunter2hunter2'; assert x; print(x); h = hashlib.md5(x)"
    lines = ["import os, hashlib"] + [line] * 10_000
    names = [f"bad{number}.py" for number in range(4)]
    return Change("".join(new_file(n, lines) for n in names), {n: "\n".join(lines) + "\n" for n in names})


def sarif_log() -> Change:
    """A SARIF log of 31 MB with 100,000 results about one line."""
    place = {"physicalLocation": {"artifactLocation": {"uri": "a.py"}, "region": {"startLine": 1}}}
    result = {"ruleId": "R1", "message": {"text": "It is wrong. " * 12}, "locations": [place]}
    runs = [{"tool": {"driver": {"name": "checker"}}, "results": [result] * 100_000}]
    return Change(new_file("a.py", ["x = 1", "y = 2"]), sarif=json.dumps({"version": "2.1.0", "runs": runs}))


def archive_bomb() -> Change:
    """An archive of 2 MB that unpacks to more than 2 GiB, in files of 2 MiB and one of 1 GiB."""
    out = io.BytesIO()
    packed = gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9)
    zeros = bytes(2**20)
    for size in (2**30, *[2 * 2**20] * 600):
        info = tarfile.TarInfo("x")
        info.size = size
        packed.write(info.tobuf())
        for _ in range(size // len(zeros)):
            packed.write(zeros)
    packed.close()
    return Change("", archive=out.getvalue())


READ_ARCHIVE = """
import sys
from pathlib import Path
from reviewbot.hosts.github.files.archive import ArchiveError, files_of
read = 0
try:
    for content in files_of(iter([Path(sys.argv[1]).read_bytes()])):
        read += 1
except ArchiveError as error:
    print(f"{read} files; {error}")
"""

SHAPES = (
    Shape("files", "5,000 small files of Python", "files of one review, files in memory", many_files),
    Shape("functions", "15,000 functions of one file, each changed; both sides", "size of a tree", many_functions),
    Shape("new functions", "15,000 new functions in one file of 1.2 MB", "size of a tree", new_functions),
    Shape("hunks", "20,000 hunks of one file, without the file", "hunks of one file", many_hunks),
    Shape("nesting", "blocks, brackets, operators, lambdas, calls", "steps of a walk", deep_nesting),
    Shape("markers", "25,000 merge markers, in code and in prose", "findings of one rule", merge_markers),
    Shape("globs", "600 patterns against 2,000 long names", "patterns, steps of a match", many_globs),
    Shape("long lines", "lines of 3 MB, and 300 of 9 kB", "length of a line", long_lines),
    Shape("many findings", "40,000 lines with six findings each", "findings of one rule", many_findings),
    Shape("SARIF", "a log of 31 MB with 100,000 results", "results that are read", sarif_log),
    Shape("archives", "2 MB that unpack to more than 2 GiB, as GitHub packs", "bytes that are unpacked", archive_bomb),
)


def measured(change: Change, folder: Path, deadline: int) -> Measured:
    """Review a change. Ends the program where the review does not come to an end by itself."""
    if change.archive:
        return _archive(change.archive, folder)
    (folder / "change.diff").write_text(change.diff, "utf-8")
    for name, text in change.files.items():
        path = folder / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    command = [PROGRAM, "review", "change.diff", "--no-cache", "--format", "json", "--engine", "analyzers"]
    command += [f"--deadline={deadline}", "--output=report.json"] + (["--repo=repo"] if change.files else [])
    if change.sarif:
        (folder / "log.sarif").write_text(change.sarif, "utf-8")
        command.append("--results=log.sarif")
    peak, seconds = _run(command, folder)
    report = json.loads((folder / "report.json").read_text("utf-8"))
    return Measured(peak, seconds, f"{report['headline']}; {len(report['gaps'])} gaps")


def _archive(packed: bytes, folder: Path) -> Measured:
    """Read an archive as one that was fetched: the command line takes none but from GitHub."""
    (folder / "archive.tar.gz").write_bytes(packed)
    peak, seconds = _run([sys.executable, "-c", READ_ARCHIVE, "archive.tar.gz"], folder)
    return Measured(peak, seconds, (folder / "log").read_text("utf-8").strip())


def _run(command: list[str], folder: Path) -> tuple[float, float]:
    """The peak memory in megabytes and the seconds of a command."""
    home = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    began = time.monotonic()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=os.environ | home, stdout=log, stderr=log)
        peak = _Peak(process.pid)
        status = process.wait()
    if status not in REVIEWED:
        sys.exit(f"{command} ended with {status}: {(folder / 'log').read_text('utf-8')[-2_000:]}")
    return peak.end(), time.monotonic() - began


class _Peak:
    """The most memory of a process and all that it started, in megabytes."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._most = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> float:
        self._ended.set()
        self._thread.join()
        return self._most / 1024 / 1024

    def _watch(self) -> None:
        while not self._ended.wait(SAMPLE_S):
            self._most = max(self._most, sum(_resident(pid) for pid in _tree(self._pid)))


def _tree(pid: int) -> Iterator[int]:
    """Yield a process and its descendants, as far as they are still there."""
    waiting = [pid]
    while waiting:
        pid = waiting.pop()
        yield pid
        with suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                waiting += [int(child) for child in (task / "children").read_text().split()]


def _resident(pid: int) -> int:
    """The bytes that a process has in memory; none of one that has ended."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def main() -> int:
    """Measure, print, and write the table; the result is the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deadline", type=int, default=DEADLINE_S, help="seconds for each review")
    parser.add_argument("--only", nargs="+", metavar="SHAPE", help="these alone")
    parser.add_argument("--write", type=Path, help="a page with a table between the two marks")
    arguments = parser.parse_args()
    rows = ["| shape | what | held by | peak memory, MB | wall, s |", "|---|---|---|---|---|"]
    over = False
    for shape in SHAPES:
        if arguments.only and shape.name not in arguments.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            row = measured(shape.make(), Path(folder), arguments.deadline)
        late = row.seconds > arguments.deadline + MAX_LATE_S
        over = over or late or row.megabytes > MAX_MEGABYTES
        rows.append(f"| {shape.name} | {shape.what} | {shape.bound} | {row.megabytes:.0f} | {row.seconds:.1f} |")
        print(f"{shape.name}: {row.megabytes:.0f} MB, {row.seconds:.1f} s; {row.said}", flush=True)
    if arguments.write:
        before, mark, rest = arguments.write.read_text("utf-8").partition("<!-- limits:start -->\n")
        _, end, after = rest.partition("<!-- limits:end -->")
        arguments.write.write_text(f"{before}{mark}{chr(10).join(rows)}\n{end}{after}", "utf-8")
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
