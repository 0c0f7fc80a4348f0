"""Findings of files that a push renamed or left out, and of definitions that it moved, where the diff tells nothing."""

from __future__ import annotations

import pytest

from tests.memory.pushes import Pushes, Said

OLD, NEW = "app/added.py", "app/renamed.py"
CODE = "def pay(order):\n    fee = order.fee\n    total = order.total / order.count\n    return total + fee\n"
SAID = Said(OLD, "order.total / order.count")
BELOW = Said(NEW, "return total + fee", {"title": "Other words"})
BASE = {"app/base.py": "x = 1\n"}


def with_file(path: str, code: str = CODE, **more: str) -> dict[str, str]:
    return {**BASE, path: code, **{f"app/{name}.py": text for name, text in more.items()}}


def test_a_file_that_the_change_adds_is_followed_through_a_rename_also_to_another_line() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(with_file(OLD), SAID)
    review, _ = pushes.push(with_file(NEW), BELOW)

    assert (pushes.record.state, pushes.record.path, len(review.findings)) == ("open", NEW, 1)


@pytest.mark.parametrize("new", [NEW, "app/Added.py", "app/added.py/__init__.py", "app/added.txt"])
def test_a_file_of_the_base_is_followed_through_a_rename_that_the_diff_calls_a_removal(new: str) -> None:
    pushes = Pushes({**BASE, OLD: "def pay(order):\n    pass\n"})
    pushes.push(with_file(OLD), SAID)
    pushes.push(with_file(new))

    assert (pushes.record.state, pushes.record.path) == ("new", new)


def test_what_was_fixed_in_a_renamed_file_is_fixed() -> None:
    other = "def refund(order):\n    return order.paid / order.parts\n"
    pushes = Pushes(dict(BASE))
    pushes.push(with_file(OLD, CODE + other), SAID, Said(OLD, "order.paid / order.parts"))
    pushes.push(with_file(NEW, CODE.replace("/ order.count", "/ 2") + other), Said(NEW, "order.paid / order.parts"))

    assert sorted(state for state, _ in pushes.states) == ["fixed", "open"]
    assert {each.path for each in pushes.ledger.records} == {NEW}


def test_a_definition_that_moved_to_another_file_takes_its_finding_along_also_at_another_line() -> None:
    pushes = Pushes({**BASE, "app/here.py": "a = 1\n", "app/there.py": "b = 1\n"})
    moved = {"app/here.py": "a = 2\n", "app/there.py": f"b = 2\n\n\n{CODE}"}
    pushes.push(
        {**BASE, "app/here.py": f"a = 2\n\n\n{CODE}", "app/there.py": "b = 2\n"}, SAID._replace(path="app/here.py")
    )
    pushes.push({**BASE, **moved}, BELOW._replace(path="app/there.py"))

    assert (pushes.record.state, pushes.record.path) == ("open", "app/there.py")


def test_the_same_code_in_another_definition_is_no_move() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(with_file(OLD), SAID)
    copy = CODE.replace("def pay", "def bill")
    pushes.push(with_file(OLD, CODE.replace("/ order.count", "/ 2"), other=copy))

    assert (pushes.record.state, pushes.record.path) == ("fixed", OLD)


@pytest.mark.parametrize(("listed", "state"), [(("app/base.py",), "fixed"), ((OLD,), "new"), (None, "new")])
def test_a_file_that_was_added_and_left_out_again_is_gone_where_the_head_is_known(
    listed: tuple[str, ...] | None, state: str
) -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(with_file(OLD), SAID)
    pushes.push({"app/base.py": "x = 2\n"}, listing=lambda: listed)

    assert pushes.record.state == state


TWO_ROWS = Said(
    OLD, "fee = order.fee", {"end_line": 3, "evidence": "    fee = order.fee\n    total = order.total / order.count"}
)
EDITED = CODE.replace("fee = order.fee", "fee = order.fee * 2")


def test_an_edit_of_one_quoted_row_leaves_the_finding_the_same_where_another_one_is_quoted_again() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(with_file(OLD), TWO_ROWS)
    review, _ = pushes.push(with_file(OLD, EDITED), SAID)

    assert (pushes.record.state, len(review.findings)) == ("open", 1)


def test_an_edit_of_one_quoted_row_fixes_a_finding_that_is_not_reported_again() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(with_file(OLD), TWO_ROWS)
    pushes.push(with_file(OLD, CODE.replace("/ order.count", "/ 2")))

    assert pushes.record.state == "fixed"
