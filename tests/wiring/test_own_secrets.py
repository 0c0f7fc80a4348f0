"""The credentials of this process, which no report may hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reviewbot.wiring.models import own_secrets

ROOT = Path(__file__).parent.parent.parent
TOKENS = set(re.findall(r'"([A-Z_]*_TOKEN)"', (ROOT / "reviewbot/hosts/github/auth/access.py").read_text("utf-8")))


@pytest.mark.parametrize("name", sorted(TOKENS))
def test_each_token_that_the_host_reads_is_masked(name: str) -> None:
    assert own_secrets({name: "0123456789abcdef-token"}) == ["0123456789abcdef-token"]


def test_the_names_of_tokens_were_found() -> None:
    assert {"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"} <= TOKENS


def test_a_value_too_short_to_mask_is_left_out() -> None:
    assert own_secrets({"GH_TOKEN": "short"}) == []
