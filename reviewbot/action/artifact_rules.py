"""What a tool and a rule that an artifact names are worth: looked up in tables of ours, for it may say anything.

A tool or rule that is not here is refused. Tools of the repository itself are among those: their names and words would
be a stranger's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from reviewbot.calibration import packaged_calibration
from reviewbot.contracts import SEVERITY_ORDER, Severity
from reviewbot.supervisor.verifier import FOREIGN_SOURCE, HIGHEST_CONFIDENCE
from reviewbot.tools.foreign.tools import CONFIDENCE
from reviewbot.tools.rules import WORDS, Rule, packaged_rules

SOURCE = f"{FOREIGN_SOURCE}fork-report"
"""Who says it, in the findings that are made of an artifact: handed in, and by whom."""

_TABLES = {
    "ruff-security": "ruff_rules",
    "ruff-performance": "ruff_rules",
    "ruff-style": "ruff_rules",
    "ruff-logic": "ruff_rules",
    "taint": "taint",
    "security-checks": "security_checks",
    "loop-costs": "loop_costs",
    "diff-semantics": "diff_semantics",
    "hidden-text": "hidden_text",
    "review-manipulation": "review_manipulation",
}
"""The table of each tool that has one."""

_WORKERS = {
    "loop-costs": "performance",
    "diff-semantics": "logic",
    "repository-rules": "style",
    "merge-conflicts": "style",
    "debug-leftovers": "style",
}
"""Whose job a tool's findings are, where its name does not say it and it is not security's."""

_CODE = re.compile(r"[A-Z]{1,5}[0-9]{3,4}\Z")
"""A rule of ruff, as repositories select them."""

_SCANS: dict[tuple[str, str], tuple[Severity, str, int | None]] = {
    **{
        ("secrets", rule): ("critical", "secret", 798)
        for rule in (
            "aws-access-key-id", "github-token", "github-fine-grained-token", "gitlab-token", "slack-token",
            "slack-webhook", "stripe-live-key", "google-api-key", "npm-token", "pypi-token", "anthropic-key",
            "openai-key", "hugging-face-token", "sendgrid-key", "private-key", "named-value",
        )
    },
    **{
        ("debug-leftovers", f"leftover-{rule}"): ("warning", "debug-leftover", 489)
        for rule in ("debugger", "console", "print", "dbg", "dump")
    },
    ("merge-conflicts", "merge-conflict"): ("critical", "merge-conflict", None),
    ("ruff-logic", "invalid-syntax"): ("critical", "syntax-error", None),
}  # fmt: skip
"""What scans of plain lines report, which have no tables: the gravest severity, the category, the weakness."""


class Standing(NamedTuple):
    """What is known of a rule without asking whoever reports it."""

    worker: str
    severity: Severity
    """The gravest that it has anywhere."""
    confidence: int
    """The highest that its counts, or its own estimate, give it anywhere."""
    category: str
    cwe: int | None
    message: str
    """Empty where the program brings its own words."""

    @property
    def trusted(self) -> int:
        """How far it is believed of an artifact: never above what is believed of a program that was handed in."""
        return min(self.confidence, CONFIDENCE[self.worker])


def standing_of(tool: str, rule: str) -> Standing | None:
    """What a rule of a tool is worth; None where we have no such rule."""
    if (scan := _SCANS.get((tool, rule))) is not None:
        return Standing(_worker(tool), scan[0], _counted(tool, rule), scan[1], scan[2], "")
    if tool == "repository-rules" and _CODE.match(rule):
        return Standing(_worker(tool), "info", _counted(tool, rule), "repository-rule", None, "")
    if tool not in _TABLES:
        return None
    known = packaged_rules(_TABLES[tool]).rules.get(rule.removesuffix(WORDS))
    if known is None or known.tool != tool:
        return None
    confidence = _confidence(known, named=rule.endswith(WORDS))
    if confidence is None:
        return None
    return Standing(_worker(tool), known.severity, confidence, known.category, known.cwe, known.message)


def who_tells(sources: Iterable[str], rule: str) -> tuple[str, Standing] | None:
    """Which of several tools has this rule, and what it is worth there; None where none has."""
    for tool in sorted(sources):
        standing = standing_of(tool, rule)
        if standing is not None:
            return tool, standing
    return None


def milder(one: Severity, other: Severity) -> Severity:
    """The milder of two severities."""
    return max(one, other, key=SEVERITY_ORDER.__getitem__)


def _confidence(rule: Rule, *, named: bool) -> int | None:
    return rule.words_confidence if named else rule.confidence


def _counted(tool: str, rule: str) -> int:
    return packaged_calibration().confidence(tool, rule, HIGHEST_CONFIDENCE)


def _worker(tool: str) -> str:
    return tool.removeprefix("ruff-") if tool.startswith("ruff-") else _WORKERS.get(tool, "security")
