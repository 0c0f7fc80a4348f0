"""Methods of Java that changed while a subclass, or a call of one of several forms, has the old form."""

from __future__ import annotations

from typing import Any

import pytest

from reviewbot.context.symbols.java import MAX_ANCESTORS
from tests.work import count_calls

PATH = "src/shop/Discount.java"
BASE = "package shop;\n\npublic interface Discount {\n    double on(double net);\n}\n"
HEAD = BASE.replace("double net", "double net, int count")
WINTER = """\
package season;

import shop.Discount;

class Winter implements Discount {
    @Override
    public double on(double net) {
        return net;
    }
}
"""
ANONYMOUS = """\
package shop;

class Shop {
    Discount none = new Discount() {
        @Override
        public double on(double net) { return net; }
    };
}
"""
PRICES = "package shop;\n\npublic class Prices {\n    double tax(double net) {\n        return net;\n    }\n}\n"
NET = "package shop;\n\nclass Net extends Prices {\n    double all() {\n        return super.tax(1);\n    }\n}\n"
ITEM = "package shop;\n\nclass Item {\n    Item(long price) {}\n    Item(long price, int count) {}\n}\n"
CART = "package shop;\n\nclass Cart {\n    Item first() {\n        return new Item(1);\n    }\n}\n"


def test_an_override_of_a_form_that_is_gone_is_named_with_its_line(said: Any) -> None:
    found = said(BASE, HEAD, {"src/season/Winter.java": WINTER}, path=PATH, whole=True)["stale-override"]

    assert found.message.startswith("`Discount.on(double)` is gone or takes something else, and a subclass still has")
    assert found.message.endswith(" it at src/season/Winter.java:6.")
    assert (found.side, found.line) == ("new", 4)


@pytest.mark.parametrize(
    ("head", "user"),
    [
        (HEAD, WINTER.replace("    @Override\n", "")),
        (HEAD, WINTER.replace("shop.Discount", "other.Discount")),
        (HEAD, WINTER.replace("import shop.Discount;\n", "")),
        (HEAD, WINTER.replace("double net", "float net")),
        (HEAD, WINTER.replace("implements Discount", "extends Unknown implements Discount")),
        (HEAD, WINTER.replace("Discount {", "Discount, Sale {").replace("shop.D", "shop.Sale;\nimport shop.D")),
        (HEAD, WINTER.replace("implements Discount", "implements Sale<Discount>")),
        (HEAD, WINTER.replace("{\n    @", "{\n    interface Discount { double on(double net); }\n    @")),
        (HEAD.replace("}\n", "    double on(double net);\n}\n"), WINTER),
        (HEAD.replace("}\n", "    <T> double on(T net);\n}\n"), WINTER),
        (BASE.replace("Discount {", "Discount extends Sale {").replace("on(", "at("), WINTER),
        (BASE.replace("Discount {", "Discount extends Unknown {").replace("on(", "at("), WINTER),
        (BASE.replace("double net", "final java.lang.Double net"), WINTER.replace("double net", "Double net")),
    ],
    ids=[
        "no override", "another package", "a namesake of its own package", "another type", "a class from elsewhere",
        "another interface has it", "a type argument", "a class inside of that name", "an overload", "a type parameter",
        "moved up", "moved up, perhaps", "a package before a type",
    ],
)  # fmt: skip
def test_an_override_that_fits_or_may_fit_draws_nothing(said: Any, head: str, user: str) -> None:
    sale = {"src/shop/Sale.java": "package shop;\n\ninterface Sale {\n    double on(double net);\n}\n"}
    base = BASE if "Double" not in head else BASE.replace("double net", "@Sent Double net")

    assert "stale-override" not in said(base, head, {"src/season/Winter.java": user, **sale}, path=PATH, whole=True)


@pytest.mark.parametrize(
    "user",
    [
        WINTER.replace("implements Discount", "implements java.io.Serializable, Discount").replace("java.io.", ""),
        WINTER.replace("implements Discount", "extends Season implements Discount"),
        ANONYMOUS,
        WINTER.replace("(double net)", "(\n        final @Sent double net)"),
    ],
    ids=["a known interface", "a class of the tree", "an anonymous class", "annotations and lines"],
)
def test_a_subclass_of_several_is_found_where_no_other_has_the_method(said: Any, user: str) -> None:
    season = {"src/season/Season.java": "package season;\n\nabstract class Season {\n    int day;\n}\n"}

    assert "stale-override" in said(BASE, HEAD, {"src/season/Winter.java": user, **season}, path=PATH, whole=True)


def test_a_call_by_super_that_no_form_takes_is_found_and_one_in_another_class_is_not(said: Any) -> None:
    head = PRICES.replace("double net", "double net, double rate")
    inner = "        new Other() { int a() { return super.tax(1); } };\n        return 1;"

    def found(user: str, head: str = head) -> bool:
        return "stale-override" in said(PRICES, head, {"src/shop/Net.java": user}, path="src/shop/Prices.java")

    assert found(NET)
    assert not found(NET.replace("        return super.tax(1);", inner))
    assert not found(NET.replace("super.tax(1)", "super.tax(1, 2)"))
    assert not found(NET, PRICES.replace("double net", "double... nets"))


@pytest.mark.parametrize(
    ("head", "user", "is_found"),
    [
        (ITEM.replace("Item(long price) {}", "Item(long price, String unit) {}"), CART, True),
        (ITEM.replace("Item(long price) {}", "Item(Price price) {}"), CART, False),
        (ITEM.replace("Item(long price) {}", ""), CART.replace("Item(1)", "Item(1, 2)"), False),
        (ITEM.replace("Item(long price) {}", "Item(long... prices) {}"), CART, False),
        (ITEM.replace("Item(long price) {}", "").replace("class", "@lombok.Data class"), CART, False),
        (ITEM.replace("Item(long price) {}", ""), CART.replace("package shop", "package other"), False),
    ],
    ids=["gone", "another type", "another form", "any number", "made by lombok", "another class"],
)
def test_a_call_of_one_of_several_forms_is_found_where_none_takes_it(
    said: Any, head: str, user: str, *, is_found: bool
) -> None:
    found = said(ITEM, head, {"src/shop/Cart.java": user}, path="src/shop/Item.java", whole=True)

    assert ("overload-removed" in found or "signature-changed" in found) == is_found


def test_a_method_is_gone_also_from_a_class_whose_ancestors_stand_in_the_tree(said: Any) -> None:
    base = PRICES.replace("Prices {", "Prices extends Goods {").replace("double tax", "public double tax")
    user = "package cart;\n\nimport shop.Prices;\n\nclass Cart {\n    double total(Prices prices) {\n"
    others = {"src/cart/Cart.java": f"{user}        return prices.tax(1);\n    }}\n}}\n"}
    goods = {"src/shop/Goods.java": "package shop;\n\nclass Goods {\n    int stock;\n}\n"}

    def rules(goods: dict[str, str]) -> set[str]:
        head = base.replace("tax", "vat")
        return set(said(base, head, {**others, **goods}, path="src/shop/Prices.java", whole=True))

    assert rules(goods) == {"removed-symbol"}
    assert rules({}) == set()
    assert rules({path: text.replace("int stock", "double tax(double net)") for path, text in goods.items()}) == set()


def test_classes_that_extend_each_other_and_long_lines_of_ancestors_end(said: Any) -> None:
    names = [f"A{number}" for number in range(MAX_ANCESTORS + 5)]
    chain = {
        f"src/season/{name}.java": f"package season;\n\nclass {name} extends {above} {{}}\n"
        for name, above in zip(names, [*names[1:], "A0"], strict=True)
    }
    winter = WINTER.replace("implements", "extends A0 implements")

    assert said(BASE, HEAD, {"src/season/Winter.java": winter, **chain}, path=PATH, whole=True) == {}
    two = {path: text.replace("A2", "A0") for path, text in chain.items() if path.endswith(("A0.java", "A1.java"))}
    assert "stale-override" in said(BASE, HEAD, {"src/season/Winter.java": winter, **two}, path=PATH, whole=True)


def test_many_overrides_of_one_form_are_looked_up_once(said: Any) -> None:
    inner = "    @Override\n    public double on(double net) {\n        return net;\n    }\n"
    few, many = (
        {"src/season/Winter.java": WINTER.replace(inner, inner * times).replace("implements", "extends A implements")}
        for times in (1, 500)
    )
    above = {"src/season/A.java": "package season;\n\nclass A {}\n"}

    def asked(user: dict[str, str]) -> int:
        return count_calls(lambda: said(BASE, HEAD, {**user, **above}, path=PATH, whole=True))["may_inherit"]

    assert asked(few) == asked(many)
