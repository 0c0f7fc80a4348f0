"""Plan -> terminal and JSON: what will be done, before anything runs."""

from __future__ import annotations

from reviewbot.domain.contracts import Payload, Plan, ReviewTask
from reviewbot.report.costs import seconds
from reviewbot.report.terminal.page import LABEL, PLACE, PLAIN, Page
from reviewbot.report.terminal.report import write_unseen
from reviewbot.report.text import label, one_line
from reviewbot.report.view_model import skipped_parts, without_review
from reviewbot.wording import with_count

_SLICES = 8
"""Of a task that are shown beside its first; a task of a large change can have hundreds."""
_ORIGINS = {"rules": "made by rules", "model": "made by a model"}


def render_plan(plan: Plan, *, width: int, colour: bool, hint: str = "") -> str:
    """The plan as text with a last LF: the tasks in their order, what no task reads and why, and a last paragraph."""
    page = Page(width=width, colour=colour)
    count = with_count(len(plan.tasks), "task")
    page.paragraph(f"{count}: {one_line(plan.goal)}", PLACE)
    page.paragraph(one_line(f"{_ORIGINS[plan.origin]}, results joined by {plan.strategy}: {plan.reason}"), LABEL)
    digits = len(str(len(plan.tasks)))
    for number, task in enumerate(plan.tasks, start=1):
        page.blank()
        # A plan by rules gives every task of a worker the same instruction: its card's.
        _task(page, task, f"{number:>{digits}}. ", with_instruction=plan.origin == "model" or bool(task.seam))
    if missed := [*without_review(plan.files), *skipped_parts(plan.unlooked)]:
        page.heading("Will not be reviewed in full")
        write_unseen(page, missed)
    for text in (*plan.notes, *([hint] if hint else [])):
        page.blank()
        page.paragraph(one_line(text))
    return page.render()


def _task(page: Page, task: ReviewTask, number: str, *, with_instruction: bool) -> None:
    payload, limits, indent = task.payload, task.constraints, len(number)
    page.line((number, LABEL), (task.worker, PLACE), ("  ", PLAIN), (label(payload.file_path), PLACE))
    page.paragraph(_lines(payload), indent=indent, lead="lines   ")
    for other in task.more[:_SLICES]:
        page.paragraph(f"{label(other.file_path)}  {_lines(other)}", indent=indent, lead="and     ")
    if (left := len(task.more) - _SLICES) > 0:
        page.paragraph(f"{left:,} more; --format json has all", indent=indent, lead="and     ")
    if with_instruction:
        page.paragraph(one_line(task.instruction), indent=indent, lead="does    ")
    if task.programs_only:
        programs = "scans of plain lines alone" if task.scans_only else "analyzers alone"
        page.paragraph(f"{programs}, within {seconds(limits.timeout_ms)}", indent=indent, lead="by      ")
    else:
        page.paragraph(", then ".join((limits.tier, *limits.higher_tiers)), indent=indent, lead="tier    ")
        budget = f"{limits.max_tokens:,} tokens, {seconds(limits.timeout_ms)}, {with_count(limits.max_turns, 'turn')}"
        page.paragraph(budget, indent=indent, lead="budget  ")
    page.paragraph(label(task.task_id), indent=indent, lead="id      ")
    if task.depends_on:
        names = ", ".join(label(name) for name in task.depends_on)
        without = "" if task.needs_dependencies else " (runs without it, should it fail)"
        page.paragraph(names + without, indent=indent, lead="after   ")


def _lines(payload: Payload) -> str:
    """The new side's lines that a task sees, hunk by hunk; where lines only went away, the old side's place."""
    hunks: list[list[str]] = []
    for row in payload.code.split("\n"):
        if row.startswith("@@"):
            hunks.append([])
        elif hunks:
            hunks[-1].append(row)
    spans = []
    for (old, new), rows in zip(payload.starts, hunks, strict=False):
        if count := sum(row[:1] in (" ", "+") for row in rows):
            spans.append(f"{new}-{new + count - 1}" if count > 1 else str(new))
        else:
            spans.append(f"removed at {old}")
    return ", ".join(spans) or "none"
