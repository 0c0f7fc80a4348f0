"""What all contracts are made of: their base, and the words and numbers that several of them use."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = "1"

Severity = Literal["critical", "warning", "info"]
Tier = Literal["haiku", "sonnet", "opus"]
Kind = Literal["code", "config", "prose"]
Status = Literal["added", "deleted", "modified", "renamed", "copied"]
CoverageState = Literal["reviewed", "partial", "generated", "binary", "ignored", "refused", "malformed", "over_budget"]
EscalationReason = Literal["out_of_scope", "ambiguous_input", "confidence_too_low", "timeout"]
GapReason = Literal["missing_program", "crashed", "timeout", "flooded", "bad_answer", "deadline", "dependency",
                    "breaker", "unreadable", "unsettled", "budget", "refused"]  # fmt: skip
Verdict = Literal["issues", "needs_person", "clean", "limited", "incomplete", "not_reviewed", "nothing_to_review"]

Confidence = Annotated[int, Field(ge=0, le=100)]
Count = Annotated[int, Field(ge=0)]
LineNumber = Annotated[int, Field(ge=1)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
Slug = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/@-]{1,80}$")]

SEVERITY_ORDER: dict[Severity, int] = {"critical": 0, "warning": 1, "info": 2}  # the one place that says which is first


FLOOR_WORKER = "security"
"""The worker that neither a repository nor a model can switch off."""

OVERVIEW = "overview"
"""The worker that reads the whole change at once, where that fits into one request."""


class Contract(BaseModel):
    """Base of all contracts: a frozen, strict value."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)
