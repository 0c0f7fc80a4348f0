"""Parse a model's answer into a value of its contract, or raise an error that says why it does not fit.

The provider is asked to keep to a schema, and is not believed to have done so: bounds, enumerations, additional
fields, duplicate keys and numbers such as NaN are checked here, after the reason why the answer ended. Half a
surrogate pair, as an answer may hold where a model writes an emoji in two parts, costs that character alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import ValidationError

from reviewbot.domain.contracts import Contract
from reviewbot.domain.contracts.base import first_fault
from reviewbot.domain.errors import CutOffError, EngineError, RefusedError, TooLongError
from reviewbot.domain.ports import ModelReply
from reviewbot.strict_json import mend_surrogates, strictly

T = TypeVar("T", bound=Contract)

ENDINGS = {
    "max_tokens": "the answer was cut off at its limit of tokens",
    "context": "the request was longer than the model reads",
    "other": "the answer ended for no known reason",
    "tools": "a tool was called where an answer was due",
}
"""Why an answer cannot be used, by the way it ended."""

_ENDED: Mapping[str, type[EngineError]] = {"max_tokens": CutOffError, "context": TooLongError}
"""Endings that something can be done about; any other makes an answer that cannot be used, and no more."""

_BLOCK = re.compile(r"^```(?:json)?\n(.*?)\n```$", re.DOTALL | re.MULTILINE)

_UNSUPPORTED = frozenset({
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems",
    "pattern", "multipleOf", "uniqueItems", "default", "title",
})  # fmt: skip
"""Keys that the provider's structured output takes no notice of or refuses; what they ask for is checked here."""


def schema_of(shape: type[Contract]) -> dict[str, Any]:
    """The JSON Schema of an answer as a provider takes it: closed objects, every field required, no bounds."""
    closed = json.loads(_schema_text(shape))
    assert isinstance(closed, dict)  # noqa: S101 - an object's schema is an object
    return closed


@cache
def _schema_text(shape: type[Contract]) -> str:
    """Cached as text, so that no caller alters another's: to derive it takes longer than all else about a request."""
    return json.dumps(_close(shape.model_json_schema()))


def read_answer(reply: ModelReply, shape: type[T]) -> T:
    """Parse an answer.

    Raises RefusedError where the model declined, CutOffError and TooLongError where a smaller question may be answered,
    and EngineError with one line for a model where it does not fit.
    """
    if reply.stop == "refusal":
        raise RefusedError("the model declined to answer")
    if reply.stop in ENDINGS:
        raise _ENDED.get(reply.stop, EngineError)(ENDINGS[reply.stop])
    try:
        value = mend_surrogates(strictly(_unwrap(reply.text)))
    except ValueError as error:
        raise EngineError(f"the answer is no JSON that can be read ({str(error)[:80]})") from None
    try:
        # From text, so that a list may stand for a tuple and nothing else for anything else.
        return shape.model_validate_json(json.dumps(value))
    except ValidationError as error:
        raise EngineError(f"the answer does not fit at {': '.join(first_fault(error))}") from None


def _unwrap(text: str) -> str:
    """The answer without the words around it, where it stands in the one code block of a text.

    A server that knows no structured output gets such answers from a model. Of two blocks neither counts.
    """
    blocks = _BLOCK.findall(text)
    return str(blocks[0]) if len(blocks) == 1 and not text.lstrip().startswith("{") else text


def _close(schema: object) -> object:
    if isinstance(schema, list):
        return [_close(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    # The names below "properties" and "$defs" are ours, and no key of a schema, whatever they are called.
    named = {key: {name: _close(inner) for name, inner in schema[key].items()} for key in _NAMED if key in schema}
    rest = {key: _close(value) for key, value in schema.items() if key not in _UNSUPPORTED and key not in _NAMED}
    if "properties" in schema:
        rest |= {"required": list(schema["properties"]), "additionalProperties": False}
    return rest | named


_NAMED = ("properties", "$defs")
