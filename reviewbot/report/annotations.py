"""Review -> annotations on lines of a pull request, as workflow commands that GitHub's runner reads from a log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from reviewbot.coverage.verdict import is_lacking
from reviewbot.diff.parser.file_names import to_bytes
from reviewbot.domain.contracts import DESCRIPTION, TITLE, Finding, Review, Severity
from reviewbot.report.findings.view import mark_of
from reviewbot.report.formats import ReportInput
from reviewbot.report.text import clip, escape_command_property, escape_command_text, label, short_line, visible
from reviewbot.report.view_model import by_severity, suppression_groups
from reviewbot.wording import with_count

PER_LEVEL = 10
"""GitHub shows so many annotations of each level and drops the others silently."""

_LEVELS: dict[Severity, str] = {"critical": "error", "warning": "warning", "info": "notice"}
_TITLE_CHARS, _MESSAGE_CHARS = 200, 1_500
_OURS = "reviewbot"
"""The start of every title: other steps of a workflow annotate as well."""


class _Annotation(NamedTuple):
    """One command before it is escaped. Without a path it stands at the workflow run."""

    level: str
    title: str
    message: str
    path: str = ""
    line: int = 0
    end_line: int = 0


def render(report: ReportInput) -> str:
    """One command a line, each line with its LF; empty where there is nothing to say.

    Findings come at the level of their severity. What is uncertain, because workers contradict each other or because a
    person must look, is never more than a notice. At most `PER_LEVEL` of each level; one notice counts the others.
    """
    kept: dict[str, list[_Annotation]] = {level: [] for level in _LEVELS.values()}
    left = 0
    for annotation in _annotations(report.review):
        if len(kept[annotation.level]) < PER_LEVEL:
            kept[annotation.level].append(annotation)
        else:
            left += 1
    if left:
        # The count is a notice itself, and takes the place of the last one where there are ten.
        notices = kept["notice"]
        left += len(notices[PER_LEVEL - 1 :])
        del notices[PER_LEVEL - 1 :]
        more = f"{with_count(left, 'further annotation')} left out: GitHub shows {PER_LEVEL} of each level"
        notices.append(_Annotation("notice", _OURS, more))
    return "".join(_command(annotation) + "\n" for group in kept.values() for annotation in group)


def _annotations(review: Review) -> Iterator[_Annotation]:
    """All of them; of each level the most important first."""
    if is_lacking(review):
        title = f"{_OURS}: incomplete" if review.incomplete else _OURS
        yield _Annotation("warning", title, short_line(review.headline, _MESSAGE_CHARS))
    certain = by_severity(review.findings)
    yield from (_of(finding, _LEVELS[finding.severity]) for finding in certain if finding.severity != "info")
    for item in review.human:
        if item.finding is not None:
            yield _of(item.finding, "notice", f"needs a person: {item.reason}")
        else:
            reason, at = short_line(item.reason, _MESSAGE_CHARS), item.line or 1
            yield _Annotation("notice", f"{_OURS}: needs a person", reason, item.path, at, at)
    for conflict in review.conflicts:
        for finding in conflict.findings:
            yield _of(finding, "notice", f"contradicted: {conflict.reason}")
    yield from (_of(finding, "notice") for finding in certain if finding.severity == "info")
    for group in suppression_groups(review):
        path, line = group.places[0]
        more = f" ({with_count(len(group.places), 'place')})" if len(group.places) > 1 else ""
        text = short_line(f"{group.text}{more}", _MESSAGE_CHARS)
        yield _Annotation("notice", f"{_OURS}: suppressed", text, path, line, line)


def _of(finding: Finding, level: str, doubt: str = "") -> _Annotation:
    title, message = mark_of(finding, doubt)
    return _Annotation(level, f"{_OURS}: {title}", message, finding.path, finding.line, finding.end_line)


def _command(annotation: _Annotation) -> str:
    place: list[tuple[str, str]] = []
    if annotation.path and annotation.path not in (TITLE, DESCRIPTION):
        place = [("file", _file(annotation.path)), ("line", str(annotation.line))]
        place.append(("endLine", str(annotation.end_line)))
    place.append(("title", clip(annotation.title, _TITLE_CHARS)))
    properties = ",".join(f"{name}={escape_command_property(text)}" for name, text in place)
    return f"::{annotation.level} {properties}::{escape_command_text(annotation.message)}"


def _file(path: str) -> str:
    """The name as it is in the repository; as it is shown to people where it holds what a log must not."""
    try:
        name = to_bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        return label(path)
    plain = name.replace("\n", "").replace("\r", "")
    return name if plain == visible(plain) else label(path)
