"""The tables of names and words that are packaged as data."""

import re
from pathlib import Path

import pytest

from reviewbot.tables import packaged_table, packaged_text, words_in

ROOT = Path(__file__).parents[1] / "reviewbot"
SOURCES = "".join(path.read_text("utf-8") for path in sorted(ROOT.rglob("*.py")))
TABLES = sorted(path.stem for path in (ROOT / "data" / "names").glob("*.toml"))


@pytest.mark.parametrize("name", TABLES)
def test_each_list_of_names_is_read_by_a_module(name: str) -> None:
    read = set(re.findall(rf'"names/{name}"(?:, |\)\[)"(\w+)"', SOURCES))

    assert read == set(packaged_table(f"names/{name}"))


def test_words_in_gives_each_word_of_a_list_once() -> None:
    assert {"append", "pop"} < words_in("names/loops", "mutators")


def test_a_table_is_parsed_once_and_a_text_is_as_packaged() -> None:
    assert packaged_table("languages") is packaged_table("languages")
    assert packaged_text("symbols/go.scm").endswith("@method\n")
