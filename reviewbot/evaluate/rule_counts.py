"""Count how often each rule was right: from rows of results and labels to the table of calibration.

One report of one tool counts for its rule. Where several tools speak of one defect, the review makes one finding of
them: that counts for their rules together and for none of them alone, so that a rule's own row says what it is worth
where no other tool reports anything.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reviewbot.domain.errors import InputError
from reviewbot.evaluate.labels import CaseLabels, cwe_number, judge, labelled_rows
from reviewbot.evaluate.rows import SEVERITIES, Json
from reviewbot.review.calibration import BAND, MIN_COUNTS, RuleBand, RuleRow, wilson

FOREIGN = ("model:", "imported:")
"""How the names of sources begin that are not tools of reviewbot: their findings are not counted."""

STAGE = "workers"
"""The only stage whose findings still say which tool and rule each of them is of."""

HEAD = """\
# Reports that were right and wrong on labelled code, by tool and rule. Made by `reviewbot calibrate`, never edited.
# `confidence` is the lower end of Wilson's interval (one-sided, 80%), in percent. It takes the place of the rule's own
# estimate where there are at least {least} reports. Names joined by "+" are of one place that several tools spoke of.
# A `band` has the reports of all rules whose estimates are alike: they move those that were counted too seldom.

schema = 1
date = {date}
band = [
"""

_RANK = {name: rank for rank, name in enumerate(SEVERITIES.values())}


@dataclass(frozen=True)
class ToolFinding:
    """One finding of one tool, as far as it is needed to tell which findings are one."""

    tool: str
    rule: str
    first: int
    last: int
    file: str
    type: str
    cwe: int | None
    also: frozenset[int]
    """Other lines that belong to it."""
    surer_first: tuple[int, int]
    true: bool | None
    """None where the labels say nothing about it."""


class Defect(NamedTuple):
    """What the review makes one finding of: who speaks for it, its tools, and the rules that it counts for."""

    speaker: ToolFinding
    tools: frozenset[str]
    rules: frozenset[str]


class CountedRule(NamedTuple):
    """What is counted: a rule of a tool, or several where both spoke of one place."""

    tool: str
    rule: str


class Counts(NamedTuple):
    """The rows of a table in order of tool and rule, and its bands from the lowest on."""

    rows: list[RuleRow]
    bands: list[RuleBand]


def count(rows: Iterable[Json], labels: Mapping[str, CaseLabels], types: Collection[str] = ()) -> Counts:
    """Count the reports that are right and wrong, by rule and by what they claim, which is the estimate of their rules.

    `labels` are by the key of the case; `types` are all where empty.

    Raises:
        InputError: the results are of another stage or of two versions of one tool, or a case has no labels.
    """
    rulings: dict[CountedRule, list[bool]] = defaultdict(list)
    bands: dict[int, list[bool]] = defaultdict(list)
    versions: dict[str, str] = {}
    for case, row in labelled_rows(rows, labels):
        if row.get("stage") != STAGE:
            raise InputError(
                f"the results of {case} are not of --stage {STAGE}; only there each finding has one source"
            )
        _learn(versions, row)
        for key, estimate, true in _rulings(reports(row["findings"], labels[case]), types):
            rulings[key].append(true)
            bands[estimate // BAND * BAND].append(true)
    pooled = [RuleBand(low, sum(bands[low]), len(bands[low]) - sum(bands[low])) for low in sorted(bands)]
    return Counts([_counted(key, rulings[key], versions) for key in sorted(rulings)], pooled)


def reports(findings: Sequence[Json], labels: CaseLabels) -> list[ToolFinding]:
    """The findings of our own tools, each with its ruling; what a tool repeats is left out."""
    found: dict[tuple[object, ...], ToolFinding] = {}
    for finding, ruling in zip(findings, judge(findings, labels), strict=True):
        sources = finding.get("sources") or []
        placed = isinstance(finding.get("line"), int) and finding.get("rule")
        if not placed or len(sources) != 1 or sources[0].startswith(FOREIGN):
            continue
        report = ToolFinding(
            tool=sources[0],
            rule=finding["rule"],
            first=finding["line"],
            last=max(finding["line"], finding.get("end_line") or 0),
            file=finding["file"],
            type=finding.get("type", ""),
            cwe=cwe_number(finding.get("cwe")),
            also=frozenset(finding.get("also") or ()),
            surer_first=(_RANK.get(finding.get("severity", ""), len(_RANK)), -finding.get("confidence", 0)),
            true=None if ruling == "neutral" else ruling == "true",
        )
        found.setdefault((report.file, report.first, report.last, report.tool, report.rule), report)
    return sorted(found.values(), key=lambda report: (report.file, report.first, report.last, report.tool, report.rule))


def defects(found: Sequence[ToolFinding]) -> list[Defect]:
    """The reports put together where several tools speak of one defect: as the review merges them."""
    defects: list[Defect] = []
    for report in found:
        n = next((n for n, defect in enumerate(defects) if _is_of(report, defect)), None)
        if n is None:
            defects.append(Defect(report, frozenset({report.tool}), frozenset({report.rule})))
        else:
            defects[n] = _joined(defects[n], report)
    return defects


def render_table(counts: Counts, date: str) -> str:
    """The table as TOML, a line for each band and row. `date` is YYYY-MM-DD."""
    pooled = [f"  {{ low = {band.low}, true = {band.true}, false = {band.false} }},\n" for band in counts.bands]
    lines = [_toml(row) for row in counts.rows]
    return HEAD.format(date=date, least=MIN_COUNTS) + "".join(pooled) + "]\nrow = [\n" + "".join(lines) + "]\n"


def _is_of(report: ToolFinding, defect: Defect) -> bool:
    speaker = defect.speaker
    return (
        report.file == speaker.file
        and (
            (report.first <= speaker.last and speaker.first <= report.last)
            or _on_the_way(report, speaker)
            or _on_the_way(speaker, report)
        )
        and report.cwe is not None
        and report.cwe == speaker.cwe
        and report.tool not in defect.tools  # one tool that reports twice means two defects
    )


def _on_the_way(one: ToolFinding, other: ToolFinding) -> bool:
    return any(one.first <= line <= one.last for line in other.also)


def _joined(defect: Defect, report: ToolFinding) -> Defect:
    """As the review joins findings: the more severe and surer one speaks, and the table is asked for these rules."""
    speaker = min(defect.speaker, report, key=lambda member: member.surer_first)
    return Defect(speaker, defect.tools | {report.tool}, frozenset({defect.speaker.rule, report.rule}))


def _rulings(found: Sequence[ToolFinding], types: Collection[str]) -> Iterator[tuple[CountedRule, int, bool]]:
    """Yield what each defect counts for, what its speaker claims, and whether it is right."""
    for defect in defects([report for report in found if not types or report.type in types]):
        if defect.speaker.true is not None:
            key = CountedRule("+".join(sorted(defect.tools)), "+".join(sorted(defect.rules)))
            yield key, -defect.speaker.surer_first[1], defect.speaker.true


def _learn(versions: dict[str, str], row: Json) -> None:
    for tool, version in row.get("tool_versions", {}).items():
        if versions.setdefault(tool, version) != version:
            raise InputError(f"the results hold two versions of {tool}: {versions[tool]} and {version}")


def _counted(key: CountedRule, rulings: Sequence[bool], versions: Mapping[str, str]) -> RuleRow:
    true = sum(rulings)
    false = len(rulings) - true
    version = "+".join(versions.get(tool, "") for tool in key.tool.split("+"))
    return RuleRow(key.tool, key.rule, version, true, false, wilson(true, false))


def _toml(row: RuleRow) -> str:
    # A JSON string is a TOML string as well, where it is of such plain characters as names and versions are.
    tool, rule, version = (json.dumps(text) for text in (row.tool, row.rule, row.version))
    return (
        f"  {{ tool = {tool}, rule = {rule}, version = {version}, true = {row.true}, false = {row.false}, "
        f"confidence = {row.confidence} }},\n"
    )
