"""How labels are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reviewbot.domain.errors import InputError
from reviewbot.evaluate.labels import LabelPlace, cwe_number, read_labels

MakeCase = Callable[..., Path]


def test_a_case_without_goldens_is_clean(make_case: MakeCase) -> None:
    labels = read_labels(make_case("one/a"))

    assert labels.goldens == ()
    assert labels.tested_cwe is None


def test_a_golden_has_all_of_its_places(make_case: MakeCase) -> None:
    others = [{"file": "b.py", "line": 3}, {"line": 9}]
    entry = {"file": "a.py", "line": 10, "end_line": 12, "cwe": "CWE-89", "other_locations": others}

    golden = read_labels(make_case("one/a", golden=[entry])).goldens[0]

    assert golden.places == (LabelPlace("a.py", 10, 12), LabelPlace("b.py", 3, 3))
    assert (golden.file, golden.cwe, golden.counted, golden.checkable) == ("a.py", 89, True, True)


@pytest.mark.parametrize(
    ("fields", "counted"),
    [
        ({}, True),
        ({"status": "golden", "disputed": False}, True),
        ({"disputed": True}, False),
        ({"status": "accepted_extra"}, False),
    ],
)
def test_what_is_disputed_or_extra_does_not_count(
    make_case: MakeCase,
    fields: dict[str, object],
    counted: bool,  # noqa: FBT001 - a parameter of the table above
) -> None:
    golden = read_labels(make_case("one/a", golden=[{"file": "a.py", "line": 1, **fields}])).goldens[0]

    assert golden.counted is counted


@pytest.mark.parametrize(
    ("entry", "checkable"),
    [
        ({"file": "a.py", "line": 1}, True),
        ({"file": "a.py", "line": None, "cwe": "CWE-79"}, True),
        ({"file": "a.py", "line": None}, False),
        ({"file": None, "line": 4, "cwe": "CWE-79"}, False),
        ({"file": "a.py", "other_locations": [{"file": "b.py", "line": 2}]}, True),
    ],
)
def test_a_golden_without_line_and_kind_cannot_be_checked(
    make_case: MakeCase,
    entry: dict[str, object],
    checkable: bool,  # noqa: FBT001 - a parameter of the table above
) -> None:
    assert read_labels(make_case("one/a", golden=[entry])).goldens[0].checkable is checkable


def test_the_tested_kind_of_weakness_is_read(make_case: MakeCase) -> None:
    assert read_labels(make_case("one/a", meta={"tested_cwe": "CWE-022"})).tested_cwe == 22


def test_a_number_is_found_in_any_way_of_writing_it() -> None:
    assert [cwe_number(value) for value in ("CWE-89", "cwe-089", 89, "none", None)] == [89, 89, 89, None, None]


@pytest.mark.parametrize(("golden", "meta"), [([1], {}), ({"a": 1}, {}), (3, {}), ([], [])])
def test_labels_of_another_form_are_an_error(make_case: MakeCase, golden: object, meta: object) -> None:
    folder = make_case("one/a", meta=meta, golden=golden)
    with pytest.raises(InputError, match="does not have the form of labels"):
        read_labels(folder)


def test_missing_and_broken_labels_are_errors_that_name_the_file(make_case: MakeCase) -> None:
    folder = make_case("one/a")
    (folder / "golden.json").write_text("{")
    with pytest.raises(InputError, match=r"golden.json is no JSON"):
        read_labels(folder)
    (folder / "golden.json").unlink()
    with pytest.raises(InputError, match=r"cannot read .*golden.json: No such file"):
        read_labels(folder)


def test_labels_that_are_nested_too_deeply_are_an_error(make_case: MakeCase) -> None:
    folder = make_case("one/a")
    (folder / "golden.json").write_text("[" * 100_000)

    with pytest.raises(InputError, match=r"golden.json is no JSON"):
        read_labels(folder)
