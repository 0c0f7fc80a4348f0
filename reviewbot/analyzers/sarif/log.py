"""Read SARIF 2.1.0 logs, also of programs that keep to little of the format.

Seen in real logs: no level, a level only at the rule, an index in place of a rule's id, rules in extensions, absolute
names, bases for names, names only in the list of artifacts, results without a line, suppressed results, a byte order
mark. A log is text from outside: whatever has another type than it should have is taken as absent.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from reviewbot.analyzers.sarif.descriptors import Descriptors, a_dict, a_list, a_number, a_text, an_entry, facts_of
from reviewbot.domain.errors import InputError

MAX_BYTES = 32 * 1024 * 1024
"""Of one log. GitHub takes 10 MB compressed."""

MAX_RESULTS = 25_000
"""Of one run, as GitHub takes them. What is behind them is counted."""

MAX_RUNS = 100
"""Of one log; GitHub takes 20. Each gets a note, so a log of thousands is refused."""

Omission = Literal["suppressed", "no problem", "without a line", "too many"]

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
_HOW = "give a log that a program wrote as SARIF 2.1.0"


class Result(NamedTuple):
    """One result that is a problem at a place."""

    rule: str
    level: str
    message: str
    uri: str
    """As written, joined with its bases."""
    line: int
    end_line: int
    tags: frozenset[str]
    cwe: int | None
    score: float
    """See `Facts` for these three."""


@dataclass(frozen=True)
class ToolRun:
    """One run of one program, and how many of its results are not reported, by reason."""

    tool: str
    results: tuple[Result, ...]
    omitted: Counter[Omission]
    failed: bool = False
    """It did not look, or not to the end: it says so, or has no list of results, not even an empty one."""


def read_log(name: str, data: bytes) -> list[ToolRun]:
    """The runs of a log. Raises InputError in one line that names the file and says what to do."""
    if len(data) > MAX_BYTES:
        raise InputError(f"{name!r} is larger than {MAX_BYTES >> 20} MiB; give a SARIF log of fewer results")
    try:
        log = json.loads(data)
    except RecursionError:
        raise InputError(f"{name!r} is nested too deeply for a SARIF log; {_HOW}") from None
    except ValueError:
        raise InputError(f"{name!r} is no JSON; {_HOW}") from None
    if not isinstance(log, dict) or not isinstance(log.get("runs"), list):
        raise InputError(f"{name!r} is no SARIF, for it has no runs; {_HOW}")
    version = a_text(log.get("version"))
    if version and not version.startswith("2."):
        raise InputError(f"{name!r} is SARIF {version[:20]!r}; {_HOW}")
    if len(log["runs"]) > MAX_RUNS:
        raise InputError(f"{name!r} has more than {MAX_RUNS} runs; give SARIF logs of fewer runs")
    return [_run(a_dict(run)) for run in log["runs"]]


def _run(run: dict[str, Any]) -> ToolRun:
    tool = a_dict(run.get("tool"))
    name = a_text(a_dict(tool.get("driver")).get("name")).strip() or "unnamed"
    descriptors = Descriptors(tool)
    results: list[Result] = []
    omitted: Counter[Omission] = Counter()
    given = a_list(run.get("results"))
    for result in map(a_dict, given[:MAX_RESULTS]):
        read = _result(result, descriptors, run)
        if isinstance(read, Result):
            results.append(read)
        else:
            omitted[read] += 1
    if len(given) > MAX_RESULTS:
        omitted["too many"] = len(given) - MAX_RESULTS
    return ToolRun(name, tuple(results), omitted, _is_failed(run))


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
        **facts_of(result, rule)._asdict(),
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
        uri = f"{above}{'' if above.endswith('/') or not above else '/'}{uri}"
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
