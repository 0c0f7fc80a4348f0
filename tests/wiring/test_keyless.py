"""Which workers run without a model, and what is said of the others."""

from __future__ import annotations

import pytest

from reviewbot.config.providers import KEY_HINT
from reviewbot.domain.ports import WorkerSet
from reviewbot.wiring.component_factory import note_on, without_models
from tests.make import MakeCard, MakeChange, MakeFile, MakeWorkerSet


@pytest.fixture
def worker_set(a_worker_set: MakeWorkerSet, a_card: MakeCard) -> WorkerSet:
    return a_worker_set(
        a_card("security", tools=("ruff", "read")),
        a_card("currency"),
        a_card("reading", tools=("read",)),
        a_card("sums", tools=("ruff",), depends_on=("currency",)),
        a_card("totals", tools=("ruff",), depends_on=("sums",)),
        a_card("rounding", tools=("ruff",), depends_on=("currency",), needs_dependencies=False),
    )


def test_workers_without_an_analyzer_need_a_model_and_so_do_those_that_need_their_results(
    worker_set: WorkerSet,
) -> None:
    running, left_out = without_models(worker_set, {"ruff", "taint"})

    assert [card.name for card in running.cards] == ["security", "rounding"]
    assert [card.name for card in left_out] == ["currency", "reading", "sums", "totals"]


@pytest.mark.parametrize(
    ("paths", "chosen", "named"),
    [
        (
            ("a.py",),
            (),
            f"These workers need a model key (such as {KEY_HINT}) and did not run: currency, prose",
        ),
        (
            ("a.md",),
            (),
            f"This worker needs a model key (such as {KEY_HINT}) and did not run: prose",
        ),
        (
            ("a.py",),
            ("currency",),
            f"This worker needs a model key (such as {KEY_HINT}) and did not run: currency",
        ),
        (("a.py",), ("security",), None),
        (("a.png",), (), None),
    ],
)
def test_one_line_names_the_workers_that_this_change_would_have_had(
    paths: tuple[str, ...],
    chosen: tuple[str, ...],
    named: str | None,
    a_card: MakeCard,
    a_change: MakeChange,
    a_file: MakeFile,
) -> None:
    left_out = (a_card("currency", applies_to=("*.py",)), a_card("prose", applies_to=("*.md", "*.py")))
    change = a_change(*(a_file(path) for path in paths))

    assert note_on(left_out, change, chosen) == (() if named is None else (named,))
