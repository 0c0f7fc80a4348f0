"""Build the plan of a proposal without faults. What the proposing model wrote is added to a worker's prompt, as data.

Where a worker's model is spared a file that it would have read, its programs run there all the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256

from reviewbot.domain.contracts import Constraints, Payload, Plan, ReviewTask, WorkerCard
from reviewbot.domain.contracts.answers import ProposedPlan, ProposedTask
from reviewbot.review.plan.instruction_lint import one_line
from reviewbot.review.plan.planner import task_for
from reviewbot.review.plan.validate_plan import PlanContext, granted_tokens, in_order, waits_of

FOCUS, ALSO = "Focus: ", "Also: "
"""At the beginning of the line that a proposal adds to a card's instruction and to its success criterion. What follows
is a planner's, who has read the author's words, and is shown to a worker as data."""

MIN_CRITERION_CHARS = 10
"""Characters of a success criterion; below that the card's own stands."""


def plan_of(proposed: ProposedPlan, context: PlanContext) -> Plan:
    """The plan of a proposal in which `validate_plan.faults_of` found nothing."""
    tasks = _tasks(proposed, context)
    return Plan(
        goal=context.routed.goal,
        tasks=(*tasks, *(_scans(proposed, context) if context.caps.whole else ())),
        strategy=proposed.strategy,
        origin="model",
        reason=f"planned by a model: {one_line(proposed.reason)}",
        files=context.routed.files,
        read_before=context.routed.read_before,
        scope=context.routed.scope,
        unlooked=context.routed.unlooked,
    )


def _tasks(proposed: ProposedPlan, context: PlanContext) -> list[ReviewTask]:
    by_id = {task.task_id: task for task in proposed.tasks}
    waits = waits_of(proposed, context)
    parts: dict[str, list[str]] = {}
    found: list[ReviewTask] = []
    for name in in_order(waits):
        depends_on = tuple(part for other in waits[name] for part in parts[other])
        made = _parts(by_id[name], proposed, context, depends_on)
        parts[name] = [task.task_id for task in made]
        found += made
    return found


def _parts(
    task: ProposedTask, proposed: ProposedPlan, context: PlanContext, depends_on: tuple[str, ...]
) -> list[ReviewTask]:
    """One proposed task as one or, where it is long, several."""
    card = context.card_of(task.worker, proposed)
    assert card is not None  # noqa: S101 - a proposal with an unknown worker has a fault
    known = card.name in context.cards
    cut = context.parts(task)
    made = []
    for number, payloads in enumerate(cut, 1):
        name = task.task_id if len(cut) == 1 else f"{task.task_id}/{number}"
        instruction = _instruction(task, proposed, card)
        base = task_for(card, payloads[0], _id(card.name, name, payloads, instruction), depends_on)
        tier = next((worker.tier for worker in proposed.workers if worker.name == task.worker), None)
        criterion = one_line(task.success_criterion)
        also = f"\n{ALSO}{criterion}" if len(criterion) >= MIN_CRITERION_CHARS else ""
        changes = {
            "instruction": instruction,
            "success_criterion": f"{card.success_criterion}{also}",
            "constraints": _constraints(base.constraints, granted_tokens(task, card), None if known else tier),
            "more": payloads[1:],
            # What a planner orders is worth waiting for, and not worth a gap.
            "needs_dependencies": known and bool(card.depends_on) and card.needs_dependencies,
        }
        made.append(base.model_copy(update=changes))
    return made


def _instruction(task: ProposedTask, proposed: ProposedPlan, card: WorkerCard) -> str:
    """The card's own words first; what was proposed comes as a focus behind them."""
    said = [task.instruction]
    said += [f"{worker.focus} {worker.instruction}" for worker in proposed.workers if worker.name == task.worker]
    return f"Look at the added lines of these slices. {card.description}\n{FOCUS}{one_line(' '.join(said[::-1]))}"


def _constraints(base: Constraints, max_tokens: int, tier: object) -> Constraints:
    update: dict[str, object] = {"max_tokens": max_tokens}
    if tier is not None:
        update |= {"tier": tier, "higher_tiers": ()}
    return base.model_copy(update=update)


def _scans(proposed: ProposedPlan, context: PlanContext) -> list[ReviewTask]:
    """What of the routed plan no proposed task of the same worker reads: its programs run on it."""
    read: defaultdict[str, set[str]] = defaultdict(set)
    for each in proposed.tasks:
        read[each.worker].update(each.files)
    found: list[ReviewTask] = []
    for task in context.routed.tasks:
        left = tuple(part for part in task.slices if part.file_path not in read[task.worker])
        if not task.programs_only:
            left = tuple(part for part in left if context.programs(task.worker, part.language))
        if left:
            name = _id(task.worker, "programs", left, task.task_id)
            alone = {"task_id": name, "payload": left[0], "more": left[1:], "programs_only": True}
            found.append(task.model_copy(update=alone | {"depends_on": (), "needs_dependencies": False}))
    return found


def _id(worker: str, name: str, payloads: Sequence[Payload], instruction: str) -> str:
    """A name that no task about anything else has: two plans of one change may use the same words."""
    texts = [instruction, *(text for each in payloads for text in (each.file_path, each.code))]
    return f"{worker}:{name}~{sha256(chr(0).join(texts).encode('utf-8', 'replace')).hexdigest()[:8]}"
