"""Collect what readers say that the change does: one summary for each part, and the files by theme."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reviewbot.domain.contracts import FileCoverage, Theme
from reviewbot.domain.ports import TaskResult


def summaries_of(ends: Sequence[TaskResult]) -> tuple[str, ...]:
    """Each reader's summary once, in the order of the plan; none of a reader whose files earlier ones have read all.

    A task on names across parts shows no file as a whole, so that its summary is left out.
    """
    paths: dict[str, set[str]] = {}
    for end in ends:
        for result in end.results:
            if (summary := result.metadata.summary.strip()) and not end.task.seam:
                paths.setdefault(summary, set()).update(end.task.paths)
    return tuple(_with_new_files(paths.items()))


def _with_new_files(summaries: Iterable[tuple[str, set[str]]]) -> Iterator[str]:
    seen: set[str] = set()
    for summary, paths in summaries:
        if not paths <= seen:
            yield summary
        seen |= paths


def themes_of(ends: Sequence[TaskResult], coverage: Sequence[FileCoverage]) -> tuple[Theme, ...]:
    """The themes of all readers, with the files of the change alone, each in the first theme that names it."""
    left = {entry.path for entry in coverage}
    files: dict[str, list[str]] = {}
    for end in ends:
        for theme in (theme for result in end.results if not end.task.seam for theme in result.metadata.themes):
            mine = [path for path in dict.fromkeys(theme.files) if path in left]
            if mine and (title := " ".join(theme.title.split())):
                left.difference_update(mine)
                files.setdefault(title, []).extend(mine)
    return tuple(Theme(title=title, files=tuple(paths)) for title, paths in files.items())
