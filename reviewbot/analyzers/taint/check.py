"""Track untrusted values from source to sink through one Python file.

Each function is followed once, those first that others call; a summary says what its parameters reach. Branches are
followed on both sides and joined, loops twice. Nothing is run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Budget, Found, View
from reviewbot.analyzers.taint.flow import Flow
from reviewbot.analyzers.taint.functions import Functions
from reviewbot.analyzers.taint.hits import Hits
from reviewbot.analyzers.taint.index import in_order, index, worth_following
from reviewbot.analyzers.taint.knowledge import Knowledge, packaged_knowledge
from reviewbot.analyzers.taint.scopes import Scope
from reviewbot.diff.paths import is_test

_WORD = re.compile(r"\w{1,80}")


def check(view: View, budget: Budget) -> Iterator[Found]:
    """Find the flows in one piece of code, by row. Raises OutOfSteps."""
    knowledge = packaged_knowledge()
    spoken = _words_of(view)
    words = _sink_words(knowledge, view, spoken)
    if not words and not _may_have_pages(knowledge, view, spoken):
        return iter(())
    found = index(view.tree, budget)
    wanted = worth_following(found, knowledge, words)
    if not wanted:
        return iter(())
    flow = Flow(view, budget, knowledge, Hits(knowledge))
    flow.functions = found.functions
    flow.numbers = {function.node: number for number, function in found.functions.items()}
    for number, function in found.functions.items():
        if function.owner:
            flow.methods.setdefault((function.owner, function.node.name), number)
    flow.frameworks = frozenset(found.packages)
    functions = Functions(flow)
    scope = Scope(budget)
    functions.module(view.tree, scope)
    scope.dead = False
    flow.bases = {name: [_dotted(base, scope) for base in bases] for name, bases in found.bases.items()}
    for number in in_order(found, wanted):
        functions.follow(number, scope)
    functions.module(view.tree, Scope(budget))
    return flow.hits.findings()


def _dotted(written: str, scope: Scope) -> str:
    name, dot, rest = written.partition(".")
    there = scope.get(name)
    return f"{there.path}{dot}{rest}" if there is not None and there.path else written


def _may_have_pages(knowledge: Knowledge, view: View, spoken: frozenset[str]) -> bool:
    """Whether a function may be one that a framework shows the result of: a decorator says so."""
    routed = "@" in view.text and not spoken.isdisjoint(knowledge.words["routes.decorators"])
    return routed and any(name in view.text for name in knowledge.words["routes.pages"])


def _words_of(view: View) -> frozenset[str]:
    """The words of the text. The first row of a hunk is not its own: nothing comes in or does harm there."""
    return frozenset(_WORD.findall(view.text if view.whole else view.text.partition("\n")[2]))


def _sink_words(knowledge: Knowledge, view: View, spoken: frozenset[str]) -> frozenset[str]:
    """The last parts of the names of the sinks that may be meant: of packages that are named, and methods."""
    # Flows from parameters are not reported in test code: there a value has to come from outside.
    open_kinds = frozenset[str]() if is_test(view.path) else knowledge.open_kinds
    sourced = not spoken.isdisjoint(knowledge.source_words)
    packages = spoken if view.whole else spoken | _packages_in_front(view)
    return frozenset(
        last
        for last in spoken & knowledge.last_words.keys()
        for first, kinds in knowledge.last_words[last]
        if (not first or first in packages) and (sourced or not kinds.isdisjoint(open_kinds))
    )


def _packages_in_front(view: View) -> frozenset[str]:
    """The packages of the imports in the first row of a hunk: a name from one of them may stand without it."""
    found: set[str] = set()
    for node in view.tree.body:
        if node.lineno > 1:
            break
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return frozenset(found)
