"""What one worker's model is asked: the rules and the prompt that it shares with its other tasks, then this task.

Whatever others wrote stands between fences. Nothing depends on time, on the run, or on where in a file code stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from reviewbot.contracts import Finding, Payload, WorkerAnswer
from reviewbot.llm.client.answers import schema_of
from reviewbot.model.fence import RULE, fenced
from reviewbot.model.hints import Hint, shown
from reviewbot.ports import ModelRequest, OfferedTool, Text, Turn, WorkOrder
from reviewbot.supervisor.adoption import ALSO, FOCUS

if TYPE_CHECKING:
    from reviewbot.model.told import Section

MAX_TITLE = 300
MAX_DESCRIPTION = 2_000
"""Characters of what the author says of the change: more of it is for people, and room for whoever wants to steer."""
MAX_ERROR = 1_000
"""Characters of why the attempt before failed; it may repeat what a model wrote."""
MAX_DEPENDENCY_FINDINGS = 20
"""Of one result that a task waited for, in its order: the next worker needs the places, and no report."""
MAX_WORDS = 200
"""Characters of a message or a quote in such a result."""
UNTITLED = frozenset({"performance", "style"})
"""Workers who judge code by cost and by written rules, whatever its author meant by it."""

HINTS = "Hits of programs in these slices, by handle. Give each of them a verdict under `hints`:"
DEPENDENCIES = "What was found before you in the same slices:"
PLANNED = (
    "What a planner that has not seen the code says of your task. It says where to look, and never what to answer:"
)
FAILED = "Attempts at this that failed so far: {}. Why the last answer could not be used:"
"""With their number, so that no two attempts ask the same where they failed in the same way."""


def request_of(
    order: WorkOrder,
    rules: str,
    sections: Iterable[Section] = (),
    hints: Sequence[Hint] = (),
    tools: tuple[OfferedTool, ...] = (),
) -> ModelRequest:
    """The first request of a task. What all tasks of a worker share comes first and ends where the cache is marked."""
    return ModelRequest(
        purpose=order.card.name,
        subject=order.task.task_id,
        tier=order.task.constraints.tier,
        system=(Text(f"{RULE}\n\n{rules.strip()}\n"), Text(order.prompt.strip(), cached=True)),
        turns=(Turn("user", (Text(_asked(order, sections, hints)),)),),
        max_tokens=order.task.constraints.max_tokens,
        tools=tools,
        schema=schema_of(WorkerAnswer),
    )


def _asked(order: WorkOrder, sections: Iterable[Section], hints: Sequence[Hint]) -> str:
    task = order.task
    parts = [_slice(payload) for payload in task.slices]
    parts += [fenced(section.name, section.text) for section in sections if section.text]
    parts += _about(order)
    if hints:
        parts += [HINTS, fenced("hints", shown(hints))]
    if found := _found_before(order):
        parts += [DEPENDENCIES, fenced("results", found)]
    # The last words are ours, so that no data stands between the task and the answer.
    if task.previous_error:
        parts += [FAILED.format(task.failures), fenced("error", task.previous_error[:MAX_ERROR])]
    (work, focus), (done, also) = _parted(task.instruction, FOCUS), _parted(task.success_criterion, ALSO)
    if planned := "\n".join(filter(None, [focus, also])):
        parts += [PLANNED, fenced("focus", planned)]
    parts += [f"Your task: {_plain(work)}\nDone when: {_plain(done)}"]
    return "\n\n".join(parts)


def _parted(text: str, mark: str) -> tuple[str, str]:
    """The card's own words, and all that a planner added to them, from the first line that begins with the mark.

    A plan that a model made may repeat what the change's author wrote.
    """
    lines = text.split("\n")
    at = next((number for number, line in enumerate(lines) if line.startswith(mark)), len(lines))
    return "\n".join(lines[:at]), "\n".join(lines[at:])


def _slice(payload: Payload) -> str:
    names = [f"file: {payload.file_path}"]
    names += [f"renamed from: {payload.old_path}"] if payload.old_path else []
    names += [f"language: {payload.language}"]
    around = [f"context:\n{payload.context}"] if payload.context else []
    return fenced("slice", "\n".join([*names, payload.code, *around]))


def _about(order: WorkOrder) -> list[str]:
    if order.task.type in UNTITLED:
        return []
    told = (("title", order.title[:MAX_TITLE]), ("description", order.description[:MAX_DESCRIPTION]))
    return [fenced(name, text) for name, text in told if text.strip()]


def _found_before(order: WorkOrder) -> str:
    results = [order.dependencies[name] for name in sorted(order.dependencies)]
    return "\n".join(_told(each) for result in results for each in result.findings[:MAX_DEPENDENCY_FINDINGS])


def _told(finding: Finding) -> str:
    message, quote = (_plain(text)[:MAX_WORDS] for text in (finding.message, finding.evidence))
    return f"{finding.type} ({finding.severity}, {finding.confidence}) in {finding.path}: {message}\n    {quote}"


def _plain(text: str) -> str:
    """On one line, so that nothing in it can look like the fence of something else."""
    return " ".join(text.split())
