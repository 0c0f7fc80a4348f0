"""Find calls that escape a value and that a change dropped: the value is put into a page as it is now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from reviewbot.analyzers.text.call_texts import TextCall, find_calls, without_calls
from reviewbot.analyzers.text.replaced_lines import NAME_OF_CODE, Block, Loss, ReplacedLines, plain
from reviewbot.diff.rows import Row
from reviewbot.tables import packaged_table, pattern_in

_MARKUP = frozenset({"html", "vue", "svelte", "mdx", "jsx", "tsx", "text"})
"""Languages that escape what they print by themselves; a name that is not known may be one of a template."""

_NEAR, _MANY = 3, 2
"""Lines around one on which a page may be put together. Escapes that a file may lose; with more they were moved."""

_MARKUP_TEXT = re.compile(
    r"""["'`][^"'`]{0,80}</?[a-zA-Z#]|innerHTML|[Hh]tml\(|html_safe|RawHtml|\.append\(|dialog\("""
)
_CALLED = re.compile(r"(?:[\w$@]+(?:\.|::|->|\?\.))*[\w$]+[?!]?(?=\s?\()")

_CONSTANT = re.compile(r"[\s\d\"'`]*|[\"'`][^#$\"'`]*[\"'`]|[A-Z][A-Z0-9_.]+")


@cache
def _escapes(language: str) -> re.Pattern[str]:
    names = pattern_in("names/safeguards", "escapes").pattern
    short = packaged_table("names/safeguards")["escapes_of"].get(language)
    return re.compile(f"(?i:{names})" + (f"|{short}" if short else ""))


def escapes_lost(sides: ReplacedLines, block: Block, removed: Row) -> Iterator[Loss]:
    """Yield an added line that holds the argument of an escaping call instead of the call."""
    names = _escapes(sides.language)
    found = [call for call in find_calls(removed.text, names) if call.first and not _CONSTANT.fullmatch(call.first)]
    if not found or _has_less_raw_output(sides):
        return
    bare = plain(without_calls(removed.text, found))
    before = _called(removed.text)
    for added in block.added:
        text = plain(added.text)
        bared = (call for call in found if plain(call.first) in text)
        lost = [call for call in bared if not _is_still_escaped(sides, call, added, names)]
        # A call that is new on the line may do the same, and so may what is called in its place.
        if lost and _called(added.text) < before and sides.is_alike(bare, text) and _is_put_as_it_is(sides, added.text):
            yield Loss(_rule_of_escape(sides, lost[0].name, added), removed, added, lost[0].first)


def _called(text: str) -> set[str]:
    return set(_CALLED.findall(text))


def _rule_of_escape(sides: ReplacedLines, name: str, added: Row) -> str:
    """By what is known of the place: on a page whose text is put together beside it, or anywhere."""
    # Around a line of PHP the page stands as it is: only its own line says where the value goes.
    reach = 0 if sides.language == "php" else _NEAR
    near = [row.text for row in sides.rows if row.new is not None and abs(row.new - (added.new or 0)) <= reach]
    many = sum(any(find_calls(row.text, _escapes(sides.language))) for row in sides.removed_rows) > _MANY
    page = re.search(r"(?i)url|uri|sanitiz|like|file|path|shell|sql", name) is None
    marked = _MARKUP_TEXT.search("\n".join(near)) is not None
    sure = page and marked and not many and sides.language not in _MARKUP
    return "escape-dropped" if sure else "escape-dropped-by-name"


def _is_still_escaped(sides: ReplacedLines, call: TextCall, added: Row, names: re.Pattern[str]) -> bool:
    """Whether the value is escaped elsewhere: on another added line, or where it is given its value."""
    last = {*NAME_OF_CODE.findall(call.first)[-1:], *NAME_OF_CODE.findall(added.text.partition("=")[0])[-1:]}
    if last & sides.names_in_calls(names):
        return True
    wanted = re.escape(call.first)
    given = re.compile(rf"(?<![\w.]){wanted}\s?(?:\|\|)?:?=(?!=)[^\n]{{0,200}}")
    return any(True for match in given.finditer(sides.head) for _ in find_calls(match[0], names))


def _is_put_as_it_is(sides: ReplacedLines, line: str) -> bool:
    """Whether nothing escapes the values of this line by itself."""
    by_itself = sides.language in _MARKUP or "{{" in line
    return not by_itself or pattern_in("names/safeguards", "raw_outputs").search(line) is not None


def _has_less_raw_output(sides: ReplacedLines) -> bool:
    words = pattern_in("names/safeguards", "raw_outputs")
    return len(words.findall(sides.added)) < len(words.findall(sides.removed))
