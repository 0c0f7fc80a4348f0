"""One change reviewed through each door: the models are asked the same, byte for byte."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.doors import Doors, ShopFolder, texts_of
from tests.github_api.apps import AppGithub, a_key

DOORS = ("folder_at_head", "folder_at_base", "local_pull_request", "pull_request", "action", "app")
"""Each is compared with a range of commits."""

EVERYWHERE = (
    "Money is counted in cents.",  # conventions of the base side, which the change replaces
    "No default exports.",
    "Refund whole orders",
    "Orders are refunded whole.\n\nSee #12.",
    "h1 [ruff-security ",
    "### shop/refunds.py\ndef refund(order):",
    "### shop/pricing.py (was shop/prices.py) [python]",
    "web/total.ts",
)
"""What each first request of a reader holds."""

LOOKED_UP = (
    "shop/orders.py (base side), last changed by",
    "assets/logo.png is no text",
    "there is no text file shop/scratch.py",
    "internal/plan.md: the repository's settings keep this file private",
    "120 files",
)

MakeDoors = Callable[..., Doors]


@pytest.fixture
def make_doors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeDoors]:
    for name in [name for name in os.environ if name.startswith(("REVIEWBOT_", "GH_", "GITHUB_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    pem = a_key()
    with AppGithub(pem) as github:
        yield lambda more, **settings: Doors(
            ShopFolder(tmp_path / "shop", more, settings), github, pem, tmp_path, monkeypatch.setenv
        )
    github.check()


@pytest.mark.slow
def test_each_door_sends_the_same_requests_of_a_repository_that_is_shown_whole(make_doors: MakeDoors) -> None:
    sent = same_requests(make_doors(0))

    assert all(words in sent for words in EVERYWHERE)


@pytest.mark.slow
def test_each_door_sends_the_same_requests_with_what_each_tool_answers(make_doors: MakeDoors) -> None:
    sent = same_requests(make_doors(100))

    assert all(words in sent for words in (*EVERYWHERE, *LOOKED_UP))
    assert "Name a rate AKIA****" in sent
    assert "scratch" not in sent.replace("there is no text file shop/scratch.py", "")


@pytest.mark.slow
def test_each_door_sends_the_same_requests_of_a_reader_for_each_task_and_a_tree_from_an_archive(
    make_doors: MakeDoors,
) -> None:
    doors = make_doors(200, effort="deep")

    sent = same_requests(doors)

    assert "1 definition(s) of connect" in sent
    assert "name ship, 2 of them in tests" in sent
    assert any("tarball" in each.path for each in doors.github.recorded)


@pytest.mark.slow
def test_each_door_sends_the_same_requests_of_a_planner_and_of_readers_of_parts(make_doors: MakeDoors) -> None:
    sent = same_requests(make_doors(100, plan_above=20, reader_lines=50))

    assert "The workers:" in sent
    assert "web/cart.ts (modified, +1 -1)" in sent.partition("Other files of the change, not shown")[2]


@pytest.mark.slow
def test_each_door_sends_the_same_requests_where_github_lists_the_files_of_a_diff_too_large_for_it(
    make_doors: MakeDoors,
) -> None:
    doors = make_doors(100)
    doors.github.state.max_diff_files = 3

    same_requests(doors)

    assert any(each.path.endswith("/files") for each in doors.github.recorded)


def same_requests(doors: Doors) -> str:
    """Fail where a door differs. The texts that were sent."""
    wanted = doors.through("git_range")
    for name in DOORS:
        found = doors.through(name)
        assert found == wanted, f"{name} differs:\n{_difference(wanted, found)}"
    return _text(wanted)


def _text(bodies: list[bytes]) -> str:
    return "\n".join(text for each in bodies for text in texts_of(json.loads(each)))


def _difference(wanted: list[bytes], found: list[bytes]) -> str:
    lines = difflib.unified_diff(_text(wanted).split("\n"), _text(found).split("\n"), lineterm="", n=2)
    return "\n".join([f"{len(wanted)} and {len(found)} requests", *lines])[:9_000]
