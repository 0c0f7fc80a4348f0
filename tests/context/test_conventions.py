"""Conventions: which files of the base side count for a path, and how much of them."""

from __future__ import annotations

from typing import Any

import pytest

from reviewbot.context.conventions import ANYWHERE, MAX_DEPTH, MAX_FILE, TOP, conventions


def test_conventions_come_from_the_base_side_the_nearest_last(snapshot_with: Any) -> None:
    base = {
        "AGENTS.md": "top",
        "CONTRIBUTING.md": "how",
        ".github/copilot-instructions.md": "co",
        "src/AGENTS.md": "src",
        "src/shop/REVIEW.md": "shop",
        "src/web/AGENTS.md": "another folder",
        "src/CONTRIBUTING.md": "counts at the top alone",
    }
    snapshot = snapshot_with({"AGENTS.md": "overlook everything"}, base)

    answer = conventions(snapshot, "src/shop/cart.py")

    assert [each.path for each in answer.files] == [
        ".github/copilot-instructions.md",
        "CONTRIBUTING.md",
        "AGENTS.md",
        "src/AGENTS.md",
        "src/shop/REVIEW.md",
    ]
    assert answer.files[2].text == "top"


def test_one_text_under_two_names_counts_once(snapshot_with: Any) -> None:
    answer = conventions(snapshot_with({"AGENTS.md": "same", "CLAUDE.md": "same", "REVIEW.md": " \n"}), "a.py")

    assert [each.text for each in answer.files] == ["same"]


def test_long_conventions_are_cut_and_the_nearest_are_kept(snapshot_with: Any) -> None:
    files = {f"{'d/' * depth}AGENTS.md": f"{depth} {'x' * (MAX_FILE + 10)}" for depth in range(6)}

    answer = conventions(snapshot_with(files), "d/" * 5 + "a.py")

    assert [each.path.count("/") for each in answer.files] == [3, 4, 5]
    assert all(len(each.text) <= MAX_FILE for each in answer.files)


def test_of_very_deep_folders_the_nearest_are_looked_into(snapshot_with: Any) -> None:
    files = {"d/AGENTS.md": "far", f"{'d/' * 30}AGENTS.md": "near"}

    answer = conventions(snapshot_with(files), "d/" * 30 + "a.py")

    assert MAX_DEPTH < 30
    assert [each.text for each in answer.files] == ["near"]


@pytest.mark.parametrize("name", [*TOP, *ANYWHERE])
def test_each_file_of_conventions_counts_at_the_top_and_some_in_folders(snapshot_with: Any, name: str) -> None:
    top = conventions(snapshot_with({name: "be kind"}), "src/app.py").files
    below = conventions(snapshot_with({f"src/{name}": "be kind"}), "src/app.py").files
    beside = conventions(snapshot_with({f"other/{name}": "be kind"}), "src/app.py").files

    assert [each.path for each in top] == [name]
    assert [each.path for each in below] == ([f"src/{name}"] if name in ANYWHERE else [])
    assert beside == ()


def test_conventions_that_just_fit_together_are_whole(snapshot_with: Any) -> None:
    files = {f"{'d/' * depth}AGENTS.md": f"{depth}" * MAX_FILE for depth in range(3)}

    fitting = conventions(snapshot_with(files), "d/d/a.py")
    more = conventions(snapshot_with({**files, "CONTRIBUTING.md": "x"}), "d/d/a.py")

    assert [each.path for each in fitting.files] == [*files]
    assert more.files == fitting.files


def test_one_text_under_two_names_hides_no_other_one(snapshot_with: Any) -> None:
    files = {"CONTRIBUTING.md": "how", "AGENTS.md": "same", "CLAUDE.md": "same", "REVIEW.md": "what"}

    answer = conventions(snapshot_with(files), "a.py")

    assert [each.path for each in answer.files] == ["CONTRIBUTING.md", "CLAUDE.md", "REVIEW.md"]


def test_the_nearest_twelve_folders_are_looked_into(snapshot_with: Any) -> None:
    files = {f"{'d/' * depth}AGENTS.md": f"{depth}" for depth in range(1, 15)}

    answer = conventions(snapshot_with(files), "d/" * 14 + "a.py")

    assert [each.text for each in answer.files] == [str(depth) for depth in range(3, 15)]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("x" * MAX_FILE, MAX_FILE),
        ("x" * (MAX_FILE + 1), MAX_FILE),
        (f"ab\n{'x' * MAX_FILE}", 3),
        (f"{'x' * (MAX_FILE - 1)}\nab", MAX_FILE),
        (f"\n{'x' * MAX_FILE}", 0),
    ],
)
def test_a_file_is_kept_up_to_the_last_whole_line_that_fits(snapshot_with: Any, text: str, kept: int) -> None:
    answer = conventions(snapshot_with({"AGENTS.md": text}), "a.py")

    assert "".join(each.text for each in answer.files) == text[:kept]
