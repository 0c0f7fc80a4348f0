"""Addresses of reviewed code on GitHub, made of checked parts only: none of them needs an escape."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import quote

from reviewbot.diff.parser.file_names import to_bytes
from reviewbot.domain.contracts import DESCRIPTION, TITLE, Side

_PULL_URL = re.compile(
    r"(https?://[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?(?:/[A-Za-z0-9._-]{1,100}){2,6})/pull/[0-9]{1,18}"
)
_NAME_CHARS = 500
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class GithubLinks(NamedTuple):
    """A `SourceLinks` of GitHub, and of servers with its addresses."""

    repository: str
    pull: str
    head_sha: str
    base_sha: str

    def lines(self, path: str, first: int, last: int, side: Side = "new") -> str:
        """As `SourceLinks.lines`."""
        name = quote(to_bytes(path), safe="/")
        if path in (TITLE, DESCRIPTION) or len(name) > _NAME_CHARS:
            return ""
        commit = self.head_sha if side == "new" else self.base_sha
        until = f"-L{last}" if last > first else ""
        return f"{self.repository}/blob/{commit}/{name}#L{first}{until}"

    def in_change(self, path: str, line: int) -> str:
        """As `SourceLinks.in_change`."""
        return f"{self.pull}/files#diff-{sha256(to_bytes(path)).hexdigest()}R{line}"


def links_of(pull_url: str, head_sha: str, base_sha: str) -> GithubLinks | None:
    """The links of a pull request; None where its address has another form, or a commit is not known by its hash."""
    match = _PULL_URL.fullmatch(pull_url)
    if match is None or not (_SHA.fullmatch(head_sha) and _SHA.fullmatch(base_sha)):
        return None
    return GithubLinks(match[1], pull_url, head_sha, base_sha)
