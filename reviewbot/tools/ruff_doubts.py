"""What stands around a report of ruff and makes it less believable than its rule is in general."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reviewbot.contracts import Severity
    from reviewbot.tools.changed_lines import Line
    from reviewbot.tools.ruff_run import Report


class Doubt(NamedTuple):
    """How far a report can be trusted at most, 0-100, and how much it matters where that changes too."""

    most: int
    severity: Severity | None = None


_NONE = Doubt(100)
_UNNAMED = Doubt(60)
_QUOTED = Doubt(60, "warning")
_NO_SECRET = Doubt(30)
_ASKED_FOR = Doubt(50)

_FURTHEST_HEAD = 200
"""Lines from a report up to the head of its function; further up nothing is looked for."""

_LONGEST_LINE = 1_000
"""Characters of a line that are looked at."""

_SECURITY = re.compile(
    r"passwords?|passwd|tokens?(?![a-z])|secret|hmac|credential"
    r"|(?<![a-z])(?:pwd|sign|signed|signature|verify|auth|authenticate|cert|certificate)(?![a-z])"
)
"""Words beside a weak hash that tell that security depends on it. Without one it may name a file or an object."""

_HEAD = re.compile(r"([ \t]*)(?:async[ \t]+)?def[ \t]+(\w{1,200})")
_SWITCH = re.compile(r"[ \t]*(?:el)?if\b.*(?:debug|pdb|attach|getenv|environ|breakpoint)", re.IGNORECASE)
"""The head of a block that somebody has to ask for."""

_NAME = re.compile(r"`(\w{1,200})`")
_LITERAL = re.compile(r"""(?<!\w)[rRbBuU]{0,2}(?:"[^"\\]{0,500}"|'[^'\\]{0,500}')""")
"""A string that is no f-string: in those, names are looked up."""

_GIVEN = re.compile(r"""(\w{1,200})[^=\w]{0,9}=[ \t]{0,9}["']([^"']{0,500})["']""")
_ADDRESS = ("http://", "https://", "/")


def doubt_of(found: Report, line: Line, shown: Mapping[int, Line]) -> Doubt:
    """What there is to doubt about a report on this line of a file."""
    ask = _BY_RULE.get(found.code)
    return _NONE if ask is None else ask(found, line, shown)


def _of_weak_hash(found: Report, line: Line, shown: Mapping[int, Line]) -> Doubt:
    del found
    around = f"{_function(line, shown)} {line.text[:_LONGEST_LINE]}".lower()
    return _NONE if _SECURITY.search(around) else _UNNAMED


def _of_undefined_name(found: Report, line: Line, shown: Mapping[int, Line]) -> Doubt:
    del shown
    return _QUOTED if _is_quoted(found.message, line.text[:_LONGEST_LINE]) else _NONE


def _of_password(found: Report, line: Line, shown: Mapping[int, Line]) -> Doubt:
    del found, shown
    return _NO_SECRET if _is_no_secret(line.text[:_LONGEST_LINE]) else _NONE


def _of_debugger(found: Report, line: Line, shown: Mapping[int, Line]) -> Doubt:
    del found
    return _ASKED_FOR if any(map(_SWITCH.match, _heads(line, shown))) else _NONE


def _heads(line: Line, shown: Mapping[int, Line]) -> Iterator[str]:
    """The lines above a line that are indented less than all below them, as far as the hunks show them."""
    depth = len(line.text) - len(line.text.lstrip())
    for number in range(line.number - 1, max(0, line.number - _FURTHEST_HEAD), -1):
        text = shown[number].text[:_LONGEST_LINE] if number in shown else ""
        indent = len(text) - len(text.lstrip())
        if text.strip() and indent < depth:
            depth = indent
            yield text


def _function(line: Line, shown: Mapping[int, Line]) -> str:
    """The name of the function that a line stands in, as far as the hunks show it; empty where it does not."""
    return next((head[2] for text in _heads(line, shown) if (head := _HEAD.match(text)) is not None), "")


def _is_quoted(message: str, text: str) -> bool:
    """Whether the name that a message gives stands in strings alone: an annotation that nothing looks up."""
    name = _NAME.search(message)
    if name is None:
        return False
    word = re.compile(rf"\b{re.escape(name[1])}\b")
    return bool(word.search(text)) and not word.search(_LITERAL.sub(" ", text[:_LONGEST_LINE]))


def _is_no_secret(text: str) -> bool:
    """Whether what looks like a password by its name is an address, a sentence, or the name of a field."""
    given = _GIVEN.search(text)
    if given is None:
        return False
    name, value = given[1].lower(), given[2].lower()
    parts = [part for part in re.split(r"[^a-z0-9]{1,9}", value) if part]
    said = bool(parts) and set(parts) <= set(name.split("_"))
    return said or value.startswith(_ADDRESS) or " " in value.strip()


_BY_RULE: dict[str, Callable[[Report, Line, Mapping[int, Line]], Doubt]] = {
    "F821": _of_undefined_name,
    "S105": _of_password,
    "S324": _of_weak_hash,
    "T100": _of_debugger,
}
