from __future__ import annotations

import re
from pathlib import Path

from reviewbot.config import Settings, load_settings
from reviewbot.config.load import FLAGS, REPOSITORY_KEYS, variable_of
from reviewbot.config.values import KINDS

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text("utf-8")
ROWS = [
    [cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line[:3] == "| `"
]


def test_the_page_lists_every_setting_with_its_names_and_values() -> None:
    assert [row[:4] for row in ROWS] == [
        [key, variable_of(key), FLAGS.get(key, ""), kind.expected] for key, kind in KINDS.items()
    ]


def test_the_page_says_what_a_repository_may_set() -> None:
    assert {row[0] for row in ROWS if row[5] != "no"} == REPOSITORY_KEYS


def test_the_numbers_among_the_defaults_are_right() -> None:
    numbers = {row[0]: int(row[4]) for row in ROWS if row[4].isdigit()}

    assert numbers == {key: getattr(Settings(), key) for key in ("deadline_s", "max_findings", "chunk_lines")}


def test_the_example_for_a_repository_loads() -> None:
    example = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)

    assert [load_settings(text, {}, {}).min_confidence for text in example] == [85]
