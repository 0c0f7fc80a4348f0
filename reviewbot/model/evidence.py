"""The code around one finding that its judge is shown beside the slices: where it stands, what it calls, who calls it.

Nothing here depends on where in a file the code stands, so that equal code makes equal requests. All of it is data
that others wrote.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reviewbot.context.enclosing import Enclosing
from reviewbot.context.service import Context
from reviewbot.contracts import Finding
from reviewbot.model.around import fitted
from reviewbot.model.told import EARLIER, Section, told
from reviewbot.ports import WorkOrder

MAX_AROUND = 5_000
"""Characters of the definition that holds the finding, where the slices do not show all of it."""
MAX_DEFINITION = 2_500
"""Characters of one definition of what it calls."""
MAX_DEFINITIONS = 3
MAX_SEARCHED = 4
"""Names of one finding that are looked for; each search may read the whole repository."""
MAX_CALLERS = 8
"""Lines that call the definition."""
MAX_CALLER_LINES = 2_000
"""Characters of all of them."""

CODE_TYPES = frozenset({"logic", "performance", "security"})
"""What is judged by code alone. Other workers hold the change against rules, which their judge must see as well."""

_CALLED = re.compile(r"([A-Za-z_]\w{2,79})[ \t]?\(")
_MARKED = re.compile(r"`([A-Za-z_]\w{2,79})(?:\(\))?`")
_COMMON = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | frozenset({"switch", "catch", "function", "sizeof"})
"""Words before a bracket that nobody has to look up."""


@dataclass(frozen=True)
class _Scene:
    """A finding among what is known of its surroundings."""

    finding: Finding
    context: Context
    seen: frozenset[str]
    """The lines that the slices show, without white space around them."""
    holder: Enclosing | None

    @property
    def own_name(self) -> str:
        """What the definition that holds the finding is called, without what is around it; empty without one."""
        return "" if self.holder is None else self.holder.name.rpartition(".")[2]

    def is_seen(self, text: str) -> bool:
        """Whether the slices show all of a text."""
        return all(not line.strip() or line.strip() in self.seen for line in text.split("\n"))


def evidence_of(order: WorkOrder, finding: Finding) -> tuple[Section, ...]:
    """The sections for one finding, at most some 15,000 characters of code. Blocks; of a bare diff there is nothing."""
    context = Context(order.snapshot)
    seen = frozenset(line[1:].strip() for each in order.task.slices for line in each.code.split("\n"))
    holder = context.enclosing(finding.path, finding.line, finding.end_line)
    scene = _Scene(finding, context, seen, holder)
    # What a reviewer once wished for is no rule that a finding could rest on.
    rules = () if order.task.type in CODE_TYPES else tuple(each for each in told(order) if each.name != EARLIER)
    parts = {
        "The definition that holds it": _around(scene),
        "What it calls or speaks of": "\n\n".join(_definitions(scene)),
        "Who calls it": _callers(scene),
    }
    return (*rules, *(Section(name, text) for name, text in parts.items() if text))


def _around(scene: _Scene) -> str:
    holder = scene.holder
    if holder is None or scene.is_seen(holder.text):
        return ""
    return f"{scene.finding.path}, {holder.name}:\n{fitted(holder.text, MAX_AROUND)}"


def _definitions(scene: _Scene) -> Iterator[str]:
    """Yield the definitions of the names that matter most, those that are in sight left out."""
    names = [name for name in dict.fromkeys(_names(scene)) if name not in _COMMON and name != scene.own_name]
    found = (_definition(scene, name) for name in names[:MAX_SEARCHED])
    yield from [text for text in found if text][:MAX_DEFINITIONS]


def _names(scene: _Scene) -> Iterable[str]:
    """What the claim names, then what the quoted code calls, then what is called around it."""
    finding, holder = scene.finding, scene.holder
    for text in (finding.message, finding.trigger, finding.contract):
        yield from _MARKED.findall(text)
    yield from _CALLED.findall(finding.evidence)
    yield from _CALLED.findall(holder.text if holder else "")


def _definition(scene: _Scene, name: str) -> str:
    """The nearest definition of a name; empty where there is none or the slices show it."""
    for place in scene.context.symbol(name, near=scene.finding.path).of("definition"):
        whole = scene.context.enclosing(place.path, place.line, place.line)
        own = whole is not None and whole.name.rpartition(".")[2] == name
        text = whole.text if whole is not None and own else place.text
        return "" if scene.is_seen(text) else f"{place.path}:\n{fitted(text, MAX_DEFINITION)}"
    return ""


def _callers(scene: _Scene) -> str:
    """The lines that call the definition which holds the finding, without their numbers."""
    name = scene.own_name
    if not name.isidentifier() or name.startswith("__"):
        return ""
    calls = scene.context.symbol(name, near=scene.finding.path).of("call")
    lines = dict.fromkeys(f"{call.path}: {call.text}" for call in calls if call.text.strip() not in scene.seen)
    return fitted("\n".join(list(lines)[:MAX_CALLERS]), MAX_CALLER_LINES)
