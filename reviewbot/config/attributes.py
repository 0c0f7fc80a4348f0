"""`.gitattributes` of the base side: which paths a repository declares generated or vendored.

Only what is understood for certain counts: macros, patterns with backslashes and unreadable files declare nothing, so
that such a file is reviewed. Source of the rules: https://git-scm.com/docs/gitattributes, and
https://github.com/github-linguist/linguist/blob/main/docs/overrides.md for the two attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

from reviewbot.config.source import BaseSide
from reviewbot.domain.errors import HostError

FILE_NAME = ".gitattributes"
ATTRIBUTES = ("linguist-generated", "linguist-vendored")
MAX_RULES = 2_000
"""Of one file; each is tried on each path."""
MAX_FOLDERS = 500
"""Folders whose own file is read; each may be a request to a host. Deeper rules do not count beyond that."""


class AttributeRule(NamedTuple):
    """One line about one attribute. `segments` is its pattern, cut at slashes; `anchored` ones begin at the folder."""

    segments: tuple[str, ...]
    anchored: bool
    attribute: str
    is_set: bool


def declaration_reader(base: BaseSide | None) -> Callable[[str], str | None]:
    """Why the base side declares a path generated or vendored; None where it does not. Reading it may block."""
    read: dict[str, tuple[AttributeRule, ...]] = {}

    def rules_of(folder: str) -> tuple[AttributeRule, ...]:
        if folder not in read:
            read[folder] = () if base is None or len(read) >= MAX_FOLDERS else _rules_in(base, folder)
        return read[folder]

    @cache
    def declared(path: str) -> str | None:
        state: dict[str, bool] = {}
        parts = path.split("/")
        for depth in range(len(parts)):
            inner = parts[depth:]
            for rule in rules_of("/".join(parts[:depth])):
                if _fits(rule, inner):
                    state[rule.attribute] = rule.is_set
        found = next((name for name in ATTRIBUTES if state.get(name)), None)
        return None if found is None else f"declared {found} in {FILE_NAME} of the base side"

    return declared


def rules_of_text(text: str) -> Iterator[AttributeRule]:
    """The rules of one file that are about our attributes, in their order."""
    for line in text.splitlines():
        pattern, *words = line.split()[:100] or ("#",)
        if pattern.startswith(("#", "[attr]", "!", '"')) or "\\" in pattern or pattern.endswith("/"):
            continue
        segments = tuple(pattern.removeprefix("/").split("/"))
        for word in words:
            name, _, value = word.lstrip("-!").partition("=")
            if name in ATTRIBUTES:
                is_set = not word.startswith(("-", "!")) and value != "false"
                yield AttributeRule(segments, "/" in pattern, name, is_set)


def _rules_in(base: BaseSide, folder: str) -> tuple[AttributeRule, ...]:
    try:
        text = base.base_file(f"{folder}/{FILE_NAME}" if folder else FILE_NAME)
    except HostError:
        return ()
    rules = tuple(rules_of_text(text or ""))
    # Of a longer file the end, which decides, is not looked at; so it decides nothing.
    return rules if len(rules) <= MAX_RULES else ()


def _fits(rule: AttributeRule, parts: Sequence[str]) -> bool:
    """Whether a pattern matches a path below the folder of its file."""
    return _matches(rule.segments, parts) if rule.anchored else fnmatchcase(parts[-1], rule.segments[0])


def _matches(segments: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether the segments match all parts; "**" stands for any number of them, and at the end for at least one.

    Step by step over the segments with the set of places that are reached, so that many "**" cost no more.
    """
    reached = {0}
    for at, segment in enumerate(segments):
        if segment == "**":
            first = min(reached) + (at == len(segments) - 1)
            reached = set(range(first, len(parts) + 1))
        else:
            reached = {place + 1 for place in reached if place < len(parts) and fnmatchcase(parts[place], segment)}
        if not reached:
            return False
    return len(parts) in reached
