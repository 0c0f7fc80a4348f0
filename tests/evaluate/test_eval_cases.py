"""Which cases there are, and what of them a reviewer may see."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reviewbot.domain.errors import InputError
from reviewbot.evaluate.labels import Case, list_cases

MakeCase = Callable[..., Path]


def test_cases_are_listed_by_group_and_name(cases: Path, make_case: MakeCase) -> None:
    for key in ("two/a", "one/b", "one/a"):
        make_case(key)

    assert [case.key for case in list_cases(cases)] == ["one/a", "one/b", "two/a"]
    assert [case.group for case in list_cases(cases)] == ["one", "one", "two"]


def test_a_folder_without_a_diff_is_no_case(cases: Path, make_case: MakeCase) -> None:
    make_case("one/a")
    (cases / "one/notes").mkdir()

    assert [case.key for case in list_cases(cases)] == ["one/a"]


def test_groups_and_a_limit_choose_among_them(cases: Path, make_case: MakeCase) -> None:
    for key in ("one/a", "two/a", "two/b", "three/a"):
        make_case(key)

    assert [case.key for case in list_cases(cases, ["two"])] == ["two/a", "two/b"]
    assert [case.key for case in list_cases(cases, ["two", "one"])] == ["one/a", "two/a", "two/b"]
    assert [case.key for case in list_cases(cases, ["two"], 1)] == ["two/a"]
    assert len(list_cases(cases, limit=2)) == 2


def test_an_unknown_group_is_an_error_that_names_the_known_ones(cases: Path, make_case: MakeCase) -> None:
    make_case("one/a")

    with pytest.raises(InputError, match=r"no group 'won' in .*; known: one"):
        list_cases(cases, ["won"])


@pytest.mark.parametrize("name", ["", "missing"])
def test_a_folder_without_cases_is_an_error_that_says_what_belongs_there(cases: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"no case in .*GROUP/CASE/change.diff"):
        list_cases(cases / name)


def test_a_case_gives_its_diff_and_its_words(make_case: MakeCase) -> None:
    meta = {"title": "Add a cache", "description": None, "clean": False, "tested_cwe": "CWE-89"}
    case = Case("one/a", make_case("one/a", b"the diff", meta))

    assert case.diff() == b"the diff"
    assert case.words() == {"title": "Add a cache", "description": ""}


def test_the_base_side_comes_before_the_head_side(make_case: MakeCase) -> None:
    case = Case("one/a", make_case("one/a"))
    assert case.sides() == ()

    (case.folder / "head").mkdir()
    (case.folder / "base").mkdir()
    assert [folder.name for folder in case.sides()] == ["base", "head"]


@pytest.mark.parametrize(("text", "said"), [("{", "is no JSON"), ("[]", "must hold an object")])
def test_a_broken_description_is_an_error_that_names_the_file(make_case: MakeCase, text: str, said: str) -> None:
    case = Case("one/a", make_case("one/a"))
    (case.folder / "meta.json").write_text(text)

    with pytest.raises(InputError, match=rf"meta.json {said}"):
        case.words()


def test_a_missing_file_is_an_error_that_names_it(make_case: MakeCase) -> None:
    case = Case("one/a", make_case("one/a"))
    (case.folder / "change.diff").unlink()

    with pytest.raises(InputError, match=r"cannot read .*change.diff: No such file"):
        case.diff()
