"""The planner's prompt: facts about each file, and never the code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from reviewbot.domain.contracts import ChangeSet, FileChange, Finding, WorkerCard
from reviewbot.domain.contracts.answers import ProposedPlan
from reviewbot.domain.ports import ModelRequest, Text, Turn
from reviewbot.llm.client.answers import schema_of
from reviewbot.llm.prompts.delimiters import RULE, fence_text
from reviewbot.review.plan.routing import is_test
from reviewbot.review.plan.triage import risk
from reviewbot.review.plan.validate_plan import PlanContext

PURPOSE = "planner"

MAX_SYMBOLS = 8
"""Of one file; what a plan can do with more names is little."""

MAX_SYMBOL = 60
"""Characters of a name of the code."""

MAX_TITLE = 300
MAX_DESCRIPTION = 2_000
"""Characters of what the author says; a longer text is a document, and the change speaks for itself."""

MAX_ANSWER = 20_000
"""Characters of an answer that is shown once more with its faults."""

LIMITS = "Limits: {tasks} tasks, {tokens} tokens in all, {row} tasks in a row."
ROUTED = (
    "In the routed plan each worker reads the files that name it below, those of one folder together "
    "up to {lines} changed lines. A task that is longer is cut."
)
FILES = (
    'Each file to read: its name in JSON; language, size, risk, "test" where it is one; who reads it by rules (who '
    "else may); symbols touched."
)

DEFINED = re.compile(
    r"\b(?:def|class|func|fn|function|interface|struct|enum|trait|type|module|sub|proc|record|object|protocol)\s+"
    r"(?:\([^)]{0,60}\)\s*)?([A-Za-z_$][\w$]*)"
)
"""A definition in most languages; the name is in the first group."""


SIZES = ((30, "small"), (200, "medium"), (10**9, "large"))
RISKS = ((30, "low"), (60, "middle"), (10**9, "high"))
"""Each up to a bound: a line more in one file must not make another question, and so another plan, of a change."""

TOKENS_STEP = 100_000
"""What all tasks may write is given in whole steps, for the same reason."""


def request_for(change: ChangeSet, context: PlanContext, prompt: str, max_tokens: int) -> ModelRequest:
    """The question for a plan. No line number, no count of lines and no code is in it."""
    return _request("plan", _describe_change(change, context), prompt, max_tokens)


def repair_of(request: ModelRequest, answer: str, faults: Sequence[str]) -> ModelRequest:
    """Ask the planner again, with its answer that had faults and the list of them."""
    said = (
        f"You have answered before. This was your answer:\n{fence_text('answer', answer[:MAX_ANSWER])}\n"
        f"It cannot be used:\n{fence_text('faults', chr(10).join(f'- {fault}' for fault in faults))}\n"
        "Answer once more with a whole plan that has none of these faults."
    )
    [turn] = request.turns
    again = Turn("user", (*turn.parts, Text(said)))
    return ModelRequest(
        purpose=request.purpose,
        subject=f"{request.subject}, repaired",
        tier=request.tier,
        system=request.system,
        turns=(again,),
        max_tokens=request.max_tokens,
        schema=request.schema,
    )


def follow_up_for(
    change: ChangeSet, context: PlanContext, findings: Iterable[Finding], prompt: str, max_tokens: int
) -> ModelRequest:
    """The question what the findings of a first round ask for."""
    lines = "\n".join(
        json.dumps([each.path, each.symbol, each.type, each.severity, each.message[:MAX_TITLE]]) for each in findings
    )
    facts = (
        f"{_describe_change(change, context)}\n\n"
        "The review has run, and these findings stand (file, symbol, worker, severity, message):\n"
        f"{fence_text('findings', lines)}\n"
        f"Propose at most {context.caps.max_tasks} follow-up tasks that these findings ask for, such as callers of "
        "what is broken. No tasks is the usual answer."
    )
    return _request("follow-up", facts, prompt, max_tokens)


def symbols_of(file: FileChange) -> tuple[str, ...]:
    """Names of the definitions that a file's hunks are in or define, in order, without repeats."""
    return tuple(list(dict.fromkeys(_symbols(file)))[:MAX_SYMBOLS])


def _symbols(file: FileChange) -> Iterator[str]:
    for hunk in file.hunks:
        lines = (line[1:300] for line in hunk.body.split("\n") if line[:1] in {"+", "-"})
        for text in (hunk.heading[:300], *lines):
            yield from (match[1][:MAX_SYMBOL] for match in DEFINED.finditer(text))


def _request(subject: str, facts: str, prompt: str, max_tokens: int) -> ModelRequest:
    return ModelRequest(
        purpose=PURPOSE,
        subject=subject,
        tier="small",
        system=(Text(f"{prompt.rstrip()}\n\n{RULE}\n", cached=True),),
        turns=(Turn("user", (Text(facts),)),),
        max_tokens=max_tokens,
        schema=schema_of(ProposedPlan),
    )


def _describe_change(change: ChangeSet, context: PlanContext) -> str:
    caps = context.caps
    given = caps.token_share * sum(task.constraints.max_tokens for task in context.of_models)
    steps = max(1, int(given) // TOKENS_STEP)
    said = f"{change.title[:MAX_TITLE]}\n\n{change.description[:MAX_DESCRIPTION]}".strip()
    files = [file for file in change.files if file.path in context.slices]
    cards = sorted(context.cards.values(), key=lambda card: card.name)
    parts = [
        "The workers:",
        *(f"- {card.name} (up to {card.budget.max_tokens} tokens): {card.description}" for card in cards),
        f"New workers: {_describe_seats(context.seats)}",
        "",
        LIMITS.format(tasks=caps.max_tasks, tokens=steps * TOKENS_STEP, row=caps.chain),
        ROUTED.format(lines=caps.part_lines),
        "",
        FILES,
        fence_text("files", "\n".join(_line(file, context) for file in sorted(files, key=lambda file: file.path))),
    ]
    if said:
        parts += ["", "What the author says of the change:", fence_text("author", said)]
    return "\n".join(parts)


def _describe_seats(seats: Sequence[WorkerCard]) -> str:
    if not seats:
        return "none may be proposed."
    tools = ", ".join(seats[0].tools) or "none"
    tokens = seats[0].budget.max_tokens
    return f"at most {len(seats)}, up to {tokens} tokens a task, tiers small or medium, tools: {tools}."


def _line(file: FileChange, context: PlanContext) -> str:
    readers = context.readers.get(file.path, frozenset())
    others = context.allowed.get(file.path, frozenset()) - readers
    facts = [
        file.language,
        _step(SIZES, file.added + file.removed),
        f"risk {_step(RISKS, risk(file))}",
        "test" if is_test(file.path) else "",
    ]
    who = ", ".join(sorted(readers)) + (f" ({', '.join(sorted(others))})" if others else "")
    return f"{json.dumps(file.path)} {' '.join(filter(None, facts))}; {who}; {', '.join(symbols_of(file)) or '-'}"


def _step(steps: Sequence[tuple[int, str]], number: int) -> str:
    return next(word for bound, word in steps if number <= bound)
