"""Routes and tables that other code still asks for under their former names."""

from __future__ import annotations

from typing import Any

import pytest

SERVER = 'app.get("/api/orders", list)\napp.get("/api/users", users)\n'
CLIENT = {"web/orders.ts": 'export const orders = () => fetch("/api/orders")\n'}


def test_a_route_that_is_gone_while_a_request_asks_for_it_is_said_with_the_place(said: Any) -> None:
    head = SERVER.replace("/api/orders", "/api/purchases")
    found = said(SERVER, head, CLIENT, path="server/routes.ts")["removed-route"]

    assert found.message == "The route `/api/orders` is gone from here, and still asked for at web/orders.ts:1."


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        ("app/views.py", '@app.route("/api/orders")\ndef orders():\n    return []\n', "def orders():\n    return []\n"),
        ("api/routes.go", 'func a() {\n\tr.GET("/api/orders", list)\n\tb()\n}\n', "func a() {\n\tb()\n}\n"),
        (
            "src/Orders.java",
            'class Orders {\n    @GetMapping("/api/orders")\n    void list() {}\n}\n',
            'class Orders {\n    @GetMapping("/api/purchases")\n    void list() {}\n}\n',
        ),
        ("app.rb", 'get "/api/orders" do\n  list\nend\nb\n', "b\n"),
        (
            "Orders.cs",
            'class A {\n    [HttpGet("/api/orders")]\n    void F() {}\n}\n',
            "class A {\n    void F() {}\n}\n",
        ),
    ],
)
def test_routes_of_other_languages_are_known(said: Any, path: str, base: str, head: str) -> None:
    assert "removed-route" in said(base, head, CLIENT, path=path)


PARAMETERS = 'app.get("/api/orders/:id/lines", list)\napp.get("/api/users", users)\n'


@pytest.mark.parametrize(
    ("path", "base"),
    [
        ("server/routes.ts", PARAMETERS),
        ("app/views.py", '@app.get("/api/orders/{order}/lines")\ndef orders():\n    return []\n'),
        ("app/old.py", '@app.route("/api/orders/<int:order>/lines")\ndef orders():\n    return []\n'),
        ("api/routes.go", 'func a() {\n\tr.GET("/api/orders/:id/lines", list)\n}\n'),
        ("src/A.java", 'class A {\n    @GetMapping("/api/orders/{id}/lines")\n    void list() {}\n}\n'),
    ],
)
@pytest.mark.parametrize(
    "user",
    [
        {"web/a.ts": "const a = await fetch(`/api/orders/${order.id}/lines`)\n"},
        {"web/a.js": 'fetch("/api/orders/" + id + "/lines")\n'},
        {"client/a.py": 'requests.get(f"/api/orders/{number}/lines")\n'},
    ],
)
def test_a_route_with_a_parameter_is_asked_for_with_a_value(
    said: Any, path: str, base: str, user: dict[str, str]
) -> None:
    head = "\n".join(line for line in base.split("\n") if "/api/orders" not in line)

    assert "removed-route" in said(base, head, user, path=path)


@pytest.mark.parametrize(
    ("head", "user"),
    [
        (PARAMETERS.replace(":id", ":order"), "fetch(`/api/orders/${id}/lines`)\n"),
        (PARAMETERS.partition("\n")[2], "fetch(`/api/orders/${id}/lines/${line}`)\n"),
        (PARAMETERS.partition("\n")[2], "fetch(`/api/orders/${id}`)\n"),
        (PARAMETERS.partition("\n")[2], "fetch('/api/orders/lines')\n"),
        (PARAMETERS.partition("\n")[2], "link(`/api/orders/${id}/lines`)\n"),
    ],
    ids=["another name", "a longer one", "a shorter one", "no value", "no request"],
)
def test_a_route_with_a_parameter_that_is_there_or_not_asked_for_draws_nothing(said: Any, head: str, user: str) -> None:
    assert "removed-route" not in said(PARAMETERS, head, {"web/a.ts": user}, path="server/routes.ts")


@pytest.mark.parametrize("route", ["/:a/:b", "/:a:b:c:d:e:f:g/orders", "/{a}{b}{c}{d}{e}{f}{g}{h}/orders"])
def test_a_route_of_parameters_alone_or_of_very_many_is_not_looked_for(said: Any, route: str) -> None:
    user = {"web/a.ts": "fetch(`" + "${a}" * 200 + "/orders`)\n"}

    assert "removed-route" not in said(f'app.get("{route}", list)\nb()\n', "b()\n", user, path="server/routes.ts")


@pytest.mark.parametrize(
    ("head", "others"),
    [
        (SERVER.replace("app.get", "app.post"), CLIENT),
        (SERVER.replace('"/api/orders"', "`/api/orders`"), CLIENT),
        (SERVER.partition("\n")[2], CLIENT | {"server/more.ts": 'router.get("/api/orders", list)\n'}),
        (SERVER.partition("\n")[2], {"web/menu.tsx": 'const a = <a href="/api/orders">x</a>\n'}),
        (SERVER.partition("\n")[2], {"web/orders.ts": 'fetch("/api/orders/open")\n'}),
        (SERVER.partition("\n")[2], {"web/orders.test.ts": 'fetch("/api/orders")\n'}),
        (SERVER.partition("\n")[2], {}),
    ],
    ids=["another method", "another quote", "declared elsewhere", "a page", "another route", "a test", "no user"],
)
def test_a_route_that_may_be_there_or_is_not_asked_for_draws_nothing(
    said: Any, head: str, others: dict[str, str]
) -> None:
    assert "removed-route" not in said(SERVER, head, others, path="server/routes.ts")


def test_a_tree_that_cannot_be_searched_draws_nothing(said: Any) -> None:
    assert "removed-route" not in said(
        SERVER, SERVER.partition("\n")[2], CLIENT, path="server/routes.ts", searchable=False
    )


TABLE = 'class Order(Base):\n    __tablename__ = "orders"\n    id = Column(Integer)\n'
REPORT = {"app/report.py": 'TOTAL = "SELECT sum(total) FROM orders WHERE paid"\n'}


def test_a_table_that_has_another_name_while_a_statement_asks_for_it_is_said(said: Any) -> None:
    found = said(TABLE, TABLE.replace('"orders"', '"purchases"'), REPORT, path="app/model.py")["renamed-table"]

    assert found.message == "The table `orders` has another name here, and is still asked for at app/report.py:1."


@pytest.mark.parametrize(
    "others",
    [
        {"db/migrate/1_old.py": REPORT["app/report.py"]},
        REPORT | {"app/other.py": '__tablename__ = "orders"\n'},
        {"app/report.py": 'TOTAL = "SELECT 1 FROM orders_open"\n'},
        {"app/report.py": "from orders import total\n", "web/a.ts": 'import { a } from "orders"\n'},
        {"app/report.py": "# SELECT sum(total) FROM orders\nprint('update orders')\n"},
    ],
    ids=["a migration", "declared elsewhere", "another table", "an import", "a comment, a text"],
)
def test_a_table_that_may_be_there_draws_nothing(said: Any, others: dict[str, str]) -> None:
    assert "renamed-table" not in said(TABLE, TABLE.replace('"orders"', '"purchases"'), others, path="app/model.py")


def test_lines_of_hostile_length_and_thousands_of_routes_are_passed_over(report_of: Any) -> None:
    many = "".join(f'app.get("/api/orders{n}", list)\n' for n in range(100))
    long = 'app.get("/api/' + "a/" * 5_000 + '", list)\n'

    assert report_of(many + long + "end()\n", "end()\n", CLIENT, path="server/routes.js").candidates == ()
