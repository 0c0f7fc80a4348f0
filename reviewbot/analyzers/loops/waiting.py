"""Find waits in coroutines that are sequential but could be concurrent, or that block the whole event loop."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from reviewbot.analyzers.loops.effects import PROGRAMS, REQUESTS, query, request
from reviewbot.analyzers.loops.kinds import kind_of
from reviewbot.analyzers.loops.name_chains import chain_of, qualify, words
from reviewbot.analyzers.loops.places import Loop, LoopScope, finding_in_loop
from reviewbot.analyzers.loops.sizes import grows, repeats
from reviewbot.analyzers.loops.walk import Site
from reviewbot.analyzers.python.views import FlowStep, Found
from reviewbot.context.python_text import dotted_name
from reviewbot.tables import words_in

_ORDERED = words_in("names/loops", "ordered")
"""Words for what has an order, or goes over one connection: it cannot be done for all at once."""

_READS = frozenset({"fetch", "get", "load", "download", "read", "lookup", "resolve", "retrieve", "check"})
_ASKING = frozenset({"execute", "executemany", "executescript", "commit", "fetchall", "fetchone"})
_SOCKET = frozenset({"recv", "recvfrom", "accept", "sendall"})
_WAITING = (REQUESTS | PROGRAMS | {"time.sleep"}) - {"subprocess.Popen"}


class Blocker(NamedTuple):
    """A call that waits, in a function that is no coroutine."""

    row: int
    name: str


def awaits(site: Site) -> Iterator[Found]:
    """One wait per turn of a loop, where no turn needs what another one brought."""
    node, place = site.node, site.place
    if not isinstance(node, ast.Await) or not isinstance(node.value, ast.Call) or not place.loops or place.rare:
        return
    call, loop = node.value, place.loops[-1]
    if repeats(place.loops) is not loop or isinstance(loop.node, ast.AsyncFor) or not _is_independent(call, loop):
        return
    if query(Site(call, node, place), loop) or request(call, place.scope) or words(chain_of(call).last) & _ORDERED:
        return
    reads = bool(words(chain_of(call).last) & _READS)
    sure = reads and _only_collects(node, loop) and grows(place.loops)
    name = chain_of(call).text
    what = f"`{name}` is awaited {loop.each}, sequentially"
    yield finding_in_loop("await-per-item" if sure else "await-in-loop", node, loop, what)


def _is_independent(call: ast.Call, loop: Loop) -> bool:
    """Whether no turn needs another one: what is sent differs each time, and nothing is carried over."""
    if loop.leaves or loop.pauses:
        return False
    parts = (*call.args, *(keyword.value for keyword in call.keywords), call.func)
    names = {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}
    if not names & loop.targets:
        return False
    stops = ast.AugAssign | ast.Yield | ast.YieldFrom | ast.Try | ast.AsyncWith | ast.Raise
    if any(isinstance(node, stops) for node in loop.nodes):
        return False
    # What is bound outside the loop as well goes from one turn to the next.
    return not any(len(loop.scope.bindings.get(name, ())) > times for name, times in loop.stores.items())


def _only_collects(node: ast.Await, loop: Loop) -> bool:
    """Whether a turn does nothing but keep what it waited for."""
    if isinstance(loop.node, ast.comprehension):
        return any(part is node for part in loop.turn)
    if len(loop.turn) != 1:
        return False
    only = loop.turn[0]
    if isinstance(only, ast.Assign):
        return only.value is node and isinstance(only.targets[0], ast.Subscript)
    call = only.value if isinstance(only, ast.Expr) else None
    return isinstance(call, ast.Call) and chain_of(call).last in {"append", "add"} and call.args[:1] == [node]


def blockers(sites: Iterable[Site]) -> dict[str, Blocker]:
    """Plain functions of a file that block, each with its first blocking call; by name, `C.m` in a class."""
    found: dict[str, Blocker] = {}
    lazy: set[str] = set()
    defined: dict[str, int] = {}
    for site in sites:
        node, scope = site.node, site.place.scope
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            name = _name_of(node, scope)
            defined[name] = defined.get(name, 0) + 1
            if node.decorator_list or isinstance(node, ast.AsyncFunctionDef):
                lazy.add(name)
        elif isinstance(scope.node, ast.FunctionDef) and scope.parent is not None:
            name = _name_of(scope.node, scope.parent)
            if isinstance(node, ast.Yield | ast.YieldFrom):
                lazy.add(name)
            elif isinstance(node, ast.Call) and qualify(node.func, scope.imports) in _WAITING:
                found.setdefault(name, Blocker(node.lineno, dotted_name(node.func)))
    return {name: blocker for name, blocker in found.items() if name not in lazy and defined[name] == 1}


def blocking(site: Site, known: dict[str, Blocker], timed: frozenset[str]) -> Iterator[Found]:
    """A call in a coroutine that holds up the event loop. `timed`: sockets that are set not to wait."""
    call, scope = site.node, site.place.scope
    if not isinstance(call, ast.Call) or not scope.waits or isinstance(site.parent, ast.Await | ast.AsyncFor):
        return
    row, end = call.lineno, call.end_lineno or call.lineno
    name = chain_of(call.func).text
    if _is_session(call, scope):
        what = f"`{name}` holds up the event loop until the answer is there"
        yield Found("blocking-request", row, end, what, code=call)
    elif _is_driver(call, scope, timed):
        what = f"`{name}` holds up the event loop until the other side has answered"
        yield Found("blocking-driver", row, end, what, code=call)
    elif blocker := known.get(_called(call, scope)):
        what = f"`{name}` holds up the event loop: it calls `{blocker.name}`"
        flow = (FlowStep(blocker.row, f"{blocker.name} waits"), FlowStep(row, "called on the event loop"))
        yield Found("blocking-helper", row, end, what, flow, call)


def quiet_sockets(sites: Iterable[Site]) -> frozenset[str]:
    """The names of sockets that do not wait."""
    calls = (site.node for site in sites if isinstance(site.node, ast.Call))
    methods = (call.func for call in calls if isinstance(call.func, ast.Attribute))
    return frozenset(dotted_name(func.value) for func in methods if func.attr == "setblocking")


def _is_session(call: ast.Call, scope: LoopScope) -> bool:
    """A request through a session; ruff's own rule reports requests without one."""
    if not request(call, scope) or not isinstance(call.func, ast.Attribute):
        return False
    return kind_of(scope, call.func.value) == "http"


def _is_driver(call: ast.Call, scope: LoopScope, timed: frozenset[str]) -> bool:
    if kind_of(scope, call) == "database":
        return True
    if not isinstance(call.func, ast.Attribute):
        return False
    owner = call.func.value
    kind = kind_of(scope, owner)
    if kind == "socket":
        return call.func.attr in _SOCKET and dotted_name(owner) not in timed
    return kind == "database" and call.func.attr in _ASKING


def _name_of(function: ast.FunctionDef | ast.AsyncFunctionDef, around: LoopScope) -> str:
    """The name by which a function is called from a coroutine beside it."""
    if isinstance(around.node, ast.ClassDef):
        return f"{around.node.name}.{function.name}"
    return function.name if isinstance(around.node, ast.Module) else f"<local>.{function.name}"


def _called(call: ast.Call, scope: LoopScope) -> str:
    """The name of a function or method of the same file that a call may mean; empty for any other."""
    name = dotted_name(call.func)
    if name.startswith("self.") and name.count(".") == 1:
        holder = scope.self_holder()
        owner = holder.node.name if isinstance(holder.node, ast.ClassDef) else ""
        return f"{owner}.{name.removeprefix('self.')}"
    return name if "." not in name and not scope.bindings_of(name) else ""
