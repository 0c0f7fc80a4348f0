"""How a large change is divided: every file in one part, no part too large, whatever the order; files that belong
together stay together, in Python, TypeScript and Go."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.diff.language import language_of
from reviewbot.domain.contracts import ChangeSet, FileChange, WorkerCard
from reviewbot.domain.ports import WorkerSet
from reviewbot.review.plan.parts import parts_of
from reviewbot.review.plan.planner import PlanLimits, make_plan
from tests.make import MakeFile, MakeHunk
from tests.work import count_calls

Divide = Callable[[Mapping[str, str], int], list[set[str]]]

PATHS = ("a/x.py", "a/y.py", "b/x.py", "tests/test_x.py", "web/a.ts", "web/b.ts", "go/a.go", "x.sql", "main.py")
SIZES = st.lists(st.tuples(st.sampled_from(PATHS), st.integers(0, 20)), max_size=20)
LINKS = st.dictionaries(
    st.tuples(st.sampled_from(PATHS), st.sampled_from(PATHS)).filter(lambda pair: pair[0] < pair[1]),
    st.integers(1, 5_000),
    max_size=12,
)


def test_a_change_that_fits_is_one_part_in_its_order() -> None:
    assert parts_of([("b.py", 3), ("a.py", 3)], 6, {}) == [[0, 1]]
    assert parts_of([], 6, {}) == []


def test_the_strongest_link_decides_where_not_all_fit() -> None:
    sizes = [("a.py", 4), ("b.py", 4), ("c.py", 4)]

    assert parts_of(sizes, 8, {("a.py", "b.py"): 1, ("b.py", "c.py"): 2}) == [[0], [1, 2]]
    assert parts_of(sizes, 8, {("a.py", "b.py"): 2, ("b.py", "c.py"): 1}) == [[0, 1], [2]]


def test_without_links_neighbours_stay_together() -> None:
    sizes = [("mail/send.py", 4), ("shop/cart.py", 4), ("mail/text.py", 4), ("shop/stock.py", 4)]

    assert parts_of(sizes, 8, {}) == [[0, 2], [1, 3]]


def test_what_is_left_is_packed_into_few_parts() -> None:
    sizes = [(f"{name}/x.py", lines) for name, lines in zip("abcdef", (6, 5, 5, 4, 6, 4), strict=True)]

    assert len(parts_of(sizes, 10, {})) == 3


@given(SIZES, st.integers(1, 40), LINKS)
def test_every_file_is_in_exactly_one_part(
    sizes: list[tuple[str, int]], limit: int, links: dict[tuple[str, str], int]
) -> None:
    parts = parts_of(sizes, limit, links)

    assert sorted(at for part in parts for at in part) == list(range(len(sizes)))
    assert all(part == sorted(part) for part in parts)
    for path in {path for path, _ in sizes}:
        assert sum(any(sizes[at][0] == path for at in part) for part in parts) == 1


@given(SIZES, st.integers(1, 40), LINKS)
def test_no_part_is_above_the_limit_unless_one_file_is(
    sizes: list[tuple[str, int]], limit: int, links: dict[tuple[str, str], int]
) -> None:
    for part in parts_of(sizes, limit, links):
        assert sum(sizes[at][1] for at in part) <= limit or len({sizes[at][0] for at in part}) == 1


@given(SIZES, st.integers(1, 40), LINKS, st.randoms(use_true_random=False))
def test_the_order_of_the_files_and_of_the_links_has_no_part_in_it(
    sizes: list[tuple[str, int]], limit: int, links: dict[tuple[str, str], int], random: Random
) -> None:
    def of(
        given_sizes: Sequence[tuple[str, int]], given_links: Mapping[tuple[str, str], int]
    ) -> set[frozenset[tuple[str, int]]]:
        parts = parts_of(given_sizes, limit, given_links)
        return {frozenset(given_sizes[at] for at in part) for part in parts}

    shuffled = random.sample(sizes, len(sizes))

    assert of(sizes, links) == of(shuffled, dict(random.sample(list(links.items()), len(links))))


@given(SIZES, st.integers(1, 40))
def test_no_two_parts_fit_into_one_where_nothing_is_linked(sizes: list[tuple[str, int]], limit: int) -> None:
    found = [sum(sizes[at][1] for at in part) for part in parts_of(sizes, limit, {})]

    assert all(one + other > limit for at, one in enumerate(found) for other in found[at + 1 :])


def _files_and_links(count: int) -> tuple[list[tuple[str, int]], dict[tuple[str, str], int]]:
    """As many files with four links for each."""
    random = Random(7)
    sizes = [(f"src/m{n % 60}/p{n % 7}/file_{n}.py", random.randint(1, 200)) for n in range(count)]
    pairs = [sorted(random.sample(range(count), 2)) for _ in range(4 * count)]
    return sizes, {(sizes[one][0], sizes[other][0]): random.randint(1, 1_000) for one, other in pairs}


def test_five_thousand_files_are_divided_into_few_parts() -> None:
    sizes, links = _files_and_links(5_000)

    assert len(parts_of(sizes, 1_500, links)) <= 1.1 * sum(lines for _, lines in sizes) / 1_500


def test_the_work_of_dividing_a_change_grows_as_its_files_do() -> None:
    def work(count: int) -> int:
        sizes, links = _files_and_links(count)
        return count_calls(lambda: parts_of(sizes, 1_500, links)).total()

    few, many = work(1_250), work(5_000)

    assert few > 1_250
    assert many < 5 * few


# --- as plans do it


@pytest.fixture
def divide(
    a_worker_set: Callable[..., WorkerSet],
    a_card: Callable[..., WorkerCard],
    a_change: Callable[..., ChangeSet],
    a_file: MakeFile,
    a_hunk: MakeHunk,
) -> Divide:
    """The files of each part of a change that adds these files, filled up to ten lines."""

    def made(files: Mapping[str, str], limit: int) -> list[set[str]]:
        change = a_change(*(_added(a_file, a_hunk, path, text) for path, text in files.items()))
        worker_set = a_worker_set(a_card("logic", applies_to=("@code", "@config")))
        plan = make_plan(change, worker_set, lambda _c, _l: True, lambda _p: None, PlanLimits(part_lines=limit))
        return [set(task.paths) for task in plan.tasks]

    return made


def _added(a_file: MakeFile, a_hunk: MakeHunk, path: str, text: str) -> FileChange:
    lines = [*text.strip().split("\n"), *["x"] * 10][:10]
    body = "\n".join(f"+{line}" for line in lines)
    return a_file(path, a_hunk(body), language=language_of(path), added=10)


PYTHON = {
    "shop/models/order.py": "class OrderTotal:\n    pass",
    "shop/views/checkout.py": "from shop.models.order import OrderTotal\n\ndef checkout():\n    return OrderTotal()",
    "shop/migrations/0007_add_order_total.py": "migrations.AddField(model_name='order', name='total')",
    "tests/views/test_checkout.py": "from shop.views.checkout import checkout",
    "mail/models/letter.py": "class SignedLetter:\n    pass",
    "mail/views/inbox.py": "from ..models import letter\n\nletter.SignedLetter()",
    "tests/views/test_inbox.py": "import mail.views.inbox",
    "tests/models/test_letter.py": "def test_it():\n    pass",
}
TYPESCRIPT = {
    "src/reservation/reservation.service.ts": 'import { Clock } from "../time/clock";\nclass ReservationService {',
    "src/reservation/reservation.controller.ts": 'import { ReservationService } from "./reservation.service";',
    "src/reservation/reservation.service.spec.ts": 'import { ReservationService } from "./reservation.service";',
    "db/migrations/20240102-reservations.sql": "CREATE TABLE reservations (\n  id int\n);",
    "src/billing/invoice.ts": "export const roundInvoice = (x) => x;",
    "src/api/invoices.ts": 'import { roundInvoice } from "@/billing/invoice";',
    "src/billing/invoice.test.ts": 'import { roundInvoice } from "./invoice";',
    "src/time/clock.ts": "export interface Clock {\n  now(): Date;\n}",
}
GO = {
    "internal/stock/count.go": "package stock\n\nfunc CountItems(n int) int {\n\treturn n\n}",
    "internal/stock/count_test.go": 'package stock\n\nimport "testing"',
    "cmd/server/routes.go": 'package main\n\nimport (\n\t"example.org/shop/internal/stock"\n)',
    "internal/mail/send.go": "package mail\n\nfunc SendLetter() error {\n\treturn nil\n}",
    "internal/mail/send_test.go": "package mail",
    "cmd/worker/main.go": 'package main\n\nimport "example.org/shop/internal/mail"\n\nfunc run() {\n\tmail.Send()',
}


def test_of_python_a_feature_stays_with_its_tests_and_migrations(divide: Divide) -> None:
    shop = {path for path in PYTHON if "shop" in path or "checkout" in path}

    assert divide(PYTHON, 40) == [shop, PYTHON.keys() - shop] or divide(PYTHON, 40) == [PYTHON.keys() - shop, shop]


def test_of_typescript_a_feature_stays_with_its_tests_tables_and_wiring(divide: Divide) -> None:
    parts = divide(TYPESCRIPT, 50)

    billing = {path for path in TYPESCRIPT if "invoice" in path}
    assert sorted(parts, key=len) == [billing, TYPESCRIPT.keys() - billing]


def test_of_go_a_package_stays_with_its_tests_and_with_what_imports_it(divide: Divide) -> None:
    mail = {path for path in GO if "mail" in path or "worker" in path}

    parts = divide(GO, 30)

    assert mail in parts
    assert GO.keys() - mail in parts


def test_of_a_file_that_is_too_large_the_last_slices_are_with_what_belongs_to_it(
    a_worker_set: Callable[..., WorkerSet], a_change: Callable[..., ChangeSet], a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    def file(path: str, hunks: int) -> FileChange:
        body = "\n".join(["+x = 1"] * 4)
        return a_file(path, *(a_hunk(body, start=1 + 100 * n) for n in range(hunks)), added=4 * hunks)

    change = a_change(file("lib/store.py", 5), file("lib/other.py", 1), file("tests/test_store.py", 1))

    plan = make_plan(
        change, a_worker_set(), lambda _c, _l: True, lambda _p: None, PlanLimits(part_lines=8, chunk_lines=4)
    )

    parts = [[(one.file_path, one.starts[0][1]) for one in task.slices] for task in plan.tasks]
    assert parts == [
        [("lib/store.py", 1), ("lib/store.py", 101)],
        [("lib/store.py", 201), ("lib/store.py", 301)],
        [("lib/store.py", 401), ("tests/test_store.py", 1)],
        [("lib/other.py", 1)],
    ]
