"""Map module names to the files that they stand for, from paths alone: Python, TypeScript and JavaScript."""

from __future__ import annotations

import posixpath

_SUFFIXES = (".d.ts", ".tsx", ".ts", ".mts", ".cts", ".jsx", ".js", ".mjs", ".cjs", ".py", ".pyi", ".go")


def module_stem(path: str) -> str:
    """A path without its ending, and without the name that stands for a folder."""
    suffix = next((each for each in _SUFFIXES if path.endswith(each)), "")
    stem = path.removesuffix(suffix)
    for name in ("/__init__", "/index"):
        stem = stem.removesuffix(name)
    return stem


def import_stem(module: str, near: str, language: str) -> tuple[str, bool]:
    """The stem of what a file (`near`) imports, and whether that is known from the root of the repository on.

    Else any file may be meant whose stem ends with it.
    """
    if language == "python":
        return _python_stem(module, near)
    relative = module.startswith(".")
    wanted = posixpath.normpath(posixpath.join(posixpath.dirname(near), module)) if relative else module
    return module_stem(wanted.lstrip("@~/")), relative


def _python_stem(module: str, near: str) -> tuple[str, bool]:
    dots = len(module) - len(module.lstrip("."))
    place = module.lstrip(".").replace(".", "/")
    if not dots:
        return place, False
    folder = posixpath.dirname(near)
    for _ in range(dots - 1):
        folder = posixpath.dirname(folder)
    return posixpath.join(folder, place) if place else folder, True
