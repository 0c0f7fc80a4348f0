"""Which findings of a review are those of earlier heads, also where file, place, kind or words are others. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from reviewbot.domain.contracts import Finding
from reviewbot.domain.contracts.ledger import Record
from reviewbot.memory.fingerprints import Identity
from reviewbot.memory.standing_code import CurrentLine
from reviewbot.review.verify.verifier import by_a_model_alone

NEAR_LINES = 8
"""How far from its former code a model may place the same defect the next time."""

SAME_WORDS = 0.5
"""Share of the shorter title's words that two titles have in common, where the kinds of two findings differ."""

_WORD = re.compile(r"[a-z0-9_]{3,}")


class Sighting(NamedTuple):
    """A finding of this review, and what it is called."""

    finding: Finding
    identity: Identity


class Surroundings(NamedTuple):
    """Paths and places that a record and a finding are compared with."""

    old_paths: Mapping[str, str]
    """Old names of renamed files by their new ones."""
    standing: Mapping[str, CurrentLine]
    """By the name of each record that its own name has not matched: where its code stands in the head."""
    decided: Collection[str] = ()
    """The names of records that were decided against: of their code alone, and not of what stands beside it."""


Key = tuple[str, ...]


class _Stage(NamedTuple):
    """One way to know a finding again: records and findings with an equal key, of which a pair passes the check."""

    record_key: Callable[[Record], Key]
    keys: Callable[[Sighting, str], Key]
    """Of a finding, with the name that its file has or had."""
    is_same: Callable[[Sighting, Record, Surroundings], bool]


Matches = dict[Finding, Record]


def match_names(sightings: Iterable[Sighting], records: Iterable[Record]) -> Matches:
    """The records that have, or had, the name of a finding."""
    by_name = {name: record for record in records for name in record.names}
    matched: Matches = {}
    taken: set[str] = set()
    for finding, identity in sightings:
        record = by_name.get(identity.name)
        if record is not None and record.name not in taken:
            taken.add(record.name)
            matched[finding] = record
    return matched


def match_others(sightings: Iterable[Sighting], records: Iterable[Record], around: Surroundings) -> Matches:
    """The records of findings that have another name now. No record has two findings: the closest one has it."""
    waiting, left = list(sightings), {record.name: record for record in records}
    matched: Matches = {}
    for stage in _STAGES:
        index: dict[Key, list[Record]] = defaultdict(list)
        for record in left.values():
            index[stage.record_key(record)].append(record)
        rest: list[Sighting] = []
        for sighting in waiting:
            path = sighting.identity.path
            paths = dict.fromkeys((path, around.old_paths.get(path, path)))
            likely = (record for each in paths for record in index[stage.keys(sighting, each)] if record.name in left)
            found = next((record for record in likely if stage.is_same(sighting, record, around)), None)
            if found is None:
                rest.append(sighting)
            else:
                matched[sighting.finding] = left.pop(found.name)
        waiting = rest
    return matched


def _always(_sighting: Sighting, record: Record, _around: Surroundings) -> bool:
    return bool(record.code)


def _by_code(sighting: Sighting, record: Record, _around: Surroundings) -> bool:
    """The same code, which a model takes for another kind of mistake and describes in similar words."""
    return _are_models(sighting, record) and is_similar(_title(sighting.finding), record.title)


def _by_place(sighting: Sighting, record: Record, around: Surroundings) -> bool:
    """The same kind a few lines off in one definition, where the former code stands: a model quoted another line."""
    line = around.standing.get(record.name, "unknown")
    near = isinstance(line, int) and abs(line - sighting.identity.line) <= NEAR_LINES
    return near and record.name not in around.decided and _are_models(sighting, record)


def _by_row(sighting: Sighting, record: Record, around: Surroundings) -> bool:
    """The same kind in one definition, and one of the rows that were quoted before: a push edited another of them."""
    is_edited = around.standing.get(record.name) == "gone" and record.name not in around.decided
    return (
        is_edited
        and _are_models(sighting, record)
        and not set(record.row_codes).isdisjoint(sighting.identity.row_codes)
    )


_STAGES = (
    _Stage(  # a renamed file
        lambda record: (record.path, record.symbol, record.kind, record.code),
        lambda seen, path: (path, seen.identity.symbol, seen.identity.kind, seen.identity.code),
        _always,
    ),
    _Stage(  # a definition of the same name elsewhere
        lambda record: (_last(record.symbol), record.kind, record.code),
        lambda seen, _path: (_last(seen.identity.symbol), seen.identity.kind, seen.identity.code),
        _always,
    ),
    _Stage(
        lambda record: (record.path, record.symbol, record.code),
        lambda seen, path: (path, seen.identity.symbol, seen.identity.code),
        _by_code,
    ),
    _Stage(
        lambda record: (record.path, record.symbol, record.kind),
        lambda seen, path: (path, seen.identity.symbol, seen.identity.kind),
        _by_place,
    ),
    _Stage(
        lambda record: (record.path, record.symbol, record.kind),
        lambda seen, path: (path, seen.identity.symbol, seen.identity.kind),
        _by_row,
    ),
)


def _are_models(sighting: Sighting, record: Record) -> bool:
    return record.by_model and by_a_model_alone(sighting.finding)


def _last(symbol: str) -> str:
    return symbol.rpartition(".")[2]


def _title(finding: Finding) -> str:
    return finding.title or finding.message


def is_similar(one: str, other: str) -> bool:
    """Whether two texts have half of the words of the shorter one in common."""
    first, second = (frozenset(_WORD.findall(text.lower())) for text in (one, other))
    shorter = min(len(first), len(second))
    return shorter > 0 and len(first & second) >= SAME_WORDS * shorter
