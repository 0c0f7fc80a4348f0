"""The languages: their grammars, loaded when a file of theirs is first parsed, and how their names are looked for."""

from __future__ import annotations

import re
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
    candidates: re.Pattern[bytes]
    """Finds every name at a place where a definition may stand, and others; its only group is the name. Each match
    begins at a line end, for which the search can skip."""

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


_PYTHON_NAMES = re.compile(
    rb"\n[ \t]*(?:(?:async[ \t]+)?def[ \t]+|class[ \t]+|type[ \t]+|self\.|\(?(?=\w+[ \t]*[:=,]))(\w+)"
)
# What ends with a comma is mostly an entry of an object, and what ends with a bracket a call.
_SCRIPT_NAMES = re.compile(
    rb"\n[ \t]*(?:(?:export|default|declare|async|abstract|public|private|protected|static|readonly|override|get|set|"
    rb"accessor|function|class|interface|type|enum|const|let|var|namespace|module)(?:[ \t]+\*?[ \t]*|\*[ \t]*))*"
    rb"(?:[\w$]+(?:\.[\w$]+)*\.|[{\[\"'*#][ \t]*)?([\w$-]+)"
    rb"(?![;)\].]|\([^\n]*\);?\r?\n|[\"']?[ \t]*:(?![^\n]*(?:=>|function|\())[^\n]*,[ \t]*\r?\n)"
)
_GO_NAMES = re.compile(
    rb"\n(?:\t?(?:func[ \t]*\([^)\n]*\)|func|type|const|var)[ \t]+|\t+(?=\w+(?:[ \t,(=]|\n))(?![^\n=]*:=))(\w+)"
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
}
"""By the names that `language_of` gives."""
