"""Review -> SARIF 2.1.0, for GitHub code scanning and every other program that reads it.

One run, no times and no absolute paths: the same review gives the same bytes. What is certain is a result of kind
"fail". What people must settle (contradictions, items for a person) is of kind "review", whose level must be "none".
Withheld findings are counted and not listed: GitHub makes an alert of every result, whatever else is said of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from reviewbot import __version__
from reviewbot.coverage.verdict import STATE_WORDS, count_of, is_sufficient
from reviewbot.diff.parser.file_names import to_bytes
from reviewbot.domain.contracts import FileCoverage, Finding, Gap, HumanItem, Review
from reviewbot.memory.fingerprints import SCHEME, digest
from reviewbot.report.formats import ReportInput
from reviewbot.report.sarif.rules import LEVELS, PERSON, Json, RuleFacts, rules_of
from reviewbot.report.text import clip_block, short_line
from reviewbot.report.view_model import SuppressionGroup, by_severity, suppression_groups, withheld_counts
from reviewbot.strict_json import write_json
from reviewbot.wording import with_count

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MAX_RESULTS = 25_000
"""GitHub refuses a run with more, and stores the 5,000 most severe."""
MAX_FILES = 1_000
"""Files that did not get what they need and are named; the counts have them all."""

_ROOT = "%SRCROOT%"
_MESSAGE_CHARS = 2_000
_SNIPPET_LINES, _SNIPPET_CHARS = 20, 400
_BACKED_BY = ("contract", "symptom", "judgement")
"""Fields of a finding that say what it violates, what is seen, and why it is believed."""
_MAX_PLACES = 100
"""Of one suppression."""
_PLACEHOLDER = re.compile(r"\{(\d{1,9})\}")


def render(report: ReportInput) -> str:
    """The review as a SARIF log, with the fingerprint of every finding."""
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report.review, report.fingerprints)]}
    return write_json(log, indent=2) + "\n"


def _run(review: Review, names: Mapping[Finding, str]) -> Json:
    results = [(RuleFacts(finding, "fail"), "") for finding in by_severity(review.findings)]
    results += [
        (RuleFacts(finding, "review"), f"Contradicted: {conflict.reason}")
        for conflict in review.conflicts
        for finding in conflict.findings
    ]
    results += [
        (RuleFacts(item.finding, "review"), f"Needs a person: {item.reason}") for item in review.human if item.finding
    ]
    results = results[:MAX_RESULTS]
    items = [item for item in review.human if item.finding is None][: MAX_RESULTS - len(results)]
    rules = rules_of((each for each, _ in results), with_person=bool(items))
    index = {str(rule["id"]): at for at, rule in enumerate(rules)}
    return {
        "tool": {"driver": {"name": "reviewbot", "semanticVersion": __version__, "rules": rules}},
        "invocations": [_invocation(review, len(results) + len(items))],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository that was reviewed."}}},
        "columnKind": "unicodeCodePoints",
        "results": [
            *(_result(each, doubt, names[each.finding], index) for each, doubt in results),
            *_person_results(items, index),
        ],
    }


def _result(facts: RuleFacts, doubt: str, name: str, index: Mapping[str, int]) -> Json:
    finding = facts.finding
    certain = facts.kind == "fail"
    when = f"Impact: {finding.trigger}" if finding.trigger.strip() else ""
    disputed = f"A model disputes it: {finding.disputed}" if finding.disputed.strip() else ""
    result: Json = {
        "ruleId": facts.rule_id,
        "ruleIndex": index[facts.rule_id],
        "kind": facts.kind,
        "level": LEVELS[finding.severity] if certain else "none",
        "message": _message(*([doubt] if doubt else []), finding.message, when, disputed),
        "locations": [_location(finding.path, _region(finding))],
        "partialFingerprints": {SCHEME: name},
        "properties": _properties(finding, doubt),
    }
    if finding.also:
        result["relatedLocations"] = [_location(finding.path, {"startLine": line}) for line in finding.also]
    return result


def _properties(finding: Finding, doubt: str) -> Json:
    """What of a finding has no place of its own in the format."""
    properties: Json = {
        "confidence": finding.confidence,
        "severity": finding.severity,
        "category": finding.category,
        "sources": list(finding.sources),
    }
    if finding.suggestion.strip():
        properties["suggestion"] = clip_block(finding.suggestion, lines=_SNIPPET_LINES, chars=_SNIPPET_CHARS)
    backing = {name: short_line(getattr(finding, name), _MESSAGE_CHARS) for name in _BACKED_BY}
    properties |= {name: text for name, text in backing.items() if text}
    if doubt:
        properties["review"] = short_line(doubt, _MESSAGE_CHARS)
    return properties


def _person_results(items: list[HumanItem], index: Mapping[str, int]) -> Iterator[Json]:
    """What a person must look at and no finding stands for. Its words may change, so it is named by its order."""
    seen: dict[str, int] = {}
    for item in items:
        nth = seen[item.path] = seen.get(item.path, -1) + 1
        yield {
            "ruleId": PERSON,
            "ruleIndex": index[PERSON],
            "kind": "review",
            "level": "none",
            "message": _message(f"Needs a person: {item.reason}"),
            "locations": [_location(item.path, {"startLine": item.line} if item.line else None)],
            "partialFingerprints": {SCHEME: digest(item.path, PERSON, nth)},
        }


def _invocation(review: Review, shown: int) -> Json:
    """Whether all was looked at, and everything that was not."""
    notices = [_notification("verdict", "error" if review.incomplete else "note", review.headline)]
    notices += [_gap(gap) for gap in review.gaps]
    notices += [
        _notification("unlooked", "note", f"Not looked at for {', '.join(part.workers)}: {part.reason}", part.path)
        for part in review.unlooked
    ]
    notices += [_suppressed_result(group) for group in suppression_groups(review)]
    if review.withheld:
        text = f"{with_count(len(review.withheld), 'finding')} withheld: {withheld_counts(review)}"
        notices.append(_notification("withheld", "note", text))
    everything = len(review.findings) + len(review.human) + sum(len(each.findings) for each in review.conflicts)
    if left := everything - shown:
        text = f"{with_count(left, 'result')} left out: at most {MAX_RESULTS:,} are taken by those who read this"
        notices.append(_notification("left-out", "warning", text))
    notices += [_coverage(entry) for entry in review.coverage if not is_sufficient(entry)][:MAX_FILES]
    invocation: Json = {
        "executionSuccessful": not review.incomplete,
        "toolExecutionNotifications": notices,
        "properties": {"coverage": count_of(review.coverage).model_dump()},
    }
    if review.notes:
        invocation["toolConfigurationNotifications"] = [_notification("note", "note", note) for note in review.notes]
    return invocation


def _gap(gap: Gap) -> Json:
    who = f"{gap.worker}, {gap.tool}" if gap.tool else gap.worker
    return _notification(f"gap/{gap.reason}", "error", f"Not looked at ({who}): {gap.message or gap.reason}", gap.path)


def _suppressed_result(group: SuppressionGroup) -> Json:
    """No result with a suppression: GitHub would make an alert of it."""
    notification = _notification("suppression", "warning" if group.important else "note", group.text)
    places = group.places[:_MAX_PLACES]
    return {**notification, "locations": [_location(path, {"startLine": line}) for path, line in places]}


def _coverage(entry: FileCoverage) -> Json:
    text = f"{STATE_WORDS[entry.state]}: {entry.reason}" if entry.reason else STATE_WORDS[entry.state]
    return _notification(f"coverage/{entry.state}", "note", text, entry.path)


def _notification(name: str, level: str, text: str, path: str = "") -> Json:
    notification: Json = {"descriptor": {"id": name}, "level": level, "message": _message(text)}
    if path:
        notification["locations"] = [_location(path, None)]
    return notification


def _location(path: str, region: Json | None) -> Json:
    place: Json = {"artifactLocation": {"uri": _uri(path), "uriBaseId": _ROOT}}
    if region is not None:
        place["region"] = region
    return {"physicalLocation": place}


def _region(finding: Finding) -> Json:
    region: Json = {"startLine": finding.line, "endLine": finding.end_line}
    if snippet := clip_block(finding.evidence, lines=_SNIPPET_LINES, chars=_SNIPPET_CHARS):
        region["snippet"] = {"text": snippet}
    return region


def _uri(path: str) -> str:
    """A relative reference. A slash at its start would make it absolute, and a colon in it a scheme."""
    uri = quote(to_bytes(path), safe="/")
    return f"%2F{uri[1:]}" if uri.startswith("/") else uri


def _message(*texts: str) -> Json:
    """Plain text on one line, in which nothing is a link and nothing a placeholder for an argument."""
    text = " ".join(short_line(text, _MESSAGE_CHARS) for text in texts if text.strip())
    return {"text": _PLACEHOLDER.sub(r"{{\1}}", text).replace("](", "] (") or "no message"}
