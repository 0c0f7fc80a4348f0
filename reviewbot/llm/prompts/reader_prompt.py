"""The request that begins a reader's conversation, in the order in which a provider's cache matches it.

Tools, system prompt, answer schema, then everything that all readers of a part of a change, and the judge of their
claims, share (rules of the house, title, the map of the repository, the change), with the cache mark at its end. What
differs (analyzer results, the tasks with their instructions) comes last. A small push is read by one reader, whose
tasks the judge is shown as well: they stand before the mark, since a provider keeps nothing that is very short. A line
says what each worker looks for; its instructions are there where the prefix would be too short to be kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reviewbot.domain.contracts import Tier, WorkerResult
from reviewbot.domain.contracts.answers import ReviewAnswer
from reviewbot.domain.ports import ModelRequest, OfferedTool, Text, Turn, WorkOrder
from reviewbot.llm.agents.conversation import Bounds
from reviewbot.llm.client.answers import schema_of
from reviewbot.llm.prompts.analyzer_hints import Hint, render_hints
from reviewbot.llm.prompts.delimiters import RULE, fence_text

MAX_TITLE, MAX_DESCRIPTION = 300, 4_000
"""Characters of what the author says of the change."""
CHANGE = "The change. Numbers are lines of the new side; `+` added, `-` removed"
PUSHED, DEPENDENTS = "What was pushed: `+` added, `-` removed", "; then code that uses it, or that it uses"
OTHERS, SAID = "other files of the change, not shown", "findings of earlier reviews, not to be repeated"
MIN_KEPT = 4_150
"""Characters up to which a provider may keep no prefix: those have 1,024 tokens at least."""
MORE = "\n---\n"
"""In a system prompt: what stands below is shown where the prefix would be shorter than that."""
HITS = "Results of analyzers on the changed lines, each with a handle"
VERDICTS = "; `hints`: for each a verdict, with the code that shows it"
"""What the instructions for a small push do not say, since there seldom is such a result."""
_CLAUSE_END = re.compile(r"(?<=[;.])\s")
MAX_FINDING_CHARS = 400
"""Of each finding of a task that this one waited for."""


@dataclass(frozen=True)
class ReaderContext:
    """What all readers of one part of a change are shown. Every text is data that others wrote."""

    title: str
    description: str
    change: str
    """See `change_view`."""
    deleted: str = ""
    """The old text of files that the change deletes, as far as there is room."""
    other_parts: str = ""
    """The other files of the change, which are not shown."""
    dependents: str = ""
    """Code that uses what a push changed."""
    said: str = ""
    """What reviews of earlier heads said about the files that are shown, with the states of that."""
    conventions: str = ""
    repository: str = ""
    is_whole: bool = False
    """Whether change and repository are all that there is, so that nothing is left to look up."""
    is_push: bool = False
    """Whether `change` is what a push changed."""
    uses_shown: bool = False
    """Whether it is little, and each use of what it changed is shown: a reader then needs to look up nothing."""


@dataclass(frozen=True, eq=False)
class SharedPrefix:
    """What every conversation about one part of a change begins with."""

    tier: Tier
    system: tuple[Text, ...] = ()
    tools: tuple[OfferedTool, ...] = ()
    shown: tuple[Text, ...] = ()
    is_whole: bool = False
    """See `ReaderContext`."""
    small_push: bool = False
    """See `ReviewTask`."""

    def request(self, purpose: str, subject: str, text: str, max_tokens: int) -> ModelRequest:
        """The request that begins with this and ends with `text`."""
        return ModelRequest(
            purpose=purpose,
            subject=subject,
            tier=self.tier,
            system=self.system,
            turns=(Turn("user", (*self.shown, Text(text))),),
            max_tokens=max_tokens,
            tools=self.tools,
            schema=schema_of(ReviewAnswer),
        )

    def limits(self, bounds: Bounds) -> tuple[str, ...]:
        """What a conversation may look up, in words for the model; none where the prefix says that it has no tools."""
        if not self.small_push:
            return (describe_limits(bounds if self.tools else NO_TOOLS),)
        return (f"{describe_limits(bounds)} Look up only what decides and is not shown.",) if self.tools else ()


def shared_prefix(
    shared: ReaderContext, system: str, tools: tuple[OfferedTool, ...], orders: Sequence[WorkOrder]
) -> SharedPrefix:
    """The prefix of the conversations about these tasks. Nothing is looked up where it is shown."""
    offered = () if shared.is_whole or shared.uses_shown else tools
    small = orders[0].task.small_push
    system, _, more = system.partition(MORE)
    parts = [_shared(shared)]
    if small:
        parts += _briefs(orders, MIN_KEPT - len(system) - len(RULE) - sum(map(len, parts)), more)
    return SharedPrefix(
        tier=orders[0].task.constraints.tier,
        # Of its own in the cache: the next review, such as that of a push, begins in the same way.
        system=(Text(f"{system.strip()}\n\n{RULE}", cached=True),),
        tools=offered,
        shown=(Text("\n\n".join(parts), cached=True),),
        is_whole=shared.is_whole,
        small_push=small,
    )


def reader_request(
    orders: Sequence[WorkOrder], prefix: SharedPrefix, hints: Sequence[Hint], bounds: Bounds
) -> ModelRequest:
    """The first request of the conversation that answers all of these tasks. They ask for the same tier."""
    task = orders[0].task
    max_tokens = max(order.task.constraints.max_tokens for order in orders)
    asked = (_rest if prefix.small_push else _tasks)(orders, hints, prefix.limits(bounds))
    return prefix.request("reader", task.reader or task.task_id, "\n\n".join(asked), max_tokens)


def _shared(shared: ReaderContext) -> str:
    change = f"{PUSHED}{DEPENDENTS if shared.dependents else ''}" if shared.is_push else CHANGE
    known = {OTHERS: shared.other_parts, SAID: shared.said}
    sections = (
        ("rules of the house, from the branch that the change goes into", "conventions", shared.conventions),
        *_author(shared),
        ("The repository", "repository", shared.repository),
        ("; ".join(title for title, text in known.items() if text), "others", _joined(*known.values())),
        ("Files that the change deletes, as they were", "deleted", shared.deleted),
        (
            f"{change}; its files are shown whole" if shared.is_whole else change,
            "change",
            _joined(shared.change, shared.dependents),
        ),
    )
    return "\n\n".join(
        f"{title[0].upper()}{title[1:]}:\n{fence_text(name, text)}" for title, name, text in sections if text
    )


def _joined(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)


def _author(shared: ReaderContext) -> Iterator[tuple[str, str, str]]:
    title, description = shared.title.strip()[:MAX_TITLE], shared.description.strip()[:MAX_DESCRIPTION]
    if shared.is_push:
        yield "The change, in its author's words", "title", f"{title}\n{description}".strip()
    else:
        yield "The title of the change, in its author's words", "title", title
        yield "Its description", "description", description


NO_TOOLS = Bounds(tool_turns=0)


def describe_limits(bounds: Bounds) -> str:
    """What a conversation may look up, in words for the model."""
    if not bounds.tool_turns:
        return "You have no tools: answer from what is shown."
    turns = "one turn" if bounds.tool_turns == 1 else f"at most {bounds.tool_turns} turns"
    return (
        f"You may call tools in {turns}, at most {bounds.calls_a_turn} calls in one, with "
        f"about {bounds.result_chars // 4:,} tokens of results in all."
    )


def _tasks(orders: Sequence[WorkOrder], hints: Sequence[Hint], limits: Sequence[str]) -> Iterator[str]:
    if hints:
        yield f"{HITS}:\n{fence_text('analyzers', render_hints(hints))}"
    yield from limits
    yield f"Your {'tasks' if len(orders) > 1 else 'task'}:"
    for order in orders:
        yield "\n".join([_instructions(order), *_circumstances(order)])
    yield f"Answer in the schema, with one entry in `tasks` for each of: {_workers(orders)}; `rulings` stays empty."


def _rest(orders: Sequence[WorkOrder], hints: Sequence[Hint], limits: Sequence[str]) -> Iterator[str]:
    """What the prefix does not say of the tasks of a small push."""
    if hints:
        yield f"{HITS}{VERDICTS}:\n{fence_text('analyzers', render_hints(hints))}"
    yield from limits
    for order in orders:
        if happened := [*_circumstances(order)]:
            yield "\n".join([f"Task `{order.task.worker}`:", *happened])
    yield "In `tasks` only those that you cannot finish."


def _workers(orders: Sequence[WorkOrder]) -> str:
    return ", ".join(f"`{order.task.worker}`" for order in orders)


def _briefs(orders: Sequence[WorkOrder], missing: int, more: str) -> Iterator[str]:
    """The tasks of a small push: briefs, and as many clauses of their workers' instructions as characters are missing.

    The instructions of a worker without a brief are shown whole. `more`: what else is shown where they do not suffice.
    """
    parts = [
        (f"- `{each.task.worker}`: {each.task.brief}", each.prompt) if each.task.brief else (_instructions(each), "")
        for each in orders
    ]
    missing -= sum(len(text) for text, _ in parts)
    lines = ["Tasks:"]
    for text, instructions in (*parts, ("", more)):
        lines.append(text)
        for clause in _CLAUSE_END.split(instructions.strip()):
            if missing > 0:
                lines.append(clause)
                missing -= len(clause)
    yield "\n".join(line for line in lines if line)


def _instructions(order: WorkOrder) -> str:
    task = order.task
    lines = [f"## Task `{task.worker}`", order.prompt.strip(), task.instruction, f"Done when: {task.success_criterion}"]
    if len(task.paths) <= MAX_NAMED_FILES:
        lines.append("Files: " + fence_text("files", "\n".join(task.paths)))
    return "\n".join(lines)


def _circumstances(order: WorkOrder) -> Iterator[str]:
    """What attempts and tasks before this one brought."""
    if order.task.previous_error:
        yield "Your last answer to this task could not be used:\n" + fence_text("error", order.task.previous_error)
    if found := _found_before(order.dependencies):
        yield "Found by the task that this one waited for:\n" + fence_text("found", found)


MAX_NAMED_FILES = 60
"""Files of a task that are listed by name; of more, all that are shown are its."""


def _found_before(results: Mapping[str, WorkerResult]) -> str:
    found = [finding for name in sorted(results) for finding in results[name].findings]
    lines = (f"{each.severity} in {each.path}: {' '.join(each.message.split())}"[:MAX_FINDING_CHARS] for each in found)
    return "\n".join(lines)
