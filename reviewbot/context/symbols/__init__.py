"""Where names are defined in a repository of Python, TypeScript, JavaScript and Go: parsed when they are looked up."""

from __future__ import annotations

from reviewbot.context.symbols.index import Definition, SymbolIndex
from reviewbot.context.symbols.languages import LANGUAGES
from reviewbot.context.symbols.resolve import Resolution, resolve

__all__ = ["LANGUAGES", "Definition", "Resolution", "SymbolIndex", "resolve"]
