"""Parameters of functions of JavaScript, TypeScript and Go that changed, and calls that still have the old form."""

from __future__ import annotations

from typing import Any

import pytest

BASE = "export function addTax(net: number) {\n  return net;\n}\n"
HEAD = "export function addTax(net: number, rate: number) {\n  return net * rate;\n}\n"
USER = 'import { addTax } from "./prices";\n\naddTax(1);\n'


def test_a_call_that_lacks_a_new_parameter_is_named_with_its_line(said: Any) -> None:
    found = said(BASE, HEAD, {"src/cart.ts": USER}, path="src/prices.ts")["signature-changed"]

    assert found.message == "`addTax` no longer takes what is handed to it at src/cart.ts:3 (`rate` is missing)."
    assert (found.side, found.line) == ("new", 1)


@pytest.mark.parametrize(
    ("head", "user"),
    [
        (HEAD, USER.replace("./prices", "./other/prices")),
        (HEAD, USER.replace("./prices", "prices")),
        (HEAD, USER.replace("addTax(1)", "addTax(...all)")),
        (HEAD, USER.replace("addTax(1)", "addTax(1, 2)")),
        (HEAD, USER.replace("addTax(1)", "addTax()")),
        (HEAD, USER.replace("addTax(1)", "shop.addTax(1)")),
        (HEAD, USER.replace("addTax(1)", "all.map((addTax) => addTax(1))")),
        (HEAD, USER.replace("addTax(1)", "addTax`1`")),
        (HEAD.replace("rate: number", "rate = 1"), USER),
        (HEAD.replace("rate: number", "rate?: number"), USER),
        (HEAD.replace("rate: number", "...rates: number[]"), USER),
        (HEAD.replace("rate: number", "rate: void"), USER),
        ("export function addTax(net: number): number;\n" + HEAD, USER),
        (BASE.replace("net: number", "net: string"), USER),
    ],
    ids=[
        "another module", "a package", "spread", "adapted", "wrong before as well", "a method of another",
        "a parameter of that name", "a template", "a default", "optional", "any number", "void", "overloaded",
        "another type",
    ],
)  # fmt: skip
def test_a_call_that_fits_or_may_mean_another_function_draws_nothing(said: Any, head: str, user: str) -> None:
    assert said(BASE, head, {"src/cart.ts": user}, path="src/prices.ts") == {}


@pytest.mark.parametrize(
    "user",
    [
        'import * as prices from "./prices";\nprices.addTax(1);\n',
        'import addTax from "./prices";\naddTax(1);\n',
        'const { addTax } = require("./prices");\naddTax(1);\n',
        'const prices = require("./prices");\nprices.addTax(1);\n',
    ],
    ids=["a namespace", "the default", "required", "all required"],
)
def test_a_function_is_known_by_what_a_file_imports(said: Any, user: str) -> None:
    export = "export default addTax;\n"

    found = said(BASE + export, HEAD + export, {"src/cart.ts": user}, path="src/prices.ts")

    assert "src/cart.ts:2" in found["signature-changed"].message


def test_the_default_of_a_module_may_be_another_function(said: Any) -> None:
    user = {"src/cart.ts": 'import addTax from "./prices";\naddTax(1);\n'}

    assert said(BASE, HEAD, user, path="src/prices.ts") == {}


def test_a_method_that_the_object_asks_itself_for_is_known_by_its_class(said: Any) -> None:
    base = "class Cart {\n  add(item) {}\n  fill() {\n    this.add(1);\n  }\n}\n"
    head = base.replace("add(item)", "add(item, count)")

    assert "src/cart.js:4 (`count` is missing)" in said(base, head, path="src/cart.js")["argument-missing"].message
    other = "class Cart {\n  add(item) {}\n}\nclass Box {\n  fill() {\n    this.add(1);\n  }\n}\n"
    assert said(other, other.replace("add(item)", "add(item, count)"), path="src/cart.js") == {}


def test_in_javascript_an_argument_too_many_is_only_told_where_others_change_places(said: Any) -> None:
    base = "export function add(name, price, tax) {}\n"
    users = {"src/cart.js": 'import { add } from "./prices";\nadd(title, net, rate);\n'}

    assert said(base, "export function add(name, price) {}\n", users, path="src/prices.js") == {}
    found = said(base, "export function add(name, tax) {}\n", users, path="src/prices.js")
    assert found == {}
    found = said(base, "export function add(price, tax) {}\n", users, path="src/prices.js")["parameters-swapped"]
    assert "src/cart.js:2 (`net` was `price` and is now taken as `tax`)" in found.message


GO = "package rates\n\nfunc Add(net, rate float64) float64 { return net }\n"
GO_HEAD = GO.replace("net, rate float64", "net float64")
GO_USER = 'package cart\n\nimport "x.org/shop/rates"\n\nvar T = rates.Add(1, 2)\n'


def test_in_go_a_call_is_known_by_its_package(said: Any) -> None:
    users = {"cart/cart.go": GO_USER}

    found = said(GO, GO_HEAD, users, path="rates/a.go")["signature-changed"]
    assert found.message.endswith("cart/cart.go:5 (it takes 1 by position and gets 2).")
    assert said(GO, GO_HEAD, {**users, "rates/b.go": GO}, path="rates/a.go") == {}
    assert said(GO, GO_HEAD, {"cart/cart.go": GO_USER.replace("shop/rates", "shop/other")}, path="rates/a.go") == {}
    assert said(GO, GO_HEAD, {"cart/cart.go": GO_USER.replace("1, 2", "both()")}, path="rates/a.go") == {}
    assert said(GO, GO_HEAD, {"cart/cart.go": GO_USER.replace("1, 2", "all...")}, path="rates/a.go") == {}


def test_in_go_files_of_the_package_call_a_function_by_its_bare_name(said: Any) -> None:
    call = "package rates\n\nfunc f() { Add(1, 2) }\n"

    assert "rates/b.go:3" in said(GO, GO_HEAD, {"rates/b.go": call}, path="rates/a.go")["signature-changed"].message
    assert said(GO, GO_HEAD, {"other/b.go": call}, path="rates/a.go") == {}
    assert said(GO, GO_HEAD, {"rates/b.go": call.replace("f()", "f(Add func(a, b int))")}, path="rates/a.go") == {}


def test_in_go_a_method_is_known_by_the_receiver(said: Any) -> None:
    base = "package a\n\nfunc (s *Set) add(n int) {}\n\nfunc (s *Set) Fill() { s.add(1) }\n"
    head = base.replace("n int", "n int, c string")

    assert "a/a.go:5 (`c` is missing)" in said(base, head, path="a/a.go")["signature-changed"].message
    other = base.replace("(s *Set) Fill", "(s *Map) Fill")
    assert said(other, other.replace("n int", "n int, c string"), path="a/a.go") == {}


JAVA = "package shop;\n\npublic class Prices {\n    public double add(double net) { return net; }\n}\n"
JAVA_HEAD = JAVA.replace("double net)", "double net, double rate)")
JAVA_USER = (
    "package cart;\n\nimport shop.Prices;\n\nclass Cart {\n    Prices prices;\n"
    "    double sum() { return prices.add(1); }\n}\n"
)


def test_in_java_a_method_is_known_by_the_declared_type_of_a_variable(said: Any) -> None:
    found = said(JAVA, JAVA_HEAD, {"src/cart/Cart.java": JAVA_USER}, path="src/shop/Prices.java")

    assert "src/cart/Cart.java:7 (`rate` is missing)" in found["signature-changed"].message


@pytest.mark.parametrize(
    ("head", "user"),
    [
        (JAVA_HEAD, JAVA_USER.replace("import shop.Prices", "import other.Prices")),
        (JAVA_HEAD, JAVA_USER.replace("    Prices prices;", "    Prices prices; void f(Other prices) {}")),
        (JAVA_HEAD, JAVA_USER.replace("prices.add(1)", "prices.all().add(1)")),
        (JAVA_HEAD.replace("class Prices", "class Prices extends Base"), JAVA_USER),
        (JAVA_HEAD.replace("public double", "public double add(int a) { return a; }\n    public double"), JAVA_USER),
        (JAVA_HEAD.replace("double rate", "double... rates"), JAVA_USER),
    ],
    ids=["another package", "two types", "of a result", "a base", "overloaded", "any number"],
)
def test_in_java_what_another_class_or_method_may_answer_draws_nothing(said: Any, head: str, user: str) -> None:
    assert said(JAVA, head, {"src/cart/Cart.java": user}, path="src/shop/Prices.java") == {}


def test_in_java_another_file_of_the_same_name_silences(said: Any) -> None:
    users = {"src/cart/Cart.java": JAVA_USER, "old/shop/Prices.java": JAVA}

    assert said(JAVA, JAVA_HEAD, users, path="src/shop/Prices.java") == {}


def test_a_record_of_java_is_made_with_all_of_its_parts(said: Any) -> None:
    base = "package shop;\n\npublic record Price(int net) {}\n"
    user = "package shop;\n\nclass Cart {\n    Price price = new Price(1);\n}\n"

    found = said(
        base, base.replace("int net", "int net, int tax"), {"a/shop/Cart.java": user}, path="a/shop/Price.java"
    )
    assert "a/shop/Cart.java:4 (`tax` is missing)" in found["signature-changed"].message


SERVICE = "export class Prices {\n  add(net: number) {\n    return net;\n  }\n}\n"
SERVICE_USER = (
    'import { Prices } from "./prices";\n\nexport class Cart {\n  constructor(private prices: Prices) {}\n'
    "  sum() {\n    return this.prices.add(1);\n  }\n}\n"
)


def test_in_typescript_a_method_is_known_by_the_declared_type_of_a_field(said: Any) -> None:
    head = SERVICE.replace("net: number", "net: number, rate: number")

    found = said(SERVICE, head, {"src/cart.ts": SERVICE_USER}, path="src/prices.ts")
    assert "src/cart.ts:6 (`rate` is missing)" in found["signature-changed"].message
    other = SERVICE_USER + "export function f(prices: Map<string, Prices>) {}\n"
    assert said(SERVICE, head, {"src/cart.ts": other}, path="src/prices.ts") == {}


def test_in_go_a_method_is_known_by_the_declared_type_of_a_parameter(said: Any) -> None:
    base = "package rates\n\ntype Table struct{}\n\nfunc (t *Table) Add(net int) int { return net }\n"
    head = base.replace("net int)", "net, rate int)")
    user = 'package cart\n\nimport "x.org/rates"\n\nfunc Sum(t *rates.Table) int { return t.Add(1) }\n'

    found = said(base, head, {"cart/cart.go": user}, path="rates/a.go")
    assert "cart/cart.go:5 (`rate` is missing)" in found["signature-changed"].message
    other = user + "\nfunc f() { t := make(); t.Add(1) }\n"
    assert said(base, head, {"cart/cart.go": other}, path="rates/a.go") == {}


@pytest.mark.parametrize(
    "body", ["if (done) done();", "rate = rate || 1;", "done?.();", "typeof done;", "done = done ?? 1;"]
)
def test_in_javascript_a_parameter_that_the_code_asks_for_may_be_missing(said: Any, body: str) -> None:
    base, users = "export function add(net) {}\n", {"src/cart.js": 'import { add } from "./prices";\nadd(1);\n'}
    name = "rate" if "rate" in body else "done"

    assert said(base, f"export function add(net, {name}) {{ {body} }}\n", users, path="src/prices.js") == {}
    assert "argument-missing" in said(base, f"export function add(net, {name}) {{}}\n", users, path="src/prices.js")
