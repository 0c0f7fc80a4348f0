"""Classify a path: test code, an example, a program that is run by hand, or a prompt.

Map module names to the files that they stand for, from paths alone: Python, TypeScript and JavaScript.
"""

from __future__ import annotations

import posixpath
import re

_TESTS = re.compile(r"(?:^|/)(?:tests?|testing|specs?|__tests__|fixtures|testdata)/", re.IGNORECASE)
_TEST_FILE = re.compile(
    r"(?:^|/)(?:test_[^/]{1,200}|conftest\.py|[^/]{1,200}[._-](?:tests?|specs?)\.[a-z]{1,5}|[^/]{1,200}Tests?\.[a-z]{1,5})$"
)
_EXAMPLE = re.compile(r"(?:^|/)(?:examples?|samples?|demos?|docs?|tutorials?)/", re.IGNORECASE)
_BY_HAND = re.compile(
    r"(?:^|/)(?:scripts?|bin|tools?|examples?|demos?|benchmarks?|cli|commands?)/|(?:^|/)(?:cli|__main__|setup|manage)\.[a-z]{1,5}$",
    re.IGNORECASE,
)
_PROMPT = re.compile(
    r"(?:^|/)(?:[^/]{0,40}(?:prompt|jailbreak|injection|guardrail|red.?team)[^/]{0,200}|agents?|skills?|personas?|rules|evals?|instructions)(?:/|$)"
    r"|(?:^|/)(?:AGENTS|CLAUDE|GEMINI|SKILL|copilot-instructions)\.md$|(?:^|/)\.(?:cursorrules|windsurfrules|clinerules)$|\.mdc$",
    re.IGNORECASE,
)

_SUFFIXES = (".d.ts", ".tsx", ".ts", ".mts", ".cts", ".jsx", ".js", ".mjs", ".cjs", ".py", ".pyi", ".go")


def is_test(path: str) -> bool:
    """Whether the path is one of test code or of data for tests."""
    return bool(_TESTS.search(path) or _TEST_FILE.search(path))


def is_example(path: str) -> bool:
    """Whether the path is one of code that is there to be read."""
    return bool(_EXAMPLE.search(path))


def is_run_by_hand(path: str) -> bool:
    """Whether the path is one of a script or a command line, where printing is the point."""
    return bool(_BY_HAND.search(path))


def is_prompt(path: str) -> bool:
    """Whether the path is one of text for models, such as a program's own prompts and instructions for its agents."""
    return bool(_PROMPT.search(path))


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
