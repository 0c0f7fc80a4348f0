"""Stories of workers that cannot do what they were asked: each rung of the ladder, and what the reader sees of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import Plan, WorkerCard

Tell = Callable[..., Any]

SHELL = {
    "severity": "critical",
    "quote": 'os.system("bill " + order.name)',
    "message": "the name of an order reaches a shell",
    "confidence": 90,
    "category": "injection",
    "source": "medium",
}
LOOP = {
    **SHELL,
    "severity": "warning",
    "quote": "for order in orders:",
    "message": "one program for each order",
    "category": "cost",
}
ORDERS = "logic:src/orders.py#1"


def found(*findings: dict[str, Any], **reply: Any) -> dict[str, Any]:
    """A model's answer."""
    return {"findings": list(findings), "origin": "model", **reply}


def gives_up(reason: str, better_worker: str | None = None, **reply: Any) -> dict[str, Any]:
    return {"escalate": {"reason": reason, "message": "because", "better_worker": better_worker}, **reply}


BAD = {"fail": "bad_answer", "message": "no JSON in it"}


@pytest.fixture(name="ladder")
def _ladder(a_card: Callable[..., WorkerCard]) -> WorkerCard:
    return a_card("logic", tiers=("small", "medium", "large"))


def test_a_plan_in_which_one_task_waits_for_what_another_one_found(
    story: Tell, a_card: Callable[..., WorkerCard], judge: Tell
) -> None:
    def logic_first(plan: Plan) -> Plan:
        """The lead has the security worker build on what the logic worker found."""
        tasks = {task.worker: task for task in plan.tasks}
        second = tasks["security"].model_copy(update={"depends_on": (tasks["logic"].task_id,)})
        return plan.model_copy(update={"tasks": (tasks["logic"], second), "origin": "model"})

    telling = story(
        a_card("security"),
        a_card("logic"),
        lead={"first": logic_first},
        verify=judge(),
        script=[
            {"worker": "logic", "replies": [found(LOOP)]},
            {"worker": "security", "replies": [found(SHELL, requires=[ORDERS])]},
        ],
    )

    told = telling.told()

    assert [task_id for task_id, _ in telling.asked()] == [ORDERS, "security:src/orders.py#1"]
    assert [finding.type for finding in told.findings] == ["security", "logic"]


def test_the_ladder_from_bad_words_over_a_higher_tier_to_a_person(story: Tell, ladder: WorkerCard) -> None:
    telling = story(ladder, script=[{"replies": [BAD, gives_up("confidence_too_low"), gives_up("out_of_scope")]}])

    told = telling.told()

    assert [(event["action"], event["tier"], event["reason"]) for event in telling.told_of("step")] == [
        ("retry", "small", "no JSON in it"),
        ("climb", "medium", "because"),
        ("human", "medium", "because"),
    ]
    assert told.verdict == "needs_person"
    assert [(item.path, item.reason) for item in told.human] == [
        ("src/orders.py", "logic could not settle this (out of scope): because")
    ]


def test_the_ladder_from_too_large_a_slice_over_its_halves_to_another_worker(
    story: Tell, ladder: WorkerCard, a_card: Callable[..., WorkerCard], judge: Tell
) -> None:
    halves = {
        f"{ORDERS}.1": [found()],
        f"{ORDERS}.2": [found(), gives_up("out_of_scope", "security", **found(LOOP))],
        f"{ORDERS}.2>security": [found(SHELL)],
    }
    telling = story(
        ladder,
        a_card("security", applies_to=("*.sh",)),
        verify=judge(),
        script=[{"task": ORDERS, "replies": [gives_up("timeout")]}]
        + [{"task": name, "replies": replies} for name, replies in halves.items()],
    )

    told = telling.told()

    assert [(event["action"], event["tasks"]) for event in telling.told_of("step")] == [
        ("split", [f"{ORDERS}.1", f"{ORDERS}.2"]),
        ("done", []),
        ("reassign", [f"{ORDERS}.2>security"]),
        ("done", []),
    ]
    assert [finding.type for finding in told.findings] == ["security", "logic"], "what was found before is kept"
    assert told.gaps == ()


def test_every_rung_in_one_review(
    story: Tell, ladder: WorkerCard, a_card: Callable[..., WorkerCard], orders: bytes, cart: bytes
) -> None:
    telling = story(
        ladder,
        a_card("security", tiers=("medium",)),
        a_card("style", tiers=("small",)),
        diff=orders + cart,
        script=[
            {"task": "*>security", "replies": [found()]},
            {"worker": "logic", "path": "*/orders.py", "replies": [gives_up("timeout"), found()]},
            {"worker": "logic", "path": "*/cart.py", "replies": [BAD, BAD, found()]},
            {"worker": "security", "path": "*/orders.py", "replies": [{"fail": "crash"}]},
            {"worker": "security", "path": "*/cart.py", "replies": [gives_up("confidence_too_low")]},
            {"worker": "style", "path": "*/orders.py", "replies": [gives_up("out_of_scope", "security"), found()]},
        ],
    )

    told = telling.told()

    assert set(telling.steps()) == {"done", "retry", "climb", "reassign", "split", "human", "give_up"}
    assert [(gap.path, gap.worker, gap.reason) for gap in told.gaps if gap.worker == "security"] == [
        ("src/cart.py", "security", "unsettled"),
        ("src/orders.py", "security", "breaker"),
    ]
    assert [item.path for item in told.human] == ["src/cart.py"]
    assert all(event["reason"] for event in telling.told_of("step"))


def test_what_a_model_declines_a_stronger_one_answers(story: Tell, ladder: WorkerCard, judge: Tell) -> None:
    declined = {"fail": "refused", "message": "the model declined to answer"}
    telling = story(ladder, script=[{"replies": [declined, found(SHELL)]}], verify=judge())

    told = telling.told()

    assert telling.steps() == ["climb", "done"]
    assert len(told.findings) == 1
    assert (told.gaps, told.human) == ((), ())


def test_a_floor_that_is_talked_into_passing_its_job_on_makes_no_review_clean(
    story: Tell, a_card: Callable[..., WorkerCard]
) -> None:
    telling = story(
        a_card("security"),
        a_card("style"),
        script=[
            {"task": "*>style", "replies": [found()]},
            {"worker": "security", "replies": [gives_up("out_of_scope", "style")]},
        ],
    )

    told = telling.told()

    assert [name for name, _ in telling.asked() if ">" in name] == ["security:src/orders.py#1>style"]
    assert [(gap.worker, gap.reason, gap.message) for gap in told.gaps] == [
        ("security", "unsettled", "security left this to style and has not judged it: because")
    ]
    assert [entry.state for entry in told.coverage] == ["partial"]
    assert told.verdict != "clean"
    assert told.incomplete


def test_what_every_model_declines_is_for_a_person_and_is_named(story: Tell, ladder: WorkerCard) -> None:
    telling = story(ladder, script=[{"replies": [{"fail": "refused", "message": "the model declined to answer"}]}])

    told = telling.told()

    assert telling.steps() == ["climb", "human"]
    assert [(gap.reason, gap.message) for gap in told.gaps] == [("refused", "the model declined to answer")]
    assert told.verdict == "needs_person"


@pytest.mark.parametrize("wall", ["budget", "deadline"])
def test_a_spent_budget_is_a_gap_at_once(wall: str, story: Tell, ladder: WorkerCard) -> None:
    telling = story(ladder, script=[{"replies": [{"fail": wall, "message": "nothing is left"}]}])

    told = telling.told()

    assert (telling.steps(), len(telling.asked())) == (["give_up"], 1)
    assert [(gap.reason, gap.message) for gap in told.gaps] == [(wall, "nothing is left")]


def test_what_a_weaker_model_saw_is_told_once_and_in_the_words_of_the_stronger_one(
    story: Tell, ladder: WorkerCard, judge: Tell
) -> None:
    unsure = gives_up(
        "confidence_too_low", **found({**SHELL, "message": "odd"}, LOOP), programs=[{**LOOP, "source": "ruff"}]
    )
    sure = found({**SHELL, "source": "large"}, programs=[{**LOOP, "source": "ruff"}])
    telling = story(ladder, script=[{"replies": [unsure, sure]}], verify=judge())

    told = telling.told()

    assert telling.steps() == ["climb", "done"]
    assert [(f.message, f.sources) for f in told.findings] == [
        (SHELL["message"], ("model:large",)),
        (LOOP["message"], ("model:medium", "ruff")),
    ], "what the stronger one is silent about stays, with the program that says it too"
    assert (told.workers[0].tasks, told.workers[0].findings) == (1, 3)


def test_verification_is_not_done_about_a_failure_and_no_worker_is_asked_again_for_it(
    story: Tell, ladder: WorkerCard, judge: Tell
) -> None:
    seeing = judge()
    telling = story(ladder, script=[{"replies": [BAD, found(SHELL)]}], verify=seeing)

    telling.told()

    assert seeing.seen == [ORDERS]
    assert len(telling.asked()) == 2
