"""Find the file that a Python import names, from paths alone; an import that fits several files names none."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

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
            if _names(node, caller, wanted, snapshot):
                yield from (Bound(alias.asname or alias.name, alias.name, node) for alias in node.names)
            elif any(alias.name == last for alias in node.names) and _names(node, caller, package, snapshot):
                yield from (Bound(alias.asname or last, "", node) for alias in node.names if alias.name == last)


def _names(node: ast.ImportFrom, caller: str, wanted: str, snapshot: Snapshot) -> bool:
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
