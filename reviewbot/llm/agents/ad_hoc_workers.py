"""Seats: cards without a job for ad-hoc workers that a plan proposes. None exist unless they are asked for.

A worker set is a value and cannot grow while a review runs, so it has the seats from the start, with no files.
"""

from __future__ import annotations

from reviewbot.domain.contracts import CardBudget, WorkerCard
from reviewbot.domain.ports import WorkerSet
from reviewbot.review.cards import shipped_files

SEAT = "extra"
"""How a seat's name begins, and the type of what is found from it."""

_PROMPT = "extra.md"

NO_FILES = "@none"
"""A kind that no file has."""


def with_seats(worker_set: WorkerSet, count: int) -> WorkerSet:
    """The worker set with so many seats added."""
    prompt = shipped_files()[f"prompts/{_PROMPT}"]
    cards = tuple(
        WorkerCard(
            name=f"{SEAT}-{number}",
            description="Takes a narrow look that a plan asks for and that no other worker takes.",
            task_type=SEAT,
            prompt=_PROMPT,
            success_criterion="Every added line of the slices was held against what the task names.",
            tiers=("medium",),
            applies_to=(NO_FILES,),
            budget=CardBudget(max_tokens=6_000, max_turns=4),
        )
        for number in range(1, count + 1)
    )
    return WorkerSet(
        cards=(*worker_set.cards, *cards),
        prompts={**worker_set.prompts, **{card.name: prompt for card in cards}},
        origin={**worker_set.origin, **{card.name: "package" for card in cards}},
    )
