"""Read rdjson and rdjsonl, the formats of reviewdog's diagnostics, with tolerance for absent fields.

https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import groupby
from typing import Any

from reviewbot.analyzers.imported.descriptors import a_number, a_text
from reviewbot.analyzers.imported.results import Omission, ProgramRun, Result, collect_run, to_level
from reviewbot.strict_json import a_dict, a_list

_UNNAMED = "rdjson"


def read_rdjson(log: dict[str, Any]) -> list[ProgramRun]:
    """The runs of one rdjson document, one for each source that its diagnostics name."""
    return read_diagnostics(a_list(log.get("diagnostics")), _source(log), log.get("severity"))


def read_diagnostics(given: Iterable[object], source: str = "", severity: object = None) -> list[ProgramRun]:
    """The runs of diagnostics; `source` and `severity` count where a diagnostic has none."""
    named = sorted(((_source(each) or source or _UNNAMED, each) for each in map(a_dict, given)), key=lambda row: row[0])
    read = partial(_result, severity=a_text(severity))
    runs = [
        collect_run(tool, (each for _, each in rows), read) for tool, rows in groupby(named, key=lambda row: row[0])
    ]
    return runs or [ProgramRun(source or _UNNAMED, ())]


def _source(of: dict[str, Any]) -> str:
    return a_text(a_dict(of.get("source")).get("name")).strip()


def _result(diagnostic: dict[str, Any], severity: str) -> Result | Omission:
    location = a_dict(diagnostic.get("location"))
    span = a_dict(location.get("range"))
    line = a_number(a_dict(span.get("start")).get("line"))
    path = a_text(location.get("path"))
    if not line or not path:
        return "without a line"
    rule = a_text(a_dict(diagnostic.get("code")).get("value"))
    return Result(
        rule=rule,
        level=to_level(a_text(diagnostic.get("severity")) or severity),
        message=a_text(diagnostic.get("message")) or rule,
        uri=path,
        line=line,
        end_line=max(line, a_number(a_dict(span.get("end")).get("line")) or line),
    )
