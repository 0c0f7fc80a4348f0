"""What the registry asks of this host: how a pull request is named: OWNER/REPO#NUMBER, or the address of its page."""

from __future__ import annotations

import re

from reviewbot.hosts.pull_name import PullName

_PARTS = r"(?P<repository>[A-Za-z0-9][A-Za-z0-9_-]{0,99}/(?!\.{1,2}(?:[#/]|$))[A-Za-z0-9._-]{1,100})"
_NUMBER = r"(?P<number>[1-9][0-9]{0,9})"
_SHORT = re.compile(rf"{_PARTS}#{_NUMBER}")
_ADDRESS = re.compile(
    rf"https://(?P<host>[A-Za-z0-9][A-Za-z0-9.-]{{0,252}}(?::[0-9]{{1,5}})?)/{_PARTS}/pull/{_NUMBER}"
    r"(?:/(?:files|commits|checks|changes)(?:/[A-Za-z0-9./_-]{0,200})?)?/?(?:[?#][^\s]{0,500})?"
)


FORMS = "OWNER/REPO#NUMBER, or its address, https://HOST/OWNER/REPO/pull/NUMBER"
SECRETS: tuple[str, ...] = ("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")


def pull_name(text: str) -> PullName | None:
    """The pull request that a text names; None where it names none."""
    found = _SHORT.fullmatch(text) or _ADDRESS.fullmatch(text)
    if found is None:
        return None
    host = found.groupdict().get("host")
    return PullName(found["repository"], int(found["number"]), host.lower() if host else None)
