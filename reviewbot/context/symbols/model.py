"""The symbols and imports of one file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["function", "method", "class", "interface", "type", "constant", "field", "namespace"]


@dataclass(frozen=True)
class Symbol:
    """Something that a file defines. Lines are counted from 1."""

    name: str
    kind: Kind
    container: str
    """The name of the class, interface, type or namespace that it belongs to; empty at the top of a file."""
    line: int
    """Where its name stands."""
    first: int
    """The first line of all of it, with decorators and the comment directly above."""
    last: int
    bases: tuple[str, ...] = ()
    """Of a class or an interface: the names of what it extends or implements, without their modules."""

    @property
    def qualified(self) -> str:
        """Its name with that of its container."""
        return f"{self.container}.{self.name}" if self.container else self.name


@dataclass(frozen=True)
class Import:
    """A name that a file takes from a module."""

    local: str
    """As the file calls it; "*" for all names of the module."""
    module: str
    """As it is written: "a.b", ".a", "./a", "github.com/x/y"."""
    name: str
    """In the module; empty for the module itself, "*" for all, "default" for what it exports without a name."""


@dataclass(frozen=True)
class FileSymbols:
    """All of one file."""

    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    package: str = ""
    """Of Go and Java: the name in its package clause."""
