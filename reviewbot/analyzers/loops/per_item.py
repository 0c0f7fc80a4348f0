"""Find costs that a loop pays in each of its turns: queries, requests, programs, files, and what is always the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.analyzers.loops.effects import is_queryset, opened_file, parse_call, program, query, request
from reviewbot.analyzers.loops.kinds import kind_of
from reviewbot.analyzers.loops.name_chains import chain_of, qualify
from reviewbot.analyzers.loops.places import Loop, finding_in_loop
from reviewbot.analyzers.loops.sizes import goes_far, grows, repeats
from reviewbot.analyzers.loops.walk import Site
from reviewbot.analyzers.python.views import Found
from reviewbot.context.python_text import dotted_name

_RELATED = frozenset({"all", "count", "exists", "first", "last", "get", "filter", "aggregate"})
_LAZY_RELATED = frozenset({"all", "filter"})
_SESSIONS = frozenset({"session", "conn", "connection", "con", "db", "database"})
_SEARCHES = frozenset({"match", "search", "fullmatch", "sub", "findall", "finditer", "split"})
_TIMED = frozenset({"asyncio.wait_for", "wait_for"})
"""Functions that wait for one coroutine, with a timeout."""

_NESTED = 2


def per_item(site: Site, *, by_hand: bool) -> Iterator[Found]:
    """What a call costs in each turn. `by_hand`: of a script or a migration, where a slow run is no defect yet."""
    call, place = site.node, site.place
    if not isinstance(call, ast.Call) or not place.loops or place.rare:
        return
    loop = repeats(place.loops)
    if loop is None:
        return
    sure = grows(place.loops) and not by_hand
    yield from _queries(site, loop, sure=sure)
    yield from _outside(site, loop, sure=sure)
    yield from _always_the_same(site, loop, sure=sure)


def _queries(site: Site, loop: Loop, *, sure: bool) -> Iterator[Found]:
    asked = query(site, loop)
    if asked is not None:
        rule = "query-per-item" if sure and asked.sure else "query-in-loop"
        yield finding_in_loop(rule, site.node, loop, f"`{asked.name}` asks the database {loop.each}")
        return
    call = site.node
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return
    chain = chain_of(call.func)
    if chain.last == "save" and _is_each(call.func.value, loop) and not call.args:
        yield from _saves(call, loop, sure=sure)
    elif chain.last == "commit" and chain.owner.lstrip("_") in _SESSIONS and not call.args:
        yield finding_in_loop("commit-per-item", call, loop, f"`{chain.text}` commits {loop.each}")
    elif _is_related(site, loop):
        yield finding_in_loop(
            "related-query", call, loop, f"`{chain.text}` asks the database for related objects {loop.each}"
        )


def _is_each(node: ast.expr, loop: Loop) -> bool:
    return isinstance(node, ast.Name) and node.id in loop.targets


def _saves(call: ast.Call, loop: Loop, *, sure: bool) -> Iterator[Found]:
    """An object that is saved by itself. Only a queryset tells that it is a row of a database."""
    if any(keyword.arg not in {"update_fields", "using"} for keyword in call.keywords):
        return
    rows = kind_of(loop.scope, loop.iterated) == "rows"
    name = chain_of(call.func).text
    yield finding_in_loop(
        "save-per-item" if rows and sure else "save-in-loop", call, loop, f"`{name}` writes {loop.each}"
    )


def _is_related(site: Site, loop: Loop) -> bool:
    """Whether a call asks for what belongs to the loop's own object, which a first query did not bring."""
    chain = chain_of(site.node) if isinstance(site.node, ast.Call) else None
    if chain is None or chain.root not in loop.targets or len(chain.names) < _NESTED or chain.last not in _RELATED:
        return False
    if chain.last in _LAZY_RELATED and not is_queryset(site):
        return False
    rows = kind_of(loop.scope, loop.iterated) == "rows"
    return (rows or chain.names[0].endswith("_set")) and not _is_prefetched(loop)


def _is_prefetched(loop: Loop) -> bool:
    values = [loop.iterated, *(binding.value for binding in loop.scope.bindings_of(dotted_name(loop.iterated)))]
    return any("prefetch_related" in chain_of(value).names for value in values if value is not None)


def _outside(site: Site, loop: Loop, *, sure: bool) -> Iterator[Found]:
    """Requests, programs and files."""
    call, scope = site.node, site.place.scope
    if not isinstance(call, ast.Call):
        return
    if (name := request(call, scope)) and _waits_here(site, loop):
        yield finding_in_loop(
            "request-per-item" if sure else "request-in-loop", call, loop, f"`{name}` sends a request {loop.each}"
        )
    elif name := program(call, scope):
        yield finding_in_loop("process-per-item", call, loop, f"`{name}` starts a program {loop.each}")
    elif file := opened_file(call, scope, loop):
        rule = "file-per-item" if sure and file.sure else "file-in-loop"
        yield finding_in_loop(rule, call, loop, f"`{file.name}` opens the same file again {loop.each}")


def _waits_here(site: Site, loop: Loop) -> bool:
    """Whether a turn takes the answer itself. A coroutine that is collected or passed on runs beside the others."""
    call, parent = site.node, site.parent
    func = call.func if isinstance(call, ast.Call) else None
    owner = func.value if isinstance(func, ast.Attribute) else None
    if kind_of(site.place.scope, owner) != "http-async" or isinstance(parent, ast.Await | ast.withitem):
        return True
    timed = (node.value for node in loop.nodes if isinstance(node, ast.Await) and isinstance(node.value, ast.Call))
    return any(dotted_name(one.func) in _TIMED and one.args[:1] == [call] for one in timed)


def _always_the_same(site: Site, loop: Loop, *, sure: bool) -> Iterator[Found]:
    """Work whose result is the same in each turn."""
    call, scope = site.node, site.place.scope
    if not isinstance(call, ast.Call):
        return
    if sure and (name := parse_call(call, scope, loop)):
        yield finding_in_loop("parse-per-item", call, loop, f"`{name}` parses the same text again {loop.each}")
        return
    module, _, name = qualify(call.func, scope.imports).rpartition(".")
    if module == "re" and call.args and isinstance(call.args[0], ast.Constant):
        nested = sum(goes_far(around) for around in site.place.loops) >= _NESTED
        if name == "compile" or (name in _SEARCHES and nested):
            yield finding_in_loop("regex-per-item", call, loop, f"`re.{name}` looks up the same pattern {loop.each}")
    elif (module, name) == ("copy", "deepcopy") and call.args and loop.same_in_each_turn(call.args[0]):
        yield finding_in_loop(
            "copy-per-item", call, loop, f"`{dotted_name(call.func)}` copies the same thing in depth {loop.each}"
        )
