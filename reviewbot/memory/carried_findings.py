"""Findings of earlier heads that stand in a review which reads what was pushed since: made again from the ledger. Pure.

A model that was not shown the code of a finding again has not withdrawn it. What programs found needs no such thing:
they look at the whole change each time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from reviewbot.domain.contracts import MODEL_SOURCE, SURE, ChangeSet, Finding, HumanItem, Review
from reviewbot.domain.contracts.ledger import Record
from reviewbot.memory.standing_code import Standing, Text

SOURCE = f"{MODEL_SOURCE}at an earlier head"
_SHORT_SHA = 10


class Carried(NamedTuple):
    """A finding as it is shown again, and its name."""

    finding: Finding
    name: str


def carried_findings(
    records: Iterable[Record], seen: Collection[str], standing: Mapping[str, Standing], change: ChangeSet, text: Text
) -> Iterator[Carried]:
    """Yield the open findings of models that this review does not report, where it rests on an earlier one.

    Args:
        records: after this head.
        seen: the names of records that this review reports or withholds.
        standing: where their code is now.
        change: what was reviewed.
        text: the head.
    """
    if change.read_before is None or not change.read_before.head:
        return
    path_now = {file.old_path: file.path for file in change.files if file.old_path and file.status == "renamed"}
    for record in records:
        if not (record.is_open and record.by_model) or record.name in seen:
            continue
        at = standing.get(record.name, "unknown")
        path = path_now.get(record.path, record.path)
        if at != "gone" and (content := text(path)) is not None:
            yield Carried(
                _finding(record, path, content.split("\n"), at if isinstance(at, int) else record.line), record.name
            )


def with_carried(review: Review, carried: Iterable[Finding]) -> Review:
    """The review with these findings as well; an unsure one is for a person. Its verdict is not counted again."""
    every = tuple(carried)
    sure = tuple(each for each in every if each.confidence >= SURE)
    people = tuple(
        HumanItem(path=each.path, reason="critical, and not certain; reported at an earlier head", finding=each)
        for each in every
        if each.confidence < SURE
    )
    return review.model_copy(update={"findings": (*review.findings, *sure), "human": (*review.human, *people)})


def _finding(record: Record, path: str, lines: list[str], line: int) -> Finding:
    line = min(line, len(lines))
    last = min(line + record.rows - 1, len(lines))
    said = record.message or record.title or "A finding of an earlier head"
    return Finding(
        type=record.type or "logic",
        severity=record.severity,
        path=path,
        symbol=record.symbol,
        line=line,
        end_line=last,
        title=record.title,
        message=f"{said} (reported at {record.since[:_SHORT_SHA] or 'an earlier head'}; its code stands)",
        evidence="\n".join(lines[line - 1 : last]),
        confidence=record.confidence,
        category=record.kind,
        rule=record.rule,
        sources=(SOURCE,),
    )
