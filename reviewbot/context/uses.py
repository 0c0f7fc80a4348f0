"""Find where a Python file uses a symbol of a module, by imports and scopes; what is not certain is left out.

The file that an import names is found from paths alone; an import that fits several files names none of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from reviewbot.context.python_text import bound_names, dotted_name, parse_python, tokens, walk
from reviewbot.domain.ports import Snapshot

_ROOTS = ("", "src", "lib", "python")
"""Folders from which absolute imports commonly start, beside those above the importing file."""

_FOREIGN = frozenset({"vendor", "_vendor", "vendored", "third_party", "extern", "external", "site-packages"})
"""Folders of copies: an import of the name may mean another copy."""


class Bound(NamedTuple):
    """A local name that an import binds to a symbol of a module, or to the module itself (`symbol` is then empty)."""

    name: str
    """The name, dotted for `import a.b`."""
    symbol: str
    node: ast.Import | ast.ImportFrom


def module_path(path: str) -> str:
    """The path of a module without its ending; a package's is that of its folder."""
    return path.removesuffix(".py").removesuffix("/__init__")


def imports_of(nodes: Iterable[ast.AST], caller: str, target: str, snapshot: Snapshot) -> Iterator[Bound]:
    """Yield what a file (its nodes) imports from another one (`target`, a path that ends in ".py"), wherever in it."""
    wanted = module_path(target)
    package, _, last = wanted.rpartition("/")
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _absolute(alias.name, caller, wanted, snapshot):
                    yield Bound(alias.asname or alias.name, "", node)
        elif isinstance(node, ast.ImportFrom):
            if _imports_from(node, caller, wanted, snapshot):
                yield from (Bound(alias.asname or alias.name, alias.name, node) for alias in node.names)
            elif any(alias.name == last for alias in node.names) and _imports_from(node, caller, package, snapshot):
                yield from (Bound(alias.asname or last, "", node) for alias in node.names if alias.name == last)


def _imports_from(node: ast.ImportFrom, caller: str, wanted: str, snapshot: Snapshot) -> bool:
    """Whether `from ... import` takes from the module at a path."""
    if not node.level:
        return bool(node.module) and _absolute(node.module or "", caller, wanted, snapshot)
    folders = caller.split("/")[: -node.level]
    if len(caller.split("/")) < node.level:
        return False
    return "/".join([*folders, *(node.module or "").split(".")]).rstrip("/") == wanted


def _absolute(name: str, caller: str, wanted: str, snapshot: Snapshot) -> bool:
    """Whether a dotted name means the module at a path, and no other file that it could mean as well."""
    tail = name.replace(".", "/")
    if wanted != tail and not wanted.endswith("/" + tail):
        return False
    root = wanted[: -len(tail)].rstrip("/")
    parts = caller.split("/")[:-1]
    roots = {"/".join(parts[:n]) for n in range(len(parts) + 1)}
    strange = root not in roots | set(_ROOTS)
    if (strange and "/" not in tail) or _FOREIGN & set(root.split("/")):
        return False
    if root and snapshot.head(f"{root}/__init__.py") is not None:
        return False  # the name would begin further up
    return not any(_is_module(f"{other}/{tail}".lstrip("/"), snapshot) for other in (roots | set(_ROOTS)) - {root})


def _is_module(path: str, snapshot: Snapshot) -> bool:
    return snapshot.head(f"{path}.py") is not None or snapshot.head(f"{path}/__init__.py") is not None


MAX_FOUND = 400
"""Lines that are looked at for one word."""

MAX_FILES = 40
"""Files that are parsed for one word."""

MAX_HELD = 60_000
"""Tokens of the texts whose trees are kept."""

_LENIENT = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "TypeError", "Exception"})
"""What a handler catches that reckons with a symbol that is not there, or is another one."""

_ASKS = ("TYPE_CHECKING", "hasattr")
"""What a condition asks that reckons with that."""


@dataclass(frozen=True)
class PythonFile:
    """A file of Python that parses, with what is often asked of its tree."""

    path: str
    text: str
    tree: ast.Module

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text; row n of the tree is `lines[n - 1]`."""
        return self.text.split("\n")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The nodes of the tree, at most `MAX_NODES`."""
        return list(walk(self.tree))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node above each node."""
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    @cached_property
    def bindings(self) -> dict[str, int]:
        """How often each name is bound, in whatever scope."""
        counts: dict[str, int] = {}
        for node in self.nodes:
            for name in bound_names(node):
                counts[name] = counts.get(name, 0) + 1
        return counts

    @property
    def is_open(self) -> bool:
        """Whether names can come into it that it does not spell: by a star import, `__getattr__` or `globals()`."""
        if "*" in self.bindings or "__getattr__" in self.bindings:
            return True
        return any(isinstance(node, ast.Name) and node.id in {"globals", "exec"} for node in self.nodes)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes above one, innermost first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def is_lenient(self, node: ast.AST) -> bool:
        """Whether a place reckons with a missing name: a `try` around it catches that, or a condition asks for it."""
        for outer in self.above(node):
            if isinstance(outer, ast.Try) and any(_catches(handler) for handler in outer.handlers):
                return True
            if isinstance(outer, (ast.If, ast.IfExp)) and any(word in ast.dump(outer.test) for word in _ASKS):
                return True
        return False


@dataclass(frozen=True)
class Use:
    """One place that uses a symbol: the import of it, its name, or an attribute of its module."""

    file: PythonFile
    node: ast.AST
    row: int

    @property
    def place(self) -> str:
        """As messages name it."""
        return f"{self.file.path}:{self.row}"

    @property
    def call(self) -> ast.Call | None:
        """The call of the symbol, where this use is one."""
        parent = self.file.parents.get(self.node)
        return parent if isinstance(parent, ast.Call) and parent.func is self.node else None


def python_file(path: str, text: str | None) -> PythonFile | None:
    """A file with its tree; None where it has none."""
    tree = parse_python(text)
    return None if tree is None or text is None else PythonFile(path, text, tree)


class Library:
    """The Python files around a change, each parsed once while there is room. For one thread."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._files: dict[str, PythonFile | None] = {}
        self._room = MAX_HELD

    def file(self, path: str) -> PythonFile | None:
        """The new side of a file; None where it has no tree."""
        if path in self._files:
            return self._files[path]
        text = self._snapshot.head(path)
        found = python_file(path, text)
        size = tokens(text or "", self._room)
        if size <= self._room:
            self._room -= size
            self._files[path] = found
        return found

    def files_with(self, word: str, *, but: str, module: str = "") -> list[PythonFile]:
        """The files with a word in them, at most `MAX_FILES`, without the one called `but`.

        With the path of a module only those that may import from it.
        """
        found = self._snapshot.search(word, MAX_FOUND) or ()
        paths = dict.fromkeys(each.path for each in found if each.path.endswith(".py") and each.path != but)
        wanted = [path for path in paths if not module or self._may_import(path, module)]
        files = (self.file(path) for path in wanted[:MAX_FILES])
        return [file for file in files if file is not None]

    def _may_import(self, path: str, module: str) -> bool:
        text = self._snapshot.head(path) or ""
        package = module.endswith("/__init__.py")
        return module_path(module).rpartition("/")[2] in text or (package and "from ." in text)


def imported_uses(file: PythonFile, target: str, symbol: str, snapshot: Snapshot) -> Iterator[Use]:
    """Yield where a file uses a symbol of another file: its import first, and then each place where it is named."""
    for bound in imports_of(file.nodes, file.path, target, snapshot):
        if bound.symbol == symbol:
            yield Use(file, bound.node, bound.node.lineno)
            if file.bindings.get(bound.name) == 1:
                yield from _named(file, bound.name)
        elif not bound.symbol and file.bindings.get(bound.name.partition(".")[0]) == 1:
            yield from _attributes(file, f"{bound.name}.{symbol}")


def own_uses(file: PythonFile, symbol: str, *, bindings: int) -> Iterable[Use]:
    """Where a file uses a name of its own top level, which it binds so many times; nothing where a scope hides it."""
    return _named(file, symbol) if file.bindings.get(symbol, 0) == bindings else ()


def _named(file: PythonFile, name: str) -> list[Use]:
    found = [node for node in file.nodes if isinstance(node, ast.Name) and node.id == name]
    return _uses(file, [node for node in found if isinstance(node.ctx, ast.Load)])


def _attributes(file: PythonFile, name: str) -> list[Use]:
    found = [node for node in file.nodes if isinstance(node, ast.Attribute) and dotted_name(node) == name]
    return _uses(file, [node for node in found if isinstance(node.ctx, ast.Load)])


def _uses(file: PythonFile, nodes: Sequence[ast.Name | ast.Attribute]) -> list[Use]:
    return sorted((Use(file, node, node.lineno) for node in nodes), key=lambda use: use.row)


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(dotted_name(kind).rpartition(".")[2] in _LENIENT for kind in kinds)
