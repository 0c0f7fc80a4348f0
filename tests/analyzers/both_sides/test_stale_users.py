"""Names that are gone from a file of JavaScript, TypeScript or Go, and what still takes them from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from reviewbot.analyzers.both_sides.stale_users import stale_users
from reviewbot.domain.ports import ChangedFile, Commit, Occurrence

BASE = "export function addTax(net) {\n  return net;\n}\nexport const RATE = 1;\n"
HEAD = "export const RATE = 1;\n"
USER = 'import { addTax } from "./prices";\n\naddTax(1);\n'


def test_a_name_that_is_gone_is_told_with_the_file_that_imports_it(said: Any) -> None:
    found = said(BASE, HEAD, {"src/cart.js": USER}, path="src/prices.js")["removed-symbol"]

    assert found.message == "`addTax` is gone from here, and still taken from here at src/cart.js:1."
    assert (found.side, found.near) == ("old", 1)


@pytest.mark.parametrize(
    ("head", "others"),
    [
        (HEAD, {"src/cart.js": USER.replace("./prices", "./other/prices")}),
        (HEAD, {"src/cart.js": USER.replace("./prices", "prices")}),
        (HEAD, {"src/cart.js": "function addTax() {}\naddTax();\n"}),
        (HEAD, {"src/cart.js": USER, "src/prices.ts": BASE}),
        (HEAD, {"src/cart.js": USER, "src/prices/index.js": BASE}),
        (f'{HEAD}export * from "./more";\n', {"src/cart.js": USER}),
        (f'{HEAD}export {{ addTax }} from "./more";\n', {"src/cart.js": USER}),
        ("export const addTax = (net) => net;\n", {"src/cart.js": USER}),
        (HEAD, {"src/cart.md": USER}),
    ],
    ids=[
        "another module", "a package", "its own", "another ending", "a folder", "all of another", "of another",
        "another form", "no code",
    ],
)  # fmt: skip
def test_a_name_that_may_come_from_elsewhere_draws_nothing(said: Any, head: str, others: dict[str, str]) -> None:
    assert said(BASE, head, others, path="src/prices.js") == {}


def test_a_name_that_was_never_offered_draws_nothing(said: Any) -> None:
    base = BASE.replace("export function", "function")

    assert said(base, HEAD, {"src/cart.js": USER}, path="src/prices.js") == {}


def test_without_a_search_of_the_tree_nothing_is_known(said: Any) -> None:
    assert said(BASE, HEAD, {"src/cart.js": USER}, path="src/prices.js", searchable=False) == {}


def test_the_tree_is_read_once_for_all_names_of_a_change_and_not_searched_for_each() -> None:
    snapshot = WholeTree({"src/prices.js": HEAD, "src/cart.js": USER, "README.md": "addTax"})
    file = ChangedFile("src/prices.js", "src/prices.js", "javascript", (), HEAD, BASE)

    assert [each.rule for each in stale_users(file, snapshot)] == ["removed-symbol"]
    assert (snapshot.searched, snapshot.read) == ([], [("src/cart.js", "src/prices.js")])


@pytest.mark.parametrize(("unread", "found"), [("rates/b.go", 0), ("other/b.go", 1)])
def test_a_file_that_may_define_the_name_and_could_not_be_read_makes_it_unknown(unread: str, found: int) -> None:
    snapshot = WholeTree({"rates/a.go": "package rates\n", "cart/cart.go": GO_USER, unread: None})
    file = ChangedFile("rates/a.go", "rates/a.go", "go", (), "package rates\n", GO)

    assert len(list(stale_users(file, snapshot))) == found


class WholeTree:
    """A snapshot with the whole tree at hand; a file without a text is listed and cannot be read."""

    def __init__(self, texts: dict[str, str | None]) -> None:
        self._texts = texts
        self.searched: list[str] = []
        self.read: list[tuple[str, ...]] = []

    def head(self, path: str) -> str | None:
        return self._texts.get(path)

    base = head

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        del limit
        self.searched.append(word)
        return None

    def history(self, path: str, limit: int) -> tuple[Commit, ...]:
        del path, limit
        return ()

    def files(self) -> tuple[str, ...]:
        return tuple(sorted(self._texts))

    def contents(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        self.read.append(tuple(paths))
        found = ((path, self._texts[path]) for path in self.read[-1])
        return ((path, text.encode()) for path, text in found if text is not None)


GO = "package rates\n\nfunc Tax() int { return 1 }\n"
GO_USER = 'package cart\n\nimport "x.org/shop/rates"\n\nvar T = rates.Tax()\n'


def test_in_go_the_package_and_not_the_file_has_to_define_a_name(said: Any) -> None:
    head, users = "package rates\n", {"cart/cart.go": GO_USER}

    assert "cart/cart.go:5" in said(GO, head, users, path="rates/a.go")["removed-symbol"].message
    assert said(GO, head, {**users, "rates/b.go": GO}, path="rates/a.go") == {}
    assert said(GO, head, {"cart/cart.go": GO_USER.replace("shop/rates", "shop/other")}, path="rates/a.go") == {}
    assert said(GO, head, {"cart/cart.go": "package cart\n\n// rates.Tax is gone\n"}, path="rates/a.go") == {}


JAVA = "package shop;\n\npublic class Rates {\n    public static final int TAX = 1;\n}\n"
JAVA_USER = "package cart;\n\nimport shop.Rates;\n\nclass Cart {\n    int tax = Rates.TAX;\n}\n"


def test_in_java_a_member_of_the_class_of_the_file_is_missed_where_the_class_is_imported(said: Any) -> None:
    head, path = JAVA.replace("TAX", "DUTY"), "src/shop/Rates.java"

    found = said(JAVA, head, {"src/cart/Cart.java": JAVA_USER}, path=path)["removed-symbol"]
    assert "`Rates.TAX` is gone" in found.message
    assert "src/cart/Cart.java:6" in found.message
    for silent in (
        JAVA_USER.replace("import shop.Rates", "import other.Rates"),
        JAVA_USER.replace("    int tax", "    // int tax"),
        JAVA_USER.replace("Rates.TAX", "own.Rates.TAX"),
    ):
        assert said(JAVA, head, {"src/cart/Cart.java": silent}, path=path) == {}
    assert (
        said(JAVA, head.replace("Rates {", "Rates extends Base {"), {"src/cart/Cart.java": JAVA_USER}, path=path) == {}
    )
    lombok = head.replace("shop;", "shop;\n\nimport lombok.Data;")
    assert said(JAVA, lombok, {"src/cart/Cart.java": JAVA_USER}, path=path) == {}


def test_a_user_that_imports_by_an_alias_is_known_by_the_configuration_of_the_base_side(said: Any) -> None:
    config = {"tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["src/*"]}}}'}
    user = {"web/cart.js": USER.replace("./prices", "@/prices")}

    assert "removed-symbol" in said(BASE, HEAD, config | user, path="src/prices.js")
    assert said(BASE, HEAD, user, path="src/prices.js") == {}
