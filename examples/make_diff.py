"""Write `change.diff` of an example: what git says between its folders `base` and `head`.

    python examples/make_diff.py             write it
    python examples/make_diff.py --check     compare it, and exit with 1 where it differs
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLES = ("orders",)

# The answer must not depend on who asks: no configuration of the user, and short names of the same length everywhere.
QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
SETTINGS = ("-c", "core.abbrev=7", "-c", "core.autocrlf=false", "-c", "core.excludesFile=" + os.devnull)


def diff_of(example: Path) -> bytes:
    """What `git diff -M` prints between the two states, with names that start at each state's own root."""
    with tempfile.TemporaryDirectory() as folder:
        env = {"PATH": os.environ["PATH"], "HOME": folder, "GIT_DIR": str(Path(folder) / "git"), **QUIET}

        def git(*words: str, tree: Path = example) -> bytes:
            command = ["git", *SETTINGS, *words]
            return subprocess.run(command, cwd=tree, env=env, check=True, capture_output=True).stdout

        def state(name: str) -> str:
            tree = example / name
            git("--work-tree=.", "add", "--all", "--force", ".", tree=tree)
            return git("write-tree").decode().strip()

        git("init", "--quiet", "--bare")
        return git("diff", "-M", "--no-ext-diff", "--no-color", state("base"), state("head"))


def main(words: list[str]) -> int:
    """Do what the words ask for; the exit code."""
    stale = 0
    for name in EXAMPLES:
        stored, made = HERE / name / "change.diff", diff_of(HERE / name)
        if "--check" not in words:
            stored.write_bytes(made)
        elif stored.read_bytes() != made:
            print(f"{stored} differs from git diff -M between its base and head", file=sys.stderr)
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
