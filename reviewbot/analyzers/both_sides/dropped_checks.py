"""Find checks of who may do what that a change took away, in the languages that have a table of statements.

Both sides must show it: the function is still there and does most of what it did, and the check is on no line of it any
more. Any added line of the file that may have to do with such a check silences the finding, and so does the name of
the check where another file has come to use it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from reviewbot.analyzers.both_sides.sides import SideFinding
from reviewbot.analyzers.both_sides.syntax_side import SyntaxChange, is_readable, plain, statement_table, words_of
from reviewbot.analyzers.python.views import OutOfSteps
from reviewbot.diff.rows import Row
from reviewbot.domain.ports import ChangedFile, Snapshot
from reviewbot.tables import pattern_in

if TYPE_CHECKING:
    from tree_sitter import Node

_FOUND = 100
"""Lines of other files that are looked at for one name."""

_SWITCH = re.compile(r"feature|flag|flipper|experiment|beta|enabled|config|setting|env\b", re.IGNORECASE)
"""Conditions that wait for a release rather than for a person."""

_FILTER = re.compile(
    r"\s*(?:before_(?:action|filter)|prepend_before_action|load_and_authorize_resource|authorize_resource|"
    r"protect_from_forgery|http_basic_authenticate_with)\b"
)
_ANNOTATION = re.compile(
    r"\s*(?:@|\[)\s?((?:Pre|Post)?Authori[sz]e\w*|Secured|RolesAllowed|Requires(?:Permissions|Roles|Authentication|User)\w*|"
    r"UseGuards|Roles|Permissions|RequirePermission\w*|CheckPermission\w*|ValidateAntiForgeryToken|Authenticated|DenyAll)\b"
)
_LISTED = re.compile(r"(only|except)(?::|\s?=>)\s*(?:%i\[([^\]]*)\]|\[([^\]]*)\]|:(\w+))")
_RULES = {"check": "access-check-dropped", "guard": "access-guard-dropped", "around": "access-condition-dropped"}


def dropped_checks(file: ChangedFile, snapshot: Snapshot) -> tuple[tuple[SideFinding, ...], bool]:
    """The checks that a file has lost, and whether the search gave up before its end. Blocks."""
    if not is_readable(file.base, file.head) or statement_table(file.language) is None:
        return (), False
    change = _Change(file, snapshot)
    try:
        return tuple(change.findings()), False
    except OutOfSteps:
        return (), True


class _Change(SyntaxChange):
    """A change, and where the names of its checks are looked for."""

    def __init__(self, file: ChangedFile, snapshot: Snapshot) -> None:
        super().__init__(file)
        self._snapshot = snapshot

    def findings(self) -> Iterator[SideFinding]:
        """Yield what is gone. Raises OutOfSteps."""
        yield from self._narrowed_filters()
        words = pattern_in("names/safeguards", "access_words")
        known = Counter(row.text.strip() for row in self.removed)
        fresh = [row.text for row in self.added if not known[row.text.strip()]]
        if any(words.search(text) for text in fresh) or not any(map(_speaks_of_access, self.removed)):
            return
        yield from self._lines()
        yield from self._unlinked()
        for node in self.old.starting_on(self.gone):
            found = self._lost(node)
            if found is not None and not self._moved_away(found[1]):
                within = self.counterpart(self.old.function_of(node))
                yield self._finding(_RULES[found[0]], found[1], node, within)

    # --- lines at the top of a class --------------------------------------------------------------------------------

    def _lines(self) -> Iterator[SideFinding]:
        """Yield filters and annotations that are gone while what they stood for is there."""
        for row in self.removed:
            annotation = _ANNOTATION.match(row.text)
            name = _name_of_filter(row.text)
            if annotation is not None and self._definition_stays(row):
                message = f"`@{annotation[1]}` is gone, and what it stood before is still there"
                yield SideFinding("access-annotation-dropped", message, _at(row))
            elif name and self._still_has(_lists(row.text).get("only", set())) and not self._moved_away(name):
                message = f"`{name}` is not asked before the actions of this class any more"
                yield SideFinding("access-filter-dropped", message, _at(row))

    def _definition_stays(self, row: Row) -> bool:
        """Whether the next line of the old side that is no annotation stands on the new side."""
        below = (line for line in self.old.lines[row.old or 0 :] if line.strip()[:1] not in {"@", "[", ""})
        line = next(below, "")
        return line.strip() in {each.strip() for each in self.new.lines}

    def _still_has(self, actions: set[str]) -> bool:
        """Whether the class is the same one, and has the actions that were named, as before."""
        same = not any(re.match(r"\s*class\b", row.text) for row in (*self.added, *self.removed))
        head, base = self.file.head or "", self.file.base or ""
        return same and all(re.search(rf"\bdef {name}\b", text) for name in actions for text in (head, base))

    def _narrowed_filters(self) -> Iterator[SideFinding]:
        """Yield filters of Ruby that leave out an action which is still there."""
        for row in self.removed if self.file.language == "ruby" else ():
            name = _name_of_filter(row.text)
            for now in self.added if name else ():
                free = _freed(row.text, now.text) if _name_of_filter(now.text) == name else set()
                if free and self._still_has(free):
                    message = f"`{name}` is not asked before `{min(free)}` any more"
                    spot = now.new or 0, now.new or 0
                    yield SideFinding("access-filter-narrowed", message, _at(row), spot)

    def _unlinked(self) -> Iterator[SideFinding]:
        """Yield queries that lost a link which left out what a user may not see, in a function that is the same."""
        link = _link()
        for row in self.removed:
            node = self.old.function_around((row.old or 0) - 1) if link.search(row.text) else None
            now = (
                self.new.functions.get(self._new_rows.get(node.start_point[0] + 1, 0) - 1) if node is not None else None
            )
            if node is None or now is None:
                continue
            before, after = self.old.text(node), plain(self.new.text(now))
            for found in link.finditer(before):
                if plain(before[: found.start()] + before[found.end() :]) == after:
                    name = self.old.text(node.child_by_field_name("name"))
                    message = f"`{name}` asks for the same without `{found[1]}`"
                    within = now.start_point[0] + 1, now.end_point[0] + 1
                    yield SideFinding("access-scope-dropped", message, _at(row), within=within)
                    return

    # --- functions --------------------------------------------------------------------------------------------------

    def _lost(self, node: Node) -> tuple[str, str] | None:
        """What kind of check a node of the old side was, and its name; None where it was none or is still there."""
        branch = self.old.branch(node)
        if branch is not None:
            asked = _asks(branch.condition)
            if branch.exits and self.is_gone(node):
                turned = pattern_in("names/safeguards", "access_exits").search(branch.body[-1])
                named = asked or (turned[0] if turned is not None and not _SWITCH.search(branch.condition) else "")
                return ("guard", named) if named and self._still_does(node, ()) else None
            if asked and not branch.exits and self._still_does(node, branch.body):
                return "around", asked
            return None
        name = self.old.callee(node)
        if name and self.old.is_statement(node) and self.is_gone(node):
            checks = pattern_in("names/safeguards", "access_checks")
            return ("check", name) if checks.fullmatch(name) and self._still_does(node, ()) else None
        return None

    def _still_does(self, node: Node, body: tuple[str, ...]) -> bool:
        """Whether the function around a node is still there without it, and with what stood under it."""
        inside = self.old.function_of(node)
        now = self.counterpart(inside)
        if inside is None or now == (0, 0):
            return False
        taken = range(node.start_point[0], node.end_point[0] + 1)
        rows = range(inside.start_point[0] + 1, inside.end_point[0])
        left = [self.old.lines[row] for row in rows if row not in taken]
        left += [line for text in body for line in text.split("\n")]
        asked = {*words_of(self.old.text(node))} & {*words_of("\n".join(self.new.lines[now[0] - 1 : now[1]]))}
        again = any(_asks(word) or pattern_in("names/safeguards", "access_checks").fullmatch(word) for word in asked)
        return not again and self.does_only(now, left)

    def _moved_away(self, name: str) -> bool:
        """Whether another file uses a name on a line that it did not have."""
        found = self._snapshot.search(name.rstrip("?!"), _FOUND) or ()
        others = [each for each in found if each.path != self.file.path]
        return any(each.text not in (self._snapshot.base(each.path) or "") for each in others)

    def _finding(self, rule: str, name: str, node: Node, within: tuple[int, int]) -> SideFinding:
        inside = self.old.function_of(node)
        function = self.old.text(inside.child_by_field_name("name")) if inside is not None else ""
        where = f"`{function}`" if function else "This function"
        gone = node.start_point[0] + 1, node.end_point[0] + 1
        return SideFinding(rule, f"{where} does the same as before without `{name}`", gone, within=within)


@cache
def _link() -> re.Pattern[str]:
    names = pattern_in("names/safeguards", "access_scopes").pattern
    return re.compile(rf"\.({names})(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|(?![\w(?!]))")


def _asks(text: str) -> str:
    """The name in a condition that asks what a user may do; empty where there is none."""
    pattern = pattern_in("names/safeguards", "access_questions")
    return next((word for word in words_of(text) if pattern.fullmatch(word)), "")


def _speaks_of_access(row: Row) -> bool:
    keys = ("access_exits", "access_words")
    return any(pattern.search(row.text) for pattern in (pattern_in("names/safeguards", key) for key in keys))


def _name_of_filter(text: str) -> str:
    """What a line of Ruby has asked before actions, where that may turn a caller away; else empty."""
    names = (
        re.findall(r":(\w+)", re.split(r"\b(?:only|except|if|unless|with)\b", text)[0]) if _FILTER.match(text) else []
    )
    return names[0] if names and pattern_in("names/safeguards", "access_checks").fullmatch(names[0]) else ""


def _freed(before: str, now: str) -> set[str]:
    """The actions that a filter stood before and does not any more, as far as both lines name them."""
    old, new = _lists(before), _lists(now)
    if any(text.rstrip().endswith(("[", ",")) for text in (before, now)):
        return set()
    if "only" in old and "only" in new:
        return old["only"] - new["only"]
    return new.get("except", set()) - old.get("except", set()) if not {"only"} & (old.keys() | new.keys()) else set()


def _lists(text: str) -> dict[str, set[str]]:
    return {m[1]: set(re.findall(r"\w+", m[2] or m[3] or m[4] or "")) for m in _LISTED.finditer(text)}


def _at(row: Row) -> tuple[int, int]:
    return row.old or 0, row.old or 0
