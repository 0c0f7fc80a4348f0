"""Tests that check less after a change, and what shows that they do not."""

from __future__ import annotations

from typing import Any

import pytest

TESTS = "tests/test_basket.py"
PYTHON = """def test_total():
    basket = Basket()
    basket.add("tea", 400)
    assert basket.total() == 476
"""


def test_a_test_that_lost_its_assertions_is_named_at_the_place_where_they_stood(said: Any) -> None:
    head = PYTHON.replace("    assert basket.total() == 476\n", "")

    found = said(PYTHON, head, path="tests/test_basket.py")["test-without-assertions"]

    assert (found.side, found.near) == ("old", 4)
    assert "`test_total` asserts nothing any more" in found.message
    assert found.confidence < 80, "a test may be meant to end without an error"


@pytest.mark.parametrize(
    "head",
    [
        PYTHON.replace("assert basket.total() == 476", "total_is(basket, 476)"),
        PYTHON.replace("assert basket.total() == 476", "assert basket.total() == 480"),
        PYTHON.replace("    assert", "    with raises(ValueError):\n        assert"),
        "def test_other():\n    pass\n",
        PYTHON.replace("test_total", "test_sum").replace("    assert basket.total() == 476\n", ""),
        "def test_total():\n    run_all(476)\n",
    ],
    ids=["a helper checks", "another assertion", "under a block", "another test", "renamed", "written anew"],
)
def test_a_test_that_still_checks_or_is_another_one_draws_nothing(said: Any, head: str) -> None:
    assert said(PYTHON, head, path=TESTS) == {}


def test_the_same_lines_in_a_file_that_holds_no_tests_draw_nothing(said: Any) -> None:
    assert said(PYTHON, PYTHON.replace("    assert basket.total() == 476\n", ""), path="src/basket.py") == {}


def test_a_name_that_stands_twice_says_nothing(said: Any) -> None:
    twice = f"{PYTHON}\n\n{PYTHON}"

    assert said(twice, twice.replace("    assert basket.total() == 476\n", ""), path=TESTS) == {}


@pytest.mark.parametrize(
    "line",
    ["    skip unless mercurial?\n", "    if old\n      skip\n    end\n", "    skip_before_save(user)\n"],
)
def test_a_test_that_is_left_out_under_a_condition_still_runs(said: Any, line: str) -> None:
    base = 'describe User do\n  it "stays" do\n    user = one\n    expect(user).to be_valid\n  end\nend\n'
    head = base.replace("    user = one\n", f"{line}    user = one\n")

    assert said(base, head, path="spec/user_spec.rb") == {}
    assert list(said(base, base.replace("    user", "    skip\n    user", 1), path="spec/user_spec.rb")) == [
        "test-skipped"
    ]


def test_a_focused_test_is_found_in_a_new_file_and_not_where_it_was_one_before(said: Any) -> None:
    base = 'describe("cart", () => {\n  it.only("adds", () => {\n    expect(total()).toBe(1);\n  });\n});\n'

    assert list(said("", base, path="src/cart.test.ts")) == ["test-focused"]
    assert said(base, base.replace('.only("adds"', '.only("adds up"'), path="src/cart.test.ts") == {}
    for path in ("test/fixtures/only.fixture.js", "test/only/bdd.spec.js"):
        assert said("", base, path=path) == {}, "a program that runs tests tries out its own focus there"


def test_a_constant_beside_real_assertions_is_no_loss(said: Any) -> None:
    head = PYTHON.replace("    assert basket", "    assert True\n    assert basket", 1).replace("476", "480")

    assert said(PYTHON, head, path=TESTS) == {}
    assert list(said(PYTHON, PYTHON.replace("basket.total() == 476", "True"), path=TESTS)) == ["assertion-always-holds"]
