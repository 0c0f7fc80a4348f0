"""What a push of one hunk costs beside the first review, by the size of the change and by what readers look up."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.host_cases import HostCase
from tests.messages_api import MessagesApi, Scripted, a_claim, a_reading, answered, asks_judge, called, rulings_on
from tests.model_pushes import (
    AREAS,
    PRICES,
    PUSHED,
    WRONG,
    Models,
    Pushing,
    module,
    on_a_branch,
    partly_shown,
    texts_of,
)
from tests.token_equivalents import by_part

CALLS = 8
"""Of one turn."""
OLD = 12
"""Functions of each module before the change."""
REPORTS = {
    f"reports/{area}.py": f"from shop.{area} import {area}_0\n\n\n"
    + "\n\n".join(
        f"def {area}_in_{month}(orders):\n    mine = [order for order in orders if order.month == {month}]\n"
        f"    return {area}_0(mine, {month} * 100)\n"
        for month in range(1, 9)
    )
    for area in AREAS
}


class Looking(Models):
    """Readers with two turns of look-ups, as the measured ones took: first the files that are shown in part and the
    uses of names that changed rows define, where not all are shown; then who imports the changed modules."""

    def __call__(self, body: dict[str, Any]) -> Scripted:
        self.asked.append(body)
        if asks_judge(body):
            return answered(rulings_on(json.dumps(body["messages"])))
        shown, seen = texts_of(body), json.dumps(body["messages"])
        turn = len(body["messages"]) // 2
        wanted = [*self._first(shown)] if turn == 0 else [*self._second(shown)]
        if self.looks and body.get("tools") and turn < 2 and wanted:
            return called(*wanted[:CALLS])
        return answered(a_reading(*(claim for texts, claim in self.claims if all(text in seen for text in texts))))

    def _first(self, shown: str) -> Iterator[tuple[str, object]]:
        around = re.findall(r"^### (\S+)$", shown, re.MULTILINE)
        yield from (("read", {"path": path}) for path in dict.fromkeys([*partly_shown(shown), *around]))
        names = set(re.findall(r"^ *[0-9]+ \+(?:def|class) (\w+)", shown, re.MULTILINE)) - set(all_shown(shown))
        yield from (("search", {"pattern": name, "literal": True}) for name in sorted(names))

    def _second(self, shown: str) -> Iterator[tuple[str, object]]:
        found = re.findall(r"^### shop/(\w+)\.py \[", shown, re.MULTILINE)
        yield from (("search", {"pattern": f"shop.{name} ", "literal": True}) for name in dict.fromkeys(found))


def all_shown(shown: str) -> list[str]:
    """The names of which a reader is shown each use."""
    return [name for text in re.findall(r"code that uses (.+) by name", shown) for name in text.split(", ")]


class Cost(NamedTuple):
    lines: int
    first: Counter[str]
    warm: Counter[str]
    cold: Counter[str]

    def share(self, push: Counter[str]) -> float:
        return sum(push.values()) / sum(self.first.values())

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {self.first[name]:,.0f}/{count:,.0f}" for name, count in self.cold.items())
        sums = f"{sum(self.first.values()):,.0f} | {sum(self.cold.values()):,.0f}"
        return f"| {self.lines} | {sums} | {self.share(self.warm):.2f} | {self.share(self.cold):.2f} | {parts}"


def cost_of_a_push(
    pushing: Pushing, areas: int, functions: int, *, looks: bool = True, in_module: bool = False
) -> Cost:
    """Of one hunk that breaks an unchanged caller, which is found. The first review has three findings.

    `in_module`: it is in a module of more than a hundred lines, not in a new file of seven.
    """
    names = AREAS[:areas]
    pushing.models = pushing.api.otherwise = Looking(looks=looks)
    line = "        total = total + order.{} * {}"
    pushing.models.claims = tuple(
        (
            (f"def {area}_{OLD}(",),
            a_claim(
                f"shop/{area}.py",
                line.format(area, OLD + 2),
                f"{area} counts too much.",
                proof=[
                    {"path": f"reports/{area}.py", "side": "new", "quote": f"return {area}_0(mine, 3 * 100)", "why": ""}
                ],
            ),
        )
        for area in names[:3]
    )
    pushing.case.repo.git("checkout", "--quiet", "main")
    pushing.case.repo.commit({**{f"shop/{area}.py": module(area, OLD) for area in AREAS}, **REPORTS})
    pushing.case.repo.git("checkout", "--quiet", "-B", "feature")
    changed = {f"shop/{area}.py": module(area, OLD + functions) for area in names}
    first = pushing.push({"shop/prices.py": PRICES, **changed})
    assert len(first.delivered.review.findings) == 3
    asked = [*pushing.models.asked]
    path, caller, wrong = "shop/prices.py", "shop/invoices.py", WRONG
    quote, text = "return sum(price_of(order) for order in orders)", PUSHED
    if in_module:
        area = names[-1]
        path, caller, wrong = f"shop/{area}.py", f"reports/{area}.py", line.format(area, 2).replace("+", "-")
        quote, text = f"return {area}_0(mine, 3 * 100)", changed[path].replace(line.format(area, 2), wrong)
    proof = [{"path": caller, "side": "new", "quote": quote, "why": "it relies on what was pushed"}]
    pushing.models.claims = (((wrong.strip(), quote), a_claim(path, wrong, "It breaks its caller.", proof=proof)),)
    second = pushing.push({path: text})
    [fresh] = [each for each in second.delivered.review.findings if each.message == "It breaks its caller."]
    assert (fresh.path, fresh.proof[0].path) == (path, caller)
    lines = sum(entry.added + entry.removed for entry in first.delivered.review.coverage)
    before = by_part(asked)
    warm = by_part([*asked, *pushing.models.asked])
    warm.subtract(before)
    return Cost(lines, before, warm, by_part(pushing.models.asked))


@pytest.mark.slow
def test_a_push_of_one_hunk_costs_a_quarter_without_a_cache_and_finds_a_defect_in_an_unchanged_caller(
    case: HostCase, messages_api: MessagesApi
) -> None:
    cost = cost_of_a_push(on_a_branch(case, messages_api), 5, 2)

    assert 100 < cost.lines < 110
    assert cost.share(cost.cold) <= 0.10, cost


@pytest.mark.slow
@pytest.mark.parametrize("how", ["two turns of look-ups", "two turns of look-ups, in a long module", "no look-ups"])
@pytest.mark.parametrize(("areas", "functions"), [(5, 2), (5, 3), (6, 5), (6, 10)])
def test_what_a_push_costs_by_the_size_of_the_change(
    areas: int,
    functions: int,
    how: str,
    local_case: HostCase,
    messages_api: MessagesApi,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pushing, looks = on_a_branch(local_case, messages_api), how != "no look-ups"
    cost = cost_of_a_push(pushing, areas, functions, looks=looks, in_module="module" in how)
    with capsys.disabled():
        print(f"\n{how} {cost}")

    assert cost.share(cost.cold) <= (0.23 if how == "no look-ups" else 0.1), cost
