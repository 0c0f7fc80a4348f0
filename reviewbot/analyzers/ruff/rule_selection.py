"""Which rules a configuration of ruff selects, for which files and with which options, as ruff itself would read it.

Only what has a known form leaves this module: codes of rules, numbers, and words from built-in lists.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from reviewbot.analyzers.ruff.config import RuffConfig, inner
from reviewbot.config.globs import glob_fault, matches_glob
from reviewbot.tables import packaged_table, words_in

SELECTOR = re.compile(r"[A-Z]{1,8}[0-9]{0,4}")
_CODE = re.compile(r"([A-Z]{1,8})([0-9]{0,4})")
_MAX_SELECTORS = 500
"""Selectors or globs of one kind. Ruff has fewer than a thousand rules."""

_ALL = "ALL"
_PYLINT = "PL"

DEFAULT_TARGET = "py310"
"""What ruff assumes where no configuration names a version."""
_TARGETS = frozenset({f"py3{minor}" for minor in range(7, 16)})
_REQUIRES = re.compile(r">=\s{0,9}3\.(\d{1,2})")

_TABLES: Mapping[str, list[str]] = packaged_table("names/ruff_options")["tables"]
"""The rules that each table of options is about. With an option that is not passed on they would say something else."""

_NUMBERS = words_in("names/ruff_options", "numbers")
_WORDS: Mapping[str, list[str]] = packaged_table("names/ruff_options")["words"]
_MAX_NUMBER = 1_000
_MAX_LINE_CHARS = 320
"""Ruff's own bound."""

_NOT_IN: Mapping[str, list[str]] = packaged_table("names/ruff_options")["not_in"]
"""What a convention leaves out, unless the rule is selected by its full code. From ruff's documentation."""


class _Globbed(NamedTuple):
    glob: str
    selectors: frozenset[str]


@dataclass(frozen=True)
class RuleSelection:
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


def select(config: RuffConfig, known: Collection[str]) -> RuleSelection:
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
    left_out = set(_NOT_IN.get(str(convention), ())) - set(chosen)
    wanted, unwanted = frozenset(chosen), frozenset(ignored)
    codes = {code for code in known if not prefixes(code) & unknown and _is_selected(code, wanted, unwanted)}
    return RuleSelection(
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
            number = option in _NUMBERS and _is_number(value, _MAX_NUMBER)
            if number or (isinstance(value, str) and value in _WORDS.get(option, ())):
                settings.append((option, value))
            else:
                unknown.update(about)
    return settings, unknown


def _options(config: RuffConfig, settings: Iterable[tuple[str, int | str]]) -> Iterator[str]:
    """Arguments, each made of fixed text and of values that were checked."""
    yield f"--target-version={_target(config)}"
    length = config.values.get("line-length")
    if _is_number(length, _MAX_LINE_CHARS):
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
    items = value[:_MAX_SELECTORS] if isinstance(value, list) else []
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
        if number >= _MAX_SELECTORS:
            return
        yield "*" if glob_fault(glob) or "{" in glob else glob


def _applies(glob: str, path: str) -> bool:
    return not _matches(glob[1:], path) if glob.startswith("!") else _matches(glob, path)


def _matches(glob: str, path: str) -> bool:
    """Ruff matches a glob with the path, and with the name alone."""
    return matches_glob(glob.rstrip("/"), path) or matches_glob(glob, path.rpartition("/")[2])
