"""A request to a model as a value: its hash, and how long it is."""

from __future__ import annotations

import json
from hashlib import sha256

from reviewbot.domain.ports import ModelRequest, Text, ToolAnswer, ToolCall

CHARS_PER_TOKEN = 4
"""A rule of thumb for English and code. Newer tokenizers count up to a third more, so it is no upper bound."""


def digest(request: ModelRequest, model: str, origin: str = "") -> str:
    """The hash of everything that an answer depends on: the model's id, who serves it, and all that is sent to it.

    Not of who asks and why, for that is not sent; nor of where the provider's cache ends, for that changes no answer;
    nor of a call's context, for which its id stands.
    """
    value = [
        origin,
        model,
        [each.text for each in request.system],
        [[turn.role, [_part(part) for part in turn.parts]] for turn in request.turns],
        [[tool.name, tool.description, tool.schema] for tool in request.tools],
        request.schema,
        request.max_tokens,
    ]
    return sha256(json.dumps(value).encode()).hexdigest()


def request_text(request: ModelRequest) -> str:
    """The request as text for people: system prompt, tools, turns and schema, in the order in which it is sent."""
    lines = [f"# {request.purpose} {request.subject}, tier {request.tier}, at most {request.max_tokens} tokens", ""]
    lines += ["## system", *(part.text for part in request.system), ""]
    for tool in request.tools:
        lines += [f"## tool {tool.name}: {tool.description}", json.dumps(tool.schema), ""]
    for turn in request.turns:
        texts = (part.text if isinstance(part, Text) else json.dumps(_part(part)) for part in turn.parts)
        lines += [f"## {turn.role}", *texts, ""]
    if request.schema is not None:
        lines += ["## schema of the answer", json.dumps(request.schema, indent=1), ""]
    return "\n".join(lines)


def estimate_tokens(request: ModelRequest) -> int:
    """About how many tokens will be read, by the number of characters."""
    chars = sum(len(each.text) for each in request.system)
    chars += sum(len(json.dumps(_part(part))) for turn in request.turns for part in turn.parts)
    chars += sum(len(tool.name) + len(tool.description) + len(json.dumps(tool.schema)) for tool in request.tools)
    if request.schema is not None:
        chars += len(json.dumps(request.schema))
    return -(-chars // CHARS_PER_TOKEN)


def _part(part: Text | ToolCall | ToolAnswer) -> list[object]:
    match part:
        case Text(text=text):
            return ["text", text]
        case ToolCall(call_id=call_id, name=name, arguments=arguments):
            return ["call", call_id, name, arguments]
        case ToolAnswer(call_id=call_id, text=text, failed=failed):
            return ["answer", call_id, text, failed]
