"""The predicates of queries beside tree-sitter's own: where a node stands, what is around it, where its value is from.

Each name may begin with `not-`.

    (#text? @n REGEX)       the node's text has a match
    (#inside? @n KIND...)   an ancestor within the same function is of such a kind
    (#within? @n KIND...)   any ancestor is
    (#under? @n KIND REGEX) an ancestor of the kind within the same function, a block, belongs to a call with a match
    (#contains? @n KIND...) it, or a node below it, is of such a kind
    (#dynamic? @n)          it holds a name other than one of a constant (UPPER_CASE)
    (#tainted? @n)          it holds a value from outside, directly or by an assignment of the same function
    (#scope? @n REGEX)      the text of the function around it has a match; the file's, where there is none
    (#before? @n REGEX)     likewise, of what stands before the node
    (#after? @n REGEX)      likewise, of what stands behind it
    (#file? @n REGEX)       the text of the whole file has a match
    (#acts? @n)             it may change something or take the next of something, so that twice is not the same as once
    (#repeated? @n LEVELS)  a list so many levels above it (2 if not given) has an earlier element with the same text
                            there; or it is an operand of a chain of one operator, and an earlier operand is the same

In a regular expression `{name}` stands for the text of the node captured as @name. Of each text a bounded part is read
and counted, so that no code makes a check take long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal

from reviewbot.analyzers.patterns.languages import Syntax
from reviewbot.analyzers.python.views import Budget

if TYPE_CHECKING:
    from tree_sitter import Node

    Captures = dict[str, list[Node]]

MAX_NODE = 2_000
"""Bytes of a node's own text that are read."""

MAX_SCOPE = 20_000
"""Bytes of the text around a node that are read, on either side of it."""

_MAX_MARK = 300
"""Bytes before an item in which its attributes are looked for."""

_MAX_ANCESTORS = 200
_MAX_NODES = 2_000
_BYTES_A_STEP = 64
"""A regular expression reads so many bytes in the time of one step of other work."""

_BINARY = frozenset({"binary_expression", "binary"})
"""The name of it in every grammar."""

_MAX_MEMBER = 80
"""Bytes of the beginning of a call that show what is called."""

_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]{1,60}")
_HANDLER = re.compile(r"\A[^{\n]*\b(?:req|request|ctx|context|r|c)\b")
"""The beginning of a function that is given a request: what stands around it belongs to other requests as well."""

_REFERENCE = re.compile(r"\{([a-z_]{1,20})\}")


_ACTS = (
    r"(?i)\bawait\b|\+\+|--|:=|=~|(?<![=!<>.])=(?![=>~])"
    r"|\b(?!is(?!sue)|has|can(?!cel)|should|contains|includes|equal|starts|ends|get(?!s|_?c(?:\(|h))|in_array|isset|empty"
    r"|defined|array|count|size|len|str|substr|trim|type|kind|name|value|text|test|char|index|some|every|any|of\b"
    r"|to_?(?:str|low|up)|as_|method|property|instance|abs|min|max|nil|blank|present|include|mode|config|current)\w+!?\("
    r"|next|read|poll|pop|shift|skip|move|match|accept|consume|peek|advance|scan|take|fetch|try|rand|nano|sample|parse"
    r"|expect|\beat|bump|gets|mkdir|exists|is_dir|is_file|is_?(?:open|clos)|connected|(?:open|clos)\w*\(|wait|sleep"
    r"|\b(?:save|update|create|delete)\b"
)
"""An assignment, a call whose name is no question, and names that act or read what others change."""


class Conditions:
    """Decides the predicates of the queries over one tree."""

    def __init__(self, source: bytes, root: Node, syntax: Syntax, budget: Budget) -> None:
        self._source = source
        self._root = root
        self._syntax = syntax
        self._budget = budget
        self._error: Exception | None = None
        self._firsts: dict[tuple[int, str, bool, tuple[int, ...]], dict[str, int]] = {}
        """By list, kind of its elements and place in one: where each text begins first."""

    def __call__(
        self,
        predicate: str,
        args: list[tuple[str, Literal["capture", "string"]]],
        pattern_index: int,
        captures: Captures,
    ) -> bool:
        """Whether a predicate holds for a match; False after an error, which `check` raises."""
        del pattern_index
        if self._error is not None:
            return False
        try:
            return self._holds(predicate, args, captures)
        except Exception as error:  # noqa: BLE001 - an error that passes through the binding (0.26.1) crashes the process
            self._error = error
            return False

    def check(self) -> None:
        """Raise the error that a predicate met: OutOfSteps, Stopped, or that of a query that is wrong."""
        if self._error is not None:
            raise self._error

    def _holds(self, name: str, args: Sequence[tuple[str, Literal["capture", "string"]]], captures: Captures) -> bool:
        self._budget.spend()
        wanted = not name.startswith("not-")
        check = _CHECKS[name.removeprefix("not-").removesuffix("?")]
        node = captures[args[0][0]][0]
        return check(self, node, [value for value, _ in args[1:]], captures) == wanted

    def is_in_test(self, node: Node) -> bool:
        """Whether an item around a node is marked as a test."""
        tests = self._syntax.tests
        return bool(tests) and any(
            _plain(tests).search(self._read(max(0, each.start_byte - _MAX_MARK), each.start_byte))
            for each in self._ancestors(node)
        )

    def _text(self, node: Node, words: Sequence[str], captures: Captures) -> bool:
        return self._found(words[0], captures, node.start_byte, min(node.end_byte, node.start_byte + MAX_NODE))

    def _inside(self, node: Node, kinds: Sequence[str], _: Captures) -> bool:
        return any(each.type in kinds for each in self._ancestors_in_function(node))

    def _within(self, node: Node, kinds: Sequence[str], _: Captures) -> bool:
        return any(ancestor.type in kinds for ancestor in self._ancestors(node))

    def _under(self, node: Node, words: Sequence[str], captures: Captures) -> bool:
        kind, pattern = words
        blocks = (each for each in self._ancestors_in_function(node) if each.type == kind)
        calls = ((each.parent, each.start_byte) for each in blocks if each.parent is not None)
        return any(self._found(pattern, captures, max(above.start_byte, at - MAX_NODE), at) for above, at in calls)

    def _contains(self, node: Node, kinds: Sequence[str], _: Captures) -> bool:
        return any(each.type in kinds for each in self._below(node))

    def _dynamic(self, node: Node, _: Sequence[str], __: Captures) -> bool:
        names = (self._text_of(each) for each in self._below(node) if each.type in self._syntax.identifiers)
        return any(_CONSTANT.fullmatch(name) is None for name in names)

    def _tainted(self, node: Node, _: Sequence[str], captures: Captures) -> bool:
        """Whether its text names a source, or one of its names is bound to one; not where it is cleaned or checked."""
        syntax = self._syntax
        if self._text(node, [syntax.cleaners], captures):
            return False
        if self._text(node, [rf"\A{syntax.value}"], captures):
            return True
        names = tuple(dict.fromkeys(self._values(node)))
        return any(
            self._is_bound(name, first, node.start_byte, last)
            for first, last in self._functions_around(node)
            for name in names
        )

    def _is_bound(self, name: str, first: int, at: int, last: int) -> bool:
        syntax, text = self._syntax, self._read(first, last)
        for binding in syntax.bindings:
            found = _with_name(binding.replace("VALUE", syntax.value), name).search(text)
            if found is not None and re.search(syntax.cleaners, found[0]) is None:
                before = self._read(first, at)
                return not any(_with_name(guard, name).search(before) for guard in syntax.guards)
        return False

    def _in_scope(self, node: Node, words: Sequence[str], captures: Captures) -> bool:
        first, last = self._function_around(node)
        return self._found(words[0], captures, first, last)

    def _before(self, node: Node, words: Sequence[str], captures: Captures) -> bool:
        return self._found(words[0], captures, self._function_around(node)[0], node.start_byte)

    def _after(self, node: Node, words: Sequence[str], captures: Captures) -> bool:
        return self._found(words[0], captures, node.end_byte, self._function_around(node)[1])

    def _file(self, node: Node, words: Sequence[str], captures: Captures) -> bool:
        del node
        return self._found(words[0], captures, 0, len(self._source))

    def _acts(self, node: Node, _: Sequence[str], captures: Captures) -> bool:
        return self._text(node, [_ACTS], captures)

    def _repeated(self, node: Node, words: Sequence[str], _: Captures) -> bool:
        if not words and node.parent is not None and node.parent.type in _BINARY:
            return any(self._text_of(each) == self._text_of(node) for each in self._operands_before(node.parent))
        place: tuple[int, ...] = ()
        element = node
        for _level in range(int(words[0]) - 1 if words else 1):
            if element.parent is None:
                return False
            place, element = (element.parent.children.index(element), *place), element.parent
        if element.parent is None:
            return False
        key = element.parent.id, element.type, element.child_count > 1, place
        if key not in self._firsts:
            self._firsts[key] = self._first_of_each(element, place)
        return self._firsts[key].get(self._text_of(node), node.start_byte) < node.start_byte

    def _first_of_each(self, hit: Node, place: Sequence[int]) -> dict[str, int]:
        firsts: dict[str, int] = {}
        for element in hit.parent.children if hit.parent is not None else ():
            self._budget.spend()
            # An element of one part, such as a value without a key, is of another kind than one of several.
            is_alike = element.type == hit.type and (element.child_count > 1) == (hit.child_count > 1)
            node: Node | None = element if is_alike else None
            for index in place:
                node = node.child(index) if node is not None and index < node.child_count else None
            if node is not None:
                firsts.setdefault(self._text_of(node), node.start_byte)
        return firsts

    def _operands_before(self, binary: Node) -> Iterator[Node]:
        """The operands on the left of a binary expression, as far as they are joined by its operator."""
        operator, left = self._operator(binary), binary.child_by_field_name("left")
        while left is not None and left.type in _BINARY and self._operator(left) == operator:
            self._budget.spend()
            if (right := left.child_by_field_name("right")) is not None:
                yield right
            left = left.child_by_field_name("left")
        if left is not None:
            yield left

    def _operator(self, binary: Node) -> str:
        operator = binary.child_by_field_name("operator")
        return "" if operator is None else operator.type

    def _function_around(self, node: Node) -> tuple[int, int]:
        """The function around a node, or the file where there is none, as far as it is read."""
        return next(self._functions_around(node))

    def _functions_around(self, node: Node) -> Iterator[tuple[int, int]]:
        """As `_function_around`; of a closure also those around it, up to the function that is given the request."""
        functions = [each for each in self._ancestors(node) if each.type in self._syntax.functions]
        for around in functions or [self._root]:
            yield max(around.start_byte, node.start_byte - MAX_SCOPE), min(around.end_byte, node.end_byte + MAX_SCOPE)
            if around.type not in self._syntax.closures or self._is_handler(around):
                return

    def _is_handler(self, function: Node) -> bool:
        head = self._read(function.start_byte, min(function.end_byte, function.start_byte + _MAX_MEMBER))
        return _HANDLER.search(head) is not None

    def _ancestors_in_function(self, node: Node) -> Iterator[Node]:
        """The nodes around a node, up to its function."""
        for each in self._ancestors(node):
            yield each
            if each.type in self._syntax.functions:
                return

    def _ancestors(self, node: Node) -> Iterator[Node]:
        above = node.parent
        for _ in range(_MAX_ANCESTORS):
            if above is None:
                return
            self._budget.spend()
            yield above
            above = above.parent

    def _below(self, node: Node) -> Iterator[Node]:
        waiting = [node]
        for _ in range(_MAX_NODES):
            if not waiting:
                return
            self._budget.spend()
            each = waiting.pop()
            yield each
            waiting += each.children[:_MAX_NODES]

    def _values(self, node: Node) -> Iterator[str]:
        """The names whose values are a part of a node's value."""
        waiting = [node]
        for _ in range(_MAX_NODES):
            if not waiting:
                return
            self._budget.spend()
            each = waiting.pop()
            text = self._read(each.start_byte, min(each.end_byte, each.start_byte + _MAX_MEMBER))
            if each.type in self._syntax.identifiers:
                yield text
            if each.type not in self._syntax.opaque or _plain(self._syntax.flows).match(text) is not None:
                waiting += each.children[:_MAX_NODES]

    def _found(self, pattern: str, captures: Captures, first: int, last: int) -> bool:
        return _filled(pattern, self._texts(pattern, captures)).search(self._read(first, last)) is not None

    def _texts(self, pattern: str, captures: Captures) -> tuple[tuple[str, str], ...]:
        names = [name for name in _REFERENCE.findall(pattern) if name in captures]
        return tuple((name, self._text_of(captures[name][0])) for name in names)

    def _text_of(self, node: Node) -> str:
        return self._read(node.start_byte, min(node.end_byte, node.start_byte + MAX_NODE))

    def _read(self, first: int, last: int) -> str:
        self._budget.spend((last - first) // _BYTES_A_STEP)
        return self._source[first:last].decode("utf-8", "replace")


_CHECKS: dict[str, Callable[[Conditions, Node, Sequence[str], Captures], bool]] = {
    "text": Conditions._text,  # noqa: SLF001 - the table of its own class
    "inside": Conditions._inside,  # noqa: SLF001 - as above
    "under": Conditions._under,  # noqa: SLF001 - as above
    "within": Conditions._within,  # noqa: SLF001 - as above
    "contains": Conditions._contains,  # noqa: SLF001 - as above
    "dynamic": Conditions._dynamic,  # noqa: SLF001 - as above
    "tainted": Conditions._tainted,  # noqa: SLF001 - as above
    "scope": Conditions._in_scope,  # noqa: SLF001 - as above
    "before": Conditions._before,  # noqa: SLF001 - as above
    "after": Conditions._after,  # noqa: SLF001 - as above
    "file": Conditions._file,  # noqa: SLF001 - as above
    "acts": Conditions._acts,  # noqa: SLF001 - as above
    "repeated": Conditions._repeated,  # noqa: SLF001 - as above
}


@cache
def _plain(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def _filled(pattern: str, texts: Sequence[tuple[str, str]]) -> re.Pattern[str]:
    """The expression with the texts of captures in their places."""
    if not texts:
        return _plain(pattern)
    for name, text in texts:
        pattern = pattern.replace("{" + name + "}", re.escape(text))
    return re.compile(pattern, re.MULTILINE)


def _with_name(pattern: str, name: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("NAME", re.escape(name)), re.MULTILINE)
