"""Scan the names of files, the title and the description of a change, which no worker is given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from reviewbot.analyzers.core.changed_lines import ChangedLine
from reviewbot.analyzers.core.reports import quote_of
from reviewbot.analyzers.text.hidden_characters import escape_hidden
from reviewbot.analyzers.text.hidden_text import HiddenText, visual_form
from reviewbot.analyzers.text.review_manipulation import ReviewManipulation
from reviewbot.diff.parser.file_names import exact
from reviewbot.domain.contracts import DESCRIPTION, TITLE, Candidate, ChangeSet, FileChange, Finding, WorkerResult
from reviewbot.wording import with_count

TASK_ID = "change"

MAX_NAMES = 10
"""Findings about names for each rule; the last one counts the rest. A change may hold thousands of such names."""

_LINES = 2_000
"""Of a description. GitHub takes 65,536 characters."""
_LANGUAGE = "markdown"
_BETWEEN_WORDS = re.compile(r"[/_.-]+")


class ChangeScan:
    """The tools `hidden-text` and `review-manipulation` on what no file of the change holds. Pure."""

    def __init__(self, hidden: HiddenText, manipulation: ReviewManipulation, task_type: str) -> None:
        """`task_type` is that of the worker on whose card both tools stand."""
        self._hidden = hidden
        self._manipulation = manipulation
        self._task_type = task_type

    def __call__(self, change: ChangeSet) -> WorkerResult:
        """The findings on a change as the answer to a task of their own."""
        found = [*_capped(self._of_names(change)), *self._of_text(TITLE, change.title)]
        found += self._of_text(DESCRIPTION, change.description)
        return WorkerResult(task_id=TASK_ID, findings=tuple(self._finding(candidate) for candidate in found))

    def _of_names(self, change: ChangeSet) -> Iterator[Candidate]:
        looks = _Looks(change)
        for file in change.files:
            if not (file.status in ("added", "renamed", "copied") or (file.status == "modified" and file.mode_changed)):
                continue
            name, line = exact(file.path), _first_line(file)
            hidden = self._hidden.in_name(file.path, name, line)
            yield from hidden
            if not hidden and (other := looks.like(file)):
                yield self._hidden.like_another(file.path, other, line)
            said = [ChangedLine(line, _BETWEEN_WORDS.sub(" ", name), added=True)]
            for candidate in self._manipulation.candidates(file.path, [said], prose=False):
                update = {
                    "message": f"In the name of a file: {candidate.message}",
                    "quote": quote_of(escape_hidden(name)),
                }
                yield candidate.model_copy(update=update)

    def _of_text(self, path: str, text: str) -> list[Candidate]:
        lines = [ChangedLine(number, line, added=True) for number, line in enumerate(text.split("\n")[:_LINES], 1)]
        hidden = self._hidden.candidates(path, lines, _LANGUAGE)
        return [*hidden[:MAX_NAMES], *self._manipulation.candidates(path, [lines], prose=True)]

    def _finding(self, candidate: Candidate) -> Finding:
        line = candidate.line or 1
        return Finding(
            type=self._task_type,
            severity=candidate.severity,
            path=candidate.path,
            line=line,
            end_line=candidate.end_line or line,
            message=candidate.message,
            evidence=candidate.quote,
            trigger=candidate.trigger,
            confidence=candidate.confidence,
            category=candidate.category,
            rule=candidate.rule,
            cwe=candidate.cwe,
            sources=(candidate.source,),
        )


class _Looks:
    """The names of a change by how they look."""

    def __init__(self, change: ChangeSet) -> None:
        self._change = change

    def like(self, file: FileChange) -> str | None:
        """Another name that looks the same as that of a file; of two, the one of ASCII alone is what it says."""
        own = file.path
        return (
            None
            if own.isascii()
            else next((name for name in self._names_by_form[visual_form(exact(own))] if name != own), None)
        )

    @cached_property
    def _names_by_form(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for file in self._change.files:
            for name in (file.path, file.old_path):
                if name is not None:
                    found.setdefault(visual_form(exact(name)), []).append(name)
        return found


def _first_line(file: FileChange) -> int:
    """The first line that the change shows of the new side; 1 where it shows none."""
    return next((hunk.new_start for hunk in file.hunks if hunk.new_count), 1)


def _capped(found: Iterator[Candidate]) -> list[Candidate]:
    by_rule: dict[str, list[Candidate]] = {}
    for candidate in found:
        by_rule.setdefault(candidate.rule, []).append(candidate)
    return [candidate for group in by_rule.values() for candidate in _first(group)]


def _first(group: Sequence[Candidate]) -> list[Candidate]:
    kept = list(group[:MAX_NAMES])
    if more := len(group) - len(kept):
        kept[-1] = kept[-1].model_copy(
            update={"message": f"{kept[-1].message}; likewise {with_count(more, 'more name')}"}
        )
    return kept
