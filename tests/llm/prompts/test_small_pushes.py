"""The requests about a small push: what reader and judge are shown in common is all that a cache can keep of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reviewbot.domain.contracts import Candidate, WorkerCard
from reviewbot.domain.ports import ModelRequest, OfferedTool, Text, WorkOrder
from reviewbot.llm.agents.conversation import Bounds
from reviewbot.llm.prompts.analyzer_hints import hints_of
from reviewbot.llm.prompts.judge_prompt import judge_request
from reviewbot.llm.prompts.reader_prompt import (
    MIN_KEPT,
    MORE,
    VERDICTS,
    ReaderContext,
    SharedPrefix,
    describe_limits,
    reader_request,
    shared_prefix,
)
from tests.make import MakeTask
from tests.snapshots import InMemorySnapshot

READ = OfferedTool("read", "Lines.", {})


@pytest.fixture
def orders(a_task: MakeTask, a_card: Callable[..., WorkerCard]) -> tuple[WorkOrder, ...]:
    """Of the one task of a small push."""
    task = a_task("logic:src/a.py#1", small_push=True, previous_error="no JSON")
    return (WorkOrder(task, a_card(), "Look for what is wrong.", {}, InMemorySnapshot({}, {})),)


def prefix_of(orders: tuple[WorkOrder, ...], *, uses_shown: bool) -> SharedPrefix:
    context = ReaderContext("", "", "+x = 1", is_push=True, uses_shown=uses_shown)
    return shared_prefix(context, "Read it.", (READ,), orders)


def parts_of(request: ModelRequest) -> tuple[Text, str]:
    """What is shown in common, and what is asked."""
    shown, asked = request.turns[0].parts
    assert isinstance(shown, Text)
    assert isinstance(asked, Text)
    return shown, asked.text


def test_the_judge_of_a_small_push_is_shown_its_tasks_before_the_cache_mark_and_nothing_twice(
    orders: tuple[WorkOrder, ...],
) -> None:
    prefix = prefix_of(orders, uses_shown=True)
    shown, asked = parts_of(reader_request(orders, prefix, (), Bounds()))
    same, judged = parts_of(judge_request(prefix, (), (), "Judge it.", Bounds(), subject="batch 1"))

    assert shown == same
    assert shown.cached
    worker = orders[0].task.worker
    assert f"Tasks:\n## Task `{worker}`\nLook for what is wrong." in shown.text
    for text in (asked, judged):
        assert "no tools" not in text
        assert "Look for what is wrong." not in text
    assert "no JSON" in asked, "an attempt's own words stand behind the mark: the next attempt begins as this one"


def test_where_a_small_push_has_tools_each_request_says_what_it_may_look_up(orders: tuple[WorkOrder, ...]) -> None:
    prefix, bounds = prefix_of(orders, uses_shown=False), Bounds(tool_turns=1)
    shown, asked = parts_of(reader_request(orders, prefix, (), bounds))
    _, judged = parts_of(judge_request(prefix, (), (), "Judge it.", bounds, subject="batch 1"))

    assert prefix.tools == (READ,)
    assert "no tools" not in shown.text
    for text in (asked, judged):
        assert f"{describe_limits(bounds)} Look up only what decides and is not shown." in text


def test_a_small_push_asks_for_verdicts_only_where_analyzers_found_something(
    orders: tuple[WorkOrder, ...], a_candidate: Callable[..., Candidate]
) -> None:
    prefix = prefix_of(orders, uses_shown=True)
    _, without = parts_of(reader_request(orders, prefix, (), Bounds()))
    _, with_one = parts_of(reader_request(orders, prefix, hints_of([a_candidate()]), Bounds()))

    assert VERDICTS not in without
    assert VERDICTS in with_one


def test_the_tasks_of_a_small_push_are_one_line_each_where_the_prefix_is_long_enough_to_be_kept(
    a_task: MakeTask, a_card: Callable[..., WorkerCard]
) -> None:
    prompts = {"security": "s" * 600 + "; third. fourth", "logic": "l" * 600, "licence": "Look at the first line."}
    briefs = {"security": "secrets", "logic": "wrong values", "licence": ""}
    orders = [
        WorkOrder(
            a_task(f"{name}:src/a.py#1", worker=name, small_push=True, brief=briefs[name]),
            a_card(), prompt, {}, InMemorySnapshot({}, {}),
        )
        for name, prompt in prompts.items()
    ]  # fmt: skip

    def shown(system: int) -> str:
        context = ReaderContext("", "", "+x = 1", is_push=True, uses_shown=True)
        [text] = shared_prefix(context, f"{'r' * system}{MORE}Look closer. Once more.", (READ,), orders).shown
        return text.text

    long, short, least = shown(MIN_KEPT), shown(MIN_KEPT - 1_000), shown(0)
    assert "Tasks:\n- `security`: secrets\n- `logic`: wrong values\n## Task `licence`\nLook at the first line." in long
    assert f"- `security`: secrets\n{'s' * 600};\n- `logic`: wrong values" in short, "as many clauses as are missing"
    assert "Look closer." not in short
    assert f"- `security`: secrets\n{'s' * 600};\nthird.\nfourth\n- `logic`: wrong values\n{'l' * 600}\n" in least
    assert least.endswith("\nLook closer.\nOnce more.")
