"""The question that puts all findings of models beside each other, once they have been judged one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reviewbot.contracts import ChangeSet, Comparison, Finding
from reviewbot.llm.client.answers import schema_of
from reviewbot.model.fence import RULE, fenced
from reviewbot.model.showing import shown_code, shown_finding
from reviewbot.model.worker_request import MAX_TITLE
from reviewbot.ports import ModelRequest, Text, Turn

ANSWER_TOKENS = 8_000
"""A sentence for each of sixty findings, and as much again to put them in order."""


def request_of(change: ChangeSet, named: Mapping[str, Finding], prompt: str) -> ModelRequest:
    """The one question about all findings, by their handles."""
    return ModelRequest(
        purpose="synthesizer",
        subject=f"{len(named)} findings beside each other",
        tier="opus",  # it decides what a reader sees first, and is asked once
        system=(Text(f"{prompt.rstrip()}\n\n{RULE}", cached=True),),
        turns=(Turn("user", (Text("\n\n".join(_told(change, named))),)),),
        max_tokens=ANSWER_TOKENS,
        schema=schema_of(Comparison),
    )


def _told(change: ChangeSet, named: Mapping[str, Finding]) -> Iterator[str]:
    if title := change.title[:MAX_TITLE].strip():
        yield f"What its author calls the change:\n{fenced('title', title)}"
    shown: set[str] = set()
    for handle, finding in named.items():
        # How it was proved decided whether it is true, and has no part in what is asked here.
        told = finding.model_copy(update={"judgement": "", "suggestion": "", "disputed": ""})
        yield shown_finding(told, [f"Finding {handle}, of the reviewer {finding.type}, severity {finding.severity}"])
        code = shown_code(change, [finding])
        if code and code not in shown:
            shown.add(code)
            yield code
    yield f"Give one entry for each of: {', '.join(named)}."
