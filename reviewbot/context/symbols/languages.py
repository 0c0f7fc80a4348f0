"""The languages: their grammars, loaded when a file of theirs is first parsed, and how their names are looked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from reviewbot.tables import packaged_text

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Query


@dataclass(frozen=True)
class Language:
    """One language."""

    name: str
    module: str
    """The package of its grammar."""
    function: str
    """In it, what gives the grammar."""
    queries: tuple[str, ...]
    """Files below `data/symbols`, which are put together."""
    candidates: bytes
    """An expression that finds every name at a place where a definition may stand, and others; its only group is the
    name. Each match begins at a line end, for which the search can skip. Compiled by the first search alone."""

    @property
    def grammar(self) -> Grammar:
        """The grammar."""
        return _grammar(self.module, self.function)

    @property
    def compiled(self) -> Query:
        """The query."""
        return _compiled(self.module, self.function, self.queries)


@cache
def _grammar(module: str, function: str) -> Grammar:
    from tree_sitter import Language as Grammar  # noqa: PLC0415 - what looks no name up need not wait for it

    return Grammar(getattr(import_module(module), function)())


@cache
def _compiled(module: str, function: str, queries: tuple[str, ...]) -> Query:
    from tree_sitter import Query  # noqa: PLC0415 - as above

    return Query(_grammar(module, function), "".join(packaged_text(f"symbols/{name}.scm") for name in queries))


_PYTHON_NAMES = rb"\n[ \t]*(?:(?:async[ \t]+)?def[ \t]+|class[ \t]+|type[ \t]+|self\.|\(?(?=\w+[ \t]*[:=,]))(\w+)"
# What ends with a comma is mostly an entry of an object, and what ends with a bracket a call.
_SCRIPT_NAMES = (
    rb"\n[ \t]*(?:(?:export|default|declare|async|abstract|public|private|protected|static|readonly|override|get|set|"
    rb"accessor|function|class|interface|type|enum|const|let|var|namespace|module)(?:[ \t]+\*?[ \t]*|\*[ \t]*))*"
    rb"(?:[\w$]+(?:\.[\w$]+)*\.|[{\[\"'*#][ \t]*)?([\w$-]+)"
    rb"(?![;)\].]|\([^\n]*\);?\r?\n|[\"']?[ \t]*:(?![^\n]*(?:=>|function|\())[^\n]*,[ \t]*\r?\n)"
)
_GO_NAMES = rb"\n(?:\t?(?:func[ \t]*\([^)\n]*\)|func|type|const|var)[ \t]+|\t+(?=\w+(?:[ \t,(=]|\n))(?![^\n=]*:=))(\w+)"
# Behind a type stands a name; members of an enum stand alone, and several in one line.
_JAVA_NAMES = (
    rb"(?:\n[ \t]*+(?![*/})\r\n])(?:@[\w.]++(?:\([^()\n]*\))?[ \t]++)*+(?:(?:public|private|protected|static|final|"
    rb"abstract|default|synchronized|native|transient|volatile|sealed|non-sealed|strictfp)[ \t]++)*+"
    rb"(?:<[^\n()=;]*>[ \t]+)?(?!(?:return|new|throw|else|case|import|package|assert|yield)\b)"
    rb"(?:@?[\w.]++(?:<[^\n()=;]*>)?(?:\[\])*+(?:[ \t]++|\r?\n[ \t]*+)|(?=[A-Z]))|"
    rb"[,{][ \t]*+(?=[A-Z][A-Z0-9_]*+\s*+[,;({}])|record[ \t]\w++\([^\n)]*[ \t](?=\w++[,)]))"
    rb"(\w++)(?=\s*+[(=;,{<:}\[)]|[ \t]++(?:extends|implements|permits)\b|\r?\n)"
)
_RUBY_NAMES = (
    rb"(?:\n[ \t]*+(?:(?:private|protected|public|module_function|private_class_method|memoize|helper_method)[ \t]++)?+"
    rb"(?:def[ \t]++(?:[\w:]++\.)?+|class[ \t]++(?:\w++::)*+|module[ \t]++(?:\w++::)*+|"
    rb"(?:\w++\.)?(?:[cm]?attr_\w++|scope|alias\w*+|define_method|has_\w++|belongs_to)[ \t(]++:?+|"
    rb"(?=[A-Z])(?:\w++::)*+(?=\w++[ \t]*+(?:\|\|)?=))|,\s*+:(?=\w++[?!]?\s))"
    rb"(\w++[?!=]?|[^\w\s(]{1,3})"
)
_TYPESCRIPT = "tree_sitter_typescript"
_JAVASCRIPT, _TYPESCRIPT_QUERIES = ("script", "javascript"), ("script", "typescript")

LANGUAGES = {
    "python": Language("python", "tree_sitter_python", "language", ("python",), _PYTHON_NAMES),
    "javascript": Language("javascript", "tree_sitter_javascript", "language", _JAVASCRIPT, _SCRIPT_NAMES),
    "jsx": Language("javascript", "tree_sitter_javascript", "language", _JAVASCRIPT, _SCRIPT_NAMES),
    "typescript": Language("typescript", _TYPESCRIPT, "language_typescript", _TYPESCRIPT_QUERIES, _SCRIPT_NAMES),
    "tsx": Language("typescript", _TYPESCRIPT, "language_tsx", _TYPESCRIPT_QUERIES, _SCRIPT_NAMES),
    "go": Language("go", "tree_sitter_go", "language", ("go",), _GO_NAMES),
    "java": Language("java", "tree_sitter_java", "language", ("java",), _JAVA_NAMES),
    "ruby": Language("ruby", "tree_sitter_ruby", "language", ("ruby",), _RUBY_NAMES),
}
"""By the names that `language_of` gives."""
