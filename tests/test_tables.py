"""The tables of names and words that are packaged as data."""

import re
import threading
from pathlib import Path

import pytest

from reviewbot.tables import made_once, packaged_table, packaged_text, words_in

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


def test_a_value_that_two_threads_ask_for_at_once_is_made_once() -> None:
    made: list[str] = []
    began, go_on, again = threading.Event(), threading.Event(), threading.Event()

    @made_once
    def table(name: str) -> str:
        (again if made else began).set()
        made.append(name)
        go_on.wait(60)
        return name.upper()

    got: list[str] = []
    first, second = (threading.Thread(target=lambda: got.append(table("flows"))) for _ in range(2))
    first.start()
    assert began.wait(60)
    second.start()
    assert not again.wait(0.2)
    go_on.set()
    first.join(60)
    second.join(60)

    assert (got, made) == (["FLOWS", "FLOWS"], ["flows"])
