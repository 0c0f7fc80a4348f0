"""Find routes and tables that a change took away or renamed while other code of the tree still asks for them.

Certain alone: the whole text is declared on a removed line and nowhere else, and a line that the change leaves alone
names it where a request or a statement does. What declares and names a text stands in
`reviewbot/data/declared_texts.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from reviewbot.analyzers.both_sides.sides import SideFinding
from reviewbot.analyzers.patterns.languages import TABLES
from reviewbot.diff.language import language_of
from reviewbot.diff.paths import is_example, is_test
from reviewbot.diff.rows import Row, hunk_rows
from reviewbot.domain.ports import ChangedFile, Occurrence, Snapshot
from reviewbot.tables import packaged_table

MAX_TEXTS = 20
"""Texts of one file that are looked for; with more of them the file was written anew."""

MAX_FOUND = 200
"""Lines with the last word of a text; more of them are about unrelated things."""

MAX_PARAMETERS = 5
"""Of one route."""

MAX_LINE = 1_000
"""Characters of a line that is looked at; a longer one is generated."""

SHOWN = 3
"""Places that a message names."""

_ASIDE = re.compile(
    r"(?:^|/)(?:migrat\w*|migrations?|versions|docs?|fixtures|seeds?|mocks?|__mocks__|stories)/|\.md$|\bmock",
    re.IGNORECASE,
)
"""Paths of what describes a former state, or stands for a server of its own."""

_COMMENT = re.compile(r"\s*(?://|#|\*|--|<!--)")


def stale_texts(file: ChangedFile, snapshot: Snapshot) -> Iterator[SideFinding]:
    """Yield texts that a file declares no more while another one still names them. Blocks."""
    if file.base is None or file.head is None or is_test(file.path) or _ASIDE.search(file.path):
        return
    removed = [row for hunk in file.hunks for row in hunk_rows(hunk) if row.kind == "-" and len(row.text) <= MAX_LINE]
    for rule, words in packaged_table("declared_texts").items():
        gone = dict(_gone(file, removed, words))
        for text, row in gone.items() if len(gone) <= MAX_TEXTS else ():
            places = list(_uses(file, text, words, snapshot))
            if places:
                more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
                message = f"{words['message'].replace('TEXT', text)} {', '.join(places[:SHOWN])}{more}"
                yield SideFinding(rule, message, (row.old or 0, row.old or 0))


def _gone(file: ChangedFile, removed: list[Row], words: Mapping[str, Any]) -> Iterator[tuple[str, Row]]:
    for row in removed:
        for text in _declared(file.language, row.text, words):
            if not re.search(rf"[\"'`:]{re.escape(text)}(?![\w/])", file.head or ""):
                yield text, row


def _declared(language: str, line: str, words: Mapping[str, Any]) -> list[str]:
    pattern = words["declares"].get(TABLES.get(language, language).removeprefix("patterns_"))
    return [next(filter(None, match.groups())) for match in re.finditer(pattern, line)] if pattern else []


def _uses(file: ChangedFile, text: str, words: Mapping[str, Any], snapshot: Snapshot) -> Iterator[str]:
    """Yield the places that name a text, as `path:line`; none where another file declares it, or may."""
    fixed = re.split(words.get("parameter", "(?!)"), text)
    named = re.findall(r"\w{3,}", " ".join(fixed))
    found = snapshot.search(named[-1], MAX_FOUND) if named and len(fixed) <= MAX_PARAMETERS + 1 else None
    lines = [each for each in found or () if fixed[0] in each.text and len(each.text) <= MAX_LINE]
    if not found or len(found) >= MAX_FOUND or any(_is_declared(fixed, each, words) for each in lines):
        return
    spelled = words.get("value", "").join(map(re.escape, fixed))
    wanted = re.compile(words["uses"].replace("TEXT", spelled))
    for each in lines:
        aside = each.path == file.path or is_test(each.path) or is_example(each.path) or _ASIDE.search(each.path)
        aside = aside or _COMMENT.match(each.text)
        # What the change itself wrote is no former form.
        if not aside and wanted.search(each.text) and each.text in (snapshot.base(each.path) or ""):
            yield f"{each.path}:{each.line}"


def _is_declared(fixed: list[str], line: Occurrence, words: Mapping[str, Any]) -> bool:
    """Whether a line declares a text with these parts between its parameters, whatever those are called."""
    declared = _declared(language_of(line.path), line.text, words)
    return any(re.split(words.get("parameter", "(?!)"), each) == fixed for each in declared)
