"""Which names a push changes, and which code uses them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from reviewbot.context.dependents import (
    ALL_USES,
    MAX_CHARS,
    MAX_FOUND,
    MAX_NAME_CHARS,
    MAX_PLACES,
    Name,
    changed_names,
    dependents_of,
    numbered_lines,
)
from reviewbot.domain.contracts import ChangeSet
from tests.memory.pushes import change_of
from tests.snapshots import InMemorySnapshot

NO_CHANGE = ChangeSet(files=(), parsed=())
OLD = "def total_of(order):\n    return order.net\n\n\nclass Basket:\n    def __init__(self):\n        self.items = 1\n"


def names_of(before: Mapping[str, str], after: Mapping[str, str]) -> set[str]:
    return {each.name for each in changed_names(change_of(before, after), after.get)}


def test_the_definition_around_a_pushed_line_is_named() -> None:
    assert names_of({"a.py": OLD}, {"a.py": OLD.replace("order.net", "order.gross")}) == {"total_of"}


def test_a_constructor_is_used_by_the_name_of_its_class() -> None:
    assert names_of({"a.py": OLD}, {"a.py": OLD.replace("items = 1", "items = 2")}) == {"Basket"}


def test_a_name_that_is_gone_is_one_as_well() -> None:
    assert "total_of" in names_of({"a.py": OLD}, {"a.py": OLD.replace("total_of", "sum_of")})


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("a.ts", "export function price(o: Order) {\n  return o.net;\n}\n", "price"),
        ("a.go", "func Price(o Order) int {\n\treturn o.net\n}\n", "Price"),
    ],
)
def test_other_languages_are_read_by_their_form(path: str, text: str, name: str) -> None:
    assert name in names_of({path: text}, {path: text.replace("net", "tax")})


def uses(
    files: Mapping[str, str], *names: str, change: ChangeSet = NO_CHANGE
) -> tuple[dict[str, tuple[int, ...]], str]:
    snapshot = InMemorySnapshot(dict(files), searchable=True)
    wanted = [Name(name, "shop/price.py") for name in names]
    found = dependents_of(wanted, change, snapshot, lambda _path, _line: False)
    return dict(found.in_change), found.excerpts


CALLER = "from shop.price import total_of\n\n\ndef bill(order):\n    # what it costs\n    return total_of(order)\n"


def test_a_caller_outside_of_the_change_is_shown_with_the_definition_around_it() -> None:
    _, excerpts = uses({"shop/bill.py": CALLER, "README.md": "total_of is fast\n"}, "total_of")

    assert excerpts == (
        f"{ALL_USES.format('total_of')}\n\n"
        "### shop/bill.py\n    4 def bill(order):\n    5     # what it costs\n    6     return total_of(order)"
    )


def test_a_caller_in_the_change_is_named_by_its_lines() -> None:
    change = change_of({}, {"shop/bill.py": CALLER})

    assert uses({"shop/bill.py": CALLER}, "total_of", change=change) == (
        {"shop/bill.py": (6,)},
        ALL_USES.format("total_of"),
    )


def test_definitions_and_imports_are_no_uses() -> None:
    text = "from shop.price import total_of\n\n\ndef total_of(order):\n    return 1\n"

    assert uses({"shop/price.py": text}, "total_of") == ({}, ALL_USES.format("total_of"))


def test_a_common_name_counts_only_where_its_module_is_named() -> None:
    far, near = (
        "def run(x):\n    return x.get(1)\n",
        "from shop import price\n\n\ndef run(x):\n    return price.get(x)\n",
    )
    _, excerpts = uses({"a/far.py": far, "a/near.py": near}, "get")

    assert "a/near.py" in excerpts
    assert "a/far.py" not in excerpts


def test_what_is_shown_has_bounds() -> None:
    files = {f"m{number:03}.py": f"def f{number}():\n    total_of({'x' * 2_000})\n" for number in range(60)}
    _, excerpts = uses(files, "total_of")

    assert 0 < excerpts.count("### ") <= MAX_PLACES
    assert "Every line" not in excerpts
    assert len(excerpts) <= MAX_CHARS + 2 * MAX_PLACES


def test_names_are_named_as_shown_in_full_only_where_no_use_can_be_missing() -> None:
    many = "".join(f"x = total_of({number})\n" for number in range(MAX_FOUND))
    assert "Every line" not in uses({"a.py": many}, "total_of")[1]
    assert "Every line" not in uses({"a.py": "x = get(1)\n"}, "get")[1]
    assert ALL_USES.format("total_of") in uses({"a.py": "x = get(total_of)\n"}, "get", "total_of")[1]

    assert "Every line" not in uses({"a.py": "x = 1\n"}, "n" * MAX_NAME_CHARS)[1]

    unsearchable = InMemorySnapshot({"a.py": "x = total_of(1)\n"}, searchable=False)
    found = dependents_of([Name("total_of", "p.py")], NO_CHANGE, unsearchable, lambda _path, _line: False)
    assert found.excerpts == ""


def test_the_lines_of_excerpts_are_known_by_path_and_number() -> None:
    _, excerpts = uses({"shop/bill.py": CALLER, "b.py": "### c.py\n    7 = total_of(1)\n"}, "total_of")

    assert set(numbered_lines(excerpts)) == {("shop/bill.py", line) for line in (4, 5, 6)} | {
        ("b.py", line) for line in (1, 2, 3)
    }
