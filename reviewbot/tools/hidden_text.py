"""Characters on added lines that make a text look other than it is: turned around, invisible, or taken for another.

Messages and quotes name each such character by its number and never hold it. Text that is written from right to left,
emoji and letters of any one script are left alone. Linear in the text.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, NamedTuple

from reviewbot.contracts import Candidate, ToolRun
from reviewbot.diff.language import UNKNOWN, kind_of
from reviewbot.tools.changed_lines import new_side
from reviewbot.tools.hidden_characters import (
    CONTROLS,
    EMBEDDINGS,
    INVISIBLE,
    JOINERS,
    MARKS,
    OVERRIDES,
    SELECTORS,
    SEPARATORS,
    SUSPECT,
    TAGS,
    escaped,
    holds_rtl,
    is_balanced,
    is_joining,
    is_look_alike,
    tagged_text,
    text_mask,
)
from reviewbot.tools.reports import OWN_VERSION, message_of, quote_of, report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reviewbot.ports import ChangedFile, Snapshot, ToolReport
    from reviewbot.tools.changed_lines import Line
    from reviewbot.tools.rules import Rule

NAME = "hidden-text"
"""The tool, as cards and the table of its rules write it."""

_SHOWN = 8
"""Characters that a message names; a line may hold thousands."""

_SHOWN_TEXT = 300
"""Characters of a text that was hidden."""

_MARKUP = frozenset({UNKNOWN, "html", "vue", "svelte"})
"""Languages of files whose lines are mostly prose without quotes around it."""

_WORD = re.compile(r"[^\W\d]\w{0,200}")
_BOM = "\ufeff"


class _Hit(NamedTuple):
    rule: str
    characters: str
    """The characters that were found, in their order."""
    hidden: str = ""
    """What they say where they are a text of their own."""


class HiddenText:
    """The tool `hidden-text`."""

    name = NAME
    languages: frozenset[str] | None = None

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        """`rules` by code, as the table `hidden_text` has them."""
        self._rules = rules

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        """Look at the added lines of a file of any language."""
        del snapshot
        began = time.monotonic()
        found = [
            self._candidate(file.path, line, hit)
            for lines in new_side(file)
            for line in lines
            if line.added
            for hit in hits(line, file.language)
        ]
        spent = round((time.monotonic() - began) * 1000)
        return report(file.path, ToolRun(tool=self.name, version=OWN_VERSION, duration_ms=spent), found)

    def _candidate(self, path: str, line: Line, hit: _Hit) -> Candidate:
        rule = self._rules[hit.rule]
        names = list(dict.fromkeys(f"U+{ord(char):04X}" for char in hit.characters))
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        message = f"{rule.message}: {', '.join(names[:_SHOWN])}{more}"
        if hit.hidden:
            message = f'{message}. They spell "{escaped(hit.hidden)[:_SHOWN_TEXT]}"'
        return Candidate(
            severity=rule.severity,
            path=path,
            quote=quote_of(escaped(line.text)),
            message=message_of(message),
            confidence=rule.confidence,
            source=self.name,
            category=rule.category,
            rule=rule.code,
            line=line.number,
            end_line=line.number,
            trigger=rule.trigger,
            cwe=rule.cwe,
        )


def hits(line: Line, language: str) -> Iterator[_Hit]:
    """What is hidden on one line, at most one hit of each rule."""
    text = line.text.removesuffix("\r")
    if line.number == 1:
        text = text.removeprefix(_BOM)
    kind = kind_of(language)
    suspects = [match.start() for match in SUSPECT.finditer(text)]
    if suspects:
        yield from _turned(text, suspects, prose=kind != "code")
        yield from _smuggled(text)
        yield from _controls(text, suspects)
        if kind != "prose" and language not in _MARKUP:
            yield from _invisible(text, suspects, language)
    if kind == "code" and language not in _MARKUP and not text.isascii():
        yield from _mixed(text, language)


def _turned(text: str, suspects: list[int], *, prose: bool) -> Iterator[_Hit]:
    """Find what changes the order in which a text is shown."""
    controls = "".join(text[at] for at in suspects if text[at] in OVERRIDES or text[at] in EMBEDDINGS)
    # A translation sets off names and numbers in a text from right to left, and closes what it opens.
    translated = prose and holds_rtl(text) and not set(controls) & OVERRIDES and is_balanced(controls)
    if controls and not translated:
        yield _Hit("bidi-control", controls)


def _smuggled(text: str) -> Iterator[_Hit]:
    """Find a text in characters that no font shows."""
    characters, said = [], []
    for match in TAGS.finditer(text):
        if not match["flag"]:
            characters.append(match[0])
            said.append(tagged_text(match[0]))
    if characters:
        yield _Hit("hidden-text", "".join(characters), " ".join(said))


def _controls(text: str, suspects: list[int]) -> Iterator[_Hit]:
    controls = "".join(text[at] for at in suspects if text[at] in CONTROLS)
    if controls:
        yield _Hit("control-character", controls)
    separators = "".join(text[at] for at in suspects if text[at] in SEPARATORS)
    if separators:
        yield _Hit("line-separator", separators)


def _invisible(text: str, suspects: list[int], language: str) -> Iterator[_Hit]:
    """Find characters without a shape, apart from where a script or an emoji needs them."""
    inside = text_mask(text, language)
    code: list[str] = []
    said: list[str] = []
    for at in suspects:
        if _is_out_of_place(text, at):
            (said if inside[at] else code).append(text[at])
    if code:
        yield _Hit("invisible-character", "".join(code))
    elif said:
        yield _Hit("invisible-in-text", "".join(said))


def _is_out_of_place(text: str, at: int) -> bool:
    char = text[at]
    if char in JOINERS:
        return not is_joining(text, at)
    if char in MARKS:
        return not holds_rtl(text)
    if char in SELECTORS:
        # Behind a letter it selects nothing; behind a digit it makes a key of it, with U+20E3 next.
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        return before.isascii() and (before.isalnum() or before == "_") and after != "\u20e3"
    return char in INVISIBLE


def _mixed(text: str, language: str) -> Iterator[_Hit]:
    """Find names of Latin letters that some letters of another script only look like."""
    words = list(_WORD.finditer(text))
    if any(not word[0].isascii() and is_look_alike(word[0]) == "other" for word in words):
        return  # the line is written in that script
    inside: bytearray | None = None
    found = []
    for word in words:
        if word[0].isascii() or is_look_alike(word[0]) != "mixed":
            continue
        inside = inside or text_mask(text, language)
        if not inside[word.start()]:
            found += [char for char in word[0] if is_look_alike(char) == "alike"]
    if found:
        yield _Hit("mixed-script", "".join(found))
