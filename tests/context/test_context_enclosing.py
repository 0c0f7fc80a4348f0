from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.context.enclosing import Enclosing, enclosing

PYTHON = """\
import os


@decorated
class Shop:
    def open(self):
        def inner():
            return os.name

        return inner()

    async def close(self):
        if self.busy:
            return 1
        return 2


top = 1
"""

JAVA = """\
package shop;

public class Shop {
    private int open;

    public int total(List<Item> items) {
        int sum = 0;
        for (Item item : items) {
            sum += item.price();
        }

        return sum;
    }
}
"""

GO = """\
package shop

func (s *Shop) Total(items []Item) int {
\tsum := 0
\tfor _, item := range items {
\t\tsum += item.Price
\t}
\treturn sum
}

var open = true
"""

RUBY = """\
class Shop
  def total(items)
    items.sum do |item|
      item.price
    end
  end
end
"""


def found(text: str, language: str, first: int, last: int = 0) -> Enclosing:
    answer = enclosing(text, language, first, last or first)
    assert answer is not None
    return answer


@pytest.mark.parametrize(
    ("line", "name", "rows"),
    [
        (8, "Shop.open.inner", (7, 8)),
        (10, "Shop.open", (6, 10)),
        (13, "Shop.close", (12, 15)),
        (4, "Shop", (4, 15)),
        (11, "Shop", (4, 15)),
    ],
)
def test_the_innermost_definition_of_python_is_told_by_its_tree(line: int, name: str, rows: tuple[int, int]) -> None:
    answer = found(PYTHON, "python", line)

    assert answer == (name, *rows)


def test_a_definition_inside_a_condition_is_found() -> None:
    assert (
        found("if 1:\n    try:\n        def f():\n            pass\n    except E:\n        pass\n", "python", 4).name
        == "f"
    )


def test_lines_of_two_definitions_stand_in_what_holds_both() -> None:
    assert found(PYTHON, "python", 8, 13).name == "Shop"


@pytest.mark.parametrize(("first", "last"), [(1, 2), (18, 18), (0, 3), (5, 4), (99, 99)])
def test_lines_outside_of_every_definition_have_none(first: int, last: int) -> None:
    assert enclosing(PYTHON, "python", first, last) is None


@pytest.mark.parametrize(
    ("text", "language", "line", "name", "rows"),
    [
        (JAVA, "java", 9, "total", (6, 13)),
        (JAVA, "java", 6, "total", (6, 13)),
        (JAVA, "java", 4, "Shop", (3, 14)),
        (GO, "go", 6, "Shop", (3, 9)),
        (RUBY, "ruby", 4, "total", (2, 6)),
        ("function total(items) {\n  return 1\n}\n", "javascript", 2, "total", (1, 3)),
        ("export default class Shop {\n  total() {\n    return 1\n  }\n}\n", "typescript", 3, "total", (2, 4)),
    ],
)
def test_other_languages_are_told_by_indentation(
    text: str, language: str, line: int, name: str, rows: tuple[int, int]
) -> None:
    answer = found(text, language, line)

    assert (answer.first, answer.last) == rows
    if language != "go":  # the receiver stands where the name does elsewhere
        assert answer.name == name


def test_python_that_does_not_parse_is_told_by_indentation() -> None:
    answer = found("def f(:\n    a\n    b\nc\n", "python", 3)

    assert answer == ("f", 1, 3)


def test_code_behind_a_definition_does_not_belong_to_it() -> None:
    assert enclosing(GO, "go", 11, 11) is None


def test_a_loop_is_no_method() -> None:
    assert (
        found(
            "class A {\n    void f() {\n        while (true) {\n            x();\n        }\n    }\n}\n", "java", 4
        ).name
        == "f"
    )


@given(
    st.text(alphabet="def class(){}[]:; \t\nfx=#@,", max_size=200),
    st.sampled_from(["python", "java", "text"]),
    st.integers(-2, 12),
    st.integers(-2, 12),
)
def test_any_text_has_an_answer_that_holds_the_lines(text: str, language: str, first: int, last: int) -> None:
    answer = enclosing(text, language, first, last)

    if answer is not None:
        assert answer.first <= first <= min(last, text.count("\n") + 1) <= answer.last
