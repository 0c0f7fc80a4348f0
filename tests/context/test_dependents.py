"""Which names a push changes, and which code uses them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from reviewbot.context.dependents import (
    ABOVE,
    ALL_USES,
    BELOW,
    LEFT_OUT,
    MAX_CHARS,
    MAX_FOUND,
    MAX_NAME_CHARS,
    MAX_PLACES,
    MAX_USES,
    Name,
    changed_names,
    dependents_of,
    numbered_lines,
    pushed_definitions,
)
from tests.memory.pushes import change_of
from tests.snapshots import InMemorySnapshot

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


def test_a_comment_above_a_method_is_about_the_method_and_not_about_its_class() -> None:
    java = "class Accounts {\n    int a;\n\n    Account get(String id) {\n        return byId.get(id);\n    }\n}\n"
    commented = java.replace("    Account get", "    /** In any case. */\n    Account get")

    assert names_of({"Accounts.java": java}, {"Accounts.java": commented}) == {"get"}


def uses(files: Mapping[str, str], *names: str) -> str:
    snapshot = InMemorySnapshot(dict(files), searchable=True)
    wanted = [Name(name, "shop/price.py") for name in names]
    return dependents_of(wanted, snapshot, lambda _path, _line: False).excerpts


CALLER = "from shop.price import total_of\n\n\ndef bill(order):\n    # what it costs\n    return total_of(order)\n"


def test_a_caller_is_shown_with_the_definition_around_it() -> None:
    excerpts = uses({"shop/bill.py": CALLER, "README.md": "total_of is fast\n"}, "total_of")

    assert excerpts == (
        f"{ALL_USES.format('total_of')}\n\n"
        "### shop/bill.py\n4 def bill(order):\n5     # what it costs\n6     return total_of(order)"
    )


def test_of_a_long_caller_more_is_shown_below_the_call_where_its_result_is_used() -> None:
    rows = "".join(f"    step({number})\n" for number in range(60))
    excerpts = uses({"shop/bill.py": f"def bill(order):\n{rows}    x = total_of(order)\n{rows}"}, "total_of")

    numbers = [line for _, line in numbered_lines(excerpts)]
    assert numbers == [1, *range(62 - ABOVE, 62 + BELOW + 1)]


def test_all_uses_are_shown_only_where_each_name_can_be_followed_and_there_is_room() -> None:
    def is_all(files: Mapping[str, str], *names: str) -> bool:
        snapshot = InMemorySnapshot(dict(files), searchable=True)
        wanted = [Name(name, "shop/price.py") for name in names]
        return dependents_of(wanted, snapshot, lambda _path, _line: False).is_all

    many = {f"m{number}.py": f"def f():\n    total_of({number})\n" for number in range(MAX_PLACES + 1)}
    often = "def f():\n" + "    total_of(1)\n" * (MAX_PLACES + 1)
    common = {"a.py": "def run(x):\n    return x.get(1)\n"}
    assert is_all({"shop/bill.py": CALLER}, "total_of")
    assert not is_all({"shop/bill.py": CALLER})
    assert not is_all(many, "total_of")
    assert uses(many, "total_of").startswith(LEFT_OUT.format("m9.py:2") + "\n\n")
    assert is_all({"shop/bill.py": often}, "total_of"), "one function is one place, however often it uses the name"
    assert not is_all({"shop/bill.py": often * MAX_USES}, "total_of")
    assert not is_all({"shop/bill.py": CALLER, **common}, "total_of", "get")


def test_a_line_that_readers_are_shown_anyway_is_no_use() -> None:
    snapshot = InMemorySnapshot({"shop/bill.py": CALLER}, searchable=True)
    found = dependents_of([Name("total_of", "shop/price.py")], snapshot, lambda _path, line: line == 6)

    assert found.excerpts == ALL_USES.format("total_of")


def test_a_short_definition_that_was_pushed_is_shown_but_for_the_lines_that_a_hunk_shows() -> None:
    rows = [f"    step({number})\n" for number in range(20)]
    text = "def total_of(order):\n" + "".join(rows) + "    return order.net\n" + "\n\nx = 1\n"
    push = change_of({"shop/price.py": text}, {"shop/price.py": text.replace("order.net", "order.tax")})
    pushed = pushed_definitions(push, {"shop/price.py": text}.get)
    assert [tuple(each) for each in pushed] == [("shop/price.py", 1, 22)]

    snapshot = InMemorySnapshot({"shop/price.py": text}, searchable=True)
    found = dependents_of([Name("total_of", "shop/price.py")], snapshot, lambda _path, line: line >= 19, pushed)
    assert [line for _, line in numbered_lines(found.excerpts)] == list(range(1, 19))
    assert found.excerpts.startswith(ALL_USES.format("total_of"))

    long = text.replace("    return", "".join(rows) * 3 + "    return")
    push = change_of({"shop/price.py": long}, {"shop/price.py": long.replace("order.net", "order.tax")})
    assert pushed_definitions(push, {"shop/price.py": long}.get) == ()


def test_a_test_is_shown_only_where_nothing_else_uses_a_name() -> None:
    test = {"tests/test_price.py": "def test_it():\n    assert total_of(1) == 1\n"}

    assert "tests/" not in uses({"shop/bill.py": CALLER, **test}, "total_of")
    assert "tests/" in uses(test, "total_of")


def test_definitions_imports_and_comments_are_no_uses() -> None:
    text = "from shop.price import total_of\n\n\n# total_of is fast\ndef total_of(order):\n    return 1\n"

    assert uses({"shop/price.py": text, "a.go": "// total_of is slow\n"}, "total_of") == ALL_USES.format("total_of")
    assert "a.go" in uses({"a.go": "func f(p *int) {\n\t*p = total_of(1)\n}\n"}, "total_of")


def test_a_common_name_counts_only_where_its_module_is_named() -> None:
    far, near = (
        "def run(x):\n    return x.get(1)\n",
        "from shop import price\n\n\ndef run(x):\n    return price.get(x)\n",
    )
    excerpts = uses({"a/far.py": far, "a/near.py": near}, "get")

    assert "a/near.py" in excerpts
    assert "a/far.py" not in excerpts


def test_of_a_common_name_the_lines_count_that_name_its_module() -> None:
    text = "from shop import price\n\n\ndef one(x):\n    return price.get(x)\n\n\ndef two(x):\n    return x.get(1)\n"

    shown = uses({"a.py": text}, "get")
    assert "price.get(x)" in shown
    assert "x.get(1)" not in shown
    assert shown.startswith(ALL_USES.format("get (on lines with price)"))


def test_what_is_shown_has_bounds() -> None:
    files = {f"m{number:03}.py": f"def f{number}():\n    total_of({'x' * 2_000})\n" for number in range(60)}
    excerpts = uses(files, "total_of")

    assert 0 < excerpts.count("### ") <= MAX_PLACES
    assert "Every line" not in excerpts
    assert len(excerpts) <= MAX_CHARS + 2 * MAX_PLACES


def test_names_are_named_as_shown_in_full_only_where_no_use_can_be_missing() -> None:
    many = "".join(f"x = total_of({number})\n" for number in range(MAX_FOUND))
    assert "Every line" not in uses({"a.py": many}, "total_of")
    assert "Every line" not in uses({"a.py": "x = get(1)\n"}, "get")
    assert ALL_USES.format("total_of") in uses({"a.py": "x = get(total_of)\n"}, "get", "total_of")

    assert "Every line" not in uses({"a.py": "x = 1\n"}, "n" * MAX_NAME_CHARS)

    unsearchable = InMemorySnapshot({"a.py": "x = total_of(1)\n"}, searchable=False)
    found = dependents_of([Name("total_of", "p.py")], unsearchable, lambda _path, _line: False)
    assert found.excerpts == ""


def test_the_lines_of_excerpts_are_known_by_path_and_number() -> None:
    excerpts = uses({"shop/bill.py": CALLER, "b.py": "### c.py\n    7 = total_of(1)\n"}, "total_of")

    assert set(numbered_lines(excerpts)) == {("shop/bill.py", line) for line in (4, 5, 6)} | {
        ("b.py", line) for line in (1, 2, 3)
    }
