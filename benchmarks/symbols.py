# ruff: noqa: INP001 - a script, no package
"""How often the look-up of definitions is right, and how long it takes.

    python benchmarks/symbols.py --git FOLDER [--git FOLDER ...] [--names 200] [--files 20000] [--node FOLDER]

Each FOLDER is a git repository. Of the newest commits of all of them, 200 names a language are drawn at random from
what another tool knows: Python's own `ast`, the TypeScript compiler (in `node_modules` of --node, else
universal-ctags), and universal-ctags for Go, Java and Ruby. A place is right where the other tool has the name there
too; what it does not know, such as an attribute of an object or an association of Rails, does not count. Then the time
of a first look-up and of later ones is taken over 20,000 files: those of the repositories, and copies of them
with other names. Exits with 1 where a goal is missed; of times those of the processor count, for others may use it.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from reviewbot.context.symbols.index import SymbolIndex
from reviewbot.context.symbols.languages import LANGUAGES
from reviewbot.context.symbols.resolve import resolve
from reviewbot.diff.language import language_of

MIN_PRECISION, MIN_RECALL = 0.97, 0.90
MAX_FIRST_S, MAX_LATER_S = 2.0, 0.020

Places = dict[str, set[tuple[str, int]]]
"""Path and line of each place, by name."""

TYPESCRIPT = r"""
const ts = require("typescript"), fs = require("fs"), path = require("path"), root = process.argv[2]
for (const file of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const text = fs.readFileSync(path.join(root, file), "utf8")
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const tell = (name) => name && name.text && console.log(JSON.stringify(
    [name.text, file, source.getLineAndCharacterOfPosition(name.getStart(source)).line + 1]))
  const ofAlias = (node) => ts.isTypeLiteralNode(node) && (ts.isTypeAliasDeclaration(node.parent)
    || (ts.isIntersectionTypeNode(node.parent) && ts.isTypeAliasDeclaration(node.parent.parent)))
  const visit = (node, inFunction) => {
    const own = ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node) || ts.isClassExpression(node)
      || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isEnumDeclaration(node)
      || ts.isEnumMember(node) || ts.isMethodDeclaration(node) || ts.isGetAccessor(node) || ts.isSetAccessor(node)
      || ts.isPropertyDeclaration(node) || ts.isMethodSignature(node) || ts.isModuleDeclaration(node)
      || (ts.isPropertySignature(node) && (ts.isInterfaceDeclaration(node.parent) || ofAlias(node.parent)))
      || (ts.isParameter(node) && ts.isParameterPropertyDeclaration(node, node.parent))
      || (ts.isVariableDeclaration(node) && !inFunction && ts.isVariableStatement(node.parent.parent))
    if (own) tell(node.name)
    const func = ts.isFunctionLike(node)
    ts.forEachChild(node, (child) => visit(child, inFunction || func))
  }
  visit(source, false)
}
"""


class Score(NamedTuple):
    """What came of the names of one language."""

    names: int
    precision: float
    recall: float
    wrong: list[str]
    lost: list[str]


def main() -> None:
    """Draw, look up, compare, tell."""
    arguments = _arguments()
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        files = unpack(arguments.git, Path(folder))
        print("| Language | files | checked against | names | precision | recall |\n|---|---|---|---|---|---|")
        for language, told, places in known(Path(folder), files, arguments.node):
            score = compare(language, files, places, arguments.names)
            count = sum(_family(path) == language for path in files)
            print(f"| {language} | {count:,} | {told} | {score.names} | {score.precision:.3f} | {score.recall:.3f} |")
            for title, rows in (("wrong", score.wrong), ("lost", score.lost)):
                print(*(f"  {title}: {row}" for row in rows[: arguments.show]), sep="\n", file=sys.stderr)
            if score.precision < MIN_PRECISION or score.recall < MIN_RECALL:
                missed.append(language)
        missed += timing(files, arguments.files)
    print(f"missed: {', '.join(missed)}" if missed else "all goals are met")
    sys.exit(1 if missed else 0)


def unpack(repositories: Iterable[Path], folder: Path) -> dict[str, bytes]:
    """The files of known languages of the newest commits, by a path that begins with the repository's number."""
    files = {}
    for number, repository in enumerate(repositories):
        git = ["git", "-C", str(repository)]
        rows = [row.partition(b"\t") for row in _run([*git, "ls-tree", "-r", "-z", "HEAD"], b"").split(b"\0")]
        wanted = [(head.split()[2], name.decode()) for head, _, name in rows if head.startswith(b"100")]
        wanted = [(sha, f"{number}/{name}") for sha, name in wanted if language_of(name) in LANGUAGES]
        told = _run([*git, "cat-file", "--batch"], b"\n".join(sha for sha, _ in wanted))
        for _, name in wanted:
            head, _, told = told.partition(b"\n")
            if not head.endswith(b"missing"):
                size = int(head.split()[2])
                files[name], told = told[:size], told[size + 1 :]
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return files


def known(folder: Path, files: dict[str, bytes], node: Path | None) -> Iterator[tuple[str, str, Places]]:
    """Yield each language, the name of what is asked, and what that knows."""
    paths = {
        language: [path for path in files if _family(path) == language]
        for language in ("python", "typescript", "go", "java", "ruby")
    }
    yield "python", "ast", places_of(_of_ast(files[path], path) for path in paths["python"])
    if node is not None:
        script = folder / "told.js"
        script.write_text(TYPESCRIPT, encoding="utf-8")
        command = ["node", str(script), str(folder)]
        told = _run(command, "\n".join(paths["typescript"]).encode(), {"NODE_PATH": str(node / "node_modules")})
        yield "typescript", "tsc", places_of([json.loads(line) for line in told.splitlines()] for _ in "1")
    else:
        yield "typescript", "ctags", places_of([_of_ctags(folder, paths["typescript"])])
    for language in ("go", "java", "ruby"):
        yield language, "ctags", places_of([_of_ctags(folder, paths[language])])


def places_of(told: Iterable[Iterable[tuple[str, str, int]]]) -> Places:
    """By name."""
    places: Places = defaultdict(set)
    for rows in told:
        for name, path, line in rows:
            places[name].add((path, line))
    return places


def _of_ast(content: bytes, path: str) -> Iterator[tuple[str, str, int]]:
    """What Python's own parser knows: functions and classes everywhere, and what is assigned outside of functions."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return
    lines = content.decode("utf-8", "replace").split("\n")
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, inside = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            row = node.lineno
            while node.name not in lines[row - 1] and row < len(lines):
                row += 1
            yield node.name, path, row
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and not inside:
            yield node.id, path, node.lineno
        below = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.comprehension)
        waiting += ((child, below) for child in ast.iter_child_nodes(node) if not _is_loop_target(node, child))


def _is_loop_target(node: ast.AST, child: ast.AST) -> bool:
    """What a loop or a `with` binds is a variable, and no definition."""
    if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        return child is node.target
    if isinstance(node, ast.AugAssign | ast.NamedExpr):
        return child is node.target
    return isinstance(node, ast.withitem) and child is node.optional_vars


def _of_ctags(folder: Path, paths: list[str]) -> list[tuple[str, str, int]]:
    command = ["ctags", "--output-format=json", "--fields=+nK", "-f", "-", "-L", "-", "--kinds-Go=+pftvcsminaM"]
    told = _run(command, "\n".join(paths).encode(), cwd=folder)
    rows = [json.loads(line) for line in told.splitlines()]
    skipped = {"package", "packageName", "anonMember", "import", "alias"}
    return [(row["name"], row["path"], row["line"]) for row in rows if row.get("kind") not in skipped]


def compare(language: str, files: dict[str, bytes], places: Places, count: int) -> Score:
    """Look up names that the other tool knows."""
    index = _index({path: content for path, content in files.items() if _family(path) == language})
    names = sorted(name for name in places if len(places[name]) <= MAX_PLACES and name.isidentifier())
    drawn = random.Random(11).sample(names, min(count, len(names)))  # noqa: S311 - the same names each time
    right = given = wanted = 0
    wrong, lost = [], []
    for name in drawn:
        found = resolve(index, name, "", lambda _: None)
        told = {(each.path, each.symbol.line) for each in (*found.best, *found.others)}
        fields = {
            (each.path, each.symbol.line)
            for each in (*found.best, *found.others)
            if language in {"python", "ruby"}
            and each.symbol.kind == "field"
            and (each.path, each.symbol.line) not in places[name]
        }
        told -= fields if _is_attribute(files, fields, name) else set()
        right += len(told & places[name])
        given += len(told)
        wanted += len(places[name])
        wrong += [f"{name} {path}:{line}" for path, line in sorted(told - places[name])]
        lost += [f"{name} {path}:{line}" for path, line in sorted(places[name] - told)]
    return Score(len(drawn), right / max(1, given), right / max(1, wanted), wrong, lost)


MAX_PLACES = 40
"""Of a name that is drawn. One of more places, such as "main", nobody looks up without saying more."""


def _is_attribute(files: dict[str, bytes], fields: set[tuple[str, int]], name: str) -> bool:
    """Whether all of these lines set an attribute of an object, or name an association, which no tool was asked for."""
    lines = (files[path].decode("utf-8", "replace").split("\n")[line - 1] for path, line in fields)
    return all(re.search(rf"self\.{re.escape(name)}|\b(?:has_\w+|belongs_to)\b", line) for line in lines)


def timing(files: dict[str, bytes], wanted: int) -> list[str]:
    """Time look-ups over many files; what is missed."""
    many: dict[str, bytes] = {}
    copy = 0
    while len(many) < wanted:
        rest = list(files.items())[: wanted - len(many)]
        many |= {f"copy{copy}/{path}": _renamed(content, copy) for path, content in rest}
        copy += 1
    index = _index(many)
    names = ["parse_file", *_some_names(index)]
    taken = []
    for name in names:
        began, worked = time.perf_counter(), time.process_time()
        resolve(index, name, "", lambda _: None)
        taken.append((time.process_time() - worked, time.perf_counter() - began))
    (first, waited), later = taken[0], sorted(each[0] for each in taken[1:])
    size = sum(map(len, many.values())) / 1e6
    median, high = later[len(later) // 2], later[int(len(later) * 0.9)]
    print(f"\n{len(many):,} files, {size:.0f} MB; time of the processor, and by the clock for the first look-up:")
    print(f"first look-up {first:.2f} s ({waited:.2f} s), later ones: median {median * 1e3:.1f} ms,", end=" ")
    print(f"90 of 100 within {high * 1e3:.1f} ms")
    return [*(["first"] if first > MAX_FIRST_S else []), *(["later"] if median > MAX_LATER_S else [])]


def _renamed(content: bytes, copy: int) -> bytes:
    """A copy that defines other names, as another part of a large repository would."""
    return re.sub(rb"\b(\w{6,})\b", rb"\1_c%d" % copy, content) if copy else content


def _some_names(index: SymbolIndex) -> list[str]:
    chance = random.Random(5)  # noqa: S311 - the same names each time
    paths = chance.sample(index.files, 200)
    symbols = [index.file(path).symbols for path in paths]
    fresh = SymbolIndex(index.files, index._contents)  # noqa: SLF001 - what was parsed to draw names is not to count
    index.__dict__.update(fresh.__dict__)
    return [chance.choice(each).name for each in symbols if each]


def _index(files: dict[str, bytes]) -> SymbolIndex:
    def contents(paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        return ((path, files[path]) for path in paths)

    read: Callable[[Iterable[str]], Iterator[tuple[str, bytes]]] = contents
    return SymbolIndex(sorted(files), read)


def _family(path: str) -> str:
    return {"tsx": "typescript", "jsx": "javascript"}.get(language_of(path), language_of(path))


def _run(command: list[str], given: bytes, environ: dict[str, str] | None = None, cwd: Path | None = None) -> bytes:
    environ = {"PATH": "/usr/local/bin:/usr/bin:/bin", **(environ or {})}
    return subprocess.run(command, input=given, check=True, capture_output=True, env=environ, cwd=cwd).stdout


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--git", type=Path, action="append", required=True)
    parser.add_argument("--names", type=int, default=200)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--node", type=Path)
    parser.add_argument("--show", type=int, default=0, help="how many wrong and lost places to show")
    return parser.parse_args()


if __name__ == "__main__":
    main()
