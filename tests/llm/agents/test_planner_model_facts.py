"""What the planner's model is told, and what it is not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.domain.contracts import ChangeSet, FileChange, Hunk, WorkerCard
from reviewbot.domain.ports import ModelRequest, Text, WorkerSet
from reviewbot.llm.agents.ad_hoc_workers import SEAT, with_seats
from reviewbot.llm.agents.planner import ModelPlanner, PlanningSettings
from reviewbot.llm.client.requests import digest
from reviewbot.llm.prompts.delimiters import RULE, fence_text
from reviewbot.llm.prompts.planner_prompt import MAX_SYMBOLS, repair_of, symbols_of
from reviewbot.review.cards import shipped_files
from reviewbot.review.plan.instruction_lint import vagueness
from reviewbot.review.plan.planner import PlanLimits, RoutedPlanner
from tests.fake_model import FakeModel

SECRET_LINE = "password = 'correct horse battery staple'"
EMPTY = {"reason": "fine as it is", "strategy": "merge", "tasks": [], "workers": []}


@pytest.fixture(name="asked", scope="module")
def _asked(a_worker_set: Callable[..., WorkerSet], a_card: Callable[..., WorkerCard]) -> Callable[..., ModelRequest]:
    class Deaf:
        def record(self, event: str, **fields: object) -> None:
            """Nobody reads it here."""

    def asked(change: ChangeSet, seats: int = 0) -> ModelRequest:
        worker_set = with_seats(a_worker_set(*(a_card(name) for name in ("security", "logic", "performance"))), seats)
        routed = RoutedPlanner(worker_set, lambda _c, _l: True, lambda _p: None, PlanLimits(route=True, part_lines=500))
        model = FakeModel(EMPTY)
        asyncio.run(ModelPlanner(routed, model, Deaf(), "You plan.", PlanningSettings(plan_above=0)).plan(change))
        [request] = model.requests
        return request

    return asked


def facts(request: ModelRequest) -> str:
    [turn] = request.turns
    [text] = turn.parts
    assert isinstance(text, Text)
    return text.text


def test_the_prompt_stands_first_and_is_kept_by_the_provider(
    asked: Callable[..., ModelRequest], a_change: Callable[..., ChangeSet], a_file: Callable[..., FileChange]
) -> None:
    request = asked(a_change(a_file("src/a.py", added=500), a_file("lib/b.py")))

    assert request.system == (Text(f"You plan.\n\n{RULE}\n", cached=True),)
    assert (request.purpose, request.subject, request.tier, request.tools) == ("planner", "plan", "small", ())
    assert request.schema is not None
    assert set(request.schema["required"]) == {"reason", "strategy", "tasks", "workers"}  # type: ignore[call-overload]


def test_each_file_is_told_by_its_facts(
    asked: Callable[..., ModelRequest],
    a_change: Callable[..., ChangeSet],
    a_file: Callable[..., FileChange],
    a_hunk: Callable[..., Hunk],
) -> None:
    hunk = a_hunk("+    def charge(self):\n+        for row in rows:", heading="class Order(Base):")
    change = a_change(
        a_file("src/a.py", hunk, added=500, removed=7), a_file("tests/test_a.py", added=3), a_file("uv.lock", added=900)
    )

    told = facts(asked(change))

    first = '"src/a.py" python large risk middle; logic, performance, security; Order, charge'
    second = '"tests/test_a.py" python small risk low test; logic (performance, security); -'
    assert fence_text("files", f"{first}\n{second}") in told
    assert "uv.lock" not in told


def test_a_few_lines_more_make_no_other_question(
    asked: Callable[..., ModelRequest],
    a_change: Callable[..., ChangeSet],
    a_file: Callable[..., FileChange],
    a_hunk: Callable[..., Hunk],
) -> None:
    def question(lines: int) -> ModelRequest:
        hunk = a_hunk("\n".join(["+    total = 1"] * lines), heading="class Order(Base):")
        return asked(a_change(a_file("src/a.py", hunk, added=lines), a_file("src/b.py", added=600)))

    assert digest(question(100), "m", "") == digest(question(104), "m", "")


def test_the_code_is_not_told(
    asked: Callable[..., ModelRequest],
    a_change: Callable[..., ChangeSet],
    a_file: Callable[..., FileChange],
    a_hunk: Callable[..., Hunk],
) -> None:
    request = asked(a_change(a_file("src/a.py", a_hunk(f"+{SECRET_LINE}"), added=500), a_file("lib/b.py")))

    assert "horse" not in repr(request)


def test_what_the_author_says_is_fenced_and_cut(
    asked: Callable[..., ModelRequest], a_change: Callable[..., ChangeSet], a_file: Callable[..., FileChange]
) -> None:
    files = [a_file("src/a.py", added=500), a_file("lib/b.py")]

    told = facts(asked(a_change(*files, title="T" * 999, description="D" * 9_999)))

    assert told.endswith(fence_text("author", "T" * 300 + "\n\n" + "D" * 2_000))
    assert "author says" not in facts(asked(a_change(*files)))


def test_seats_are_offered_where_there_are_any(
    asked: Callable[..., ModelRequest], a_change: Callable[..., ChangeSet], a_file: Callable[..., FileChange]
) -> None:
    change = a_change(a_file("src/a.py", added=500), a_file("lib/b.py"))

    assert "New workers: none may be proposed." in facts(asked(change))
    offered = facts(asked(change, seats=2))
    assert "New workers: at most 2, up to 6000 tokens a task, tiers small or medium, tools: none." in offered
    assert "extra-1" not in offered


def test_a_crew_with_seats_has_a_prompt_for_each(a_worker_set: Callable[..., WorkerSet]) -> None:
    worker_set = with_seats(a_worker_set(), 2)

    assert [card.name for card in worker_set.cards if card.task_type == SEAT] == ["extra-1", "extra-2"]
    assert (worker_set.prompts["extra-2"], worker_set.origin["extra-2"]) == (
        shipped_files()["prompts/extra.md"],
        "package",
    )
    assert with_seats(worker_set, 0) == worker_set


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("def total(self):", "total"),
        ("async def fetch(url):", "fetch"),
        ("export class Cart {", "Cart"),
        ("export function useCoupon() {", "useCoupon"),
        ("func (p *Pool) Run() {", "Run"),
        ("pub fn parse(text: &str)", "parse"),
        ("public interface Store {", "Store"),
        ("type Limits struct {", "Limits"),
    ],
)
def test_definitions_of_many_languages_are_symbols(
    line: str, name: str, a_file: Callable[..., FileChange], a_hunk: Callable[..., Hunk]
) -> None:
    assert symbols_of(a_file("a", a_hunk(f"+{line}"))) == (name,)
    assert symbols_of(a_file("a", a_hunk("+x = 1", heading=line))) == (name,)


def test_symbols_are_told_once_and_not_without_end(
    a_file: Callable[..., FileChange], a_hunk: Callable[..., Hunk]
) -> None:
    body = "\n".join(f"+def f{n // 2}():" for n in range(60))

    assert symbols_of(a_file("a.py", a_hunk(body))) == tuple(f"f{n}" for n in range(MAX_SYMBOLS))
    assert symbols_of(a_file("a.py", a_hunk(f"+def {'x' * 500}(): pass"))) == ("x" * 60,)
    assert symbols_of(a_file("a.py", a_hunk(" def seen():"))) == ()


def test_an_answer_with_faults_is_shown_between_fences(
    asked: Callable[..., ModelRequest], a_change: Callable[..., ChangeSet], a_file: Callable[..., FileChange]
) -> None:
    request = asked(a_change(a_file("src/a.py", added=500), a_file("lib/b.py")))

    again = repair_of(request, "A" * 30_000, ["one", "two\n<<<end"])

    last = again.turns[0].parts[-1]
    assert isinstance(last, Text)
    assert fence_text("answer", "A" * 20_000) in last.text
    assert fence_text("faults", "- one\n- two\n<<<end") in last.text
    assert (again.tier, again.schema, again.max_tokens) == (request.tier, request.schema, request.max_tokens)


@settings(max_examples=20)
@given(above=st.integers(1, 5_000))
def test_lines_that_moved_down_do_not_change_the_request(
    above: int,
    asked: Callable[..., ModelRequest],
    a_change: Callable[..., ChangeSet],
    a_file: Callable[..., FileChange],
    a_hunk: Callable[..., Hunk],
) -> None:
    near, far = (
        asked(a_change(a_file("src/a.py", a_hunk("+x = 1", start=at), added=500), a_file("lib/b.py")))
        for at in (1, 1 + above)
    )

    assert near == far


def test_the_shipped_prompt_shows_good_and_bad_instructions_that_the_check_tells_apart() -> None:
    prompt = shipped_files()["prompts/planner.md"]
    _, _, rest = prompt.partition("Good, because")
    good, _, bad = rest.partition("Bad, because")
    bad = bad.partition("## Tasks")[0]

    def quoted(text: str) -> list[Any]:
        return [" ".join(part.split()) for part in text.split('"')[1::2]]

    assert [vagueness(text, ()) for text in quoted(good)] == [None] * 4
    refused = [text for text in quoted(bad) if text.startswith(("Review", "Check", "Make", "The tests"))]
    assert len(refused) == 4
    assert all(vagueness(text, ("src/utils.py",)) for text in refused)
