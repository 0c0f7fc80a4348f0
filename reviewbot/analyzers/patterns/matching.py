"""Find the patterns of a language in one text: parse it once, and run the queries whose words stand in it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from reviewbot.analyzers.core.rules import Rule
from reviewbot.analyzers.patterns.languages import Syntax
from reviewbot.analyzers.patterns.predicates import MAX_NODE, Conditions
from reviewbot.analyzers.patterns.trees import MAX_SECONDS, check_time, parse
from reviewbot.analyzers.python.views import Budget, OutOfSteps

if TYPE_CHECKING:
    from tree_sitter import Node, Query, Tree

MAX_HITS = 200
"""Of one rule in one text."""

_STEPS = 1_000_000
"""Of the predicates of all rules on one text."""

_MATCH_LIMIT = 1_000
"""Matches that a query may hold unfinished; those of the tables hold a few dozen."""

_ERRORS = "[(ERROR) (MISSING)] @hit"


class Text(NamedTuple):
    """What to look at: a whole file or a hunk, and the 1-based rows of it that count, in order."""

    text: str
    rows: Sequence[int]
    whole: bool


class Hit(NamedTuple):
    """A match of a rule: its first and last row, and its text, cut."""

    rule: str
    row: int
    end_row: int
    text: str
    in_test: bool
    """It stands in a test of the file's own."""


class Matches(NamedTuple):
    """What was found in a text, and whether that is all there is to find."""

    hits: tuple[Hit, ...]
    parsed: bool
    """The grammar made sense of all rows that count."""
    stopped: bool = False
    """It took too long, or a query held more matches open than it may: some were not looked at."""


def find(text: Text, language: str, syntax: Syntax, rules: Iterable[Rule], tree: Tree | None = None) -> Matches:
    """The hits of rules that touch the rows that count; of a `tree` where it is parsed. Takes `MAX_SECONDS` at most."""
    hits: list[Hit] = []
    try:
        search = _Search(text, language, syntax, tree)
        for rule in rules:
            if _is_for(rule, language, text):
                hits += search.hits(rule)
        parsed = search.is_read_to_its_end() and not search.nodes(_ERRORS) and not search.cut
    except OutOfSteps:
        return Matches(tuple(hits), parsed=False, stopped=True)
    return Matches(tuple(hits), parsed, stopped=search.cut)


class _Search:
    """One parsed text. Its methods raise OutOfSteps, and Stopped where the result is not waited for any more."""

    def __init__(self, text: Text, language: str, syntax: Syntax, tree: Tree | None) -> None:
        self._text, self._language, self._syntax = text, language, syntax
        self.cut = False
        """A query met more unfinished matches than `_MATCH_LIMIT`, and dropped some."""
        self._until = time.thread_time() + MAX_SECONDS
        self._source = text.text.encode("utf-8", "replace")
        if tree is None:
            tree = parse(self._source, syntax.grammar(language, whole=text.whole), partial(check_time, self._until))
        self._root = tree.root_node
        self._conditions = Conditions(self._source, self._root, syntax, _TimedBudget(_STEPS, self._until))

    def is_read_to_its_end(self) -> bool:
        """Whether the tree has all of the text: the grammar of Kotlin ends at a control character, and says nothing."""
        last = self._root.child(self._root.child_count - 1) if self._root.child_count else None
        return not self._source[last.end_byte if last else 0 :].strip()

    def hits(self, rule: Rule) -> list[Hit]:
        """Where a rule matches."""
        found = self.nodes(rule.query)[:MAX_HITS]
        return [self._hit(rule, node) for node in found if not node.has_error]

    def nodes(self, query: str) -> list[Node]:
        """The nodes captured as @hit that touch a row that counts."""
        from tree_sitter import QueryCursor  # noqa: PLC0415 - as above

        cursor = QueryCursor(self._compiled(query), match_limit=_MATCH_LIMIT)
        cursor.set_point_range((self._text.rows[0] - 1, 0), (self._text.rows[-1], 0))
        # With a progress callback the binding (0.26.1) crashes at a match, so the clock is looked at between queries.
        check_time(self._until)
        matches = cursor.matches(self._root, self._conditions)
        self._conditions.check()
        self.cut = self.cut or cursor.did_exceed_match_limit
        wanted = set(self._text.rows)
        nodes = {node.id: node for _, captures in matches for node in captures["hit"]}.values()
        return [node for node in nodes if not wanted.isdisjoint(_rows(node))]

    def _compiled(self, query: str) -> Query:
        return self._syntax.query(self._language, query, whole=self._text.whole)

    def _hit(self, rule: Rule, node: Node) -> Hit:
        rows = _rows(node)
        text = self._source[node.start_byte : min(node.end_byte, node.start_byte + MAX_NODE)]
        in_test = self._conditions.is_in_test(node)
        return Hit(rule.code, rows[0], rows[-1], text.decode("utf-8", "replace"), in_test)


class _TimedBudget(Budget):
    """Steps with a bound on the time as well: what a step costs depends on the depth of the tree."""

    def __init__(self, steps: int, until: float) -> None:
        super().__init__(steps)
        self._until = until

    def spend(self, steps: int = 1) -> None:
        """As `Budget.spend`."""
        super().spend(steps)
        if time.thread_time() > self._until:
            raise OutOfSteps


def _rows(node: Node) -> range:
    return range(node.start_point[0] + 1, node.end_point[0] + 2)


def _is_for(rule: Rule, language: str, text: Text) -> bool:
    """Whether a rule may have a match in a text: one of its words stands there, where it names any."""
    if not (text.whole or rule.fragments) or (rule.languages and language not in rule.languages):
        return False
    return not rule.needs or any(word in text.text for word in rule.needs)
