"""The tables of what models' numbers are worth, and which of them hold in a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewbot.evaluate.model_fit import render_reliability
from reviewbot.review.model_calibration import (
    ModelTables,
    NumberMap,
    maps_for,
    packaged_model_tables,
    place_on,
    read_model_tables,
)

HASH, OTHER = "0123456789abcdef", "fedcba9876543210"
TABLE = f"""
[[table]]
role = "reader"
quantity = "confidence"
model = "model-x"
prompt = "{HASH}"
points = [[70, 50], [90, 80]]
date = "2026-01-02"
changes = 13
claims = 200
error_stated = 0.2
error_fitted = 0.04
bands = [{{ low = 70, claims = 200, right = 100, stated = 75.5, fitted = 60.0 }}]
"""
HEAD = "schema_version = 1\n"


@pytest.mark.parametrize(
    ("stated", "fitted"), [(0, 0), (15, 0), (60, 40), (70, 50), (80, 65), (81, 66), (90, 80), (95, 85), (100, 90)]
)
def test_a_number_lies_on_the_line_and_outside_of_it_is_moved_like_the_nearest_point(stated: int, fitted: int) -> None:
    [table] = read_model_tables(HEAD + TABLE).table

    assert place_on(table.points, stated) == fitted


def test_nothing_is_certain() -> None:
    assert place_on(((90, 98),), 100) == 99


def test_without_points_a_number_stays_as_it_is_stated() -> None:
    assert place_on((), 100) == 100


def test_only_tables_of_the_same_prompt_hold() -> None:
    tables = read_model_tables(HEAD + TABLE)

    same, changed = maps_for(tables, {"reader": HASH, "judge": OTHER}), maps_for(tables, {"reader": OTHER})

    assert same.find("reader", "confidence", "model-x") == NumberMap(
        role="reader", quantity="confidence", model="model-x", prompt=HASH, points=((70, 50), (90, 80))
    )
    assert changed.find("reader", "confidence", "model-x") is None
    assert same.prompts == {"reader": HASH, "judge": OTHER}


def test_a_table_holds_for_its_model_role_and_quantity_alone() -> None:
    maps = maps_for(read_model_tables(HEAD + TABLE), {"reader": HASH, "judge": HASH})

    assert maps.find("judge", "confidence", "model-x") is None
    assert maps.find("reader", "worth", "model-x") is None
    assert maps.find("reader", "confidence", "model-y") is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("schema_version = 2", "schema_version"),
        (HEAD + TABLE + TABLE, "two tables are of the same"),
        (HEAD + TABLE.replace("[90, 80]", "[90, 40]"), "the points of a map must rise"),
        (HEAD + TABLE.replace("[90, 80]", "[70, 60]"), "the points of a map must rise"),
        (HEAD + TABLE.replace("[90, 80]", "[90, 101]"), "less than or equal to 100"),
        (HEAD + TABLE.replace(HASH, "none"), "prompt"),
        (HEAD + TABLE.replace('"2026-01-02"', "2026-01-02"), "a value that no table has"),
        ("x = " + "[" * 3_000, "nested too deeply"),
        ("= 1", "Invalid"),
    ],
    ids=["schema", "twice", "falls", "stands still", "bounds", "no hash", "a date", "deep", "no TOML"],
)
def test_what_is_no_table_is_an_error_that_names_why(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_model_tables(text)


def test_the_documents_show_the_tables_of_the_package() -> None:
    page = (Path(__file__).parents[2] / "docs" / "quality.md").read_text("utf-8")
    begin, end = "<!-- reliability: begin -->\n", "<!-- reliability: end -->"

    shown = page[page.index(begin) + len(begin) : page.index(end)]

    assert shown == render_reliability(packaged_model_tables().table)


def test_no_tables_are_tables() -> None:
    assert read_model_tables(HEAD) == ModelTables()
