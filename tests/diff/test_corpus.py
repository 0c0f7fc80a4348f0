"""The hostile corpus, judged by its own rules, and both of its fuzzers with a small count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reviewbot.diff.parse import parse_diff, parse_fragment
from reviewbot.diff.parser.protocol import answer
from reviewbot.diff.rows import hunk_rows
from reviewbot.domain.errors import DiffError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from reviewbot.domain.contracts import ChangeSet

HOSTILE = Path(__file__).resolve().parent.parent / "hostile"
ALL = json.loads((HOSTILE / "index.json").read_text(encoding="utf-8"))["cases"]
CASES = [c for c in ALL if c["kind"] == "diff" or (c["kind"] == "unicode" and c["file"].endswith(".diff"))]
JUDGED = {"outcome", "files", "added", "removed", "binary", "path", "paths", "forbid_paths", "rejected", "files_ok"}
CHECKED_HERE = {"mode", "lines", "surplus", "planted_line", "filename", "codepoints"}
CHECKED_BY_REVIEWS = {"findings", "line", "codepoints", "planted_line"}
"""In tests/end_to_end/test_hostile_reviews.py."""
NOT_CHECKED = {
    "max_seconds": "benchmarks/front.py and the corpus's own program take the time",
}


@pytest.fixture(scope="session")
def content(hostile: dict[str, ModuleType]) -> Callable[[str], bytes]:
    """The bytes of a case; the large ones are made, not stored."""

    def read(name: str) -> bytes:
        make = hostile["generate_big"].BIG.get(name)
        made = (HOSTILE / name).read_bytes() if make is None else make()
        assert isinstance(made, bytes)
        return made

    return read


def change_of(case: dict[str, Any], data: bytes) -> ChangeSet:
    filename = case["expect"].get("filename")
    return parse_diff(data) if filename is None else parse_fragment(data, filename)


def new_lines(change: ChangeSet) -> dict[int, str]:
    """The new side of all files by line; where files share a number the first added line stays."""
    rows = [row for file in change.files for hunk in file.hunks for row in hunk_rows(hunk)]
    lines: dict[int, str] = {}
    for row in sorted((row for row in rows if row.new), key=lambda row: row.kind != "+"):
        lines.setdefault(row.new or 0, row.text)
    return lines


def test_the_corpus_is_whole() -> None:
    assert len(CASES) == 53
    known = JUDGED | CHECKED_HERE | CHECKED_BY_REVIEWS | set(NOT_CHECKED)
    assert {key for case in CASES for key in case["expect"]} <= known


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_case_is_judged_well_by_the_corpus_itself(
    case: dict[str, Any], content: Callable[[str], bytes], hostile: dict[str, ModuleType]
) -> None:
    found = json.loads(json.dumps(answer(content(case["file"]), case["expect"].get("filename"))))
    assert hostile["check_diffs"].judge(case["expect"], found, 0.0) == []


@pytest.mark.parametrize(("case", "key"), [(c["id"], key) for c in CASES for key in c["expect"] if key in NOT_CHECKED])
def test_an_expectation_is_reported_as_not_checked(case: str, key: str) -> None:
    pytest.skip(f"{case} {key}: {NOT_CHECKED[key]}")


@pytest.mark.parametrize("case", [c for c in CASES if "mode" in c["expect"]], ids=lambda case: case["id"])
def test_the_mode_of_a_link_or_submodule_is_told(case: dict[str, Any], content: Callable[[str], bytes]) -> None:
    assert parse_diff(content(case["file"])).files[0].mode == case["expect"]["mode"]


@pytest.mark.parametrize("case", [c for c in CASES if "lines" in c["expect"]], ids=lambda case: case["id"])
def test_only_line_feeds_count_lines(case: dict[str, Any], content: Callable[[str], bytes]) -> None:
    assert max(new_lines(parse_diff(content(case["file"])))) == case["expect"]["lines"]


@pytest.mark.parametrize("case", [c for c in CASES if "planted_line" in c["expect"]], ids=lambda case: case["id"])
def test_the_planted_defect_stands_at_its_line(case: dict[str, Any], content: Callable[[str], bytes]) -> None:
    line = new_lines(change_of(case, content(case["file"])))[case["expect"]["planted_line"]]
    assert "eval" in line


@pytest.mark.parametrize("case", [c for c in CASES if "codepoints" in c["expect"]], ids=lambda case: case["id"])
def test_hidden_code_points_reach_the_rows_unchanged(case: dict[str, Any], content: Callable[[str], bytes]) -> None:
    text = "\n".join(new_lines(parse_diff(content(case["file"]))).values())
    assert all(chr(int(point.removeprefix("U+"), 16)) in text for point in case["expect"]["codepoints"])


@pytest.mark.parametrize("case", [c for c in CASES if "surplus" in c["expect"]], ids=lambda case: case["id"])
def test_surplus_lines_are_named_and_not_lost(case: dict[str, Any], content: Callable[[str], bytes]) -> None:
    parsed = parse_diff(content(case["file"])).parsed
    assert [(each.path, each.state) for each in parsed] == [("a.py", "malformed"), ("b.py", "read")]
    assert parsed[0].reason == "line 6 of the diff: a changed line stands outside every hunk"


def test_a_file_hidden_by_attributes_says_so(content: Callable[[str], bytes]) -> None:
    parsed = parse_diff(content("diffs/D69_gitattributes_hides.diff")).parsed[1]
    assert (parsed.path, parsed.state) == ("evil.py", "binary")
    assert "attribute" in parsed.reason


def test_a_long_line_is_cut_and_the_file_called_minified(content: Callable[[str], bytes]) -> None:
    file = parse_diff(content("diffs/D09_long_line.diff")).files[0]
    assert file.minified
    assert len(file.hunks[0].body) == 20_000


@pytest.mark.parametrize(
    "name", ["D02_garbage.diff", "D15_combined_cc.diff", "D41_mbox_fake_diff.patch", "D48_colored.diff"]
)
def test_what_is_no_plain_diff_is_refused_in_one_line(name: str, content: Callable[[str], bytes]) -> None:
    with pytest.raises(DiffError, match=r"^[^\n]+git diff[^\n]+$"):
        parse_diff(content(f"diffs/{name}"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 7])
def test_mutants_neither_crash_nor_hide_anything(seed: int, in_process: Callable[[str, list[str]], int]) -> None:
    assert in_process("mutate", ["--count", "1500", "--seed", str(seed)]) == 0


@pytest.mark.slow
def test_real_commits_with_odd_names_are_read_without_loss(in_process: Callable[[str, list[str]], int]) -> None:
    assert in_process("fuzz_git_names", ["--count", "25", "--seed", "3"]) == 0
