"""Find characters on added lines, and in file names, that make a text look other than it is.

Found are text that is turned around, invisible, or taken for another character. Messages and quotes name each such
character by its number and never hold it. Text that is written from right to left, emoji and letters of any one script
are left alone. Linear in the text.

File names (`name_hits`) are read more strictly: no name needs a direction control or a line end. Letters of any one
script, joiners where a script or an emoji needs them, and blanks of any width inside a name are left alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from reviewbot.analyzers.core.changed_lines import ChangedLine, added_lines, new_side
from reviewbot.analyzers.core.reports import RuleScan, message_of, quote_of, rule_candidate
from reviewbot.analyzers.python.lines import scan
from reviewbot.analyzers.text.hidden_characters import (
    CONTROLS,
    EMBEDDINGS,
    LEFT_TO_RIGHT,
    OVERRIDES,
    SEPARATORS,
    SUSPECT,
    TAGS,
    escape_hidden,
    holds_rtl,
    in_latin,
    is_balanced,
    is_look_alike,
    is_out_of_place,
    tagged_text,
    text_mask,
)
from reviewbot.diff.language import UNKNOWN, kind_of
from reviewbot.diff.parser.file_names import exact
from reviewbot.diff.paths import is_translation, place_of
from reviewbot.domain.contracts import Candidate
from reviewbot.domain.ports import ChangedFile
from reviewbot.threads import stoppable

HIDDEN, CONFUSABLE = "hidden-in-name", "confusable-name"
"""The rules, as the table of `hidden-text` has them."""

_LINE_ENDS = frozenset("\t\n\f\v")
_NAME_WORD = re.compile(r"[^\W\d_]{1,200}")
_EDGE = re.compile(r"(?:^|/)(?P<before>[^\S \t\r\n\f\v/]+)|(?P<after>[^\S \t\r\n\f\v/]+)(?=/|$)")
"""A blank that is no space, where a part of the name begins or ends."""

_SIGNS_ALIKE = frozenset("\u2024\u2044\u2215\u29f8\uff0e\uff0f")
"""They look like a full stop or a slash, and separate nothing."""


class HiddenCharacters(NamedTuple):
    """What one rule has found on a line or in a name."""

    rule: str
    characters: str
    """In their order."""
    hidden: str = ""
    """What they say where they are a text of their own."""


def name_hits(name: str) -> Iterator[HiddenCharacters]:
    """At most one hit of each rule."""
    if name.isascii() and name.isprintable():
        return
    tags = [match[0] for match in TAGS.finditer(name) if not match["flag"]]
    hidden = "".join(char for at, char in enumerate(name) if _hides(name, at, char))
    hidden += "".join(match["before"] or match["after"] for match in _EDGE.finditer(name)) + "".join(tags)
    if hidden:
        yield HiddenCharacters(HIDDEN, hidden, " ".join(map(tagged_text, tags)))
    if alike := "".join(_look_alikes(name)):
        yield HiddenCharacters(CONFUSABLE, alike)


def visual_form(name: str) -> str:
    """The name as it is seen: two names that people take for one have the same look."""
    shown = SUSPECT.sub("", unicodedata.normalize("NFKC", name))
    return in_latin(unicodedata.normalize("NFC", shown)).casefold()


def _hides(name: str, at: int, char: str) -> bool:
    if char in EMBEDDINGS or char in CONTROLS or char in SEPARATORS or char in _LINE_ENDS:
        return True
    return SUSPECT.match(char) is not None and is_out_of_place(name, at)


def _look_alikes(name: str) -> Iterator[str]:
    words = _NAME_WORD.findall(name)
    if not any(is_look_alike(word) == "other" for word in words):
        yield from (char for word in words if is_look_alike(word) == "mixed" for char in word if is_look_alike(char))
    # Titles in Chinese and Japanese have full-width signs.
    if not any(unicodedata.east_asian_width(char) == "W" for char in name):
        yield from (char for char in name if char in _SIGNS_ALIKE)


NAME = "hidden-text"
"""The tool, as cards and the table of its rules write it."""

_SHOWN = 8
"""Characters that a message names; a line may hold thousands."""

_SHOWN_TEXT = 300
"""Characters of a text that was hidden."""

_MARKUP = frozenset({UNKNOWN, "html", "xml", "vue", "svelte", "csv"})
"""Languages of files whose lines are mostly prose without quotes around it."""

_OBEYED = re.compile(r"[\x1b\x9b](?!\[(?:(?!8[;m])\d{1,3};?){0,20}m)")
"""A command to a terminal that does more than colour; 8 conceals. In prose and data other control characters are what a
conversion left."""

_NOT_UTF8 = "\ufffd"
"""What the bytes of a file that is no text were read as."""

_WORD = re.compile(r"[^\W\d]\w{0,200}")
_BOM = "\ufeff"


class HiddenText(RuleScan):
    """The tool `hidden-text`."""

    name = NAME

    def find_candidates(self, file: ChangedFile) -> Iterator[Candidate]:
        """As `LineScan.find_candidates`."""
        quotes = _open_quotes(_from_the_top(file)) if file.language == "python" else []
        for line in stoppable(added_lines(file)):
            open_quote = quotes[line.number - 1] if 0 < line.number <= len(quotes) else ""
            yield from self._on_line(file.path, line, file.language, open_quote)

    def candidates(self, path: str, lines: Iterable[ChangedLine], language: str) -> list[Candidate]:
        """What is hidden on each of some lines, whether they are of a file or of another text."""
        return [found for line in stoppable(lines) for found in self._on_line(path, line, language)]

    def _on_line(self, path: str, line: ChangedLine, language: str, open_quote: str = "") -> Iterator[Candidate]:
        for hit in hits(line, language, translation=is_translation(path), open_quote=open_quote):
            if self._rules[hit.rule].speaks_on(line.text, in_tests=place_of(path) != "product"):
                yield self._candidate(path, line, hit)

    def in_name(self, path: str, name: str, line: int) -> list[Candidate]:
        """What is hidden in the `name` of a file; `line` is where it is reported."""
        return [self._candidate(path, ChangedLine(line, name, added=True), hit) for hit in name_hits(name)]

    def like_another(self, path: str, other: str, line: int) -> Candidate:
        """Of a file whose name people take for that of another one."""
        found = self._candidate(path, ChangedLine(line, exact(path), added=True), HiddenCharacters(CONFUSABLE, ""))
        # In numbers: written out, the two would look the same once more.
        both = " and ".join(name.encode("ascii", "backslashreplace").decode() for name in (exact(path), exact(other)))
        return found.model_copy(update={"message": message_of(f"{self._rules[CONFUSABLE].message}: {both}")})

    def _candidate(self, path: str, line: ChangedLine, hit: HiddenCharacters) -> Candidate:
        rule = self._rules[hit.rule]
        names = list(dict.fromkeys(f"U+{ord(char):04X}" for char in hit.characters))
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        message = f"{rule.message}: {', '.join(names[:_SHOWN])}{more}"
        if hit.hidden:
            message = f'{message}. They spell "{escape_hidden(hit.hidden)[:_SHOWN_TEXT]}"'
        quote, token = quote_of(escape_hidden(line.text)), " ".join(line.text.split())
        return rule_candidate(rule, path, line, message, quote=quote, token=token)


def _from_the_top(file: ChangedFile) -> list[str]:
    """The lines of a file from the first one on, as far as they are known."""
    if file.head is not None:
        return file.head.split("\n")
    first = next(iter(new_side(file)), ())
    return [line.text for line in first] if first and first[0].number == 1 else []


def _open_quotes(lines: list[str]) -> list[str]:
    """For each line of Python the quotes of the text that is open where it begins, else "".

    `lines` begin at the top of the file: those of a change alone do not tell, and an author could mislead.
    """
    if all(line.isascii() for line in lines):
        return []
    quotes = [""]
    for line in lines:
        quotes.append(scan([line], quotes[-1]).quote)
    return quotes


def hits(
    line: ChangedLine, language: str, *, translation: bool = False, open_quote: str = ""
) -> Iterator[HiddenCharacters]:
    """What is hidden on one line, at most one hit of each rule.

    `translation`: the file holds texts for people; `open_quote`: the quotes of a text that an earlier line began.
    """
    text = line.text.removesuffix("\r")
    if line.number == 1:
        text = text.lstrip(_BOM)  # editors that do not see the mark write another one before it
    kind = kind_of(language)
    suspects = [match.start() for match in SUSPECT.finditer(text)]
    if suspects:
        translation = translation and kind != "code"
        yield from _turned(text, suspects, prose=kind != "code", translation=translation)
        yield from _smuggled(text)
        yield from _controls(text, suspects, prose=kind == "prose" or language in _MARKUP)
        if not (translation or kind == "prose" or language in _MARKUP):
            yield from _invisible(text, suspects, text_mask(text, language, open_quote=open_quote))
    if kind == "code" and language not in _MARKUP and not text.isascii():
        yield from _mixed(text, language, open_quote)


def _turned(text: str, suspects: list[int], *, prose: bool, translation: bool) -> Iterator[HiddenCharacters]:
    """Find what changes the order in which a text is shown."""
    controls = "".join(text[at] for at in suspects if text[at] in OVERRIDES or text[at] in EMBEDDINGS)
    rtl = holds_rtl(text)
    if not OVERRIDES.isdisjoint(controls):
        meant = translation and rtl and is_balanced(controls)
    elif rtl:
        # Such a text sets off names and numbers, and closes what it opens. In files of translations, which are edited
        # one message at a time, many a pair is cut in two.
        meant = translation or (prose and is_balanced(controls))
    else:
        meant = translation or LEFT_TO_RIGHT.issuperset(controls)
    if controls and not meant:
        yield HiddenCharacters("bidi-control", controls)


def _smuggled(text: str) -> Iterator[HiddenCharacters]:
    """Find a text in characters that no font shows."""
    characters, said = [], []
    for match in TAGS.finditer(text):
        if not match["flag"]:
            characters.append(match[0])
            said.append(tagged_text(match[0]))
    if characters:
        yield HiddenCharacters("hidden-text", "".join(characters), " ".join(said))


def _controls(text: str, suspects: list[int], *, prose: bool) -> Iterator[HiddenCharacters]:
    controls = "".join(text[at] for at in suspects if text[at] in CONTROLS)
    if controls and (not prose or (_OBEYED.search(text) and _NOT_UTF8 not in text)):
        yield HiddenCharacters("control-character", controls)
    separators = "".join(text[at] for at in suspects if text[at] in SEPARATORS)
    if separators:
        yield HiddenCharacters("line-separator", separators)


def _invisible(text: str, suspects: list[int], inside: bytearray) -> Iterator[HiddenCharacters]:
    """Find characters without a shape, apart from where a script or an emoji needs them."""
    code: list[str] = []
    said: list[str] = []
    for at in suspects:
        if is_out_of_place(text, at):
            (said if inside[at] else code).append(text[at])
    if code:
        yield HiddenCharacters("invisible-character", "".join(code))
    elif said:
        yield HiddenCharacters("invisible-in-text", "".join(said))


def _mixed(text: str, language: str, open_quote: str) -> Iterator[HiddenCharacters]:
    """Find names of Latin letters that some letters of another script only look like."""
    words = list(_WORD.finditer(text))
    if any(not word[0].isascii() and is_look_alike(word[0]) == "other" for word in words):
        return  # the line is written in that script
    inside: bytearray | None = None
    found = []
    for word in words:
        if word[0].isascii() or is_look_alike(word[0]) != "mixed":
            continue
        inside = inside or text_mask(text, language, open_quote=open_quote)
        if not inside[word.start()]:
            found += [char for char in word[0] if is_look_alike(char) == "alike"]
    if found:
        yield HiddenCharacters("mixed-script", "".join(found))
