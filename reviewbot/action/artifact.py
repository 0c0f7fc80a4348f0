"""What stage one of a fork's review hands to stage two: one JSON text of places, tools and rules.

Whoever opens a pull request from a fork also writes the workflow that stage one runs, so that a stranger may have made
any byte of it. It therefore has no text to be shown: no message, no title, no suggestion. What it says of a place is
looked up by its tool and rule in tables of ours, and its quotes are only compared with the change.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reviewbot.contracts import Confidence, CoverageState, LineNumber, Severity
from reviewbot.errors import ArtifactError
from reviewbot.strict_json import StrictJsonError, strictly

FILE_NAME = "reviewbot-fork.json"
"""The one file of the artifact."""

SCHEMA_VERSION: Literal["1"] = "1"

MAX_BYTES = 2 * 1024 * 1024
"""Of the JSON text: as many findings as are taken, each with a long quote."""

MAX_FINDINGS = 500
"""More than one tool on one slice, five times over; nobody reads so many."""

MAX_FILES = 3_000
"""GitHub lists no more files of a pull request."""

QUOTE_CHARS = 2_000
"""Of a quote; both stages cut what is longer in the same way."""

LARGEST = 2**53 - 1
"""Larger numbers are not the same to every reader of JSON; GitHub's ids are far below."""

Id = Annotated[int, Field(ge=1, le=LARGEST)]
Sha = Annotated[str, Field(pattern=r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")]
Path = Annotated[str, Field(min_length=1, max_length=4_096)]


class _Closed(BaseModel):
    """A strict parser of foreign JSON: no other fields, no other types, no number that is none."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class Claim(_Closed):
    """A finding as the artifact has it. Nothing of it is shown, and nothing believed before it was looked up."""

    tool: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
    rule: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:/@-]{1,80}$")]
    path: Path
    line: Annotated[LineNumber, Field(le=2**31 - 1)]
    end_line: Annotated[LineNumber, Field(le=2**31 - 1)]
    quote: Annotated[str, Field(max_length=QUOTE_CHARS)]
    """The lines of the place, joined by LF and with secrets masked, cut at its limit."""
    severity: Severity
    confidence: Confidence


class Seen(_Closed):
    """What became of one file in stage one, as it says."""

    path: Path
    state: CoverageState


class Identity(_Closed):
    """Which change an artifact is about."""

    repository_id: Id
    """Of the repository that the pull request is for."""
    number: Id
    head_sha: Sha
    base_sha: Sha


class Artifact(_Closed):
    """The whole text."""

    schema_version: Literal["1"] = SCHEMA_VERSION
    identity: Identity
    findings: Annotated[tuple[Claim, ...], Field(max_length=MAX_FINDINGS)]
    left_out: Annotated[int, Field(ge=0, le=10**6)]
    """Findings of stage one that are not in it: too many, or of a rule that no table has."""
    coverage: Annotated[tuple[Seen, ...], Field(max_length=MAX_FILES)]


def write_artifact(artifact: Artifact) -> bytes:
    """The artifact as JSON of ASCII alone. Where it is too long, findings are left out from the end, and counted."""
    text = _text(artifact)
    while len(text) > MAX_BYTES and artifact.findings:
        kept = artifact.findings[: len(artifact.findings) // 2]
        left_out = artifact.left_out + len(artifact.findings) - len(kept)
        artifact = artifact.model_copy(update={"findings": kept, "left_out": left_out})
        text = _text(artifact)
    if len(text) > MAX_BYTES:
        artifact = artifact.model_copy(update={"coverage": ()})
        text = _text(artifact)
    return text


def read_artifact(data: bytes) -> Artifact:
    """An artifact from bytes that anybody may have written. Raises ArtifactError, in words that quote none of them."""
    if len(data) > MAX_BYTES:
        raise ArtifactError(f"it is longer than {MAX_BYTES >> 20} MiB")
    try:
        # Pydantic would take a key that stands twice. ASCII alone: the writer writes nothing else, and other encodings
        # have more than one way to write a text.
        text = json.dumps(strictly(data.decode("ascii")))
    except StrictJsonError as error:
        raise ArtifactError(str(error)) from None
    except RecursionError:
        raise ArtifactError("it is nested too deeply") from None
    except ValueError:
        raise ArtifactError("it is no JSON") from None
    try:
        return Artifact.model_validate_json(text)
    except ValidationError as error:
        raise ArtifactError(_misfit(error)) from None


def _text(artifact: Artifact) -> bytes:
    return json.dumps(artifact.model_dump(mode="json"), separators=(",", ":")).encode("ascii") + b"\n"


def _misfit(error: ValidationError) -> str:
    """Where it does not fit the schema: by names of ours alone, and never by a name or value that it brought."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    where = ".".join(part for part in first["loc"] if isinstance(part, str) and part in _OUR_NAMES) or "its top"
    what = "a field that nobody knows" if first["type"] == "extra_forbidden" else first["type"].replace("_", " ")
    return f"it does not fit its schema at {where}: {what}"


_OUR_NAMES = frozenset(
    name for model in (Artifact, Identity, Claim, Seen) for name in model.model_fields
)  # a name in an error may also be a key of the input
