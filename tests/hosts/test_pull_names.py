"""How people name a pull request; and that no other text reaches the host."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.errors import InputError
from reviewbot.hosts.pull_name import PullName
from reviewbot.hosts.registry import resolve_pull


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("acme/shop#12", PullName("acme/shop", 12)),
        ("acme_corp/a.b-c_d#1", PullName("acme_corp/a.b-c_d", 1)),
        ("acme/.github#1", PullName("acme/.github", 1)),
        ("https://github.com/acme/shop/pull/12", PullName("acme/shop", 12, "github.com")),
        ("https://github.com/acme/shop/pull/12/files", PullName("acme/shop", 12, "github.com")),
        ("https://github.com/acme/shop/pull/12/files#diff-1R3", PullName("acme/shop", 12, "github.com")),
        ("https://GHE.example.com:8443/acme/shop/pull/12?w=1", PullName("acme/shop", 12, "ghe.example.com:8443")),
    ],
)
def test_a_name_or_an_address_is_understood(text: str, expected: PullName) -> None:
    assert resolve_pull(text).name == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "acme/shop",
        "acme/shop#0",
        "acme/shop#-1",
        "acme/shop#12345678901",
        "acme/..#1",
        "../shop#1",
        "acme/sh op#1",
        "acme/shop/x#1",
        "acme/shop#1\n",
        "http://github.com/acme/shop/pull/1",
        "https://token@github.com/acme/shop/pull/1",
        "https://github.com/acme/shop/issues/1",
        "https://github.com/acme/../pull/1",
        "https://github.com/acme/shop/pull/1/../../x",
        "acme/shop#\u0661",
    ],
)
def test_any_other_text_is_refused_in_one_line_that_says_what_to_give(text: str) -> None:
    with pytest.raises(InputError, match="OWNER/REPO#NUMBER") as caught:
        resolve_pull(text)

    assert "\n" not in str(caught.value)


@given(st.text(max_size=60))
def test_whatever_is_understood_holds_nothing_that_changes_a_path(text: str) -> None:
    try:
        name = resolve_pull(text).name
    except InputError:
        return
    assert name.repository.count("/") == 1
    assert not set(name.repository) & set("%?#\\ \n")
    assert ".." not in name.repository.split("/")


def test_it_is_told_like_it_is_given() -> None:
    assert str(resolve_pull("acme/shop#12").name) == "acme/shop#12"
