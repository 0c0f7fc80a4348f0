"""Load what is known of libraries from `data/taint.toml`; the head of that file says what the fields mean."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from reviewbot.tables import made_once, packaged_text

_SCHEMA = 1
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class HarmKind(NamedTuple):
    """One kind of harm."""

    name: str
    what: str
    """Where the value arrives, as a message says it."""
    suffixes: Mapping[str, str]
    """How the rule's name ends for each reach that is reported."""
    unseen: bool
    """Whether a flow counts that goes through code which is not at hand."""
    built: bool
    """Whether a parameter counts only as a part of a text."""


class Sink(NamedTuple):
    """Some calls that do harm with what they are given."""

    kind: str
    args: tuple[int, ...]
    keywords: frozenset[str]
    unless: frozenset[str]
    reaches: frozenset[str]
    """Reported for sources of these reaches only; empty for all of the kind."""
    text: bool
    """Only a text does harm, and no container."""
    object: bool
    """Only what may be a container does harm."""
    number: bool
    """A number does the harm, so that a cast does not end it."""
    receiver: bool
    """Only on a receiver that comes from outside itself."""
    seen: bool
    """Only where all code on the way is at hand."""


class TaintSource(NamedTuple):
    """Where values come from."""

    reach: str
    packages: frozenset[str]
    """Only where one of these is imported; empty for anywhere."""


class Named(NamedTuple):
    """Words of a function's name that say for which kinds it makes a value harmless."""

    words: frozenset[str]
    beside: frozenset[str]
    """One of these must be in the name too; empty for any."""
    alone: bool
    """The name has no other word."""
    kinds: frozenset[str]


@dataclass(frozen=True)
class Knowledge:
    """The whole table, by name."""

    kinds: Mapping[str, HarmKind]
    sinks: Mapping[str, tuple[Sink, ...]]
    sanitizers: Mapping[str, frozenset[str]]
    sources: Mapping[str, TaintSource]
    named: tuple[Named, ...]
    words: Mapping[str, frozenset[str]]
    """All plain lists of the table, as "section.key"."""

    source_words: frozenset[str]
    """Words of which every text has one that something comes into from outside."""
    open_kinds: frozenset[str]
    """The kinds that are reported for parameters too."""
    last_words: Mapping[str, tuple[tuple[str, frozenset[str]], ...]]
    """By the last part of their names: the packages of sinks, empty for a method of anything, and their kinds."""

    def harmless_by_name(self, name: str) -> frozenset[str]:
        """The kinds that a function ends whose code is not seen, as its name has it."""
        words = words_of(name)
        if not words:
            return frozenset()
        held = set(words)
        return frozenset(
            kind
            for rule in self.named
            if held & rule.words and (not rule.beside or held & rule.beside) and not (rule.alone and len(words) > 1)
            for kind in rule.kinds
        )

    def sinks_called(self, names: Iterable[str]) -> tuple[Sink, ...]:
        """The sinks that go by one of these names; the first name that is known decides."""
        return next((found for name in names if (found := self.sinks.get(name))), ())


def words_of(name: str) -> list[str]:
    """The words of a name, lower case: "escapeForHTML", "escape_for_html"."""
    return [word.lower() for part in name.split("_") for word in _HUMP.split(part) if word]


@made_once
def packaged_knowledge() -> Knowledge:
    """The table that comes with the package. Read once: it is a value and never changes."""
    return read_knowledge(packaged_text("taint.toml"))


def read_knowledge(text: str) -> Knowledge:
    """The table from TOML. Raises ValueError where it has another schema or a sink of an unknown kind."""
    table = tomllib.loads(text)
    if table.get("schema") != _SCHEMA:
        raise ValueError(f"the table of flows has schema {table.get('schema')!r}, not {_SCHEMA}")
    kinds = {row["name"]: _kind(row) for row in table["kind"]}
    special = set(table["special"]["kinds"])
    sinks = _sinks(table)
    if unknown := {sink.kind for rows in sinks.values() for sink in rows} - kinds.keys() - special:
        raise ValueError(f"the table of flows does not know the kind {min(unknown)!r}")
    words = _lists(table)
    sources = {name: _source(row) for row in table["source"] for name in row["names"]}
    return Knowledge(
        kinds=kinds,
        sinks=sinks,
        sanitizers=_sanitizers(table),
        sources=sources,
        named=tuple(_named(row) for row in table["named"]),
        words=words,
        source_words=_source_words([*sources], words),
        open_kinds=frozenset(name for name, kind in kinds.items() if "parameter" in kind.suffixes) | special,
        last_words=_last_words(sinks),
    )


def _sinks(table: dict[str, Any]) -> dict[str, tuple[Sink, ...]]:
    found: dict[str, list[Sink]] = defaultdict(list)
    for row in table["sink"]:
        for name in row["names"]:
            found[name].append(_sink(row))
    return {name: tuple(rows) for name, rows in found.items()}


def _sanitizers(table: dict[str, Any]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for row in table["sanitizer"]:
        for name in row["names"]:
            found[name] = found.get(name, frozenset()) | frozenset(row["kinds"])
    return found


def _source_words(sources: list[str], words: Mapping[str, frozenset[str]]) -> frozenset[str]:
    named = [*sources, "event", "route"]
    for key in ("handler.calls", "handler.bases", "request.names"):
        named += words.get(key, ())
    return frozenset(name.rpartition(".")[2] for name in named)


def _last_words(sinks: Mapping[str, tuple[Sink, ...]]) -> dict[str, tuple[tuple[str, frozenset[str]], ...]]:
    found: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    for name, rows in sinks.items():
        first, dot, _ = name.partition(".")
        last = name.removesuffix("[]").rpartition(".")[2]
        found[last].append((first if dot else "", frozenset(sink.kind for sink in rows)))
    return {last: tuple(entries) for last, entries in found.items()}


def _kind(row: dict[str, Any]) -> HarmKind:
    suffixes = {reach: suffix for suffix in ("external", "local", "parameter") for reach in row.get(suffix, ())}
    return HarmKind(row["name"], row["what"], suffixes, row["unseen"], row["built"])


def _sink(row: dict[str, Any]) -> Sink:
    sets = [frozenset(row.get(key, ())) for key in ("keywords", "unless", "reaches")]
    flags = [bool(row.get(key, False)) for key in ("text", "object", "number", "receiver", "seen")]
    return Sink(row["kind"], tuple(row["args"]), *sets, *flags)  # type: ignore[arg-type]  # in the order of the fields


def _source(row: dict[str, Any]) -> TaintSource:
    return TaintSource(row["reach"], frozenset(row.get("packages", ())))


def _named(row: dict[str, Any]) -> Named:
    return Named(
        frozenset(row["words"]), frozenset(row.get("with", ())), bool(row.get("alone")), frozenset(row["kinds"])
    )


def _lists(table: dict[str, Any]) -> dict[str, frozenset[str]]:
    return {
        f"{section}.{key}": frozenset(values)
        for section, rows in table.items()
        if isinstance(rows, dict)
        for key, values in rows.items()
    }
