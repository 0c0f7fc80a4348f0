"""Addresses of reviewed code, rules and weaknesses, made of checked parts only: none of them needs an escape."""

from __future__ import annotations

import re
from typing import Protocol
from urllib.parse import quote

from reviewbot.diff.parser.file_names import to_bytes
from reviewbot.domain.contracts import DESCRIPTION, TITLE, Finding, Side

_RUFF_CODE = re.compile(r"([A-Z]{1,5}[0-9]{3,4})(?::[a-z]{1,20})?")
"""A rule of ruff; behind a colon stands which of our confidences it has."""
_RUFF_TOOLS = ("ruff", "repository-rules")


class SourceLinks(Protocol):
    """Where a host shows the lines of a pull request."""

    def lines(self, path: str, first: int, last: int, side: Side = "new") -> str:
        """The permanent address of lines of a file; empty for what is no file, and for a very long name."""

    def in_change(self, path: str, line: int) -> str:
        """The address of a line among the changed files, where the comments at it are shown."""


def rule_url(finding: Finding) -> str:
    """The page that explains the rule of a finding; empty where there is none. Only ruff's rules have one."""
    code = _RUFF_CODE.fullmatch(finding.rule)
    if code is None or not any(source.startswith(_RUFF_TOOLS) for source in finding.sources):
        return ""
    return f"https://docs.astral.sh/ruff/rules/{code[1]}"


def file_url(folder: str, finding: Finding) -> str:
    """The address of a finding's file on this machine, below an absolute folder; empty without one."""
    if not folder or finding.path in (TITLE, DESCRIPTION):
        return ""
    return f"file://{quote(to_bytes(f'{folder}/{finding.path}'), safe='/')}"


def cwe_url(cwe: int) -> str:
    """The page of a weakness in the Common Weakness Enumeration."""
    return f"https://cwe.mitre.org/data/definitions/{cwe}.html"
