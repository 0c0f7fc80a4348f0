#!/usr/bin/env python3
"""Draw places at which a review without a key says something of foreign code, for a person to judge.

    python -m benchmarks.draw_places TREE... --out FILE [--files 200] [--commits 0] [--jobs 2]

A TREE is a git repository, bare or not; its HEAD is read by git, and nothing of it is run. Without --commits each tree
gives so many of its files (of the languages, where some are named), chosen by a hash of the path, as added by a
change; files of other projects (vendor, node_modules, dist) and very large ones are left out. With --commits the
newest ones are reviewed one by one, as a push would be, with the tree in reach. The installed program reviews, with
its default settings, so what is drawn is what people would see.

FILE gets one line of JSON for each finding that is shown: project, commit, place, rule, tools, confidence, language,
message, quote. Prints files or commits with their findings by language; `--sample N` also prints places to judge, at
most N of a language and three of a rule, in the order of a hash of rule and place.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.patterns import FOREIGN, MAX_DIFF, blobs, git
from reviewbot.diff.language import language_of

Row = dict[str, Any]

PROGRAM = str(Path(sys.executable).with_name("reviewbot"))
BATCH_FILES, BATCH_BYTES = 100, 1_500_000
"""Of one review of added files: few enough that no limit of a large change is reached."""
MAX_OF_A_RULE = 3


def project_of(tree: Path) -> str:
    """OWNER/NAME of a clone that is called OWNER+NAME, else the folder's name."""
    while tree.name in {"repo", ".git"}:
        tree = tree.parent
    return tree.name.replace("+", "/")


def hashed(text: str) -> str:
    """The order in which things are drawn: it does not depend on what they are."""
    return hashlib.sha256(text.encode()).hexdigest()


def added(path: str, content: bytes) -> bytes:
    """A diff that adds the file."""
    lines = content.removesuffix(b"\n").split(b"\n")
    name = path.encode()
    head = b"diff --git a/%b b/%b\nnew file mode 100644\n--- /dev/null\n+++ b/%b\n@@ -0,0 +1,%d @@\n"
    return head % (name, name, name, len(lines)) + b"".join(b"+%b\n" % line for line in lines)


def batches(tree: Path, most: int, languages: Sequence[str] = ()) -> Iterator[tuple[list[str], bytes]]:
    """Diffs that add some files of a tree, with the paths of the files; `languages`: all where none is named."""
    every = git(tree, "ls-tree", "-r", "--name-only", "-z", "HEAD").decode("utf-8", "replace").split("\0")
    wanted = [path for path in every if path and path.isprintable() and '"' not in path and not FOREIGN.search(path)]
    known = {path: language for path in wanted if (language := language_of(path))}
    wanted = sorted((path for path in known if not languages or known[path] in languages), key=hashed)[:most]
    paths: list[str] = []
    diff = b""
    for path, content in zip(wanted, blobs(tree, [f"HEAD:{path}" for path in wanted]), strict=True):
        if not content or b"\0" in content:
            continue
        if paths and (len(paths) >= BATCH_FILES or len(diff) + len(content) > BATCH_BYTES):
            yield paths, diff
            paths, diff = [], b""
        paths.append(path)
        diff += added(path, content)
    if paths:
        yield paths, diff


def reviewed(diff: bytes, *options: str) -> Row:
    """The review of a diff, as the program writes it in JSON."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            PROGRAM,
            "review",
            "-",
            "--engine",
            "analyzers",
            "--format",
            "json",
            "--no-cache",
            "--quiet",
            *options,
        ]
        done = subprocess.run(command, input=diff, cwd=folder, capture_output=True, check=False)
    if not done.stdout:
        sys.exit(f"the review failed: {done.stderr.decode('utf-8', 'replace')[-2000:]}")
    review: Row = json.loads(done.stdout)
    return review


def rows_of(review: Row, project: str, commit: str) -> list[Row]:
    """What the review shows."""
    return [
        {
            "project": project,
            "commit": commit,
            "place": f"{finding['path']}:{finding['line']}",
            "rule": finding["rule"],
            "tools": finding["sources"],
            "confidence": finding["confidence"],
            "language": language_of(finding["path"]) or "other",
            "message": f"{finding['title']}: {finding['message']}",
            "quote": finding["evidence"],
        }
        for finding in review["findings"]
    ]


def of_tree(tree: Path, most: int, languages: Sequence[str] = ()) -> tuple[Counter[str], list[Row]]:
    """Files looked at by language, and what is shown of them."""
    commit = git(tree, "rev-parse", "--short=12", "HEAD").decode().strip()
    looked: Counter[str] = Counter()
    rows: list[Row] = []
    for paths, diff in batches(tree, most, languages):
        looked.update(language_of(path) or "other" for path in paths)
        rows += rows_of(reviewed(diff), project_of(tree), commit)
    return looked, rows


def of_commits(tree: Path, most: int) -> tuple[Counter[str], list[Row]]:
    """Commits looked at by the languages that they touch, and what is shown of them."""
    looked: Counter[str] = Counter()
    rows: list[Row] = []
    for commit in git(tree, "log", "--no-merges", "--min-parents=1", f"-{most}", "--format=%H").decode().split():
        try:
            diff = git(tree, "diff-tree", "-p", "-M", "--no-ext-diff", "--no-textconv", "-r", f"{commit}^", commit)
        except subprocess.CalledProcessError:  # where a shallow clone ends
            continue
        if not diff or len(diff) > MAX_DIFF:
            continue
        command = [PROGRAM, "review", "--git", f"{commit}^..{commit}", "--repo", str(tree)]
        command += ["--engine", "analyzers", "--format", "json", "--no-cache", "--quiet"]
        done = subprocess.run(command, capture_output=True, check=False)
        if not done.stdout:
            print(f"{project_of(tree)} {commit[:12]}: {done.stderr.decode('utf-8', 'replace')[-300:]}", file=sys.stderr)
            continue
        review = json.loads(done.stdout)
        looked.update({language_of(file["path"]) or "other" for file in review["coverage"]})
        rows += rows_of(review, project_of(tree), commit[:12])
    return looked, rows


def sample(rows: Sequence[Row], most: int) -> list[Row]:
    """Places to judge."""
    taken: list[Row] = []
    languages: Counter[str] = Counter()
    rules: Counter[tuple[str, str]] = Counter()
    for row in sorted(rows, key=lambda row: hashed(f"{row['rule']} {row['project']} {row['place']}")):
        key = row["language"], row["rule"]
        if languages[row["language"]] < most and rules[key] < MAX_OF_A_RULE:
            languages[row["language"]] += 1
            rules[key] += 1
            taken.append(row)
    return taken


def main() -> int:
    """Draw, write, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", metavar="TREE", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--files", type=int, default=200, help="of each tree")
    parser.add_argument("--language", default=[], action="append", help="of the files; may be repeated")
    parser.add_argument("--commits", type=int, default=0, help="review so many commits of each tree instead")
    parser.add_argument("--sample", type=int, default=0, help="print places to judge, at most so many of a language")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    trees = partial(of_tree, most=arguments.files, languages=arguments.language)
    work = partial(of_commits, most=arguments.commits) if arguments.commits else trees
    looked: Counter[str] = Counter()
    rows: list[Row] = []
    with ThreadPoolExecutor(arguments.jobs) as pool, arguments.out.open("w", encoding="utf-8") as out:
        for tree, (some, found) in zip(arguments.trees, pool.map(work, arguments.trees), strict=True):
            looked.update(some)
            rows += found
            out.writelines(json.dumps(row) + "\n" for row in found)
            out.flush()
            print(f"{project_of(tree)}: {sum(some.values())} looked at, {len(found)} findings", file=sys.stderr)
    hits = Counter(row["language"] for row in rows)
    for language, count in looked.most_common():
        print(f"{count:6} {language}: {hits[language]} findings")
    for row in sample(rows, arguments.sample):
        print(json.dumps(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
