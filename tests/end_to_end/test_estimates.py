"""What `--estimate` says of a review, held against what the same review books."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reviewbot import wiring
from reviewbot.cli.output.delivering import estimate_of
from reviewbot.cli.running import run_to_end
from reviewbot.domain.contracts import Review, Usage
from reviewbot.llm.estimate import Estimate
from tests.estimating import MAX_FINDINGS, GreedyTeam, UsualTeam, cut_off
from tests.git_repo import GitRepo
from tests.messages_api import MessagesApi, Scripted

ORDERS = Path(__file__).parents[2] / "examples/orders"
FACTOR = 2.0
"""Between what is said to be likely and what is booked."""
SLACK = 5.0
"""Between what is booked at worst and what is said to be the most: a bound that says nothing is none."""
CARD = """\
name = "greedy"
description = "Finds everything."
task_type = "logic"
prompt = "greedy.md"
success_criterion = "All is found."
tiers = ["large"]
applies_to = ["@code"]

[budget]
max_tokens = 64000
timeout_ms = 600000
max_turns = 8
"""
"""A worker of the repository that may write as much as any card may."""

Change = Callable[..., wiring.Subject]


class Held(NamedTuple):
    """What was said of a review, and the review."""

    said: Estimate
    review: Review


def held(subject: wiring.Subject, answer: Callable[[Any], Scripted], **flags: object) -> Held:
    """Estimate a review, and carry it out against models that answer like this."""
    with MessagesApi(answer) as api:
        environ = {"ANTHROPIC_API_KEY": "sk-canary", "ANTHROPIC_BASE_URL": api.url}
        fixed = {"engine": "models", "max_cost": "none", "requests_per_minute": 60_000}
        settings = wiring.settings_for(subject.base, {}, fixed | flags)
        given = wiring.RunInputs(environ=environ)
        said = estimate_of(subject, settings, wiring.setup(subject, settings, given))
        assert api.asked == []
        run = wiring.setup(subject, settings, given)
        review = run_to_end(partial(run.review, subject.change))
    api.check()
    return Held(said, review)


def read(usage: Usage) -> int:
    return usage.input_tokens + usage.cached_tokens + usage.cache_write_tokens


@pytest.fixture
def change(tmp_path: Path) -> Iterator[Change]:
    """Makes a repository of eighty modules, and a change that adds `lines` to each of the first `files` of them."""
    folder = tmp_path / "shop"
    repo = GitRepo(folder)
    words = "the mean of all orders " * 8
    rows = [f"def value_{row}(orders):\n    return orders[{row}].total / len(orders)  # {words}\n" for row in range(33)]
    with ExitStack() as closing:

        def make(files: int, lines: int, **own: str) -> wiring.Subject:
            for number in range(80):
                (folder / f"module{number}.py").write_text("\n".join(rows))
            for name, text in own.items():
                path = folder / ".reviewbot" / name.replace("__", "/")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.with_suffix(".md" if path.parent.name == "prompts" else ".toml").write_text(text)
            repo.commit()
            for number in range(files):
                path = folder / f"module{number}.py"
                more = [f"    total_{row} = value_{row % 33}(orders) / orders[{row}].count" for row in range(lines - 3)]
                path.write_text("\n".join([path.read_text(), "\ndef all_of(orders):", *more, ""]))
            repo.commit()
            return wiring.from_range(folder, "HEAD~1..HEAD", closing)

        yield make


def check_likely(found: Held) -> None:
    """What was booked is within a factor of what was said, in dollars and in tokens of either kind."""
    said, booked = found.said, found.review.usage
    assert said.dollars is not None
    pairs = {
        "dollars": (said.dollars, booked.cost_usd),
        "read": (read(said.usage), read(booked)),
        "written": (said.usage.output_tokens, booked.output_tokens),
    }
    for name, (likely, took) in pairs.items():
        assert likely / FACTOR <= took <= likely * FACTOR, f"{name}: {likely} said, {took} booked"
    assert not found.review.gaps


@pytest.mark.slow
def test_the_example_of_a_small_repository_takes_what_is_said() -> None:
    check_likely(held(wiring.from_diff((ORDERS / "change.diff").read_bytes(), ORDERS / "head"), UsualTeam()))


@pytest.mark.parametrize(
    ("files", "lines", "turns", "effort"),
    [
        pytest.param(1, 5, 2, "standard", id="five lines", marks=pytest.mark.slow),
        pytest.param(4, 60, 3, "standard", id="four files", marks=pytest.mark.slow),
        pytest.param(10, 90, 2, "standard", id="ten files", marks=pytest.mark.slow),
        pytest.param(20, 150, 3, "standard", id="two parts and a planner", marks=pytest.mark.slow),
        pytest.param(4, 60, 2, "deep", id="a reader for each task", marks=pytest.mark.slow),
        pytest.param(4, 60, 3, "quick", id="no judge", marks=pytest.mark.slow),
    ],
)
def test_a_change_takes_what_is_said(change: Change, files: int, lines: int, turns: int, effort: str) -> None:
    check_likely(held(change(files, lines), UsualTeam(turns), effort=effort))


def check_bound(found: Held) -> None:
    """No more was booked than was said to be the most, and that is not far off."""
    assert found.said.most is not None
    assert found.review.usage.cost_usd <= found.said.most <= SLACK * found.review.usage.cost_usd
    assert found.review.usage.calls <= found.said.calls.most
    assert {gap.reason for gap in found.review.gaps} <= {"flooded"}, "no attempt failed"


@pytest.mark.slow
def test_models_that_use_all_that_they_may_cost_no_more_than_is_said(change: Change) -> None:
    team = GreedyTeam()

    check_bound(held(change(1, 1_200), team))

    assert min(team.findings) > 150
    assert len(team.judged) == 36


@pytest.mark.slow
def test_an_answer_of_a_thousand_findings_costs_no_more_than_is_said(change: Change) -> None:
    team = GreedyTeam(chars_per_token=5.0)  # with fewer characters a thousand do not fit into any limit
    own = {"workers__greedy": CARD, "prompts__greedy": "Find everything."}

    check_bound(held(change(1, 1_200, **own), team, workers=("greedy",)))

    assert team.findings == [MAX_FINDINGS]


@pytest.mark.slow
def test_answers_that_are_cut_off_and_asked_for_again_are_bounded_by_the_limit_of_dollars(change: Change) -> None:
    found = held(change(1, 60), cut_off, max_cost=2.0)

    assert "at most $2.00 (--max-cost)" in found.said.headline
    assert 1.0 < found.review.usage.cost_usd <= 2.0
