"""Route files to the workers whose models read them, where a model costs something: by language, path, size, content.

    logic        all code, tests too: a wrong test hides a wrong change, and no other worker reads tests
    security     code and configuration that are no tests
    performance  code that is no test and has an added line that may cost something (a loop, a query, a request ...)
    style        what a rule of the repository is written for
    others       whatever their card is for: the author of the card wants them asked

A plain change (documents only; one small file of low risk, with its tests and documents) has one
reader. A file that these rules give to no worker goes to the first worker whose card is for it: every readable file has
one reader at least. The programs of a worker that does not read a file run on it all the same, so that none of this is
a gap.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from reviewbot.domain.contracts import FileChange, WorkerCard
from reviewbot.review.plan.triage import RISKY_NAME

FIRST_READERS = ("logic", "security", "style", "performance")
"""The reader of a file that the rules give to no worker: the first of these whose card is for the file."""

SMALL_LINES = 60
"""Added and removed lines up to which one file of low risk is a plain change; a screenful."""

TEST = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__|fixtures)/|(?:^|/)test_|(?:^|/)conftest\.py$|_test\.|\.spec\.|\.test\.",
    re.IGNORECASE,
)
"""Unlike what `triage` takes for one, an example is no test: people copy it, with its holes."""

LINE_WIDTH = 300
"""Columns of a line that the patterns below look at, so that their work is bounded."""

COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|;|<!--)")
"""How a line begins that is a remark in one language or another."""

MAY_COST = re.compile(
    r"\bfor\b.+\bin\b|\bfor(?:each)?\s*\(|^\s*(?:while|loop|for|until|repeat)\b|\bwhile\s*\("
    r"|\.(?:map|each|forEach|flatMap|filter|reduce|sort|sorted|collect)\b|\bsorted\("
    r"|\basync\b|\bawait\b|\bgo\s+func|\bthread|\bPromise\b|\bsleep\b|\block\b|\bmutex\b"
    r"|\bselect\b.+\bfrom\b|\bjoin\b|\b(?:insert\s+into|delete\s+from)\b|\bupdate\b.+\bset\b|\bindex\b"
    r"|\.(?:query|execute|executemany|objects|find|find_all|findAll|findMany|where|all|get|load|fetch\w*|commit|save)\("
    r"|\brequests?\.|\bhttpx?\b|\bfetch\(|\baxios\b|\burlopen\b|\bsubprocess\b|\bpopen\b"
    r"|\bcache|\bmemo|\blru_|\bre\.compile\b|\bRegExp\b|\bopen\(|\.read(?:lines|all)?\(|\bglob\(|\bdeepcopy\b|\bclone\(",
    re.IGNORECASE,
)
"""An added line with such a word may cost something; performance looks whether it does."""

MAY_HURT = re.compile(
    r"exec|eval\(|system\(|subprocess|popen|shell|passw|secret|token|api_?key|crypt|\bhash|md5|sha1|jwt|auth|permission"
    r"|\badmin|\brole|\bsql\b|\bselect\s|query|cursor|request\.|params|cookie|session|redirect|https?:|\bopen\(|upload"
    r"|download|pickle|yaml\.load|deseriali|innerhtml|verify|\bcert|\bssl|\btls|cors|csrf|random|chmod|\bsudo|environ",
    re.IGNORECASE,
)
"""A file with such a word in an added or removed line is not of low risk, however short the change."""

HasConventions = Callable[[str], bool]
"""Whether rules of the repository are written for a path."""


class Readers(NamedTuple):
    """The cards that are for a file: those whose model reads it, and those that only run their programs on it."""

    models: tuple[WorkerCard, ...]
    programs: tuple[WorkerCard, ...]


def route(file: FileChange, able: Sequence[WorkerCard], has_conventions: HasConventions, *, plain: bool) -> Readers:
    """The readers of a file of a change. `able` are the cards that are for it; `plain` as `is_plain` says."""
    wanted = [card for card in able if _wanted(card.name, file, has_conventions, plain=plain)]
    if not any(card.name in FIRST_READERS for card in wanted):
        by_name = {card.name: card for card in able}
        first = next((by_name[name] for name in FIRST_READERS if name in by_name), None)
        wanted += [] if first is None else [first]
    models = tuple(card for card in able if card in wanted)
    return Readers(models, tuple(card for card in able if card not in wanted))


def is_plain(read: Sequence[FileChange]) -> bool:
    """Whether one reader is enough for a change: documents only, or one small file of low risk beside its tests."""
    if all(file.kind == "prose" for file in read):
        return True
    [first, *others] = [file for file in read if file.kind != "prose" and not is_test(file.path)] or read
    return (
        not others
        and first.added + first.removed <= SMALL_LINES
        and RISKY_NAME.search(first.path) is None
        and not any(MAY_HURT.search(line) for line in _lines(first, "+-"))
    )


def is_test(path: str) -> bool:
    """Whether a file is a test or a fixture, by its name."""
    return TEST.search(path) is not None


def may_cost(file: FileChange) -> bool:
    """Whether some added line holds a loop, a query, a request or the like."""
    return any(COMMENT.match(line) is None and MAY_COST.search(line) for line in _lines(file, "+"))


def unread_note(found: Iterable[tuple[FileChange, Readers]]) -> str:
    """How many files each worker's model is spared, in words for the plan's reason; empty where all read everything."""
    spared = Counter(card.name for _, readers in found for card in readers.programs)
    counts = ", ".join(f"{name} {count}" for name, count in sorted(spared.items()))
    return f"; files where only the programs of a worker run: {counts}" if counts else ""


def _wanted(name: str, file: FileChange, has_conventions: HasConventions, *, plain: bool) -> bool:
    if name not in FIRST_READERS:
        return True
    if name == "style":
        return not plain and has_conventions(file.path)
    if name == "logic":
        return file.kind == "code"
    if plain or is_test(file.path):
        return False
    return file.kind in ("code", "config") if name == "security" else file.kind == "code" and may_cost(file)


def _lines(file: FileChange, marks: str) -> Iterator[str]:
    for hunk in file.hunks:
        for line in hunk.body.split("\n"):
            if line[:1] and line[0] in marks:
                yield line[1 : 1 + LINE_WIDTH]
