"""Report lines that a change rewrote without what protected them: an escape, bound values, a state-changing method.

Each check compares a removed line with an added one of the same place, in any language. Evidence of both sides is
needed: the added line does what the removed one did, without the one protection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice

from reviewbot.analyzers.core.changed_lines import ChangedLine
from reviewbot.analyzers.core.reports import RuleScan, rule_candidate
from reviewbot.analyzers.text.call_texts import find_calls
from reviewbot.analyzers.text.dropped_escapes import escapes_lost
from reviewbot.analyzers.text.replaced_lines import NAME_OF_CODE, Block, Loss, ReplacedLines, plain
from reviewbot.diff.language import kind_of
from reviewbot.diff.paths import is_test
from reviewbot.diff.rows import Row
from reviewbot.domain.contracts import Candidate
from reviewbot.domain.ports import ChangedFile
from reviewbot.tables import pattern_in
from reviewbot.threads import stoppable

NAME = "weakened-lines"

MAX_BLOCK = 60
"""Lines on either side of one replaced block: of more of them, nothing says which became which."""

_SQL_BOUND = re.compile(
    r"""["'`](?:[^"'`\\]|\\.){0,400}?(?:\?|\$\d|:[a-z_]{2,40}|%s|@[a-z_]{2,40})(?:[^"'`\\]|\\.){0,400}["'`]\s?"""
)
_BUILT = re.compile(
    r"""#\{|\$\{|["'`]\s?\+\s?\w|\w[\])]?\s?\+\s?["'`]|["']\s?\.\s?\$|\bf["']|["']\s?%\s?[\w(]|Sprintf|\.format\(|\$["']"""
)
_TEXT = re.compile(r"""\s?\[?(?:[fF$]{0,2}["'`]|fmt\.Sprintf\(|String\.format\()""")
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


class WeakenedLines(RuleScan):
    """The tool `weakened-lines`, a scan of plain lines."""

    name = NAME

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
    sides = ReplacedLines(file)
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


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 - a message stays on one line


# --- statements and command lines ---------------------------------------------------------------------------------


def _bound_values_lost(_: ReplacedLines, block: Block, removed: Row) -> Iterator[Loss]:
    """Yield a statement whose values were bound, and are a part of its text now."""
    for call in find_calls(removed.text, pattern_in("names/safeguards", "queries")):
        if len(call.arguments) < 2 or not _SQL_BOUND.match(call.first):  # noqa: PLR2004 - the text and a value
            continue
        names = set(NAME_OF_CODE.findall(" ".join(call.arguments[1:]))) - {"to_s", "self", "this", "params"}
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
            if not bound and _BUILT.search(text) and names & set(NAME_OF_CODE.findall(text)):
                yield Loss("bound-values-dropped", removed, added, call.name)


def _arguments_lost(_: ReplacedLines, block: Block, removed: Row) -> Iterator[Loss]:
    """Yield a program that was started with a list of arguments, and is started by a shell now."""
    for call in find_calls(removed.text, pattern_in("names/safeguards", "programs")):
        whole = call.arguments if len(call.arguments) > 1 else _list_elements(call.first)
        program = re.fullmatch(r"\s?[\"']([\w./-]{2,60})[\"']\s?", whole[0]) if len(whole) > 1 else None
        names = set(NAME_OF_CODE.findall(" ".join(re.sub(r"\"[^\"]*\"|'[^']*'", "", each) for each in whole[1:])))
        if program is None or not names:
            continue
        for added in block.added:
            text = added.text
            if (
                program[1] in text
                and pattern_in("names/safeguards", "shells").search(text)
                and names & set(NAME_OF_CODE.findall(text))
            ):
                yield Loss("argument-list-dropped", removed, added, program[1])


def _list_elements(text: str) -> Sequence[str]:
    """The elements of a list that is written down."""
    text = text.strip()
    return text[1:-1].split(",") if text[:1] == "[" and text[-1:] == "]" else ()


# --- pages, routes, comparisons -----------------------------------------------------------------------------------


def _raw_output(sides: ReplacedLines, block: Block, removed: Row) -> Iterator[Loss]:
    """Yield a value that was escaped when it was printed, and is put into the page as it is now."""
    before = plain(removed.text)
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
            then = plain(escaped.replace("VALUE", value))
            if then in before and sides.is_alike(before, plain(added.text.replace(match[0], then))):
                yield Loss("raw-output", removed, added, value)
        for safe, raw in _SETTERS:
            if safe in removed.text and raw in added.text and before == plain(added.text.replace(raw, safe)):
                value = added.text.partition(raw)[2]
                if not pattern_in("names/safeguards", "raw_values").search(value) and NAME_OF_CODE.search(
                    re.sub(r"\"[^\"]*\"|'[^']*'", "", value)
                ):
                    yield Loss("raw-output", removed, added, value)


_RAW_FORMS = (
    (_TRIPLE, "{{VALUE}}"),
    (_ERB_RAW, "<%= VALUE %>"),
    (_BLADE_RAW, "{{VALUE}}"),
    (_PIPE_RAW, "{{VALUE}}"),
)


def _route_opened(sides: ReplacedLines, block: Block, removed: Row) -> Iterator[Loss]:
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
    wanted = plain(removed.text[: match.start()] + get + removed.text[match.end() :])
    for added in block.added:
        if plain(added.text) == wanted:
            yield Loss("route-became-get", removed, added, verb)


def _comparison_lost(_: ReplacedLines, block: Block, removed: Row) -> Iterator[Loss]:
    """Yield a comparison of secrets in constant time that is a plain one now."""
    for call in find_calls(removed.text, pattern_in("names/safeguards", "comparisons")):
        sides = [NAME_OF_CODE.findall(each)[-1:] for each in call.arguments[:2]]
        for added in block.added:
            names = NAME_OF_CODE.findall(added.text)
            plain = re.search(r"(?<![=!<>])(?:===?|!==?)(?!=)|\.equals\(|\.eq\(|\bEqual\(", added.text)
            kept = all(side and side[0] in names for side in sides)
            if plain and kept and not any(find_calls(added.text, pattern_in("names/safeguards", "comparisons"))):
                yield Loss("plain-comparison", removed, added, call.name)


def _anchors_lost(sides: ReplacedLines, block: Block, removed: Row) -> Iterator[Loss]:
    """Yield a pattern of Ruby that held for a whole text, and holds for one of its lines now."""
    if sides.language != "ruby" or r"\A" not in removed.text or not re.search(r"\\[zZ]", removed.text):
        return
    loose = removed.text.replace(r"\A", "^").replace(r"\z", "$").replace(r"\Z", "$")
    for added in block.added:
        if plain(added.text) == plain(loose):
            yield Loss("anchors-loosened", removed, added)


# --- queries ------------------------------------------------------------------------------------------------------


def _owner_lost(sides: ReplacedLines, block: Block, removed: Row) -> Iterator[Loss]:
    """Yield a look-up that was bound to an owner beside an id, and is bound to the id alone now."""
    for match in _owned().finditer(removed.text):
        rest = removed.text[: match.start()] + removed.text[match.end() :]
        if not _LOOKUP.search(rest) or not _BY_ID.search(rest):
            continue
        bare = plain(rest)
        upto = plain(removed.text[: match.start()])
        for added in block.added:
            # In the text of a statement the argument for the mark goes as well.
            text = plain(added.text)
            ended = match["key"] is None and text.startswith((f"{upto}'", f"{upto}`"))
            if ended or text in {bare, bare.replace("(,", "("), bare.replace("{,", "{")}:
                key = NAME_OF_CODE.findall(match[0].partition("=")[0].partition(":")[0])[-1]
                if key not in sides.added:
                    yield Loss("owner-dropped", removed, added, key)


@cache
def _owned() -> re.Pattern[str]:
    """A condition on an owner: in the arguments of a query, or in its text."""
    key = pattern_in("names/safeguards", "owners").pattern
    pair = rf"""(?:,\s?)?["']?\b(?P<key>{key})["']?\s?(?::|=>|=)\s?[\w@.$\[\]:!?]+(?:\(\))?(?=\s?[,)}}])"""
    text = rf"""\sAND\s[\w."`]{{0,60}}\b(?:{key})["`]?\s?=\s?(?:\?|\$\d|[:@]\w+|%s)"""
    return re.compile(f"{pair}|{text}", re.IGNORECASE)


_Check = Callable[[ReplacedLines, Block, Row], Iterator[Loss]]
_CHECKS: tuple[_Check, ...] = (
    escapes_lost,
    _bound_values_lost,
    _arguments_lost,
    _raw_output,
    _route_opened,
    _comparison_lost,
    _anchors_lost,
    _owner_lost,
)
