"""Addresses of reviewed code, rules and weaknesses, made of checked parts only: none of them needs an escape."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from reviewbot.diff.parser.file_names import to_bytes
from reviewbot.domain.contracts import DESCRIPTION, TITLE

if TYPE_CHECKING:
    from reviewbot.domain.contracts import Finding, Side
    from reviewbot.domain.contracts.pulls import PullRef

_PULL_URL = re.compile(
    r"(https?://[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?(?:/[A-Za-z0-9._-]{1,100}){2,6})/pull/[0-9]{1,18}"
)
_NAME_CHARS = 500
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_RUFF_CODE = re.compile(r"([A-Z]{1,5}[0-9]{3,4})(?::[a-z]{1,20})?")
"""A rule of ruff; behind a colon stands which of our confidences it has."""


class SourceLinks(NamedTuple):
    """Where the lines of a pull request are shown, on GitHub and on servers with its addresses."""

    repository: str
    pull: str
    head_sha: str
    base_sha: str

    def lines(self, path: str, first: int, last: int, side: Side = "new") -> str:
        """The permanent address of lines of a file; empty for what is no file, and for a very long name."""
        name = quote(to_bytes(path), safe="/")
        if path in (TITLE, DESCRIPTION) or len(name) > _NAME_CHARS:
            return ""
        commit = self.head_sha if side == "new" else self.base_sha
        until = f"-L{last}" if last > first else ""
        return f"{self.repository}/blob/{commit}/{name}#L{first}{until}"

    def in_change(self, path: str, line: int) -> str:
        """The address of a line among the changed files, where the comments at it are shown."""
        return f"{self.pull}/files#diff-{sha256(to_bytes(path)).hexdigest()}R{line}"


def links_of(pull_url: str, head_sha: str, base_sha: str) -> SourceLinks | None:
    """The links of a pull request; None where its address has another form, or a commit is not known by its hash."""
    match = _PULL_URL.fullmatch(pull_url)
    if match is None or not (_SHA.fullmatch(head_sha) and _SHA.fullmatch(base_sha)):
        return None
    return SourceLinks(match[1], pull_url, head_sha, base_sha)


def posted_links(review_url: str, pull: PullRef) -> SourceLinks | None:
    """The same, from the address of a review that was posted on the pull request."""
    return links_of(review_url.partition("#")[0], pull.head_sha, pull.base_sha)


def rule_url(finding: Finding) -> str:
    """The page that explains the rule of a finding; empty where there is none. Only ruff's rules have one."""
    code = _RUFF_CODE.fullmatch(finding.rule)
    if code is None or not any(source.startswith("ruff") for source in finding.sources):
        return ""
    return f"https://docs.astral.sh/ruff/rules/{code[1]}"


def cwe_url(cwe: int) -> str:
    """The page of a weakness in the Common Weakness Enumeration."""
    return f"https://cwe.mitre.org/data/definitions/{cwe}.html"
