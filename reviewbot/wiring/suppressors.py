"""Build the suppressor of a run from the settings and from the comments that the base side holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from reviewbot.analyzers.catalog import known_rules
from reviewbot.analyzers.imported import ImportedFindings
from reviewbot.config import Settings
from reviewbot.config.messages import did_you_mean, quote
from reviewbot.review.combine.ignore_comments import ignore_comments
from reviewbot.review.combine.suppression import Suppressor
from reviewbot.wiring.change_sources import Subject

_OF_RUFF = re.compile(r"[A-Z]{1,7}[0-9]{3,4}")
"""A rule of ruff, which a repository may select for itself; not all of them are in our tables."""

_MAX_NOTES = 10


class RunSuppression(NamedTuple):
    """The suppressor of a run, and notes about names in it that no rule has."""

    suppressor: Suppressor
    notes: tuple[str, ...]


def suppression_of(
    subject: Subject, settings: Settings, foreign: Iterable[ImportedFindings], thresholds: Mapping[str, int]
) -> RunSuppression:
    """Build the suppression of a run. Reads the base side of files with ignore comments."""
    base_text = None if subject.base is None else subject.snapshot.base
    comments = ignore_comments(subject.change, base_text)
    named = [(entry.rule, f"{entry.origin}: rules") for entry in settings.rules]
    named += [(name, f"{each.path}:{each.line}: ignore comment") for each in comments for name in each.names]
    if not named:
        return RunSuppression(Suppressor.of(settings.rules, comments, {}, {}), ())
    categories: dict[str, str] = {**known_rules()}
    for tool in foreign:
        categories |= tool.rules
    suppressor = Suppressor.of(settings.rules, comments, categories, thresholds)
    return RunSuppression(suppressor, tuple(_unknown(named, categories)))


def _unknown(named: Iterable[tuple[str, str]], categories: Mapping[str, str]) -> list[str]:
    """A note for each name that no analyzer gives to a rule or a category."""
    known = {*categories, *categories.values()}
    notes = []
    for name, where in dict.fromkeys(named):
        if name not in known and not _OF_RUFF.fullmatch(name):
            hint = did_you_mean(name, known)
            notes.append(f"{where}: no analyzer has a rule or category {quote(name)}{hint and f'; {hint}'}")
    return notes[:_MAX_NOTES]
