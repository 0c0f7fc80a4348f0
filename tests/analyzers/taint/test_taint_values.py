"""Values, scopes and constants by themselves."""

from __future__ import annotations

import ast

import pytest

from reviewbot.analyzers.python.views import Budget, FlowStep, OutOfSteps
from reviewbot.analyzers.taint.operations import (
    arithmetic,
    compare,
    compose,
    fixes_host,
    is_statement,
    item_of,
    tracked_constant,
    truth_of,
    without,
)
from reviewbot.analyzers.taint.places import place, render_expression
from reviewbot.analyzers.taint.scopes import ValueScope
from reviewbot.analyzers.taint.values import (
    ALL,
    BUILT,
    CLEAN,
    HOSTED,
    UNKNOWN,
    Origin,
    Taint,
    Value,
    join_values,
    merge_taints,
    mix,
    plain,
    safer,
)


def tainted(text: str = "a", *safe: str, reach: str = "remote") -> Value:
    return Value((Taint(Origin(reach, 1, text), frozenset(safe), frozenset(), ()),))


def scope() -> ValueScope:
    return ValueScope(Budget(10_000))


def test_a_value_is_harmless_only_where_both_sides_are() -> None:
    taints = merge_taints([tainted("a", "xss", "sql"), tainted("a", "sql", "path")])
    assert [taint.safe for taint in taints] == [{"sql"}]
    assert safer(frozenset({ALL}), frozenset({"sql"})) == {"sql"}
    assert safer(frozenset({"sql"}), frozenset({ALL})) == {"sql"}


def test_of_many_origins_the_strongest_are_kept() -> None:
    many = [tainted(str(number), reach="parameter") for number in range(10)]
    assert merge_taints([*many, tainted("far")])[0].origin.text == "far"
    assert len(merge_taints([*many, tainted("far")])) == 6


def test_what_is_known_of_both_is_known_of_a_choice() -> None:
    one = Value(const=1, path="a", form="list", items={0: Value(const=1)})
    same = Value(const=1, path="a", form="list", items={0: Value(const=2)})
    both = join_values([one, same])
    assert (both.const, both.path, both.form) == (1, "a", "list")
    assert both.items is not None
    assert both.items[0].choices == (1, 2)
    other = join_values([one, Value(const=2, path="b", form="set", items={1: CLEAN})])
    assert (other.const, other.path, other.form, other.items) == (UNKNOWN, "", "", None)
    assert join_values([one, one]) is one


def test_too_many_choices_are_none() -> None:
    assert join_values([Value(const=number) for number in range(6)]).choices == ()
    assert join_values([Value(const=1), Value()]).choices == ()


def test_true_and_one_are_two_constants() -> None:
    assert not join_values([Value(const=True), Value(const=1)]).known


def test_clean_values_stay_as_they_are() -> None:
    clean = Value(path="a")
    assert clean.mark("sql") is clean.became("built") is clean.after(1, "x") is clean
    assert plain(clean) is CLEAN
    assert mix([clean]) is CLEAN
    assert without(tainted(), "built").taints == tainted().taints


def test_steps_are_told_once_and_not_without_end() -> None:
    taint = tainted().taints[0].after(1, "x").after(1, "x")
    assert taint.steps == (FlowStep(1, "x"),)
    for number in range(20):
        taint = taint.after(number, "y")
    assert len(taint.steps) == 8


def test_items_become_harmless_with_their_container() -> None:
    held = Value(tainted().taints, items={0: tainted()}, form="list").mark("sql")
    assert held.items is not None
    assert held.items[0].taints[0].safe == {"sql"}


def test_branches_are_joined_where_they_live() -> None:
    base = scope()
    base.set("a", Value(const=1))
    one, other = base.fork(), base.fork()
    one.set("a", Value(const=2))
    one.set("b", Value(const=3))
    other.dead = True
    base.join([one, other])
    assert [base.get(name).const for name in "ab" if base.get(name)] == [2, 3]  # type: ignore[union-attr]
    base.join([other])
    assert base.dead


def test_a_name_that_is_set_again_forgets_its_attributes() -> None:
    base = scope()
    base.put("a", "a.b", Value(const=1))
    branch = base.fork()
    branch.set("a", CLEAN)
    assert branch.get("a.b") is None
    assert base.get("a.b") is not None
    base.join([branch, base.fork()])
    assert base.get("a.b") is not None  # as it still is after one of the branches
    assert scope().get("a") is None


def test_copies_are_known_by_being_the_same_object() -> None:
    base = scope()
    value, equal = tainted(), tainted()
    base.set("a", value)
    base.set("c", equal)
    branch = base.fork()
    branch.set("b", value)
    branch.spread(value, CLEAN)
    assert branch.get("a") is branch.get("b") is CLEAN
    assert branch.get("c") is equal
    assert base.get("a") is value


def test_a_snapshot_holds_what_lies_between() -> None:
    base = scope()
    inner = base.fork().fork()
    inner.set("a", Value(const=1))
    inner.put("b", "b.c", Value(const=2))
    copy = inner.snapshot(base)
    inner.set("a", Value(const=3))
    assert copy.parent is base
    assert copy.get("a") is not None
    copy.set("b", CLEAN)
    assert copy.get("b.c") is None


def test_a_scope_counts_its_work() -> None:
    small = ValueScope(Budget(2))
    small.set("a", CLEAN)
    small.set("b", CLEAN)
    with pytest.raises(OutOfSteps):
        small.set("c", CLEAN)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("1 + 2", 3),
        ("'a' + 'b'", "ab"),
        ("7 * 6", 42),
        ("7 // 2", 3),
        ("7 / 2", 3.5),
        ("7 % 4", 3),
        ("1 / 0", UNKNOWN),
        ("2 ** 9", UNKNOWN),
        ("'a' * 9", UNKNOWN),
        ("'a' + 1", UNKNOWN),
        ("9999999999999999999 * 9", UNKNOWN),
    ],
)
def test_arithmetic_of_constants(text: str, result: object) -> None:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.BinOp)
    found = arithmetic(node.op, ast.literal_eval(node.left), ast.literal_eval(node.right))
    assert found is result or found == result


def test_comparisons_of_constants() -> None:
    assert compare(ast.In(), "a", "abc") is True
    assert compare(ast.NotIn(), "a", "abc") is False
    assert compare(ast.Is(), None, None) is True
    assert compare(ast.Is(), 1, 1) is UNKNOWN
    assert compare(ast.Lt(), 1, "a") is UNKNOWN
    assert [compare(kind(), 1, 2) for kind in (ast.Gt, ast.GtE, ast.LtE, ast.Eq, ast.NotEq)] == [
        False, False, True, False, True,
    ]  # fmt: skip


def test_long_and_odd_constants_are_not_followed() -> None:
    assert tracked_constant("a" * 2_000) is UNKNOWN
    assert tracked_constant(10**30) is UNKNOWN
    assert tracked_constant(...) is UNKNOWN
    assert item_of("abc", 9) is UNKNOWN
    assert item_of(3, 9) is UNKNOWN
    assert truth_of(UNKNOWN) is None


@pytest.mark.parametrize(
    ("code", "expected"),
    [("a", "a"), ("a.b['c'].d[1]", "a.b['c'].d[1]"), ("a[b]", ""), ("a().b", ""), ("a" + ".b" * 20, "")],
)
def test_places_as_they_are_written(code: str, expected: str) -> None:
    assert place(ast.parse(code, mode="eval").body)[1] == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [("a.b['c']", "a.b['c']"), ("a[b](c).d", "a[…]().d"), ("(a + b).c", "….c"), ("a" + ".b" * 20, ".b" * 8)],
)
def test_expressions_as_a_step_shows_them(code: str, expected: str) -> None:
    assert render_expression(ast.parse(code, mode="eval").body) == expected


@pytest.mark.parametrize("lead", ["https://a.b/", "/x", "mailto:a", "a", "//a/b"])
def test_a_beginning_that_fixes_the_host(lead: str) -> None:
    assert fixes_host(lead)


@pytest.mark.parametrize("lead", ["", "https://", "https:", "//", "https://a.b", "http://user@"])
def test_a_beginning_that_leaves_the_host_open(lead: str) -> None:
    assert not fixes_host(lead)


def test_what_stands_behind_a_host_is_behind_it() -> None:
    behind = compose([Value(const="https://a.b/"), tainted()])
    assert HOSTED in behind.taints[0].safe
    base = compose([CLEAN, Value(const="/x/"), tainted()])
    assert HOSTED in base.taints[0].safe
    before = compose([Value(const="https://"), tainted("h"), Value(const="/"), tainted("p")])
    assert [HOSTED in taint.safe for taint in before.taints] == [False, False]
    first = compose([Value(const="https://"), CLEAN, Value(const="/"), tainted("p")])
    assert HOSTED in first.taints[0].safe
    second = compose([behind, Value(const="/"), tainted("q")])
    assert all(HOSTED in taint.safe for taint in second.taints)


def test_a_text_of_one_part_is_not_put_together() -> None:
    assert BUILT not in compose([tainted(), Value(const="")]).taints[0].how
    assert BUILT in compose([tainted(), Value(const="x")]).taints[0].how
    assert compose([CLEAN, CLEAN]) is CLEAN
    assert compose([Value(const="a"), CLEAN]).lead == "a"


@pytest.mark.parametrize("text", ["select 1", "  (SELECT 1)", "\nDelete from", "with a as"])
def test_the_beginning_of_a_statement(text: str) -> None:
    assert is_statement(text)


@pytest.mark.parametrize("text", ["selected", "job-", "x select", ""])
def test_the_beginning_of_something_else(text: str) -> None:
    assert not is_statement(text)
