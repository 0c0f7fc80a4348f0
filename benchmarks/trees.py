# ruff: noqa: INP001 - a script, no package
"""What it costs to have the whole repository at hand: 20 reviews at once of a repository of 300 MB.

    python benchmarks/trees.py [--files 20000] [--mebibytes 300] [--reviews 20]

A repository of that size is made and served by the tests' stand-in for GitHub, in a process of its own. Each review is
of another head, which changes three files; it lists the tree, searches it six times and reads from it, as readers do.
Then the same is done once more with what was kept. Exits with 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from reviewbot.hosts.github.auth.access import GithubAccess
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.files.snapshot import GithubSnapshot
from reviewbot.hosts.github.files.whole_tree import TreeStore
from reviewbot.hosts.github.pull import read_pull
from reviewbot.llm.tools import RepositoryTools
from reviewbot.sources.blobs.store import BlobStore
from tests.github_api import FakeGitHub

MAX_MEMORY_MIB = 512
"""Of the process in which all reviews run."""

MAX_DISK = 1.5
"""Times the repository."""

REPOSITORY = "acme/large"
SEARCHES = (
    {"pattern": r"\bfunction_123_4\b"},
    {"pattern": "value_77 ="},
    {"pattern": r"class \w+Service", "path": "src/area_3"},
    {"pattern": "nothing of this kind", "literal": True},
    {"pattern": r"^def .*retry"},
    {"pattern": "TIMEOUT_12", "ignore_case": True},
)


class Cost(NamedTuple):
    """What one round of reviews cost."""

    seconds: float
    slowest_s: float
    memory_mib: int


def main() -> None:
    """Make the repository, review it, tell."""
    arguments = _arguments()
    if arguments.serve:
        serve(arguments.serve, arguments.reviews)
        return
    folder = Path(tempfile.mkdtemp(prefix="reviewbot-trees-"))
    repository = arguments.repository or folder / "repository"
    try:
        if not repository.exists():
            print(f"making a repository of {arguments.files:,} files and {arguments.mebibytes} MB ...", flush=True)
            make_repository(repository, arguments.files, arguments.mebibytes, arguments.reviews)
        sys.exit(measure(folder, repository, arguments.mebibytes, arguments.reviews))
    finally:
        shutil.rmtree(folder)


def measure(folder: Path, repository: Path, mebibytes: int, reviews: int) -> int:
    """Print the table; 1 where a goal is missed."""
    command = [sys.executable, __file__, "--serve", str(repository), "--reviews", str(reviews)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        if not server.stdin or not server.stdout:
            raise SystemExit("the server has no pipes")
        access = GithubAccess(*reversed(server.stdout.readline().split()))
        before = memory_mib()
        cold = all_at_once(access, folder / "trees", reviews)
        disk = sum(path.stat().st_size for path in (folder / "trees").rglob("*") if path.is_file()) >> 20
        warm = all_at_once(access, folder / "trees", reviews)
        server.stdin.close()
    print(f"| {reviews} reviews at once | wall | slowest review | memory of the process |")
    print("|---|---|---|---|")
    for name, cost in (("nothing kept", cold), ("all kept", warm)):
        print(f"| {name} | {cost.seconds:.1f} s | {cost.slowest_s:.1f} s | {cost.memory_mib} MiB |")
    print(f"\n{before} MiB before the first; {disk} MiB on disk behind the first round")
    missed = [
        *([f"memory over {MAX_MEMORY_MIB} MiB"] if warm.memory_mib > MAX_MEMORY_MIB else []),
        *([f"disk over {MAX_DISK} times the repository"] if disk > MAX_DISK * mebibytes else []),
    ]
    print(f"missed: {', '.join(missed)}" if missed else "both goals are met")
    return 1 if missed else 0


def all_at_once(access: GithubAccess, store: Path, reviews: int) -> Cost:
    """Review all heads at once, each in a thread of its own."""
    began = time.perf_counter()
    with ThreadPoolExecutor(reviews) as pool:
        seconds = list(pool.map(partial(review, access, store), range(1, reviews + 1)))
    return Cost(time.perf_counter() - began, max(seconds), memory_mib())


def review(access: GithubAccess, store: Path, number: int) -> float:
    """Look things up as a reader does; the seconds that it took."""
    began = time.perf_counter()
    with GithubClient(access, deadline_s=900) as client:
        pull = read_pull(client, REPOSITORY, number)
        kept = BlobStore(store).repository(access.api_url, pull.repository_id)
        snapshot = GithubSnapshot(client, pull, place=lambda: TreeStore(kept))
        tools = RepositoryTools(snapshot)
        calls = [("list", {}), *(("search", each) for each in SEARCHES)]
        results = [asyncio.run(tools.call(name, arguments)) for name, arguments in calls]
        paths = [entry.path for entry in results[1].evidence]
        results += [asyncio.run(tools.call("read", {"path": path, "first": 1, "last": 200})) for path in paths]
    broken = [result.text for result in results if result.failed]
    if broken or len(results) == len(calls):
        raise RuntimeError(f"a look-up failed: {broken} ({snapshot.read_warnings()}; {results[1].text[:200]})")
    return time.perf_counter() - began


def memory_mib() -> int:
    """The most memory that this process has had so far."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(next(line for line in status.split("\n") if line.startswith("VmHWM")).split()[1]) >> 10


def serve(folder: Path, reviews: int) -> None:
    """Serve the repository until standard input ends."""
    with FakeGitHub() as api:
        api.add_repository(REPOSITORY, folder)
        for number in range(1, reviews + 1):
            api.open_pull(REPOSITORY, "main", f"head{number}")
        print(api.url, api.token, flush=True)
        sys.stdin.read()


def make_repository(folder: Path, files: int, mebibytes: int, heads: int) -> None:
    """A repository of text that looks like code, with branches head1, head2 and so on."""
    chance = random.Random(7)  # noqa: S311 - the same text each time
    size = (mebibytes << 20) // files
    _git(folder, "init", "--quiet", "--initial-branch=main", str(folder))
    for number in range(files):
        path = folder / f"src/area_{number % 40}/part_{number % 400}/module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_text(chance, number, size), encoding="utf-8")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", "all")
    for number in range(1, heads + 1):
        _git(folder, "checkout", "--quiet", "-b", f"head{number}", "main")
        for path in sorted(folder.glob(f"src/area_{number % 40}/part_{number % 400}/*.py"))[:3]:
            path.write_text(f"# head {number}\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
        _git(folder, "commit", "--quiet", "--all", "--message", f"head {number}")


def _text(chance: random.Random, number: int, size: int) -> str:
    rows, length, inner = [f'"""Module {number}."""', ""], 0, 0
    while length < size:
        inner += 1
        row = (
            f"def function_{number}_{inner}(argument, timeout=TIMEOUT_{chance.randrange(99)}):\n"
            f"    value_{inner} = argument.call_{chance.randrange(10**6)}(retries={chance.randrange(9)})\n"
            f"    return value_{inner} + {chance.random()}\n\n"
        )
        rows.append(row)
        length += len(row)
    return "\n".join(rows)


def _git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "commit.gpgsign=false", "-c", "gc.auto=0")
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)  # noqa: S607 - a bench


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--mebibytes", type=int, default=300)
    parser.add_argument("--reviews", type=int, default=20)
    parser.add_argument("--repository", type=Path, help="where the repository is kept for the next time")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
