"""The name of a pull request. On the start-up path: the standard library alone."""

from __future__ import annotations

from typing import NamedTuple


class PullName(NamedTuple):
    """A pull request as a user names it."""

    repository: str
    """As "owner/name"."""
    number: int
    host: str | None = None
    """Where it is: the host's name on the web, lower case, or a path; None where that was not said."""

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"
