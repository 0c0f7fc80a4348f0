"""The rules of a SARIF log, of which its results are instances: each described once, in words of our own.

Nothing here comes from a message: a viewer shows the text of a rule beside every one of its results.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal, NamedTuple

from reviewbot.domain.contracts import SEVERITY_ORDER, Finding, Severity
from reviewbot.report.text import short_line

Json = dict[str, object]
Kind = Literal["fail", "review"]

LEVELS: dict[Severity, str] = {"critical": "error", "warning": "warning", "info": "note"}
MAX_TAGS = 10
"""GitHub takes 20 tags of a rule and stores 10."""

PERSON = "needs-person"
"""The rule of what a person must look at where no finding says more."""

_SECURITY = "security"
_SCORES: dict[Severity, str] = {"critical": "9.5", "warning": "5.5", "info": "2.0"}
"""On the scale that GitHub shows in words: over 9 critical, from 4 medium, below low."""

_PRECISIONS = ((90, "very-high"), (80, "high"), (60, "medium"), (0, "low"))
"""From which confidence on; GitHub shows results of rules that are more precise first."""

_NAME_CHARS = 200


class RuleFacts(NamedTuple):
    """A finding as a result: as a defect, or as something that is not settled."""

    finding: Finding
    kind: Kind

    @property
    def rule_id(self) -> str:
        """The rule that it is an instance of. What is not settled has a rule of its own.

        GitHub takes the severity of an alert from its rule, and an unconfirmed one must not look critical.
        """
        name = f"{self.finding.type}/{self.finding.rule or self.finding.category}"
        return name if self.kind == "fail" else f"unconfirmed/{name}"


def rules_of(facts: Iterable[RuleFacts], *, with_person: bool) -> list[Json]:
    """The descriptors of all rules in use, by id. Each is made from all of its results, whatever their order."""
    groups: dict[str, list[RuleFacts]] = defaultdict(list)
    for each in facts:
        groups[each.rule_id].append(each)
    rules = [_rule(rule_id, group) for rule_id, group in groups.items()]
    if with_person:
        rules.append(_person_rule())
    return sorted(rules, key=lambda rule: str(rule["id"]))


def _rule(rule_id: str, group: list[RuleFacts]) -> Json:
    findings = [each.finding for each in group]
    worst = min((finding.severity for finding in findings), key=SEVERITY_ORDER.__getitem__)
    category = min(finding.category for finding in findings)
    rule = min(finding.rule for finding in findings)
    certain = group[0].kind == "fail"
    weaknesses = sorted({finding.cwe for finding in findings if finding.cwe})
    name = category.replace("-", " ").capitalize() + (f" ({rule})" if rule else "")
    about = f"{name}. Found by the {findings[0].type} review"
    about += f"; see {', '.join(f'CWE-{cwe}' for cwe in weaknesses[:MAX_TAGS])}." if weaknesses else "."
    if not certain:
        about += " Not confirmed: a person has to decide."
    tags = [findings[0].type, category, *(f"external/cwe/cwe-{cwe}" for cwe in weaknesses)]
    properties: Json = {
        "tags": list(dict.fromkeys(tags))[:MAX_TAGS],
        "precision": _precision(min(finding.confidence for finding in findings)) if certain else "low",
    }
    if certain and findings[0].type == _SECURITY:
        properties["security-severity"] = _SCORES[worst]
    return _descriptor(rule_id, name, about, LEVELS[worst] if certain else "note", properties)


def _person_rule() -> Json:
    about = "Something in the change that no program and no model can settle. A person has to look at it."
    return _descriptor(PERSON, "Needs a person", about, "note", {"tags": ["review"], "precision": "low"})


def _descriptor(rule_id: str, name: str, about: str, level: str, properties: Json) -> Json:
    return {
        "id": rule_id,
        "shortDescription": {"text": short_line(name, _NAME_CHARS)},
        "fullDescription": {"text": short_line(about, 2 * _NAME_CHARS)},
        "help": {"text": short_line(about, 2 * _NAME_CHARS)},
        "defaultConfiguration": {"level": level},
        "properties": properties,
    }


def _precision(confidence: int) -> str:
    return next(word for least, word in _PRECISIONS if confidence >= least)
