"""What links the files of a change: imports, names, tests, topics. Told by lines and paths."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reviewbot.diff.language import language_of
from reviewbot.review.plan.affinity import (
    IMPORT,
    MAX_OF_TOPIC,
    NAMES,
    TEST,
    TOPIC,
    FileShape,
    Links,
    links_between,
    modules_in,
    name_under_test,
)
from tests.make import MakePayload
from tests.work import count_calls

MakeLinks = Callable[[dict[str, str]], Links]


@pytest.fixture
def links(a_payload: MakePayload) -> MakeLinks:
    """The links of files with these added lines; they are all that is known of the files."""

    def made(files: dict[str, str]) -> Links:
        shapes = []
        for path, text in files.items():
            code = "\n".join(f"+{line}" for line in text.split("\n"))
            language = language_of(path)
            shapes.append(FileShape(path, language, (a_payload(code, path=path),), modules_in(code, language)))
        return links_between(shapes)

    return made


@pytest.mark.parametrize(
    ("text", "language", "modules"),
    [
        ("import a.b, c as d\nfrom .e import f as g, h", "python", ("a.b", "c", ".e.f", ".e.h", ".e")),
        ("from a import (\n    b,\n    c as d,\n)\n", "python", ("a.b", "a.c", "a")),
        ("from . import x", "python", (".x", ".")),
        ('import { a } from "./a";\nconst b = require("b");\nawait import("@/c");', "typescript", ("./a", "b", "@/c")),
        ("export * from './d';\nimport './side';", "javascript", ("./d", "./side")),
        ('import "fmt"\n\nimport (\n\tx "example.org/x"\n)\n\nfunc f() {\n\t"no"\n}', "go", ("fmt", "example.org/x")),
        ("+from a import b\n-import c", "python", ("a.b", "a")),
        ("use a::b;", "rust", ()),
    ],
)
def test_modules_are_read_from_import_statements(text: str, language: str, modules: tuple[str, ...]) -> None:
    assert modules_in(text, language) == modules


@pytest.mark.parametrize("path", ["x/test_cart.py", "x/cart_test.go", "x/cart.spec.ts", "x/CartTest.java", "cart.rb"])
def test_the_name_of_a_test_is_that_of_what_it_tests(path: str) -> None:
    assert name_under_test(path) == "cart"


def test_a_test_goes_with_the_nearest_file_of_its_name(links: MakeLinks) -> None:
    found = links({"shop/cart.py": "", "mail/cart.py": "", "tests/mail/test_cart.py": ""})

    assert found["mail/cart.py", "tests/mail/test_cart.py"] >= TEST
    assert found.get(("shop/cart.py", "tests/mail/test_cart.py"), 0) < TEST


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        ("app/main.py", "app/cart.py", "from .cart import total"),
        ("app/main.py", "app/cart.py", "from app.cart import total"),
        ("app/main.py", "app/cart.py", "from app import cart"),
        ("app/main.py", "src/app/cart/__init__.py", "import app.cart"),
        ("main.py", "cart.py", "import cart"),
        ("web/a.ts", "web/lib/cart.ts", 'import { b } from "./lib/cart";'),
        ("web/a.ts", "web/lib/index.tsx", 'export * from "./lib";'),
        ("web/a.ts", "src/cart.ts", 'import { b } from "@/cart";'),
        ("cmd/a.go", "pkg/cart/b.go", 'import "example.org/x/pkg/cart"'),
    ],
)
def test_an_import_links_the_file_that_it_names(one: str, other: str, text: str, links: MakeLinks) -> None:
    found = links({one: text, other: "", "vendor/cart/react.ts": "", "lib/zebra.py": ""})

    assert found[min(one, other), max(one, other)] >= IMPORT
    assert not [pair for pair in found if "lib/zebra.py" in pair]


@pytest.mark.parametrize("text", ["import react from 'react';", 'import x from "../other/cart";'])
def test_a_library_or_another_file_is_no_link(text: str, links: MakeLinks) -> None:
    assert links({"web/a.ts": text, "deep/in/react.ts": "", "web/cart.ts": ""}) == {}


def test_what_many_files_import_belongs_to_none_of_them(links: MakeLinks) -> None:
    files = {f"f{n}.py": "import hub" for n in range(10)} | {"hub.py": ""}

    assert set(links(files).values()) == {IMPORT // 10}


def test_a_name_links_the_file_that_uses_it_with_the_one_that_defines_it(links: MakeLinks) -> None:
    found = links({"a.rb": "def open_ledger\nend", "b.rb": "x = open_ledger", "c.rb": "x = 1"})

    assert found == {("a.rb", "b.rb"): NAMES}


def test_a_word_that_few_files_have_in_their_names_is_a_topic_and_the_name_of_a_layer_is_none(links: MakeLinks) -> None:
    found = links({"a/OrderTotals.rb": "", "b/order_service.rb": "", "c/mail_service.rb": ""})

    assert found == {("a/OrderTotals.rb", "b/order_service.rb"): TOPIC // 2}
    assert links({f"{n}/order.rb": "" for n in range(MAX_OF_TOPIC + 1)}) == {}


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE IF NOT EXISTS invoices (id int);",
        "ALTER TABLE `invoices` ADD x int;",
        "op.add_column(table_name='invoices')",
        "migrations.AddField(model_name='Invoice')",
    ],
)
def test_a_migration_goes_with_the_files_of_its_tables(text: str, links: MakeLinks) -> None:
    path = "db/migrations/0001_x.py" if "(" in text and "CREATE" not in text else "db/migrations/0001.sql"

    found = links({path: text, "shop/invoice.rb": "", "stock/cart.rb": ""})

    assert found.keys() == {(path, "shop/invoice.rb")}


def _work(links: MakeLinks, paths: list[str]) -> int:
    return count_calls(lambda: links(dict.fromkeys(paths, "import cart\nfrom . import cart"))).total()


def test_the_work_for_files_whose_names_are_alike_grows_as_they_do(links: MakeLinks) -> None:
    few, many = (_work(links, [f"d{n}/{'test_' * (n % 2)}cart.py" for n in range(count)]) for count in (500, 2_000))

    assert few > 500
    assert many < 5 * few


def test_a_file_in_deep_folders_is_no_more_work_than_another(links: MakeLinks) -> None:
    deep, deeper = (_work(links, [f"{'d/' * depth}{n}.py" for n in range(200)]) for depth in (50, 1_500))

    assert deep > 200
    assert deeper < 1.1 * deep
