"""Read plain logs: with GitHub's problem matchers, and workflow commands such as `::error file=app.js,line=1::text`.

https://github.com/actions/toolkit/blob/main/docs/problem-matchers.md. The expressions of a matcher run in time linear
in the log, whatever they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import re2

from reviewbot.analyzers.imported.descriptors import a_number, a_text
from reviewbot.analyzers.imported.results import Omission, ProgramRun, Result, collect_run, to_level
from reviewbot.domain.errors import InputError
from reviewbot.strict_json import a_dict, a_list

MAX_MATCHERS = 50
"""Of all files together: each one reads every line of every log."""
_MAX_PATTERNS = 10
MAX_BREAKS = 2_000_000
"""Of the lines of one log; a CRLF counts twice. Each line is an object, and each matcher reads it."""
_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_MAX_LINE = 4_000
_MAX_LINE_DIGITS = 9
_COMMANDS = "workflow commands"
_FIELDS = ("file", "fromPath", "line", "severity", "code", "message")

# The runner takes colours out before it matches, and puts the time before each line of a log that is downloaded.
_NOISE = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]|^\d{4}-\d\d-\d\dT[\d:.]{8,20}Z ")
_COMMAND = re.compile(r"^(?:##\[|::)(error|warning|notice) ([^\]\n]{0,1000}?)(?:\]|::)(.*)$")
_ESCAPED = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}

_Captured = dict[str, str]


class Pattern(NamedTuple):
    """One line of a problem."""

    expression: Any
    groups: Mapping[str, int]
    loop: bool


class Matcher(NamedTuple):
    """What finds the problems of one program in its log."""

    owner: str
    severity: str
    patterns: tuple[Pattern, ...]


def read_matchers(name: str, given: object) -> list[Matcher]:
    """The matchers of a file. Raises InputError where one cannot be carried out."""
    return [_matcher(name, a_dict(each)) for each in a_list(given)[:MAX_MATCHERS]]


def read_plain_log(name: str, text: str, matchers: Sequence[Matcher]) -> list[ProgramRun]:
    """The runs that stand in a log: one for each matcher that finds a problem, and one for workflow commands.

    Raises InputError where it has too many lines.
    """
    if sum(map(text.count, _BREAKS)) > MAX_BREAKS:
        raise InputError(f"{name!r} has more than {MAX_BREAKS:,} lines; give the part of the log that has the problems")
    lines = [_NOISE.sub("", line)[:_MAX_LINE] for line in text.splitlines()]
    runs = [collect_run(each.owner, _problems(each, lines), _result) for each in matchers]
    commands = collect_run(_COMMANDS, filter(None, map(_command, lines)), _result)
    return [run for run in (*runs, commands) if run.results or run.omitted]


def _matcher(name: str, given: dict[str, Any]) -> Matcher:
    owner = a_text(given.get("owner")).strip() or "problem matcher"
    patterns = [a_dict(each) for each in a_list(given.get("pattern"))]
    if not 0 < len(patterns) <= _MAX_PATTERNS:
        raise InputError(f"{name!r}: the problem matcher {owner[:80]!r} has no pattern, or more than {_MAX_PATTERNS}")
    return Matcher(owner, a_text(given.get("severity")), tuple(_pattern(name, owner, each) for each in patterns))


def _pattern(name: str, owner: str, given: dict[str, Any]) -> Pattern:
    options = re2.Options()
    options.log_errors = False
    try:
        expression = re2.compile(a_text(given.get("regexp")), options)
    except re2.error:
        raise InputError(
            f"{name!r}: a regexp of the problem matcher {owner[:80]!r} is wrong, or looks ahead or back; rewrite it"
        ) from None
    groups = {field: at for field in _FIELDS if (at := a_number(given.get(field))) is not None}
    if any(at > expression.groups for at in groups.values()):
        raise InputError(f"{name!r}: the problem matcher {owner[:80]!r} names a group that its regexp does not have")
    return Pattern(expression, groups, given.get("loop") is True)


def _problems(matcher: Matcher, lines: Sequence[str]) -> Iterator[_Captured]:
    """What each problem says; the patterns of a matcher match consecutive lines."""
    *before, last = matcher.patterns
    at = 0
    while at < len(lines):
        captured: _Captured | None = {"severity": matcher.severity}
        for offset, pattern in enumerate(before):
            captured = _capture(pattern, lines, at + offset, captured)
        end = at + len(before)
        found = _capture(last, lines, end, captured)
        while found is not None:
            yield found
            end += 1
            found = _capture(last, lines, end, captured) if last.loop else None
        at = end if end > at + len(before) else at + 1


def _capture(pattern: Pattern, lines: Sequence[str], at: int, known: _Captured | None) -> _Captured | None:
    match = pattern.expression.search(lines[at]) if known is not None and at < len(lines) else None
    if match is None:
        return None
    return {**(known or {}), **{field: text for field, group in pattern.groups.items() if (text := match[group])}}


def _command(line: str) -> _Captured | None:
    match = _COMMAND.match(line)
    if match is None:
        return None
    pairs = (pair.partition("=") for pair in match[2].split(","))
    fields = {key.strip(): _unescape(value) for key, _, value in pairs}
    return {**fields, "severity": match[1], "message": _unescape(match[3]), "code": fields.get("title", "")}


def _unescape(text: str) -> str:
    return re.sub("|".join(_ESCAPED), lambda match: _ESCAPED[match[0]], text)


def _result(captured: _Captured) -> Result | Omission:
    number = captured.get("line", "")
    line = a_number(int(number)) if number.isascii() and number.isdigit() and len(number) <= _MAX_LINE_DIGITS else None
    file = captured.get("file", "")
    if not line or not file:
        return "without a line"
    code = captured.get("code", "")
    return Result(code, to_level(captured.get("severity", "")), captured.get("message") or code, file, line, line)
