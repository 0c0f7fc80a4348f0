"""What all contracts are made of: their base, and the words and numbers that several of them use."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

SCHEMA_VERSION = "2"

Severity = Literal["critical", "warning", "info"]
Tier = Literal["small", "medium", "large"]
Kind = Literal["code", "config", "prose"]
Status = Literal["added", "deleted", "modified", "renamed", "copied"]
ParseState = Literal["read", "partial", "binary", "refused", "malformed", "over_budget"]
Need = Literal["review", "scan", "nothing"]
Conclusion = Literal["success", "failure", "neutral", "cancelled"]
"""Of a check run: its colour."""

CoverageState = Literal["reviewed", "earlier", "partial", "scanned", "removed", "not_reviewed"]
EscalationReason = Literal["out_of_scope", "ambiguous_input", "confidence_too_low", "timeout"]
GapReason = Literal["missing_program", "crashed", "timeout", "flooded", "bad_answer", "deadline", "dependency",
                    "breaker", "unreadable", "unsettled", "budget", "refused", "provider", "no_answer"]  # fmt: skip
Verdict = Literal["issues", "needs_person", "clean", "limited", "incomplete", "not_reviewed", "nothing_to_review"]

Cause = Literal["wrong-value", "wrong-condition", "missing-check", "missing-case", "lost-behaviour", "api-misuse",
                "contract-change", "stale-reference", "error-handling", "race", "resource-leak", "data-loss",
                "injection", "authorization", "exposure", "crypto", "configuration", "slow-query", "slow-loop",
                "blocking-call", "unbounded-growth", "test-gap", "convention", "documentation", "other"]  # fmt: skip
"""What kind of mistake a claim is, from a closed list, so that two wordings of one defect can be compared."""
Side = Literal["new", "old"]
"""A side of a change: as the code is after it, or as it was before."""
Effort = Literal["quick", "standard", "deep"]

Confidence = Annotated[int, Field(ge=0, le=100)]
Worth = Annotated[int, Field(ge=0, le=100)]
"""Would the people who maintain the code act on a finding in this review? 90: the merge waits for it; 70: fixed when
pointed out; 50: half of them would fix it; 30: a nit."""
Count = Annotated[int, Field(ge=0)]
LineNumber = Annotated[int, Field(ge=1)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
Text = Annotated[str, Field(max_length=8_000)]
"""One text of a model's answer."""
Slug = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/@-]{1,80}$")]

SEVERITY_ORDER: dict[Severity, int] = {"critical": 0, "warning": 1, "info": 2}  # the one place that says which is first


SURE = 80
"""From this confidence on a finding counts as sure: most cards show it, and a model's finding speaks for others."""

MANDATORY_WORKER = "security"
"""The worker that neither a repository nor a model can switch off."""


class Contract(BaseModel):
    """Base of all contracts: a frozen, strict value."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)

    def model_post_init(self, _context: object, /) -> None:
        """Share the set of the fields that were given: of up to 728 bytes, it takes as much as the value itself."""
        object.__setattr__(self, "__pydantic_fields_set__", _shared(frozenset(self.model_fields_set)))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As pydantic's; the fields that were given are shared as above."""
        copied = super().model_copy(update=update, deep=deep)
        copied.model_post_init(None)
        return copied


@lru_cache(1_024)
def _shared(fields: frozenset[str]) -> set[str]:
    """One set for all values of which these fields were given. Pydantic does not change the set of a frozen value."""
    return set(fields)


def first_fault(error: ValidationError, whole: str = "the top") -> tuple[str, str]:
    """Where the first thing is that does not fit (`whole`: in no field), and what is wrong with it."""
    first = error.errors(include_input=False, include_url=False)[0]
    return ".".join(str(part) for part in first["loc"]) or whole, first["msg"]
