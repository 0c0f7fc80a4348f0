"""What settings, and comments of the base side, did to findings."""

from __future__ import annotations

from typing import Literal

from reviewbot.domain.contracts.base import Contract, LineNumber, Name, Severity

SECRET = "secret"  # noqa: S105 - the category, and no secret


def is_grave(severity: str | None, category: str) -> bool:
    """Whether a decision against such a finding has to be named: it is critical, or a secret."""
    return severity == "critical" or category == SECRET


"""The category of hard-coded secrets."""


class Suppression(Contract):
    """One finding that a setting or a comment silenced or changed, or one comment that silences nothing.

    `action`: a setting switched its rule `off`; a setting changed its `severity`; a comment that stood there before
    the change `ignored` it; a comment was `refused`, most often because the change itself adds it.
    """

    action: Literal["off", "severity", "ignored", "refused"]
    path: str
    line: LineNumber
    """Of the finding; of a refused comment, its own."""
    rule: str = ""
    """The finding's rule, where it has one; of a refused comment, what it names."""
    category: str = ""
    type: Name | None = None
    severity: Severity | None = None
    """The finding's own; None for a refused comment."""
    shown_as: Severity | None = None
    """Its severity in this review, where a setting changed it."""
    by: str
    """The file, variable or flag of the setting, or "comment at line N"."""
    reason: str = ""
    """The comment's own words; and which rule was silenced, where this finding is the same defect by another rule."""
    message: str = ""
    """What was found; of a refused comment, why it silences nothing."""

    @property
    def is_silenced(self) -> bool:
        """Whether a finding is not shown because of it."""
        return self.action in ("off", "ignored")

    @property
    def is_grave(self) -> bool:
        """Whether a reader must see what was silenced: it is critical, or a secret."""
        return self.is_silenced and is_grave(self.severity, self.category)
