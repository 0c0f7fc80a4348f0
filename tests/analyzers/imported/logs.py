"""One file of results, read alone."""

from __future__ import annotations

from reviewbot.analyzers.imported.reading import read_results
from reviewbot.analyzers.imported.results import ProgramRun


def read_log(name: str, data: bytes) -> list[ProgramRun]:
    return [run for _, run in read_results([(name, data)])]
