"""Findings of earlier heads that stand in a later review which does not report them: made again from the ledger. Pure.

A model that was not shown the code of a finding again has not withdrawn it. One that was, and leaves a critical finding
out, has not either: else a forced push, or a file that can be read no more, would turn a pull request green. What
programs found needs no such thing: they look at the whole change each time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from reviewbot.domain.contracts import MODEL_SOURCE, SURE, ChangeSet, Finding, HumanItem, Review
from reviewbot.domain.contracts.ledger import Record
from reviewbot.memory.standing_code import CurrentLine, Text

SOURCE = f"{MODEL_SOURCE}at an earlier head"
_SHORT_SHA = 10


class Carried(NamedTuple):
    """A finding as it is shown again, and its name."""

    finding: Finding
    name: str


def carried_findings(
    records: Iterable[Record], seen: Collection[str], standing: Mapping[str, CurrentLine], change: ChangeSet, text: Text
) -> Iterator[Carried]:
    """Yield the open findings of models that this review does not report: of one of the whole change critical ones.

    Args:
        records: after this head.
        seen: the names of records that this review reports or withholds.
        standing: where their code is now.
        change: what was reviewed.
        text: the head.
    """
    rests_on_earlier = change.read_before is not None and bool(change.read_before.head)
    path_now = {file.old_path: file.path for file in change.files if file.old_path and file.status == "renamed"}
    for record in records:
        if not (record.is_open and record.by_model) or record.name in seen:
            continue
        at = standing.get(record.name, "unknown")
        path = path_now.get(record.path, record.path)
        content = text(path)
        # Of code that the change removes it is not known whether it was put back: no finding stands on it for ever.
        is_kept = record.severity == "critical" and bool(record.code)
        if at != "gone" and (is_kept or (rests_on_earlier and content is not None)):
            yield Carried(_finding(record, path, content, at), record.name)


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


def _finding(record: Record, path: str, content: str | None, at: CurrentLine) -> Finding:
    lines = content.split("\n") if content is not None else []
    line = at if isinstance(at, int) else record.line
    line = min(line, len(lines)) if lines else line
    last = min(line + record.rows - 1, len(lines)) if lines else line
    said = record.message or record.title or "A finding of an earlier head"
    stands = "its code stands" if isinstance(at, int) else "its code could not be looked for"
    return Finding(
        type=record.type or "logic",
        severity=record.severity,
        path=path,
        symbol=record.symbol,
        line=line,
        end_line=last,
        title=record.title,
        message=f"{said} (reported at {record.since[:_SHORT_SHA] or 'an earlier head'}; {stands})",
        evidence="\n".join(lines[line - 1 : last]),
        confidence=record.confidence,
        category=record.kind,
        rule=record.rule,
        sources=(SOURCE,),
    )
