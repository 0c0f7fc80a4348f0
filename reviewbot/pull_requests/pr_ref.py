"""Parse the name of a pull request: OWNER/REPO#NUMBER, or the address of its page."""

from __future__ import annotations

import re
from typing import NamedTuple

from reviewbot.config.hints import quote
from reviewbot.domain.errors import InputError

_PARTS = r"(?P<repository>[A-Za-z0-9][A-Za-z0-9_-]{0,99}/(?!\.{1,2}(?:[#/]|$))[A-Za-z0-9._-]{1,100})"
_NUMBER = r"(?P<number>[1-9][0-9]{0,9})"
_SHORT = re.compile(rf"{_PARTS}#{_NUMBER}")
_ADDRESS = re.compile(
    rf"https://(?P<host>[A-Za-z0-9][A-Za-z0-9.-]{{0,252}}(?::[0-9]{{1,5}})?)/{_PARTS}/pull/{_NUMBER}"
    r"(?:/(?:files|commits|checks|changes)(?:/[A-Za-z0-9./_-]{0,200})?)?/?(?:[?#][^\s]{0,500})?"
)


class PullName(NamedTuple):
    """A pull request as it was named."""

    repository: str
    """As "owner/name"."""
    number: int
    host: str | None = None
    """As in its address, lower case; None where it was not said."""

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"


def pull_name(text: str) -> PullName:
    """The pull request that a text names. Raises InputError."""
    found = _SHORT.fullmatch(text) or _ADDRESS.fullmatch(text)
    if found is None:
        raise InputError(
            f"{quote(text)} names no pull request; write OWNER/REPO#NUMBER, or its address, "
            "https://HOST/OWNER/REPO/pull/NUMBER"
        )
    host = found.groupdict().get("host")
    return PullName(found["repository"], int(found["number"]), host.lower() if host else None)
