"""What holds for any bytes at all."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.diff.apply import new_side, old_side
from reviewbot.diff.limits import DiffLimits
from reviewbot.diff.parse import parse_diff, parse_fragment
from reviewbot.diff.parser import file_names
from reviewbot.diff.parser.protocol import answer
from reviewbot.diff.rows import code_of, hunk_rows
from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.errors import DiffError

DIFFS = Path(__file__).resolve().parent.parent / "hostile" / "diffs"
SEEDS = [each.read_bytes() for each in sorted(DIFFS.iterdir()) if 0 < each.stat().st_size < 1500]
WORDS = [
    b"diff --git a/x b/x\n", b"diff --git a/x b/y\n", b"diff --cc x\n", b"diff -u a b\n", b"Index: x\n", b"--- a/x\n",
    b"+++ b/x\n", b"--- /dev/null\n", b"+++\n", b"--- \n", b"+++ \n", b"@@ -\n", b"@@\n", b"+++ /dev/null\n",
    b"@@ -1 +1 @@\n", b"@@ -1,2 +1,3 @@ f\n", b"@@ -0,0 +1 @@\n", b"@@ -9,0 +9 @@\n", b"+a\n", b"-b\n", b" c\n",
    b"\n", b"\r\n", b"\\ No newline at end of file\n", b"new file mode 100644\n", b"deleted file mode 100644\n",
    b"old mode 100644\n", b"new mode 120000\n", b"rename from x\n", b"rename to y\n", b"copy from x\n",
    b"copy to x\n", b"similarity index 9%\n", b"index 1..2 100644\n", b"index 0000..e69de29\n",
    b"Binary files a/x and b/x differ\n", b"Binary file x has changed\n", b"GIT binary patch\n", b"literal 5\n",
    b"Only in a/b: c\n", b"Submodule x 1111..2222:\n", b"Submodule x contains modified content\n",
    b"* Unmerged path x\n", b"Property changes on: x\n", b"## -0,0 +1 ##\n",
    b"Cannot display: file marked as a binary type.\n", b"---\n", b"-- \n", b"2.39\n", b"~\n", b"[-a-]{+b+}\n",
    b'--- "a/\\377"\n', b'+++ "b/\\377"\n', b"commit " + b"1" * 40 + b"\n", b"\xff", b"\x00", b"\x1b[m\n",
    b"***************\n", b"From: a\n", b"tag x\n", b"\xff\xfe", b"\xef\xbb\xbf",
]  # fmt: skip
ANY_DIFF = st.lists(st.sampled_from(WORDS), max_size=25).map(b"".join) | st.binary(max_size=200)


@st.composite
def spoiled(draw: st.DrawFn) -> bytes:
    """A diff of the corpus with some bytes cut out or put in."""
    data = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 30)))
        data = data[:start] + draw(st.sampled_from([b"", *WORDS])) + data[end:]
    return data


def check(change: ChangeSet, data: bytes) -> None:
    assert [file.path for file in change.files] == [each.path for each in change.parsed]
    assert change.files or not data.strip(b"\xef\xbb\xbf\xff\xfe")
    for file, parsed in zip(change.files, change.parsed, strict=True):
        rows = [row for hunk in file.hunks for row in hunk_rows(hunk)]
        assert (file.added, file.removed) == tuple(sum(row.kind == kind for row in rows) for kind in "+-")
        assert parsed.state in {"read", "partial", "binary", "refused", "malformed"}
        assert bool(parsed.reason) == (parsed.state != "read")
        assert parsed.state in {"read", "partial"} or not file.hunks
        assert file_names.label(file_names.to_bytes(file.path)) == file.path
        for numbers in (
            [row.new for row in rows if row.new is not None],
            [row.old for row in rows if row.old is not None],
        ):
            assert numbers == sorted(set(numbers))
        json.dumps(file.model_dump(), ensure_ascii=False).encode("utf-8")
        code_of(file.hunks)


@settings(max_examples=400, deadline=None)
@given(ANY_DIFF | spoiled())
def test_any_bytes_give_a_change_or_a_named_error(data: bytes) -> None:
    with suppress(DiffError):
        check(parse_diff(data), data)


@settings(max_examples=100, deadline=None)
@given(ANY_DIFF)
def test_an_error_is_one_line(data: bytes) -> None:
    error = answer(data, None)["error"]
    assert error is None or len(str(error).splitlines()) == 1


@settings(max_examples=150, deadline=None)
@given(
    ANY_DIFF | spoiled(),
    st.text(st.characters(), max_size=20) | st.sampled_from(["a.py", "\ud800", '"', '"a"', "\udcff"]),
)
def test_any_fragment_gives_exactly_its_one_file(data: bytes, name: str) -> None:
    try:
        change = parse_fragment(data, name)
    except DiffError:
        return
    assert len(change.files) == 1
    assert file_names.to_bytes(change.files[0].path) == file_names.encode(name) or not name
    check(change, data)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ANY_DIFF | spoiled())
def test_small_limits_lose_no_file(data: bytes) -> None:
    limits = DiffLimits(files=1, text_bytes=20, file_bytes=9, file_hunks=1, hunks=2, header_bytes=60, line_bytes=3)
    try:
        change = parse_diff(data, limits)
    except DiffError:
        return
    assert len(change.files) == len(change.parsed)
    assert sum(len(hunk.body) for file in change.files for hunk in file.hunks) <= 60


@settings(max_examples=150, deadline=None)
@given(ANY_DIFF | spoiled())
def test_the_answer_of_the_protocol_is_json_with_exact_names(data: bytes) -> None:
    found = json.loads(json.dumps(answer(data, None)))
    assert (found["error"] is None) or found["files"] == []


@settings(max_examples=100, deadline=None)
@given(spoiled())
def test_both_sides_of_a_file_undo_each_other(data: bytes) -> None:
    try:
        change = parse_diff(data)
    except DiffError:
        return
    for file, parsed in zip(change.files, change.parsed, strict=True):
        if parsed.state != "read" or not file.hunks or file.minified:
            continue
        height = max(hunk.old_start + hunk.old_count for hunk in file.hunks)
        lines = [""] * height
        for row in (row for hunk in file.hunks for row in hunk_rows(hunk) if row.old):
            lines[(row.old or 1) - 1] = row.text
        old = "\n".join(lines)
        after = new_side(file, old)
        assert after is None or old_side(file, after) == old


@pytest.mark.parametrize("joint", [b"://", b" and ", b" b/", b'"', b"\\", b" ", b"a"])
@pytest.mark.parametrize(
    "word", [b"diff --git ", b"Binary files ", b"rename from ", b"--- ", b"Submodule ", b"@@ -", b""]
)
def test_a_line_that_keeps_other_readers_for_hours_is_an_answer_here(word: bytes, joint: bytes) -> None:
    for size in (2_000, 200_000):
        found = json.loads(json.dumps(answer(word + joint * size + b" " * size + b" differ\n", None)))
        assert found["error"] or not any(file["added"] for file in found["files"])
