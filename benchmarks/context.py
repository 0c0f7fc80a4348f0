# ruff: noqa: INP001 - a script, no package
"""What the questions about the surroundings of a change cost, on a repository's own history.

    python benchmarks/context.py [FOLDER]

Every question is asked several times about the longest Python file of the last commit; printed is the best time of each
in milliseconds. Numbers only: nothing is asserted.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from reviewbot.adapters.git import GitRepository, GitSnapshot  # noqa: E402 - the path comes first
from reviewbot.adapters.tree import TreeSnapshot  # noqa: E402 - the same
from reviewbot.context.service import Context  # noqa: E402 - the same
from reviewbot.diff.parse import parse_diff  # noqa: E402 - the same

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS = 5
NOTHING = b"diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+new\n"


def best(ask: Callable[[], object]) -> float:
    """Give the shortest of some runs, in milliseconds."""
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        ask()
        times.append(time.perf_counter() - began)
    return 1000 * min(times)


def main() -> None:
    """Print one line for each question."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    with GitRepository(folder) as repository:
        found = repository.range_diff("HEAD")
        snapshot = GitSnapshot(repository, found.base_sha, found.head_sha)
        context = Context(snapshot)
        paths = {each.path for each in snapshot.search("import", 5_000) or () if each.path.endswith(".py")}
        path = max(paths, key=lambda each: len(snapshot.base(each) or ""))
        lines = (snapshot.head(path) or "").count("\n")
        middle = lines // 2
        tree = TreeSnapshot.open(folder, parse_diff(NOTHING))
        began = time.perf_counter()
        tree.search("import", 10)
        first = 1000 * (time.perf_counter() - began)
        questions: dict[str, Callable[[], object]] = {
            "file": lambda: context.file(path),
            "enclosing definition": lambda: context.enclosing(path, middle, middle + 3),
            "imports": lambda: context.imports(path),
            "comments": lambda: context.comments(path, middle, middle + 3),
            "symbol (git grep)": lambda: context.symbol("import", path),
            "symbol that is nowhere (git grep)": lambda: context.symbol("n0where"),
            "symbol (folder, read before)": lambda: Context(tree).symbol("import", path),
            "history of 40 lines (git blame)": lambda: context.history(path, middle, middle + 39),
            "conventions": lambda: context.conventions(path),
        }
        print(f"{folder}, {path} of {lines} lines; milliseconds, best of {RUNS}")
        print(f"{first:9.1f}  first search of the folder, which reads it")
        for name, ask in questions.items():
            print(f"{best(ask):9.1f}  {name}")


if __name__ == "__main__":
    main()
