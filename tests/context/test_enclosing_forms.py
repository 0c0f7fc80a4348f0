"""Definitions that only indentation and their first words tell: where they begin and end, and what they are called."""

from __future__ import annotations

import pytest

from reviewbot.context.enclosing import Enclosing, enclosing

SHOP = """\
class Shop {
  total(items) {
    // all of them

    return 1
  }

  other() {
    if (a) {
      b()
    }
  }
}

run()
"""
RUBY = "module Shop\n  def total(x)\n    y = 1\n\n    y\n  end\n\n\nend\nputs 1\n"


def held(text: str, first: int, last: int | None = None, *, language: str = "java") -> Enclosing | None:
    return enclosing(text, language, first, last or first)


@pytest.mark.parametrize(
    ("first", "last", "name"),
    [
        (1, 1, ("Shop", 1, 13)),
        (2, 2, ("total", 2, 6)),
        (3, 3, ("total", 2, 6)),
        (5, 5, ("total", 2, 6)),
        (2, 6, ("total", 2, 6)),
        (9, 9, ("other", 8, 12)),
        (10, 10, ("other", 8, 12)),
        (9, 11, ("other", 8, 12)),
        (5, 10, ("Shop", 1, 13)),
        (2, 8, ("Shop", 1, 13)),
        (15, 15, None),
        (10, 15, None),
        (0, 3, None),
        (99, 99, None),
    ],
)
def test_the_nearest_heading_whose_block_holds_the_lines(
    first: int, last: int, name: tuple[str, int, int] | None
) -> None:
    assert held(SHOP, first, last) == name


@pytest.mark.parametrize(
    ("row", "name"),
    [(2, ("total", 2, 6)), (3, ("total", 2, 6)), (5, ("total", 2, 6)), (1, ("Shop", 1, 9)), (10, None)],
)
def test_a_word_may_close_a_block_as_a_bracket_does(row: int, name: tuple[str, int, int] | None) -> None:
    assert held(RUBY, row, language="ruby") == name


def test_a_block_without_a_closing_line_ends_with_its_last_row() -> None:
    text = "def f(:\n    x = 1\n\n    y = 2\n  \n\nz = (\n"

    assert held(text, 2, language="python") == ("f", 1, 4)
    assert held(text, 7, language="python") is None
    assert held("def f(:\n    x = 1", 2, language="python") == ("f", 1, 2)


def test_a_closing_line_that_is_indented_less_belongs_to_another_block() -> None:
    assert held("  f() {\n    a\n}\nx", 2) == ("f", 1, 2)
    assert held("  f() {\n    a\n  }\nx", 2) == ("f", 1, 3)


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("func (s *Shop) Total(x int) int {", "Total"),
        ("func Total[T any](x T) T {", "Total"),
        ("def total[T: list[int]](x: T) -> T:", "total"),
        ("function total<T>(x) {", "total"),
        ("func (Shop) Total() {", "Total"),
        ("pub async fn total(x: u8) -> u8 {", "total"),
        ("export default class Cart extends Base {", "Cart"),
        ("export default async function load() {", "load"),
        ("interface A<T> extends B {", "A"),
        ("namespace A.B {", "A.B"),
        ("impl Shop {", "Shop"),
        ("enum class Kind : int {", "Kind"),
        ("enum Kind {", "Kind"),
        ("describe('carts', () => {", "describe"),
        ("  public static int total(int a, int b) {", "total"),
        ("  constructor() {", "constructor"),
        ("object Shop {", "Shop"),
        ("def total", "total"),
        ("trait Shown", "Shown"),
    ],
)
def test_a_definition_is_called_by_the_word_before_its_brackets(heading: str, name: str) -> None:
    margin = " " * (len(heading) - len(heading.lstrip()))

    assert held(f"{heading}\n{margin}  x\n{margin}}}", 2) == (name, 1, 3)


@pytest.mark.parametrize(
    "heading",
    ["if (a) {", "  if (a) {", "  } else if (a) {", "  for (x of y) {", "  while (a) {", "  switch (a) {",
     "  return f(() => {", "x = 1", "  call(a);", "classic(x)", "  total(x)", "definitely", "  catch (e) {"],
)  # fmt: skip
def test_what_only_looks_like_a_heading_defines_nothing(heading: str) -> None:
    margin = " " * (len(heading) - len(heading.lstrip()))

    assert held(f"{heading}\n{margin}  x\n{margin}}}", 2) is None
