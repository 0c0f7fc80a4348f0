"""Which rules a configuration of ruff selects, for which files and with which options, as ruff itself would read it.

Only what has a known form leaves this module: codes of rules, numbers, and words from lists of ours.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from reviewbot.analyzers.ruff.config import RuffConfig, inner
from reviewbot.config.globs import glob_fault, matches_glob

SELECTOR = re.compile(r"[A-Z]{1,8}[0-9]{0,4}")
_CODE = re.compile(r"([A-Z]{1,8})([0-9]{0,4})")
_MOST = 500
"""Selectors or globs of one kind. Ruff has fewer than a thousand rules."""

_ALL = "ALL"
_PYLINT = "PL"

DEFAULT_TARGET = "py310"
"""What ruff assumes where no configuration names a version."""
_TARGETS = frozenset({f"py3{minor}" for minor in range(7, 16)})
_REQUIRES = re.compile(r">=\s{0,9}3\.(\d{1,2})")

_TABLES: dict[str, tuple[str, ...]] = {
    "flake8-annotations": ("ANN",),
    "flake8-bandit": ("S",),
    "flake8-boolean-trap": ("FBT",),
    "flake8-bugbear": ("B",),
    "flake8-builtins": ("A",),
    "flake8-comprehensions": ("C4",),
    "flake8-copyright": ("CPY",),
    "flake8-errmsg": ("EM",),
    "flake8-gettext": ("INT",),
    "flake8-implicit-str-concat": ("ISC",),
    "flake8-import-conventions": ("ICN",),
    "flake8-pytest-style": ("PT",),
    "flake8-quotes": ("Q",),
    "flake8-self": ("SLF",),
    "flake8-tidy-imports": ("TID",),
    "flake8-type-checking": ("TC",),
    "flake8-unused-arguments": ("ARG",),
    "mccabe": ("C90",),
    "pep8-naming": ("N",),
    "pycodestyle": ("E", "W"),
    "pydocstyle": ("D",),
    "pyflakes": ("F",),
    "pylint": ("PL",),
    "pyupgrade": ("UP",),
    "ruff": ("RUF",),
}
"""The rules that each table of options is about. With an option that is not passed on they would say something else."""

_NUMBERS = frozenset(
    {"mccabe.max-complexity", "pycodestyle.max-line-length", "pycodestyle.max-doc-length"}
    | {f"pylint.max-{what}" for what in ("args", "branches", "returns", "statements", "positional-args")}
    | {f"pylint.max-{what}" for what in ("public-methods", "bool-expr", "locals", "nested-blocks")}
)
_QUOTES = frozenset({"single", "double"})
_WORDS: dict[str, frozenset[str]] = {
    "pydocstyle.convention": frozenset({"google", "numpy", "pep257"}),
    "flake8-quotes.inline-quotes": _QUOTES,
    "flake8-quotes.multiline-quotes": _QUOTES,
    "flake8-quotes.docstring-quotes": _QUOTES,
}
_LARGEST_NUMBER = 1_000
_LONGEST_LINE = 320
"""Ruff's own bound."""

_NOT_IN: dict[str, frozenset[str]] = {
    "google": frozenset(
        {"D203", "D204", "D213", "D215", "D400", "D401", "D404", "D406", "D407", "D408", "D409", "D413"}
    ),
    "numpy": frozenset({"D107", "D203", "D212", "D213", "D402", "D413", "D415", "D416", "D417"}),
    "pep257": frozenset(
        {"D203", "D212", "D213", "D214", "D215", "D404", "D405", "D406", "D407", "D408", "D409", "D410", "D411"}
        | {"D413", "D415", "D416", "D417", "D418"}
    ),
}
"""What a convention leaves out, unless the rule is selected by its full code. From ruff's documentation."""


class _Globbed(NamedTuple):
    glob: str
    selectors: frozenset[str]


@dataclass(frozen=True)
class Selection:
    """What one configuration asks for."""

    label: str
    folder: str
    selectors: tuple[str, ...]
    """Those that select, as they stand there."""
    codes: frozenset[str]
    options: tuple[str, ...]
    """Arguments for ruff."""
    inherits: bool
    """It takes over another file, which is not read: some of its options are not known."""
    excluded: tuple[str, ...] = ()
    globbed: tuple[_Globbed, ...] = ()

    def codes_for(self, path: str) -> frozenset[str]:
        """The rules that hold for one file."""
        name = path.removeprefix(self.folder)
        parts = name.split("/")
        above = ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
        if any(_matches(glob, here) for glob in self.excluded for here in above):
            return frozenset()
        dropped = {selector for there in self.globbed if _applies(there.glob, name) for selector in there.selectors}
        return frozenset(code for code in self.codes if not prefixes(code) & dropped)


def prefixes(code: str) -> frozenset[str]:
    """Every selector that means a rule, such as `ALL`, `PL`, `PLR`, `PLR0`. `F` does not mean `FBT001`."""
    parts = _CODE.fullmatch(code)
    if parts is None:
        return frozenset()
    letters, digits = parts[1], parts[2]
    groups = {_PYLINT} if letters.startswith(_PYLINT) and letters != _PYLINT else set()
    return frozenset({_ALL, *groups, *(letters + digits[:length] for length in range(len(digits) + 1))})


def select(config: RuffConfig, known: Collection[str]) -> Selection:
    """What a configuration selects of the known rules. The rules that ruff selects by default do not count."""
    top, lint = config.values, inner(config.values, "lint")
    chosen = [
        *_selectors(lint.get("select", top.get("select"))),
        *_selectors(lint.get("extend-select")),
        *_selectors(top.get("extend-select")),
    ]
    ignored = [
        *_selectors(lint.get("ignore", top.get("ignore"))),
        *_selectors(lint.get("extend-ignore")),
        *_selectors(top.get("extend-ignore")),
    ]
    settings, unknown = _settings(lint, top)
    convention = next((value for key, value in settings if key == "pydocstyle.convention"), "")
    left_out = _NOT_IN.get(str(convention), frozenset()) - set(chosen)
    wanted, unwanted = frozenset(chosen), frozenset(ignored)
    codes = {code for code in known if not prefixes(code) & unknown and _is_selected(code, wanted, unwanted)}
    return Selection(
        config.label,
        config.folder,
        tuple(chosen),
        frozenset(codes - left_out),
        (*_options(config, settings),),
        "extend" in top,
        tuple(_globs([*_list(top.get("exclude")), *_list(top.get("extend-exclude")), *_list(lint.get("exclude"))])),
        tuple(_per_file(lint, top)),
    )


def _is_selected(code: str, chosen: frozenset[str], ignored: frozenset[str]) -> bool:
    """The longer selector wins, and of two equally long ones the one that ignores."""
    meant = prefixes(code)
    best = max((_rank(selector) for selector in chosen & meant), default=-1)
    return best > max((_rank(selector) for selector in ignored & meant), default=-1)


def _rank(selector: str) -> int:
    return 0 if selector == _ALL else len(selector)


def _settings(lint: dict[str, Any], top: dict[str, Any]) -> tuple[list[tuple[str, int | str]], set[str]]:
    """The options that are passed on, and the prefixes of rules whose options are not understood."""
    settings: list[tuple[str, int | str]] = []
    unknown: set[str] = set()
    for name, about in _TABLES.items():
        for key, value in (inner(top, name) | inner(lint, name)).items():
            option = f"{name}.{key}"
            number = option in _NUMBERS and _is_number(value, _LARGEST_NUMBER)
            if number or (isinstance(value, str) and value in _WORDS.get(option, ())):
                settings.append((option, value))
            else:
                unknown.update(about)
    return settings, unknown


def _options(config: RuffConfig, settings: Iterable[tuple[str, int | str]]) -> Iterator[str]:
    """Arguments, each made of words of ours and of values that were checked."""
    yield f"--target-version={_target(config)}"
    length = config.values.get("line-length")
    if _is_number(length, _LONGEST_LINE):
        yield f"--config=line-length={length}"
    for key, value in sorted(settings):
        yield f'--config=lint.{key}="{value}"' if isinstance(value, str) else f"--config=lint.{key}={value}"


def _target(config: RuffConfig) -> str:
    said = config.values.get("target-version")
    if isinstance(said, str) and said in _TARGETS:
        return said
    lowest = _REQUIRES.search(config.requires_python)
    target = f"py3{int(lowest[1])}" if lowest else DEFAULT_TARGET
    return target if target in _TARGETS else DEFAULT_TARGET


def _is_number(value: object, largest: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= largest


def _selectors(value: object) -> list[str]:
    return [item for item in _list(value) if SELECTOR.fullmatch(item)]


def _list(value: object) -> list[str]:
    items = value[:_MOST] if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]


def _per_file(lint: dict[str, Any], top: dict[str, Any]) -> Iterator[_Globbed]:
    for table in (lint, top):
        for key in ("per-file-ignores", "extend-per-file-ignores"):
            ignored = inner(table, key)
            for glob, known in zip(ignored, _globs(ignored), strict=False):
                yield _Globbed(known, frozenset(_selectors(ignored[glob])))


def _globs(globs: Iterable[str]) -> Iterator[str]:
    """Those of a usable form; one that is not understood holds for every file, which makes rules silent."""
    for number, glob in enumerate(globs):
        if number >= _MOST:
            return
        yield "*" if glob_fault(glob) or "{" in glob else glob


def _applies(glob: str, path: str) -> bool:
    return not _matches(glob[1:], path) if glob.startswith("!") else _matches(glob, path)


def _matches(glob: str, path: str) -> bool:
    """Ruff holds a glob against the path and against the name alone."""
    return matches_glob(glob.rstrip("/"), path) or matches_glob(glob, path.rpartition("/")[2])
