from __future__ import annotations

import re
from pathlib import Path

from reviewbot.config import Settings, load_settings
from reviewbot.config.keys import FLAGS, KINDS, REPOSITORY_KEYS
from reviewbot.config.load import FILE_NAME, USER_FILE_NAME, variable_of

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


NUMBERS = ("deadline_s", "max_findings", "chunk_lines", "reader_lines", "plan_above", "fan_out",
           "extra_workers", "inline")  # fmt: skip


def test_the_numbers_among_the_defaults_are_right() -> None:
    numbers = {row[0]: int(row[4]) for row in ROWS if row[4].isdigit()}

    assert numbers == {key: getattr(Settings(), key) for key in NUMBERS}


def test_the_examples_load() -> None:
    user, repository = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)

    assert load_settings(repository, {}, {}).min_confidence == 85
    assert load_settings(None, {}, {}, user_text=user).min_confidence == 75


def test_the_page_names_the_sources_in_their_order() -> None:
    listed = re.findall(r"^\d\. .*", PAGE, re.MULTILINE)

    assert ["default" in listed[0], FILE_NAME in listed[1], USER_FILE_NAME in listed[2]] == [True] * 3
    assert ["variable" in listed[3], "flag" in listed[4]] == [True] * 2
