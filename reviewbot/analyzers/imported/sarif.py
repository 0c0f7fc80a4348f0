"""Read SARIF 2.1.0 logs, also of programs that keep to little of the format.

Seen in real logs: no level, a level only at the rule, an index in place of a rule's id, rules in extensions, absolute
names, bases for names, names only in the list of artifacts, results without a line, suppressed results, a byte order
mark. A log is text from outside: whatever has another type than it should have is taken as absent.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from reviewbot.analyzers.imported.descriptors import (
    MAX_TEXT,
    Descriptors,
    a_number,
    a_text,
    an_entry,
    properties_of,
)
from reviewbot.analyzers.imported.results import (
    MAX_LOG_RESULTS,
    MAX_RESULTS,
    MAX_RUNS,
    Omission,
    ProgramRun,
    Result,
    collect_run,
)
from reviewbot.domain.errors import InputError
from reviewbot.strict_json import a_dict, a_list

_NO_PROBLEMS = frozenset({"pass", "notApplicable", "informational"})
_LEVELS = frozenset({"none", "note", "warning", "error"})
_REFUSED = frozenset({"underReview", "rejected"})
"""The states of a suppression that was requested and is not accepted."""
_MAX_BASE = 8
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}:|[/\\]")
_PLACEHOLDER = re.compile(r"\{(\d{1,3})\}")
_LINK = re.compile(r"\[([^\[\]]{1,300})\]\(\d{1,9}\)")
"""A link to another place of the log; only its text means something here."""
_READ, _ARGUMENT = 4_000, 400
"""Characters of a message, and of a value put into it, that are looked at."""
HOW = "give results as SARIF 2.1.0, rdjson, checkstyle, or a log together with its problem matcher"


def read_log(name: str, log: dict[str, Any]) -> list[ProgramRun]:
    """The runs of a log. Raises InputError in one line that names the file and says what to do."""
    if not isinstance(log.get("runs"), list):
        raise InputError(f"{name!r} is no SARIF, for it has no runs; {HOW}")
    version = a_text(log.get("version"))
    if version and not version.startswith("2."):
        raise InputError(f"{name!r} is SARIF {version[:20]!r}; {HOW}")
    runs: list[ProgramRun] = []
    room = MAX_LOG_RESULTS
    for run in log["runs"][: MAX_RUNS + 1]:
        runs.append(_run(a_dict(run), min(room, MAX_RESULTS)))
        room -= len(runs[-1].results)
    return runs


def _run(run: dict[str, Any], most: int) -> ProgramRun:
    tool = a_dict(run.get("tool"))
    name = a_text(a_dict(tool.get("driver")).get("name")).strip() or "unnamed"
    descriptors = Descriptors(tool)
    results = a_list(run.get("results"))
    run_read = collect_run(name, results, lambda each: _result(a_dict(each), descriptors, run), most)
    return replace(run_read, failed=_is_failed(run))


def _is_failed(run: dict[str, Any]) -> bool:
    """As the format says: a run whose results are absent or null did not scan; they may be empty, or in other files."""
    ended = (a_dict(each).get("executionSuccessful") for each in a_list(run.get("invocations")))
    return not isinstance(run.get("results"), list) or any(each is False for each in ended)


def _result(result: dict[str, Any], descriptors: Descriptors, run: dict[str, Any]) -> Result | Omission:
    if _is_suppressed(result):
        return "suppressed"
    if a_text(result.get("kind")) in _NO_PROBLEMS or result.get("baselineState") == "absent":
        return "no problem"
    place = a_dict(a_dict(next(iter(a_list(result.get("locations"))), None)).get("physicalLocation"))
    region = a_dict(place.get("region"))
    line = a_number(region.get("startLine"))
    uri = _uri(a_dict(place.get("artifactLocation")), run)
    if not line or not uri:
        return "without a line"
    name, rule = descriptors.of(result)
    return Result(
        rule=name,
        level=_level(result, rule),
        message=_message(result, rule) or name,
        uri=uri,
        line=line,
        end_line=max(line, a_number(region.get("endLine")) or line),
        **properties_of(result, rule)._asdict(),
    )


def _is_suppressed(result: dict[str, Any]) -> bool:
    """Whether the result is suppressed, and none of its suppressions is under review or rejected."""
    given = a_list(result.get("suppressions"))
    return bool(given) and not any(a_text(a_dict(each).get("status")) in _REFUSED for each in given)


def _level(result: dict[str, Any], rule: dict[str, Any]) -> str:
    """The result's, or its rule's, or what the format says where neither has one."""
    if a_text(result.get("kind")) not in {"", "fail"}:
        return "none"
    levels = (result.get("level"), a_dict(rule.get("defaultConfiguration")).get("level"))
    return next((level for level in levels if isinstance(level, str) and level in _LEVELS), "warning")


def _uri(location: dict[str, Any], run: dict[str, Any]) -> str:
    if not a_text(location.get("uri")):
        location = a_dict(an_entry(a_list(run.get("artifacts")), location.get("index")).get("location"))
    uri = a_text(location.get("uri"))
    bases = a_dict(run.get("originalUriBaseIds"))
    for _ in range(_MAX_BASE):
        base = a_text(location.get("uriBaseId"))
        if not base or base not in bases or _ABSOLUTE.match(uri):
            break
        location = a_dict(bases[base])
        above = a_text(location.get("uri"))
        uri = f"{above}{'' if above.endswith('/') or not above else '/'}{uri}"[:MAX_TEXT]
    return uri


def _message(result: dict[str, Any], rule: dict[str, Any]) -> str:
    """The text of a result: its own, or the rule's that it names, with its arguments put in."""
    message = a_dict(result.get("message"))
    named = a_dict(a_dict(rule.get("messageStrings")).get(a_text(message.get("id"))))
    short = a_dict(rule.get("shortDescription"))
    given = (message.get("text"), named.get("text"), message.get("markdown"), short.get("text"))
    text = next(filter(None, map(a_text, given)), "")[:_READ]
    arguments = [a_text(each)[:_ARGUMENT] for each in a_list(message.get("arguments"))]

    def put_in(match: re.Match[str]) -> str:
        at = int(match[1])
        return arguments[at] if at < len(arguments) else match[0]

    return _LINK.sub(r"\1", _PLACEHOLDER.sub(put_in, text)[:_READ])
