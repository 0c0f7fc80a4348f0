"""The languages that have patterns: their tables, and what the predicates of a query must know of each syntax."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from reviewbot.tables import made_once, packaged_table

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Query

TABLES: Mapping[str, str] = {
    "javascript": "patterns_javascript",
    "jsx": "patterns_javascript",
    "typescript": "patterns_javascript",
    "tsx": "patterns_javascript",
    "go": "patterns_go",
    "java": "patterns_java",
    "ruby": "patterns_ruby",
    "kotlin": "patterns_kotlin",
    "rust": "patterns_rust",
    "csharp": "patterns_csharp",
    "php": "patterns_php",
}
"""By the names that `language_of` gives: the table of rules that holds for it."""


@dataclass(frozen=True)
class Syntax:
    """What a table says of its language. Kinds are names of nodes of the grammar."""

    grammars: Mapping[str, str]
    """By language: where its grammar is, as `module:function`."""
    fragments: Mapping[str, str]
    """The same for hunks on their own, where that is another grammar."""
    functions: frozenset[str]
    """Kinds of functions: `#inside?` and the scope of a name end at the nearest one."""
    closures: frozenset[str]
    """Those of them that see the names of the function around them."""
    identifiers: frozenset[str]
    """Kinds of leaves that name a value."""
    opaque: frozenset[str]
    """Kinds whose value is another one than those of the names in them: calls, but for `flows`, look-ups, functions."""
    sources: str
    """A regular expression of what comes from outside."""
    flows: str
    """A regular expression of calls, with their bracket, whose result still holds what they are given."""
    bindings: tuple[str, ...]
    """Regular expressions of how NAME gets a VALUE from outside in a function."""
    cleaners: str
    """A regular expression of what makes a value from outside harmless."""
    guards: tuple[str, ...]
    """Regular expressions of a check of NAME before it is used."""
    tests: str
    """A regular expression of what stands right before a test in a file of the product; empty: nothing marks one."""

    @cached_property
    def value(self) -> str:
        """A regular expression of an expression that holds what comes from outside, from its beginning on."""
        return rf"(?:[^()\[\n]|(?:{self.flows})){{0,200}}?(?:{self.sources})"

    def grammar(self, language: str, *, whole: bool = True) -> Grammar:
        """The grammar of a language, loaded when it is first asked for."""
        place = self.grammars[language] if whole else self.fragments.get(language, self.grammars[language])
        return _grammar(place)

    def query(self, language: str, text: str, *, whole: bool = True) -> Query:
        """A query of a rule, compiled when it is first asked for."""
        place = self.grammars[language] if whole else self.fragments.get(language, self.grammars[language])
        return _query(place, text)


@made_once
def syntax_of(table: str) -> Syntax:
    """What a packaged table says of its language. Raises KeyError where it lacks something."""
    said: dict[str, Any] = packaged_table(f"rules/{table}")["language"]
    return Syntax(
        grammars=said["grammars"],
        fragments=said.get("fragments", {}),
        functions=frozenset(said["functions"]),
        closures=frozenset(said.get("closures", ())),
        identifiers=frozenset(said["identifiers"]),
        opaque=frozenset(said["opaque"]),
        sources=said["sources"],
        flows=said["flows"],
        bindings=tuple(said["bindings"]),
        cleaners=said["cleaners"],
        guards=tuple(said["guards"]),
        tests=said.get("tests", ""),
    )


@made_once
def _grammar(place: str) -> Grammar:
    from tree_sitter import Language as Grammar  # noqa: PLC0415 - a review without such a file does not wait for it

    module, _, function = place.partition(":")
    return Grammar(getattr(import_module(module), function)())


@made_once
def _query(place: str, text: str) -> Query:
    from tree_sitter import Query  # noqa: PLC0415 - as above

    return Query(_grammar(place), text)
