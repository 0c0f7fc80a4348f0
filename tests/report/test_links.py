"""Addresses of code, rules and weaknesses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reviewbot.domain.contracts import TITLE, Finding
from reviewbot.domain.contracts.pulls import PullRef
from reviewbot.hosts.registry import links_of, posted_links
from reviewbot.report.findings.links import file_url, rule_url

HEAD, BASE = "a" * 40, "b" * 40


@pytest.mark.parametrize(
    "url",
    [
        "",
        "local:/srv/shop#7",
        "https://github.com/acme/shop/issues/7",
        "https://github.com/acme/shop/pull/7/files",
        "https://github.com/acme/shop)/pull/7",
        "javascript://github.com/acme/shop/pull/7",
    ],
)
def test_an_address_of_another_form_gives_no_links(url: str) -> None:
    assert links_of(url, HEAD, BASE) is None


def test_a_commit_without_a_hash_gives_no_links() -> None:
    assert links_of("https://github.com/acme/shop/pull/7", "main", BASE) is None


def test_lines_of_both_sides_have_an_address_and_the_title_has_none() -> None:
    links = links_of("https://git.example:8443/hub/acme/shop/pull/7", HEAD, BASE)

    assert links is not None
    assert (
        links.lines("a (b)/c].py", 3, 3) == f"https://git.example:8443/hub/acme/shop/blob/{HEAD}/a%20%28b%29/c%5D.py#L3"
    )
    assert links.lines("a.py", 3, 5, "old").endswith(f"/blob/{BASE}/a.py#L3-L5")
    assert links.lines(TITLE, 1, 1) == links.lines("x" * 501, 1, 1) == ""


def test_the_address_of_a_posted_review_gives_those_of_its_pull_request() -> None:
    pull = PullRef(repository="acme/shop", repository_id=1, number=7, base_sha=BASE, head_sha=HEAD)

    assert posted_links("https://github.com/acme/shop/pull/7#pullrequestreview-9", pull) == links_of(
        "https://github.com/acme/shop/pull/7", HEAD, BASE
    )
    assert posted_links("", pull) is None


def test_only_rules_of_ruff_have_a_page(make_finding: Callable[..., Finding]) -> None:
    assert (
        rule_url(make_finding(rule="E722", sources=("repository-rules",))) == "https://docs.astral.sh/ruff/rules/E722"
    )
    assert rule_url(make_finding(rule="B023:named")) == "https://docs.astral.sh/ruff/rules/B023"
    assert rule_url(make_finding(rule="S608) [x](y")) == rule_url(make_finding(sources=("model:ruff",))) == ""


def test_a_file_on_this_machine_has_an_address_of_plain_characters(make_finding: Callable[..., Finding]) -> None:
    assert (
        file_url("/srv/a shop", make_finding(path="b\x1b]8;\n/é.py")) == "file:///srv/a%20shop/b%1B%5D8%3B%0A/%C3%A9.py"
    )
    assert file_url("", make_finding()) == file_url("/srv", make_finding(path=TITLE)) == ""
