"""The settings of one run, as one frozen value that is built once and handed in."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

EngineName = Literal["analyzers", "scripted"]
FailOn = Literal["critical", "warning", "info"]

DEFAULT_DEADLINE_S = 600
DEFAULT_MAX_FINDINGS = 25
DEFAULT_CHUNK_LINES = 400
LEAST_CONCURRENCY = 4
"""Tasks mostly wait for programs or for a network, so that a small machine gains from a few at once as well."""


def default_concurrency() -> int:
    """How many tasks run at once where nobody says otherwise."""
    return max(LEAST_CONCURRENCY, os.cpu_count() or 1)


@dataclass(frozen=True)
class Settings:
    """What a run may do and shows. Every field but `origin` is a key of `.reviewbot.toml`, a variable and a flag."""

    engine: EngineName | None = None
    """None: choose the best one that is available."""
    fail_on: FailOn | None = None
    """The mildest severity that makes the run end with the gate's exit code; None: no gate."""
    min_confidence: int | None = None
    """0-100; None: each worker's own threshold."""
    deadline_s: int = DEFAULT_DEADLINE_S
    """Seconds for the whole review."""
    max_findings: int = DEFAULT_MAX_FINDINGS
    """Findings shown; the others are counted."""
    concurrency: int = field(default_factory=default_concurrency)
    """Tasks at once."""
    ignore: tuple[str, ...] = ()
    """Globs of files not to review; the report counts them."""
    workers: tuple[str, ...] = ()
    """Names of the workers to run; empty: all."""
    allow_partial: bool = False
    """Whether a review that could not look at everything still ends with exit code 0."""
    chunk_lines: int = DEFAULT_CHUNK_LINES
    """Changed lines per task."""
    origin: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Where each setting comes from: "default", ".reviewbot.toml", the user's file, the variable's or flag's name."""
