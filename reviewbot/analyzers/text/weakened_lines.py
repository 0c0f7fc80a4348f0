"""Report lines that a change rewrote without what protected them: an escape, bound values, a state-changing method.

Each check compares a removed line with an added one of the same place, in any language. Evidence of both sides is
needed: the added line does what the removed one did, without the one protection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache, cached_property
from itertools import groupby, islice
from typing import NamedTuple

from reviewbot.analyzers.core.changed_lines import ChangedLine
from reviewbot.analyzers.core.reports import LineScan, rule_candidate
from reviewbot.analyzers.core.rules import Rule
from reviewbot.analyzers.text.call_texts import Call, find_calls, without_calls
from reviewbot.diff.language import kind_of
from reviewbot.diff.paths import is_test
from reviewbot.diff.rows import Row, hunk_rows
from reviewbot.domain.contracts import Candidate
from reviewbot.domain.ports import ChangedFile
from reviewbot.tables import packaged_table, pattern_in
from reviewbot.threads import stoppable

NAME = "weakened-lines"

MAX_LINE = 600
"""Characters; a longer line is generated."""

MAX_BLOCK = 60
"""Lines on either side of one replaced block: of more of them, nothing says which became which."""

MAX_COMPARED = 1_000
"""Pairs of lines of one file that are compared letter by letter."""

MIN_ALIKE = 0.7
"""How much an added line must be like the removed one without its protection, 0 to 1."""

_MARKUP = frozenset({"html", "vue", "svelte", "mdx", "jsx", "tsx", "text"})
"""Languages that escape what they print by themselves; a name that is not known may be one of a template."""

_NEAR, _MANY = 3, 2
"""Lines around one on which a page may be put together. Escapes that a file may lose; with more they were moved."""

_MARKUP_TEXT = re.compile(
    r"""["'`][^"'`]{0,80}</?[a-zA-Z#]|innerHTML|[Hh]tml\(|html_safe|RawHtml|\.append\(|dialog\("""
)
_CALLED = re.compile(r"(?:[\w$@]+(?:\.|::|->|\?\.))*[\w$]+[?!]?(?=\s?\()")

_CONSTANT = re.compile(r"[\s\d\"'`]*|[\"'`][^#$\"'`]*[\"'`]|[A-Z][A-Z0-9_.]+")
_SQL_BOUND = re.compile(
    r"""["'`](?:[^"'`\\]|\\.){0,400}?(?:\?|\$\d|:[a-z_]{2,40}|%s|@[a-z_]{2,40})(?:[^"'`\\]|\\.){0,400}["'`]\s?"""
)
_BUILT = re.compile(
    r"""#\{|\$\{|["'`]\s?\+\s?\w|\w[\])]?\s?\+\s?["'`]|["']\s?\.\s?\$|\bf["']|["']\s?%\s?[\w(]|Sprintf|\.format\(|\$["']"""
)
_TEXT = re.compile(r"""\s?\[?(?:[fF$]{0,2}["'`]|fmt\.Sprintf\(|String\.format\()""")
_NAME = re.compile(r"[A-Za-z_]\w*")
_VERB = re.compile(r"(?<![\w])(post|put|patch|delete)(?=[ (]\s?:?[\"'/\w])|\b(Post|Put|Patch|Delete)(?=Mapping\b)|(?<=\.)(POST|PUT|PATCH|DELETE)(?=\()|(?<=[\"'])(POST|PUT|PATCH|DELETE)(?=[\"'])")  # fmt: skip  # noqa: E501 - one expression
_ROUTES = re.compile(r"(?:^|/)(?:routes?|routers?|urls?|controllers?|handlers?|api|server|endpoints?)(?:[./_-]|$)|\.(?:java|kt|php|go|cs)$", re.IGNORECASE)  # fmt: skip  # noqa: E501 - as above
_TRIPLE = re.compile(r"\{\{\{\s?(.{1,200}?)\s?\}\}\}")
_ERB_RAW = re.compile(r"<%==\s?(.{1,200}?)\s?%>|<%=\s?raw[ (]\s?(.{1,200}?)\)?\s?%>|<%=\s?(.{1,200}?)\.html_safe\s?%>")
_BLADE_RAW = re.compile(r"\{!!\s?(.{1,200}?)\s?!!\}")
_PIPE_RAW = re.compile(r"\{\{-?\s?(.{1,200}?)\s?\|\s?(?:safe|raw)\s?-?\}\}")
_LOOKUP = re.compile(
    r"(?i)\b(?:where|find\w*|first\w*|get\w*|filter\w*|exists\w*|update\w*|delete\w*|select\w*|query\w*|from)\b"
)
_BY_ID = re.compile(r"(?i)['\"(\[{,. ](?:id|ids|_id|uuid|pk|slug|token|public_id)['\"]?\s?(?::|=)")
_SETTERS = (("textContent", "innerHTML"), ("innerText", "innerHTML"), (".text(", ".html("), ("v-text", "v-html"))


class Block(NamedTuple):
    """Removed lines and the added ones in their place."""

    removed: tuple[Row, ...]
    added: tuple[Row, ...]


class Loss(NamedTuple):
    """What a line has lost: the rule, the removed and the added row, and what to say."""

    rule: str
    removed: Row
    added: Row
    what: str = ""
    """What the message names."""


class WeakenedLines(LineScan):
    """The tool `weakened-lines`, a scan of plain lines."""

    name = NAME

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        """`rules` by code, as the table `weakened_lines` has them."""
        self._rules = rules

    def find_candidates(self, file: ChangedFile) -> Iterator[Candidate]:
        """As `LineScan.find_candidates`."""
        if kind_of(file.language) == "prose":
            return
        for loss in _distinct(losses(file)):
            rule = self._rules[loss.rule]
            if rule.speaks_on(loss.added.text, in_tests=is_test(file.path)):
                line = ChangedLine(loss.added.new or 0, loss.added.text, added=True)
                message = rule.message.replace("{}", _short(loss.what))
                yield rule_candidate(rule, file.path, line, message)


def losses(file: ChangedFile) -> Iterator[Loss]:
    """Yield what the added lines of a file have lost."""
    sides = _File(file)
    for block in stoppable(sides.blocks):
        if block.removed and block.added and max(map(len, block)) <= MAX_BLOCK:
            for removed in block.removed:
                for check in _CHECKS:
                    yield from islice(check(sides, block, removed), 1)


def _distinct(found: Iterator[Loss]) -> Iterator[Loss]:
    seen: set[tuple[str, int | None]] = set()
    for loss in found:
        if (loss.rule, loss.added.new) not in seen:
            seen.add((loss.rule, loss.added.new))
            yield loss


class _File:
    """The blocks of a file, and what all of its lines say."""

    def __init__(self, file: ChangedFile) -> None:
        self.language, self.path = file.language, file.path
        self._head = file.head or ""
        self._compared = 0
        hunks = [list(hunk_rows(hunk)) for hunk in file.hunks]
        self.rows = [row for rows in hunks for row in rows]
        self.blocks = [block for rows in hunks for block in _blocks(rows)]

    @cached_property
    def added(self) -> str:
        """All added lines."""
        return "\n".join(row.text for block in self.blocks for row in block.added)

    @cached_property
    def removed_rows(self) -> list[Row]:
        """All removed lines."""
        return [row for block in self.blocks for row in block.removed]

    @cached_property
    def removed(self) -> str:
        """The text of all removed lines."""
        return "\n".join(row.text for row in self.removed_rows)

    @cached_property
    def escaped_names(self) -> frozenset[str]:
        """The names in the arguments of escaping calls on added lines."""
        found = (each for call in find_calls(self.added, _escapes(self.language)) for each in call.arguments)
        return frozenset(name for each in found for name in _NAME.findall(each))

    def is_alike(self, one: str, other: str) -> bool:
        """Whether two lines without their white space are alike; after `MAX_COMPARED` calls, whether the same."""
        if one == other or self._compared >= MAX_COMPARED:
            return one == other
        self._compared += 1
        matcher = SequenceMatcher(None, one, other, autojunk=False)
        return matcher.quick_ratio() >= MIN_ALIKE and matcher.ratio() >= MIN_ALIKE

    @property
    def head(self) -> str:
        """The new side, as far as it is at hand."""
        return self._head or self.added


def _blocks(rows: Sequence[Row]) -> Iterator[Block]:
    for context, run in groupby(rows, lambda row: row.kind == " "):
        if not context:
            changed = list(run)
            short = [row for row in changed if len(row.text) <= MAX_LINE]
            yield Block(*(tuple(row for row in short if row.kind == kind) for kind in "-+"))


@cache
def _escapes(language: str) -> re.Pattern[str]:
    names = pattern_in("names/safeguards", "escapes").pattern
    short = packaged_table("names/safeguards")["escapes_of"].get(language)
    return re.compile(f"(?i:{names})" + (f"|{short}" if short else ""))


def _plain(text: str) -> str:
    """A line without white space, with one kind of quotes."""
    return "".join(text.split()).replace('"', "'").rstrip(";,")


# --- escapes ------------------------------------------------------------------------------------------------------


def _escapes_lost(sides: _File, block: Block, removed: Row) -> Iterator[Loss]:
    """Yield an added line that holds the argument of an escaping call instead of the call."""
    names = _escapes(sides.language)
    found = [call for call in find_calls(removed.text, names) if call.first and not _CONSTANT.fullmatch(call.first)]
    if not found or _has_less_raw_output(sides):
        return
    bare = _plain(without_calls(removed.text, found))
    before = _called(removed.text)
    for added in block.added:
        text = _plain(added.text)
        bared = (call for call in found if _plain(call.first) in text)
        lost = [call for call in bared if not _is_still_escaped(sides, call, added, names)]
        # A call that is new on the line may do the same, and so may what is called in its place.
        if lost and _called(added.text) < before and sides.is_alike(bare, text) and _is_put_as_it_is(sides, added.text):
            yield Loss(_rule_of_escape(sides, lost[0].name, added), removed, added, lost[0].first)


def _called(text: str) -> set[str]:
    return set(_CALLED.findall(text))


def _rule_of_escape(sides: _File, name: str, added: Row) -> str:
    """By what is known of the place: on a page whose text is put together beside it, or anywhere."""
    # Around a line of PHP the page stands as it is: only its own line says where the value goes.
    reach = 0 if sides.language == "php" else _NEAR
    near = [row.text for row in sides.rows if row.new is not None and abs(row.new - (added.new or 0)) <= reach]
    many = sum(any(find_calls(row.text, _escapes(sides.language))) for row in sides.removed_rows) > _MANY
    page = re.search(r"(?i)url|uri|sanitiz|like|file|path|shell|sql", name) is None
    marked = _MARKUP_TEXT.search("\n".join(near)) is not None
    sure = page and marked and not many and sides.language not in _MARKUP
    return "escape-dropped" if sure else "escape-dropped-by-name"


def _is_still_escaped(sides: _File, call: Call, added: Row, names: re.Pattern[str]) -> bool:
    """Whether the value is escaped elsewhere: on another added line, or where it is given its value."""
    last = {*_NAME.findall(call.first)[-1:], *_NAME.findall(added.text.partition("=")[0])[-1:]}
    if last & sides.escaped_names:
        return True
    wanted = re.escape(call.first)
    given = re.compile(rf"(?<![\w.]){wanted}\s?(?:\|\|)?:?=(?!=)[^\n]{{0,200}}")
    return any(True for match in given.finditer(sides.head) for _ in find_calls(match[0], names))


def _is_put_as_it_is(sides: _File, line: str) -> bool:
    """Whether nothing escapes the values of this line by itself."""
    by_itself = sides.language in _MARKUP or "{{" in line
    return not by_itself or pattern_in("names/safeguards", "raw_outputs").search(line) is not None


def _has_less_raw_output(sides: _File) -> bool:
    words = pattern_in("names/safeguards", "raw_outputs")
    return len(words.findall(sides.added)) < len(words.findall(sides.removed))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - a message stays on one line


# --- statements and command lines ---------------------------------------------------------------------------------


def _bound_values_lost(_: _File, block: Block, removed: Row) -> Iterator[Loss]:
    """Yield a statement whose values were bound, and are a part of its text now."""
    for call in find_calls(removed.text, pattern_in("names/safeguards", "queries")):
        if len(call.arguments) < 2 or not _SQL_BOUND.match(call.first):  # noqa: PLR2004 - the text and a value
            continue
        names = set(_NAME.findall(" ".join(call.arguments[1:]))) - {"to_s", "self", "this", "params"}
        for added in block.added:
            now = next(
                (
                    each
                    for each in find_calls(added.text, pattern_in("names/safeguards", "queries"))
                    if each.name == call.name
                ),
                None,
            )
            text = now.first if now is not None else ""
            bound = len(now.arguments) >= len(call.arguments) if now is not None else True
            bound = bound or not _TEXT.match(text) or _SQL_BOUND.match(text.lstrip("[")) is not None
            if not bound and _BUILT.search(text) and names & set(_NAME.findall(text)):
                yield Loss("bound-values-dropped", removed, added, call.name)


def _arguments_lost(_: _File, block: Block, removed: Row) -> Iterator[Loss]:
    """Yield a program that was started with a list of arguments, and is started by a shell now."""
    for call in find_calls(removed.text, pattern_in("names/safeguards", "programs")):
        whole = call.arguments if len(call.arguments) > 1 else _listed(call.first)
        program = re.fullmatch(r"\s?[\"']([\w./-]{2,60})[\"']\s?", whole[0]) if len(whole) > 1 else None
        names = set(_NAME.findall(" ".join(re.sub(r"\"[^\"]*\"|'[^']*'", "", each) for each in whole[1:])))
        if program is None or not names:
            continue
        for added in block.added:
            text = added.text
            if (
                program[1] in text
                and pattern_in("names/safeguards", "shells").search(text)
                and names & set(_NAME.findall(text))
            ):
                yield Loss("argument-list-dropped", removed, added, program[1])


def _listed(text: str) -> Sequence[str]:
    """The elements of a list that is written down."""
    text = text.strip()
    return text[1:-1].split(",") if text[:1] == "[" and text[-1:] == "]" else ()


# --- pages, routes, comparisons -----------------------------------------------------------------------------------


def _raw_output(sides: _File, block: Block, removed: Row) -> Iterator[Loss]:
    """Yield a value that was escaped when it was printed, and is put into the page as it is now."""
    before = _plain(removed.text)
    for added in block.added:
        for pattern, escaped in _RAW_FORMS:
            match = pattern.search(added.text)
            value = next((each for each in match.groups() if each), "") if match else ""
            if (
                match is None
                or not value
                or pattern_in("names/safeguards", "raw_values").search(value)
                or match[0] in removed.text
            ):
                continue
            then = _plain(escaped.replace("VALUE", value))
            if then in before and sides.is_alike(before, _plain(added.text.replace(match[0], then))):
                yield Loss("raw-output", removed, added, value)
        for safe, raw in _SETTERS:
            if safe in removed.text and raw in added.text and before == _plain(added.text.replace(raw, safe)):
                value = added.text.partition(raw)[2]
                if not pattern_in("names/safeguards", "raw_values").search(value) and _NAME.search(
                    re.sub(r"\"[^\"]*\"|'[^']*'", "", value)
                ):
                    yield Loss("raw-output", removed, added, value)


_RAW_FORMS = (
    (_TRIPLE, "{{VALUE}}"),
    (_ERB_RAW, "<%= VALUE %>"),
    (_BLADE_RAW, "{{VALUE}}"),
    (_PIPE_RAW, "{{VALUE}}"),
)


def _route_opened(sides: _File, block: Block, removed: Row) -> Iterator[Loss]:
    """Yield a route that changes something, and answers to GET now."""
    match = _VERB.search(removed.text)
    if (
        match is None
        or not _ROUTES.search(sides.path)
        or not pattern_in("names/safeguards", "changing").search(removed.text[match.end() :])
    ):
        return
    verb = match[0]
    get = "GET" if verb.isupper() else "Get" if verb[0].isupper() else "get"
    wanted = _plain(removed.text[: match.start()] + get + removed.text[match.end() :])
    for added in block.added:
        if _plain(added.text) == wanted:
            yield Loss("route-became-get", removed, added, verb)


def _comparison_lost(_: _File, block: Block, removed: Row) -> Iterator[Loss]:
    """Yield a comparison of secrets in constant time that is a plain one now."""
    for call in find_calls(removed.text, pattern_in("names/safeguards", "comparisons")):
        sides = [_NAME.findall(each)[-1:] for each in call.arguments[:2]]
        for added in block.added:
            names = _NAME.findall(added.text)
            plain = re.search(r"(?<![=!<>])(?:===?|!==?)(?!=)|\.equals\(|\.eq\(|\bEqual\(", added.text)
            kept = all(side and side[0] in names for side in sides)
            if plain and kept and not any(find_calls(added.text, pattern_in("names/safeguards", "comparisons"))):
                yield Loss("plain-comparison", removed, added, call.name)


def _anchors_lost(sides: _File, block: Block, removed: Row) -> Iterator[Loss]:
    """Yield a pattern of Ruby that held for a whole text, and holds for one of its lines now."""
    if sides.language != "ruby" or r"\A" not in removed.text or not re.search(r"\\[zZ]", removed.text):
        return
    loose = removed.text.replace(r"\A", "^").replace(r"\z", "$").replace(r"\Z", "$")
    for added in block.added:
        if _plain(added.text) == _plain(loose):
            yield Loss("anchors-loosened", removed, added)


# --- queries ------------------------------------------------------------------------------------------------------


def _owner_lost(sides: _File, block: Block, removed: Row) -> Iterator[Loss]:
    """Yield a look-up that was bound to an owner beside an id, and is bound to the id alone now."""
    for match in _owned().finditer(removed.text):
        rest = removed.text[: match.start()] + removed.text[match.end() :]
        if not _LOOKUP.search(rest) or not _BY_ID.search(rest):
            continue
        bare = _plain(rest)
        upto = _plain(removed.text[: match.start()])
        for added in block.added:
            # In the text of a statement the argument for the mark goes as well.
            text = _plain(added.text)
            ended = match["key"] is None and text.startswith((f"{upto}'", f"{upto}`"))
            if ended or text in {bare, bare.replace("(,", "("), bare.replace("{,", "{")}:
                key = _NAME.findall(match[0].partition("=")[0].partition(":")[0])[-1]
                if key not in sides.added:
                    yield Loss("owner-dropped", removed, added, key)


@cache
def _owned() -> re.Pattern[str]:
    """A condition on an owner: in the arguments of a query, or in its text."""
    key = pattern_in("names/safeguards", "owners").pattern
    pair = rf"""(?:,\s?)?["']?\b(?P<key>{key})["']?\s?(?::|=>|=)\s?[\w@.$\[\]:!?]+(?:\(\))?(?=\s?[,)}}])"""
    text = rf"""\sAND\s[\w."`]{{0,60}}\b(?:{key})["`]?\s?=\s?(?:\?|\$\d|[:@]\w+|%s)"""
    return re.compile(f"{pair}|{text}", re.IGNORECASE)


_Check = Callable[[_File, Block, Row], Iterator[Loss]]
_CHECKS: tuple[_Check, ...] = (
    _escapes_lost,
    _bound_values_lost,
    _arguments_lost,
    _raw_output,
    _route_opened,
    _comparison_lost,
    _anchors_lost,
    _owner_lost,
)
