"""The file of results: what is kept of it, what is done again, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.domain.errors import InputError
from reviewbot.evaluate.results import open_results, read_rows

A: dict[str, object] = {"case": "one/a", "findings": []}
B: dict[str, object] = {"case": "one/b", "findings": [{"file": "a.py"}]}


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "results.jsonl"


def write(out: Path, *rows: dict[str, object], run: str = "r1", fresh: bool = False) -> frozenset[str]:
    """Add rows, and tell which cases were there before."""
    with open_results(out, run, fresh=fresh) as results:
        before = results.done
        for row in rows:
            results.add(row)
    return before


def test_rows_are_written_one_per_line_with_the_run_that_made_them(out: Path) -> None:
    assert write(out, A, B) == frozenset()

    assert [json.loads(line) for line in out.read_text().splitlines()] == [{**A, "run": "r1"}, {**B, "run": "r1"}]


def test_a_row_is_on_disk_when_it_has_been_added(out: Path) -> None:
    with open_results(out, "r1", fresh=False) as results:
        results.add(A)

        assert read_rows(out) == [{**A, "run": "r1"}]


def test_a_second_run_goes_on_after_the_rows_that_are_there(out: Path) -> None:
    write(out, A)

    assert write(out, B) == {"one/a"}
    assert [row["case"] for row in read_rows(out)] == ["one/a", "one/b"]


def test_a_row_that_a_stop_cut_off_is_dropped(out: Path) -> None:
    write(out, A, B)
    out.write_bytes(out.read_bytes()[:-5])

    assert write(out) == {"one/a"}
    assert read_rows(out) == [{**A, "run": "r1"}]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cut=st.integers(0, 200))
def test_wherever_a_file_is_cut_off_it_can_be_gone_on_with(out: Path, cut: int) -> None:
    write(out, A, B, fresh=True)
    out.write_bytes(out.read_bytes()[:cut])

    left = [row for row in (A, B) if row["case"] not in write(out)]
    write(out, *left)

    assert sorted(row["case"] for row in read_rows(out)) == ["one/a", "one/b"]


def test_a_case_that_failed_is_done_again(out: Path) -> None:
    write(out, A, {"case": "one/b", "error": "it broke", "findings": []})

    assert write(out) == {"one/a"}
    assert [row["case"] for row in read_rows(out)] == ["one/a"]


def test_rows_of_another_run_are_refused_and_left_alone(out: Path) -> None:
    write(out, A)
    before = out.read_bytes()

    with pytest.raises(InputError, match="another version or with other settings; give --fresh"):
        write(out, B, run="r2")
    assert out.read_bytes() == before


def test_a_fresh_start_drops_what_was_there(out: Path) -> None:
    write(out, A)

    assert write(out, B, run="r2", fresh=True) == frozenset()
    assert read_rows(out) == [{**B, "run": "r2"}]


@pytest.mark.parametrize("line", ["notes", "[]", '{"case": 1, "findings": []}', '{"case": "a"}',
                                  '{"case": "a", "findings": [1]}'])  # fmt: skip
def test_a_file_of_something_else_is_refused(out: Path, line: str) -> None:
    out.write_text(line + "\n")

    with pytest.raises(InputError, match="is no file of results"):
        write(out, A)
    with pytest.raises(InputError, match="is no file of results"):
        read_rows(out)
    assert out.read_text() == line + "\n"


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot write .*: Is a directory"):
        write(tmp_path, A)
    with pytest.raises(InputError, match=r"cannot write .*: No such file or directory"):
        write(tmp_path / "missing" / "r.jsonl", A)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_an_error() -> None:
    with pytest.raises(InputError, match=r"cannot write /dev/full: No space left"):
        write(Path("/dev/full"), A)


def test_results_that_cannot_be_read_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")

    with pytest.raises(InputError, match=r"cannot read .*bytes: it is no text"):
        read_rows(tmp_path / "bytes")
    with pytest.raises(InputError, match=r"cannot read .*missing: No such file"):
        read_rows(tmp_path / "missing")


@pytest.mark.parametrize(
    "odd",
    [{"rule": 5}, {"sources": [7]}, {"sources": "taint"}, {"confidence": "80"}, {"end_line": "9"}, {"also": [[]]}],
    ids=str,
)
def test_a_finding_with_a_field_of_an_odd_type_is_refused(out: Path, odd: dict[str, object]) -> None:
    out.write_text(json.dumps({"case": "one/a", "findings": [{"file": "a.py", "line": 2, **odd}]}) + "\n")

    with pytest.raises(InputError, match="holds a finding of 'one/a' in an unknown form"):
        read_rows(out)


def test_a_line_that_is_nested_too_deeply_is_refused(out: Path) -> None:
    out.write_text('{"case": ' + "[" * 100_000 + "\n")

    with pytest.raises(InputError, match="is no file of results"):
        read_rows(out)
