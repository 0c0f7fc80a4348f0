"""Which findings of a review are those of earlier heads, also where file, place, kind or words are others. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from reviewbot.domain.contracts import Finding
from reviewbot.domain.contracts.ledger import Record
from reviewbot.memory.fingerprints import Identity
from reviewbot.memory.standing_code import Standing
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
    """What a pair is compared with."""

    old_paths: Mapping[str, str]
    """Old names of renamed files by their new ones."""
    standing: Mapping[str, Standing]
    """By the name of each record that may be matched: where its code stands in the head."""


_Same = Callable[[Sighting, Record, Surroundings], bool]


def match(sightings: Sequence[Sighting], records: Iterable[Record], around: Surroundings) -> dict[Finding, Record]:
    """The record of each finding that has one. No record has two findings: the closest one has it."""
    left = list(records)
    waiting = list(sightings)
    matched: dict[Finding, Record] = {}
    for is_same in (_by_name, _by_rename, _by_move, _by_code, _by_place):
        rest: list[Sighting] = []
        for sighting in waiting:
            record = next((each for each in left if is_same(sighting, each, around)), None)
            if record is None:
                rest.append(sighting)
            else:
                matched[sighting.finding] = record
                left.remove(record)
        waiting = rest
    return matched


def _by_name(sighting: Sighting, record: Record, _around: Surroundings) -> bool:
    return sighting.identity.name in record.names or sighting.identity.former in record.names


def _by_rename(sighting: Sighting, record: Record, around: Surroundings) -> bool:
    return _is_of_file(sighting, record, around) and _facts(sighting) == (record.symbol, record.kind, record.code)


def _by_move(sighting: Sighting, record: Record, _around: Surroundings) -> bool:
    """The same code in a definition of the same name elsewhere."""
    symbol, kind, code = _facts(sighting)
    return (_last(symbol), kind, code) == (_last(record.symbol), record.kind, record.code)


def _by_code(sighting: Sighting, record: Record, around: Surroundings) -> bool:
    """The same code, which a model takes for another kind of mistake and describes in similar words."""
    if not (_are_models(sighting, record) and _is_of_file(sighting, record, around)):
        return False
    same_place = (sighting.identity.symbol, sighting.identity.code) == (record.symbol, record.code)
    return same_place and _similar(_title(sighting.finding), record.title)


def _by_place(sighting: Sighting, record: Record, around: Surroundings) -> bool:
    """The same kind a few lines off in one definition, where the former code stands: a model quoted another line."""
    if not (_are_models(sighting, record) and _is_of_file(sighting, record, around)):
        return False
    if (sighting.identity.symbol, sighting.identity.kind) != (record.symbol, record.kind):
        return False
    line = around.standing.get(record.name, "unknown")
    return isinstance(line, int) and abs(line - sighting.identity.line) <= NEAR_LINES


def _is_of_file(sighting: Sighting, record: Record, around: Surroundings) -> bool:
    path = sighting.identity.path
    return record.path in (path, around.old_paths.get(path, path))


def _are_models(sighting: Sighting, record: Record) -> bool:
    return record.by_model and by_a_model_alone(sighting.finding)


def _facts(sighting: Sighting) -> tuple[str, str, str]:
    return sighting.identity.symbol, sighting.identity.kind, sighting.identity.code


def _last(symbol: str) -> str:
    return symbol.rpartition(".")[2]


def _title(finding: Finding) -> str:
    return finding.title or finding.message


def _similar(one: str, other: str) -> bool:
    first, second = (frozenset(_WORD.findall(text.lower())) for text in (one, other))
    shorter = min(len(first), len(second))
    return shorter > 0 and len(first & second) >= SAME_WORDS * shorter
