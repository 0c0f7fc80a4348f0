"""A fault in the model's part of the synthesis costs that part, and never the review."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.contracts import ChangeSet, FileChange, Finding, Metadata, Plan, Review, ReviewTask, WorkerResult
from reviewbot.errors import ProviderError, TooLongError
from reviewbot.model.critic import FAILED, Critic
from reviewbot.model.synthesizer import UNSETTLED, ModelSynthesizer
from reviewbot.ports import ModelReply, ModelRequest, Settled
from reviewbot.supervisor.synthesizer import RuledSynthesizer, Rules
from tests.reading_cases import read

Told = Callable[..., Review]

RULES = Rules({"security": 80, "logic": 80}, max_findings=50)
READ = Metadata(readings=(read(analyzers=("ruff",)),))


class Breaking:
    """A model that raises."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def ask(self, request: ModelRequest) -> ModelReply:
        raise self.error


@pytest.fixture
def told(
    a_task: Callable[..., ReviewTask],
    a_change: Callable[..., ChangeSet],
    a_file: Callable[..., FileChange],
    a_finding: Callable[..., Finding],
    trace: Any,
) -> Told:
    """What becomes of a program's and a model's finding about one line."""
    by_model = a_finding(line=1, type="logic", category="bug", sources=("model:x",), message="a name runs a program")

    def run(model: Any, prompt: Any = "Judge.", critic: Critic | None = None) -> Review:
        task = a_task()
        plan = Plan(goal="review it", tasks=(task,), reason="by hand")
        findings = (by_model, a_finding(line=1))
        result = WorkerResult(task_id=task.task_id, findings=findings, metadata=READ)
        settled = {task.task_id: Settled(task, (result,), done=True)}
        ruled = RuledSynthesizer(RULES, "claude")
        modelled = model and ModelSynthesizer(RULES, model, prompt, trace, "claude", critic=critic)
        return asyncio.run((modelled or ruled).synthesize(a_change(a_file()), plan, settled))

    return run


def test_any_fault_leaves_what_rules_make_of_it_and_a_note(told: Told, trace: Any) -> None:
    review = told(Breaking(KeyError("/root/secret")))

    assert review.findings == told(None).findings
    assert review.notes == (f"{UNSETTLED}: KeyError on the way",)
    assert [(event["by"], event["effect"], event["reason"]) for event in trace.of("settled")] == [
        ("synthesizer", "failed", "KeyError")
    ]


def test_a_fault_before_the_model_is_asked_is_no_other(told: Told) -> None:
    """A prompt that is none stands for any bug of ours."""
    review = told(Breaking(KeyError("never")), prompt=None)

    assert review.findings == told(None).findings
    assert review.notes == (f"{UNSETTLED}: AttributeError on the way",)


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (ProviderError("credentials (401)"), "the model provider could not be used"),
        (TooLongError("long"), "that was more than the model reads"),
    ],
)
def test_what_no_smaller_or_later_question_helps_is_told_in_our_words(error: Exception, why: str, told: Told) -> None:
    assert told(Breaking(error)).notes == (f"{UNSETTLED}: {why}",)


def test_a_critic_that_breaks_leaves_the_review_as_it_was(told: Told, trace: Any) -> None:
    critic = Critic(Breaking(KeyError("bug")), "Criticize.", trace)
    review = told(Breaking(KeyError("bug")), critic=critic)

    assert review.findings == told(None).findings
    assert review.notes[1:] == (FAILED,)
