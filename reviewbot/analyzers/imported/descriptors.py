"""Read the rule and the facts of a SARIF result, and map names in a log to files of the change.

The rule is found by id, index or extension. A log is JSON from outside: a value of another type than the format says is
taken as absent. A name that fits no file, or fits one only by a guess, is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from reviewbot.diff.parser.file_names import to_bytes
from reviewbot.strict_json import a_dict, a_list

_MAX_NUMBER = 2**31 - 1
"""No file has more lines, no list more entries."""

MAX_TEXT = 4_096
"""Characters of a text that are read, as many as a name on Linux has bytes. Each result reads those of its rule."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{1,30}):")
"""At least two letters: one letter is a drive."""
_DRIVE = re.compile(rb"/{0,3}[A-Za-z]:[/\\]")
_MAX_DEPTH = 200


def a_text(value: object) -> str:
    """The start of the value where it is a text, without halves of characters, which nothing else takes; empty else."""
    return value[:MAX_TEXT].encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def a_number(value: object) -> int | None:
    """The value where it is a whole number of 0 or more; None else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_NUMBER else None


def an_entry(values: list[Any], index: object) -> dict[str, Any]:
    """The object at an index; empty where there is none."""
    at = a_number(index)
    return a_dict(values[at]) if at is not None and at < len(values) else {}


class _Name(NamedTuple):
    parts: tuple[bytes, ...]
    absolute: bool


def match_paths(uris: Iterable[str], paths: Iterable[str]) -> dict[str, str]:
    """The path of the change for each name of one run that has one.

    A relative name counts from the root of the repository. An absolute one ends with a path of the change; the rest is
    the folder that the program ran in. That is one folder for the whole run: the one under which most names fit, and of
    several such the outermost. Names that would need another folder are of other files.
    """
    known = {to_bytes(path): path for path in paths}
    found: dict[str, str] = {}
    fits: dict[str, dict[tuple[bytes, ...], str]] = {}
    for uri in dict.fromkeys(uris):
        for name in _readings(uri):
            if name.absolute:
                fits.setdefault(uri, {}).update(_fits(name, known))
            elif path := known.get(b"/".join(name.parts)):
                found.setdefault(uri, path)
    votes = Counter(root for each in fits.values() for root in each)
    if votes:
        root = min(votes, key=lambda each: (-votes[each], len(each), each))
        found |= {uri: each[root] for uri, each in fits.items() if root in each}
    return found


def _fits(name: _Name, known: Mapping[bytes, str]) -> dict[tuple[bytes, ...], str]:
    """Each folder that the name may count from, with the path that it then means."""
    ends = ((name.parts[:at], b"/".join(name.parts[at:])) for at in range(len(name.parts)))
    return {root: known[end] for root, end in ends if end in known}


def _readings(uri: str) -> list[_Name]:
    """What the name may be: programs should write it percent-encoded, and not all do."""
    scheme = _SCHEME.match(uri)
    if scheme is not None and scheme[1].lower() != "file":
        return []
    rest = uri[scheme.end() :] if scheme else uri
    if scheme and rest.startswith("//"):
        rest = "/" + rest[2:].partition("/")[2]  # between the slashes stands a host
    names = map(_name, dict.fromkeys((unquote_to_bytes(rest), to_bytes(rest))))
    return [name for name in names if name is not None]


def _name(text: bytes) -> _Name | None:
    """The parts of a name without "." and "..", or None where it leads out of its root."""
    drive = _DRIVE.match(text) is not None
    if drive or b"/" not in text:
        text = text.replace(b"\\", b"/")
    parts: list[bytes] = []
    for part in text.split(b"/"):
        if part == b"..":
            if not parts:
                return None
            parts.pop()
        elif part not in {b"", b"."}:
            parts.append(part)
    return _Name(tuple(parts), drive or text.startswith(b"/")) if len(parts) <= _MAX_DEPTH else None


_CWE = re.compile(r"cwe[-_: ]?0{0,5}([1-9]\d{0,4})(?!\d)", re.IGNORECASE)
_TAG_CHARS = 200
_MAX_TAGS = 100
_HIGHEST_SCORE = 10


class RuleProperties(NamedTuple):
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


def properties_of(result: dict[str, Any], rule: dict[str, Any]) -> RuleProperties:
    """The facts that a result and its rule state; the result's own come first."""
    bags = [a_dict(each.get("properties")) for each in (result, rule)]
    tags = [a_text(tag)[:_TAG_CHARS] for bag in bags for tag in a_list(bag.get("tags"))[:_MAX_TAGS]]
    words = [*tags, *_weaknesses(result, rule, bags)]
    numbers = (int(match[1]) for word in words for match in _CWE.finditer(word))
    scores = (_score(bag.get("security-severity")) for bag in bags)
    return RuleProperties(_lowered(tuple(tags)), next(numbers, None), next(filter(None, scores), 0.0))


@lru_cache(maxsize=512)
def _lowered(tags: tuple[str, ...]) -> frozenset[str]:
    """The results of one rule share its tags: thousands of copies would fill the memory."""
    return frozenset(map(str.lower, tags))


def _weaknesses(result: dict[str, Any], rule: dict[str, Any], bags: list[dict[str, Any]]) -> Iterator[str]:
    """Where programs name weaknesses besides their tags: a property, a taxon of the result, a relation of the rule."""
    for bag in bags:
        given = bag.get("cwe")
        yield from (a_text(each)[:_TAG_CHARS] for each in [given, *a_list(given)[:_MAX_TAGS]])
    relations = (a_dict(a_dict(each).get("target")) for each in a_list(rule.get("relationships"))[:_MAX_TAGS])
    for target in (*map(a_dict, a_list(result.get("taxa"))[:_MAX_TAGS]), *relations):
        if a_text(a_dict(target.get("toolComponent")).get("name")).upper() == "CWE":
            yield "CWE-" + a_text(target.get("id"))[:_TAG_CHARS].upper().removeprefix("CWE-")


def _score(value: object) -> float:
    """Programs write it as a text, as GitHub wants it, or as a number."""
    try:
        score = float(value) if isinstance(value, (str, int, float)) else 0.0
    except (ValueError, OverflowError):
        return 0.0
    return score if 0 <= score <= _HIGHEST_SCORE else 0.0
