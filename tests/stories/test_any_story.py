"""Whatever the workers do, the review ends, names what is missing, and never says more than was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.diff.parse import parse_diff
from reviewbot.diff.rows import commentable
from reviewbot.domain.contracts import Review, WorkerCard
from reviewbot.review.dispatch.retry_policy import MAX_TASK_FAILURES

Tell = Callable[..., Any]

WORKERS = ("logic", "security", "style")
MAX_ATTEMPTS = 1 + 2 + MAX_TASK_FAILURES
"""Of one unsplit task: each decision that goes on adds a failure, and the last request may meet three busy engines."""

CANDIDATES = st.fixed_dictionaries(
    {
        "severity": st.sampled_from(("critical", "warning", "info")),
        "quote": st.sampled_from(
            ("import hashlib", "for order in orders:", "def items():", "found = 0", "not there", " ")
        ),
        "message": st.sampled_from(("this is never right", "this is slow when called often", "bad")),
        "confidence": st.integers(0, 100),
        "category": st.sampled_from(("bug", "cost", "injection")),
        "source": st.sampled_from(("ruff", "model:x")),
        "suggestion": st.sampled_from(("", "a()", "b()")),
    }
)
REPLIES = st.one_of(
    st.fixed_dictionaries({"findings": st.lists(CANDIDATES, max_size=4)}),
    st.fixed_dictionaries({"fail": st.sampled_from(("transient", "bad_answer", "crash"))}),
    st.fixed_dictionaries(
        {
            "escalate": st.fixed_dictionaries(
                {
                    "reason": st.sampled_from(("out_of_scope", "ambiguous_input", "confidence_too_low", "timeout")),
                    "message": st.just("because"),
                    "better_worker": st.sampled_from((None, *WORKERS, "janitor")),
                }
            )
        }
    ),
)
SCRIPTS = st.lists(
    st.fixed_dictionaries(
        {
            "worker": st.sampled_from((*WORKERS, "*")),
            "path": st.sampled_from(("*", "*/orders.py")),
            "replies": st.lists(REPLIES, min_size=1, max_size=3),
        }
    ),
    max_size=4,
)


@pytest.fixture(name="any_story")
def _any_story(story: Tell, a_card: Callable[..., WorkerCard], orders: bytes, cart: bytes) -> Tell:
    cards = [
        a_card("logic", tiers=("small", "medium", "large")),
        a_card("security", depends_on=("logic",)),
        a_card("style", depends_on=("security",), needs_dependencies=False),
    ]

    def begin(script: list[dict[str, Any]], **parts: Any) -> Any:
        return story(*cards, script=script, diff=orders + cart, **parts)

    return begin


# The fixture only makes stories; what one story does cannot reach the next.
@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(script=SCRIPTS)
def test_a_review_says_no_more_than_what_was_read(script: list[dict[str, Any]], any_story: Tell) -> None:
    telling = any_story(script)
    change = parse_diff(telling.diff)

    told: Review = telling.told()

    assert [entry.path for entry in told.coverage] == [file.path for file in change.files]
    if told.verdict == "clean":
        assert all(entry.state == "reviewed" for entry in told.coverage)
        assert {(*entry.models, *entry.analyzers, *entry.scans) for entry in told.coverage} <= {("scripted",)}
        assert (told.gaps, told.human, told.findings, told.conflicts) == ((), (), (), ())
    missing = {gap.path for gap in told.gaps} | {item.path for item in told.human if item.finding is None}
    assert missing == {entry.path for entry in told.coverage if entry.state != "reviewed"}
    lines = {file.path: commentable(file.hunks) for file in change.files}
    shown = [*told.findings, *(finding for conflict in told.conflicts for finding in conflict.findings)]
    assert all({finding.line, finding.end_line} <= lines[finding.path] for finding in shown)
    assert Review.model_validate_json(told.model_dump_json()) == told


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(script=SCRIPTS)
def test_no_worker_is_asked_for_ever_and_each_task_ends_once(script: list[dict[str, Any]], any_story: Tell) -> None:
    telling = any_story(script)

    telling.told()

    ends = [event["task_id"] for event in telling.events if event["event"] in ("task_finished", "task_failed")]
    planned = [task["task_id"] for task in telling.events[0]["plan"]["tasks"]]
    assert sorted(ends) == sorted(planned)
    tries = [event for event in telling.events if event["event"] == "task_started"]
    assert len(tries) <= len(planned) * 7 * MAX_ATTEMPTS


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(script=SCRIPTS)
def test_the_same_story_is_told_the_same_way(script: list[dict[str, Any]], any_story: Tell) -> None:
    first, second = (any_story(script).told().model_copy(update={"timings": None}) for _ in range(2))

    assert first == second


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(script=SCRIPTS, fan_out=st.integers(1, 3))
def test_a_review_in_two_levels_is_the_one_in_one_level(
    script: list[dict[str, Any]], fan_out: int, any_story: Tell
) -> None:
    one, two = any_story(script), any_story(script, fan_out=fan_out)

    first, second = (telling.told().model_copy(update={"timings": None}) for telling in (one, two))

    assert first == second
    assert len(two.told_of("part_finished")) > 1
    assert one.told_of("part_finished") == []
