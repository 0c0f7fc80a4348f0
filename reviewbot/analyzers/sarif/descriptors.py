"""Find the rule of a SARIF result, by id, index or extension, and read the facts that either of the two states."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from reviewbot.analyzers.sarif.values import a_dict, a_list, a_number, a_text, an_entry

_CWE = re.compile(r"cwe[-_: ]?0{0,5}([1-9]\d{0,4})(?!\d)", re.IGNORECASE)
_TAG_CHARS = 200
_MOST_TAGS = 100
_HIGHEST_SCORE = 10


class Facts(NamedTuple):
    """What a result and its rule are about."""

    tags: frozenset[str]
    """In lower case."""
    cwe: int | None
    """The first weakness that is named."""
    score: float
    """The property security-severity, 0 to 10; 0 where there is none."""


class Descriptors:
    """The rules of the program and of its extensions."""

    def __init__(self, tool: dict[str, Any]) -> None:
        """`tool` is the object of that name in a run."""
        self._driver = a_list(a_dict(tool.get("driver")).get("rules"))
        self._extensions = [a_list(a_dict(each).get("rules")) for each in a_list(tool.get("extensions"))]
        self._by_id: dict[str, dict[str, Any]] = {}
        for rules in (self._driver, *self._extensions):
            for rule in map(a_dict, rules):
                self._by_id.setdefault(a_text(rule.get("id")), rule)

    def of(self, result: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The id of a result's rule, empty where it names none, and its descriptor, empty where there is none."""
        pointer = a_dict(result.get("rule"))
        name = a_text(result.get("ruleId")) or a_text(pointer.get("id"))
        if name and name in self._by_id:
            return name, self._by_id[name]
        rules = self._driver
        extension = a_number(a_dict(pointer.get("toolComponent")).get("index"))
        if extension is not None and extension < len(self._extensions):
            rules = self._extensions[extension]
        found = an_entry(rules, result.get("ruleIndex", pointer.get("index")))
        if not found:
            # An id may go on behind its rule's, as in "CA1000/1".
            found = self._by_id.get(name.rpartition("/")[0], {})
        return name or a_text(found.get("id")), found


def facts_of(result: dict[str, Any], rule: dict[str, Any]) -> Facts:
    """The facts that a result and its rule state; the result's own come first."""
    bags = [a_dict(each.get("properties")) for each in (result, rule)]
    tags = [a_text(tag)[:_TAG_CHARS] for bag in bags for tag in a_list(bag.get("tags"))[:_MOST_TAGS]]
    words = [*tags, *_weaknesses(result, rule, bags)]
    numbers = (int(match[1]) for word in words for match in _CWE.finditer(word))
    scores = (_score(bag.get("security-severity")) for bag in bags)
    return Facts(frozenset(tag.lower() for tag in tags), next(numbers, None), next(filter(None, scores), 0.0))


def _weaknesses(result: dict[str, Any], rule: dict[str, Any], bags: list[dict[str, Any]]) -> Iterator[str]:
    """Where programs name weaknesses besides their tags: a property, a taxon of the result, a relation of the rule."""
    for bag in bags:
        given = bag.get("cwe")
        yield from (a_text(each)[:_TAG_CHARS] for each in [given, *a_list(given)[:_MOST_TAGS]])
    relations = (a_dict(a_dict(each).get("target")) for each in a_list(rule.get("relationships"))[:_MOST_TAGS])
    for target in (*map(a_dict, a_list(result.get("taxa"))[:_MOST_TAGS]), *relations):
        if a_text(a_dict(target.get("toolComponent")).get("name")).upper() == "CWE":
            yield "CWE-" + a_text(target.get("id"))[:_TAG_CHARS].upper().removeprefix("CWE-")


def _score(value: object) -> float:
    """Programs write it as a text, as GitHub wants it, or as a number."""
    try:
        score = float(value) if isinstance(value, (str, int, float)) else 0.0
    except (ValueError, OverflowError):
        return 0.0
    return score if 0 <= score <= _HIGHEST_SCORE else 0.0
