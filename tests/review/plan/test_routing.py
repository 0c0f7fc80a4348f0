"""Which workers' models read a file, where a model costs something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import FileChange, WorkerCard
from reviewbot.review.plan.routing import Readers, is_plain, is_test, may_cost, route, unread_note
from tests.make import MakeCard, MakeFile, MakeHunk

SHIPPED = ("security", "logic", "performance", "style")


def nowhere(_path: str) -> bool:
    return False


def everywhere(_path: str) -> bool:
    return True


@pytest.fixture(name="cards")
def _cards(a_card: MakeCard) -> list[WorkerCard]:
    return [a_card(name) for name in SHIPPED]


def models(
    file: FileChange, cards: list[WorkerCard], rules: Callable[[str], bool] = nowhere, **fields: Any
) -> set[str]:
    return {card.name for card in route(file, cards, rules, plain=fields.get("plain", False)).models}


def test_code_is_read_for_logic_and_security(cards: list[WorkerCard], a_file: MakeFile) -> None:
    assert models(a_file("src/app.py"), cards) == {"logic", "security"}


def test_tests_are_read_for_logic_alone(cards: list[WorkerCard], a_file: MakeFile, a_hunk: MakeHunk) -> None:
    assert models(a_file("tests/test_app.py", a_hunk("+for row in rows:")), cards) == {"logic"}


def test_configuration_is_read_for_security(cards: list[WorkerCard], a_file: MakeFile) -> None:
    assert models(a_file("deploy.yml", kind="config", language="yaml"), cards) == {"security"}


def test_performance_reads_code_with_a_line_that_may_cost(
    cards: list[WorkerCard], a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    file = a_file("src/app.py", a_hunk("+for row in rows:\n+    send(row)"))

    assert models(file, cards) == {"logic", "security", "performance"}


def test_style_reads_where_rules_are_written_and_nowhere_else(cards: list[WorkerCard], a_file: MakeFile) -> None:
    asked: list[str] = []

    def known(path: str) -> bool:
        asked.append(path)
        return path.startswith("src/")

    assert "style" in models(a_file("src/app.py"), cards, known)
    assert "style" not in models(a_file("lib/app.py"), cards, known)
    assert asked == ["src/app.py", "lib/app.py"]


def test_in_a_plain_change_one_worker_reads_each_file(cards: list[WorkerCard], a_file: MakeFile) -> None:
    assert models(a_file("src/app.py"), cards, everywhere, plain=True) == {"logic"}


def test_what_no_rule_gives_to_anybody_goes_to_the_first_whose_card_is_for_it(
    a_card: MakeCard, cards: list[WorkerCard], a_file: MakeFile
) -> None:
    document = a_file("README.md", kind="prose", language="markdown")

    assert models(document, [card for card in cards if card.name != "logic"], plain=True) == {"security"}
    assert models(document, cards) == {"logic"}
    assert models(document, [a_card("style"), a_card("performance")]) == {"style"}


def test_a_worker_of_the_repositorys_own_reads_what_its_card_says_beside_a_shipped_one(
    a_card: MakeCard, cards: list[WorkerCard], a_file: MakeFile
) -> None:
    own = a_card("licence")
    document = a_file("NOTICE.md", kind="prose")

    assert models(document, [*cards, own], plain=True) == {"logic", "licence"}
    assert models(document, [own]) == {"licence"}


def test_a_file_that_nobody_is_for_has_no_reader(a_file: MakeFile) -> None:
    assert route(a_file(), [], nowhere, plain=False) == Readers((), ())


def test_whoever_does_not_read_runs_its_programs(cards: list[WorkerCard], a_file: MakeFile) -> None:
    readers = route(a_file("src/app.py"), cards, nowhere, plain=True)

    assert [card.name for card in readers.programs] == ["security", "performance", "style"]


# --- plain changes


def test_documents_alone_are_a_plain_change(a_file: MakeFile) -> None:
    assert is_plain([a_file("README.md", kind="prose", added=900), a_file("docs/a.md", kind="prose")])


def test_one_small_file_with_its_tests_and_documents_is_a_plain_change(a_file: MakeFile) -> None:
    assert is_plain([a_file("src/app.py"), a_file("tests/test_app.py", added=500), a_file("CHANGES.md", kind="prose")])


def test_tests_alone_are_plain_where_it_is_one(a_file: MakeFile) -> None:
    one, other = a_file("tests/test_a.py"), a_file("tests/test_b.py")

    assert is_plain([one])
    assert not is_plain([one, other])


@pytest.mark.parametrize(
    "fields",
    [{"path": "src/auth.py"}, {"added": 61}, {"removed": 60}],
    ids=["a risky name", "many lines", "many removed lines"],
)
def test_a_file_that_is_long_or_risky_is_not_plain(fields: dict[str, Any], a_file: MakeFile) -> None:
    path = fields.pop("path", "src/app.py")

    assert not is_plain([a_file(path, **fields)])


@pytest.mark.parametrize("line", ["+    os.system(name)", "-    verify(signature)", "+password = read()"])
def test_one_line_that_may_hurt_makes_a_change_no_longer_plain(line: str, a_file: MakeFile, a_hunk: MakeHunk) -> None:
    assert is_plain([a_file("src/app.py", a_hunk("+x = 1"))])
    assert not is_plain([a_file("src/app.py", a_hunk(f"+x = 1\n{line}"))])


def test_two_files_are_not_plain(a_file: MakeFile) -> None:
    assert not is_plain([a_file("src/a.py"), a_file("src/b.py")])


# --- what may cost


@pytest.mark.parametrize(
    "line",
    [
        "for order in orders:",
        "for (int i = 0; i < n; i++) {",
        "while True:",
        "rows.map(row => row.id)",
        "async def fetch():",
        "value = await client.get(url)",
        "SELECT * FROM orders WHERE id = 1",
        "orders = Order.objects.filter(paid=True)",
        "cursor.execute(statement)",
        "requests.get(url)",
        "@lru_cache",
        "pattern = re.compile(text)",
        "return [f(x) for x in xs]",
        "go func() {",
        "names.sort()",
    ],
)
def test_loops_queries_requests_and_caches_may_cost(line: str, a_file: MakeFile, a_hunk: MakeHunk) -> None:
    assert may_cost(a_file("a.py", a_hunk(f"+    {line}")))


@pytest.mark.parametrize(
    "body",
    [
        "+x = 1",
        "+# for each order in the list we ask once",
        "+// await the answer",
        "+ * while it runs",
        "-for order in orders:\n+x = 1",
        " for order in orders:\n+    total = 1",
        "+raise ValueError(text)",
    ],
)
def test_remarks_removed_lines_and_plain_statements_do_not(body: str, a_file: MakeFile, a_hunk: MakeHunk) -> None:
    assert not may_cost(a_file("a.py", a_hunk(body)))


def test_only_the_beginning_of_a_long_line_is_looked_at(a_file: MakeFile, a_hunk: MakeHunk) -> None:
    assert not may_cost(a_file("a.py", a_hunk("+x = '" + "for " * 5_000 + "await'")))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/a.py", True),
        ("a/test_b.py", True),
        ("src/conftest.py", True),
        ("web/cart.test.tsx", True),
        ("pool/pool_test.go", True),
        ("src/contest.py", False),
        ("examples/login.py", False),
        ("docs/conf.py", False),
    ],
)
def test_a_test_is_known_by_its_name(path: str, expected: bool) -> None:  # noqa: FBT001 - the expectation
    assert is_test(path) is expected


def test_what_was_spared_is_counted_by_worker(cards: list[WorkerCard], a_file: MakeFile) -> None:
    files = [a_file("src/a.py"), a_file("src/b.py")]
    found = [(file, route(file, cards, nowhere, plain=False)) for file in files]

    assert unread_note(found) == "; files where only the programs of a worker run: performance 2, style 2"
    assert unread_note([(files[0], Readers(tuple(cards), ()))]) == ""
