"""Text of a change that tries to steer its review: addressed to reviewers and models, not to those who use the code.

One finding for each rule and file, however often it stands there: a project that holds prompts must not be flooded.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from reviewbot.analyzers.core.changed_lines import ChangedLine, added_runs
from reviewbot.analyzers.core.reports import RuleScan, quote_of, rule_candidate
from reviewbot.analyzers.text.hidden_characters import SUSPECT, TAGS, escape_hidden
from reviewbot.analyzers.text.steering_phrases import Phrase, has_hint, normalise, phrases
from reviewbot.diff.language import kind_of
from reviewbot.diff.paths import is_prompt, place_of
from reviewbot.domain.contracts import Candidate
from reviewbot.domain.ports import ChangedFile
from reviewbot.threads import stoppable

NAME = "review-manipulation"
"""The tool, its plain rule and its category."""

HIDDEN, TOKENS = "hidden-review-manipulation", "chat-template-token"
"""The rules for text that a person who reads the change does not see, and for markup of chats alone."""

_DOUBTFUL = 50
"""The most that is believed of a phrase that is quoted, or stands where prompts stand."""

_BEFORE, _AFTER = 2, 3
"""Lines around one with a hint that are read with it: comments wrap."""

_LINE_CHARS = 4_000
"""A longer line is no sentence."""

_EXCERPT = 120
_ENCODED = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40,4000}={0,2}(?![A-Za-z0-9+/=])")
_PRINTABLE_SHARE = 0.95
_PROMPT = re.compile(r"(?i)prompt\w{0,40}[\"'`]?\s{0,9}[:=]\s{0,9}[\[(]?[\"'`]")
_OF_REVIEWS = re.compile(r"(?i)review|approv|finding|issue|vulnerab|\bdiff|pull request|\bcode|\bchange|merge|lgtm")


class ManipulationAttempt(NamedTuple):
    """One phrase in some lines: the rule, the numbers of its first and last line, and what it says."""

    rule: str
    line: int
    end_line: int
    said: str
    doubtful: bool


class ReviewManipulation(RuleScan):
    """The tool `review-manipulation`, a scan of plain lines."""

    name = NAME

    def find_candidates(self, file: ChangedFile) -> Iterator[Candidate]:
        """As `LineScan.find_candidates`."""
        yield from self.candidates(file.path, [*added_runs(file)], prose=kind_of(file.language) == "prose")

    def candidates(self, path: str, runs: Sequence[Sequence[ChangedLine]], *, prose: bool) -> list[Candidate]:
        """One candidate for each rule that runs of neighbouring lines break, at the first of its surest places."""
        by_rule: dict[str, list[ManipulationAttempt]] = {}
        texts: dict[int, str] = {}
        for run in runs:
            for attempt in attempts(run, prose=prose):
                by_rule.setdefault(attempt.rule, []).append(attempt)
            texts |= {line.number: line.text for line in run} if by_rule else {}
        return [self._candidate(path, found, texts) for found in by_rule.values()]

    def _candidate(self, path: str, found: Sequence[ManipulationAttempt], texts: Mapping[int, str]) -> Candidate:
        first = min(found, key=lambda attempt: (attempt.doubtful, attempt.line))
        rule = self._rules[first.rule]
        others = len({attempt.line for attempt in found}) - 1
        more = f"; so {'does 1 more line' if others == 1 else f'do {others} more lines'} of this file" if others else ""
        aside = (is_prompt(path) and first.rule == NAME) or place_of(path) in ("tests", "examples")
        lines = [texts[number] for number in range(first.line, first.end_line + 1)]
        return rule_candidate(
            rule,
            path,
            ChangedLine(first.line, lines[0], added=True),
            f'{rule.message}: "{escape_hidden(first.said)[:_EXCERPT]}"{more}',
            severity=rule.severity,
            quote=quote_of("\n".join(escape_hidden(line) for line in lines)),
            confidence=min(_DOUBTFUL if first.doubtful or aside else 100, rule.confidence_on(lines[0])),
            end_line=first.end_line,
        )


def attempts(lines: Sequence[ChangedLine], *, prose: bool) -> Iterator[ManipulationAttempt]:
    """What neighbouring lines say to reviewers. `prose`: comments of HTML in them are not shown where people read."""
    hints = [at for at, line in enumerate(stoppable(lines)) if has_hint(line.text)]
    for first, last in _windows(hints, len(lines)):
        yield from _of_window(lines[first:last], _in_comments(lines[first:last]) if prose else frozenset())
    for line in stoppable(lines):
        for encoded in _ENCODED.finditer(line.text[:_LINE_CHARS]):
            text = _decoded(encoded[0])
            for phrase in phrases(normalise(text)) if has_hint(text) else ():
                if phrase.kind != "token":
                    yield ManipulationAttempt(HIDDEN, line.number, line.number, text[:_EXCERPT], doubtful=False)


def _of_window(lines: Sequence[ChangedLine], unseen: frozenset[int]) -> Iterator[ManipulationAttempt]:
    starts, parts, at = [], [], 0
    for line in lines:
        starts.append(at)
        parts.append(normalise(line.text[:_LINE_CHARS]))
        at += len(parts[-1]) + 1
    text = " ".join(parts)
    for phrase in phrases(text):
        first, last = (bisect_right(starts, offset) - 1 for offset in (phrase.start, phrase.end - 1))
        rows = lines[first : last + 1]
        yield ManipulationAttempt(
            _rule_of(phrase, rows, unseen),
            rows[0].number,
            rows[-1].number,
            _said(text, phrase),
            doubtful=phrase.mentioned or (phrase.kind == "override" and _is_own_prompt(rows[0].text)),
        )


def _is_own_prompt(line: str) -> bool:
    """Whether a line gives a text to a name such as `defaultPrompt`, and speaks of nothing that a review says."""
    line = line[:_LINE_CHARS]
    return _PROMPT.search(line) is not None and _OF_REVIEWS.search(line) is None


def _rule_of(phrase: Phrase, rows: Sequence[ChangedLine], unseen: frozenset[int]) -> str:
    if phrase.kind == "token":
        return TOKENS
    smuggled = any(not row.text.isascii() and (TAGS.search(row.text) or SUSPECT.search(row.text)) for row in rows)
    return HIDDEN if smuggled or all(row.number in unseen for row in rows) else NAME


def _said(text: str, phrase: Phrase) -> str:
    return text[phrase.start : min(phrase.end, phrase.start + _EXCERPT)]


def _windows(hints: Sequence[int], count: int) -> Iterator[tuple[int, int]]:
    """Ranges of lines around the hints, those that overlap as one."""
    first = last = 0
    for at in hints:
        start, end = max(0, at - _BEFORE), min(count, at + _AFTER)
        if last and start < last:
            last = end
            continue
        if last:
            yield first, last
        first, last = start, end
    if last:
        yield first, last


def _in_comments(lines: Sequence[ChangedLine]) -> frozenset[int]:
    """The numbers of lines on which a comment of HTML stands, from its first to its last."""
    found, is_open = set(), False
    for line in lines:
        opens = line.text.rfind("<!--")
        if is_open or opens >= 0:
            found.add(line.number)
        closes = line.text.rfind("-->")
        is_open = opens > closes or (is_open and closes < 0)
    return frozenset(found)


def _decoded(encoded: str) -> str:
    """The text that a run of base64 stands for; empty where it is not base64."""
    try:
        text = base64.b64decode(encoded + "=" * (-len(encoded) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return ""
    return text if sum(map(str.isprintable, text)) >= _PRINTABLE_SHARE * len(text) else ""
