"""Classify how far a loop may go: over data of unknown size, over a few fixed things, batch by batch, or for ever."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal

from reviewbot.analyzers.loops.kinds import kind_of, literal_length
from reviewbot.analyzers.loops.name_chains import chain_of, words
from reviewbot.analyzers.loops.places import Loop, LoopScope
from reviewbot.context.python_text import dotted_name
from reviewbot.tables import words_in

Size = Literal["data", "unknown", "small", "batch", "open"]
"""data: all of something that grows. unknown: neither is written there. open: no end is written there."""

FEW = 10
"""Turns. What happens at most this often is not a bottleneck."""

_BATCHES = frozenset({"batch", "chunk", "page", "shard", "partition", "slice", "window", "bulk", "offset"})
_TRIES = frozenset({"retry", "retrie", "attempt", "try", "tries", "trie", "delay", "backoff"})
_OF_CODE = words_in("names/loops", "of_code")
"""Words for things that are written out by hand: a program has tens of them, and not as many as there is data."""

_WRAPPERS = frozenset({"enumerate", "reversed", "sorted", "zip", "list", "tuple", "set", "tqdm", "iter"})
_VIEWS = frozenset({"items", "keys", "values"})
_ENDLESS = frozenset({"count", "cycle", "repeat"})
_WRAPPED = 4
"""Wrappers around one another, such as `enumerate(sorted(x.items()))`."""
_RANGE_WITH_STEP = 3


def size_of(loop: Loop) -> Size:
    """How far one loop may go."""
    if isinstance(loop.node, ast.While):
        return "open" if isinstance(loop.node.test, ast.Constant) else "unknown"
    said = words(" ".join(sorted(loop.targets)))
    if said & _BATCHES or said & _TRIES:
        return "batch"
    size = size_of_value(loop.node.iter, loop.scope)
    return "unknown" if size == "data" and said & _OF_CODE else size


def size_of_value(node: ast.expr, scope: LoopScope) -> Size:
    """How much there is in something that can be gone over."""
    return _size(unwrap(node), scope)


def grows(loops: Sequence[Loop]) -> bool:
    """Whether what stands in these loops happens once for each element of something that grows, to its end."""
    sizes = [size_of(loop) for loop in loops]
    sure = [s == "data" and not loop.leaves and not loop.pauses for s, loop in zip(sizes, loops, strict=True)]
    return any(sure) or sizes.count("unknown") + sizes.count("data") > 1


def repeats(loops: Sequence[Loop]) -> Loop | None:
    """The loop that makes an operation costly, from the innermost one out; None where it is meant to be repeated.

    Trying again, going on page by page and serving for ever are no mistakes, and `while` is mostly one of these.
    """
    for loop in reversed(loops):
        size = size_of(loop)
        if isinstance(loop.node, ast.While) or size in {"batch", "open"} or loop.pauses:
            return None
        if size != "small":
            return loop
    return None


def is_long(scope: LoopScope, node: ast.expr) -> bool:
    """Whether a list is made from data, or gets an element in each turn of a loop over data."""
    if isinstance(node, ast.ListComp):
        return any(size_of_value(part.iter, scope) == "data" for part in node.generators)
    if isinstance(node, ast.Call):
        made_of = dotted_name(node.func) in {"list", "sorted"} and len(node.args) == 1
        return made_of and size_of_value(node.args[0], scope) == "data"
    name = dotted_name(node)
    holder = scope.holder(name)
    if holder is None or words(name) & _OF_CODE:
        return False
    if is_growing(scope, node):
        return True
    values = [binding.value for binding in holder.bindings[name] if binding.value is not None]
    return any(isinstance(value, ast.ListComp | ast.Call) and is_long(scope, value) for value in values)


def is_growing(scope: LoopScope, node: ast.expr) -> bool:
    """Whether a name gets one more element in each turn of a loop that goes far."""
    name = dotted_name(node)
    holder = scope.holder(name)
    grown = () if holder is None else holder.growths.get(name, ())
    return any(goes_far(loop) for loops in grown for loop in loops)


def goes_far(loop: Loop) -> bool:
    """Whether a loop goes over data, or on until its data is used up, so that work in it may add up."""
    size = size_of(loop)
    return size == "data" or (size == "unknown" and isinstance(loop.node, ast.While))


def unwrap(node: ast.expr) -> ast.expr:
    """What is gone over in the end, behind `enumerate` and its like."""
    for _ in range(_WRAPPED):
        if not isinstance(node, ast.Call):
            break
        if dotted_name(node.func) in _WRAPPERS and node.args:
            node = node.args[0]
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS and not node.args:
            node = node.func.value
        else:
            break
    return node


def _size(node: ast.expr, scope: LoopScope) -> Size:
    """How much there is to go over."""
    length = literal_length(node)
    if length is not None:
        return "small" if length <= FEW else "unknown"
    if isinstance(node, ast.Name | ast.Attribute):
        return _named_size(node, scope)
    if isinstance(node, ast.Call):
        return _called_size(node, scope)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        last = node.slice.upper
        few = isinstance(last, ast.Constant) and isinstance(last.value, int) and 0 <= last.value <= FEW
        return "small" if few else "data"
    return "data"


def _named_size(node: ast.Name | ast.Attribute, scope: LoopScope) -> Size:
    name = dotted_name(node)
    if words(name) & _TRIES:
        return "batch"
    values = [binding.value for binding in scope.bindings_of(name)]
    lengths = [literal_length(value) for value in values]
    known = [length for length in lengths if length is not None]
    if known and len(known) == len(lengths) and not _is_filled(scope, name):
        return "small" if max(known) <= FEW else "unknown"
    last = name.rpartition(".")[2]
    return "unknown" if last.isupper() or words(last) & _OF_CODE else "data"


def _is_filled(scope: LoopScope, name: str) -> bool:
    holder = scope.holder(name)
    return holder is not None and name in holder.growths


def _called_size(node: ast.Call, scope: LoopScope) -> Size:
    chain = chain_of(node.func)
    if chain.last in _ENDLESS:
        return "open"
    if words(chain.last) & (_BATCHES | {"chunked", "batched"}):
        return "batch"
    if dotted_name(node.func) != "range" or not node.args:
        return "data" if kind_of(scope, node) or chain.last else "unknown"
    return _range_size(node.args, scope)


def _range_size(arguments: Sequence[ast.expr], scope: LoopScope) -> Size:
    """A range: with a step it goes on by batches; over a length it goes over data."""
    if len(arguments) == _RANGE_WITH_STEP and not isinstance(arguments[2], ast.UnaryOp):
        return "batch"
    last = arguments[min(1, len(arguments) - 1)]
    names = [
        node for argument in arguments for node in ast.walk(argument) if isinstance(node, ast.Name | ast.Attribute)
    ]
    if any(words(dotted_name(name)) & (_TRIES | _BATCHES) for name in names):
        return "batch"
    if not names:
        bounds = [
            node.value for node in arguments[:2] if isinstance(node, ast.Constant) and isinstance(node.value, int)
        ]
        return "small" if max(bounds, default=FEW + 1) <= FEW else "unknown"
    lengths = [
        node for node in ast.walk(last) if isinstance(node, ast.Call) and dotted_name(node.func) == "len" and node.args
    ]
    return _size(lengths[0].args[0], scope) if lengths else "unknown"
