"""Patches on top of each other as one change."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewbot.diff.apply import added_text, new_side, old_side
from reviewbot.diff.parse import parse_diff
from reviewbot.diff.parser.build import Built
from reviewbot.diff.parser.series import join_series
from reviewbot.domain.contracts import FileChange
from reviewbot.domain.errors import DiffError

BINARY = b"diff --git a/x.bin b/x.bin\nindex 1111111..2222222 100644\nBinary files a/x.bin and b/x.bin differ\n"
BINARY_RENAME = BINARY.replace(b"b/x.bin", b"b/y.bin").replace(
    b"index", b"similarity index 90%\nrename from x.bin\nrename to y.bin\nindex"
)
BINARY_COPY = BINARY.replace(b"b/x.bin", b"b/y.bin").replace(
    b"index", b"similarity index 90%\ncopy from x.bin\ncopy to y.bin\nindex"
)


def section(before: str | None, after: str | None, path: str = "a.py", old: str = "", word: str = "rename") -> bytes:
    """One file of a patch; None: it is not there. A text without an LF at its end is written as git writes it."""
    head = f"diff --git a/{old or path} b/{path}\n"
    if old:
        head += f"similarity index 50%\n{word} from {old}\n{word} to {path}\n"
    head += "new file mode 100644\n" if before is None else ""
    head += "deleted file mode 100644\n" if after is None else ""
    one, two = ([] if text is None else text.splitlines(keepends=True) for text in (before, after))
    names = ("/dev/null" if before is None else f"a/{old or path}", "/dev/null" if after is None else f"b/{path}")
    rows = list(difflib.unified_diff(one, two, *names))
    body = "".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)
    if not rows:
        head += "index 1111111..e69de29 100644\n" if before is None else ""
    return (head + body).encode()


def patch(*sections: bytes) -> list[Built]:
    change = parse_diff(b"".join(sections))
    return [Built(file, state) for file, state in zip(change.files, change.parsed, strict=True)]


def joined(*patches: Sequence[Built]) -> list[FileChange]:
    built = join_series(patches)
    assert [each.file.path for each in built] == [each.parsed.path for each in built]
    return [each.file for each in built]


def one(*patches: Sequence[Built]) -> FileChange:
    (file,) = joined(*patches)
    return file


TEN = "".join(f"line {number}\n" for number in range(10))


def test_two_changes_of_a_file_are_one() -> None:
    after, last = TEN.replace("line 3", "three"), TEN.replace("line 3", "THREE").replace("line 8", "eight")

    file = one(patch(section(TEN, after)), patch(section(after, last)))

    assert file.hunks == patch(section(TEN, last))[0].file.hunks
    assert (file.status, file.added, file.removed) == ("modified", 2, 2)


def test_what_a_later_patch_takes_back_is_not_there() -> None:
    after = TEN.replace("line 3", "three")

    assert joined(patch(section(TEN, after)), patch(section(after, TEN))) == []
    assert joined(patch(section(None, TEN)), patch(section(TEN, None))) == []


def test_lines_that_a_later_patch_puts_back_are_context() -> None:
    file = one(patch(section("a\nb\nc\nd\n", "a\nd\n")), patch(section("a\nd\n", "a\nx\nc\nd\n")))

    assert [hunk.body for hunk in file.hunks] == [" a\n-b\n+x\n c\n d"]


def test_a_file_of_one_patch_keeps_its_own_section() -> None:
    first = patch(section(TEN, "x\n"), BINARY)

    assert joined(first, patch(section(None, "y\n", "b.py"))) == [
        *(each.file for each in first),
        patch(section(None, "y\n", "b.py"))[0].file,
    ]


@pytest.mark.parametrize(
    ("patches", "status", "path", "old"),
    [
        ([(None, "a\n", {}), ("a\n", "b\n", {})], "added", "a.py", None),
        ([("a\n", "b\n", {}), ("b\n", None, {})], "deleted", "a.py", None),
        ([("a\n", None, {}), (None, "b\n", {})], "modified", "a.py", None),
        ([(TEN, TEN + "x\n", {"path": "b.py", "old": "a.py"}), (TEN + "x\n", "x\n", {"path": "b.py"})],
         "renamed", "b.py", "a.py"),
        ([(TEN, TEN + "x\n", {}), (TEN + "x\n", TEN, {"path": "b.py", "old": "a.py"})], "renamed", "b.py", "a.py"),
        ([(TEN, "x\n", {"path": "b.py", "old": "a.py"}), ("x\n", "y\n", {"path": "c.py", "old": "b.py"})],
         "renamed", "c.py", "a.py"),
        ([(TEN, "x\n", {"path": "b.py", "old": "a.py"}), ("x\n", None, {"path": "b.py"})], "deleted", "a.py", None),
        ([(None, "x\n", {}), ("x\n", "y\n", {"path": "b.py", "old": "a.py"})], "added", "b.py", None),
        ([("a", "b\n", {}), ("b\n", "c", {})], "modified", "a.py", None),
    ],
)  # fmt: skip
def test_what_becomes_of_a_file_follows_from_its_first_and_last_name(
    patches: list[tuple[str | None, str | None, dict[str, str]]], status: str, path: str, old: str | None
) -> None:
    file = one(*(patch(section(before, after, **names)) for before, after, names in patches))

    assert (file.status, file.path, file.old_path) == (status, path, old)
    before, after = patches[0][0], patches[-1][1]
    assert new_side(file, before or "") == (after or "")
    assert old_side(file, after or "") == (before or "")


def test_a_copy_of_a_file_that_was_changed_before_is_one_of_the_base() -> None:
    changed, file = joined(
        patch(section(TEN, TEN + "x\n")), patch(section(TEN + "x\n", TEN + "y\n", "b.py", "a.py", "copy"))
    )

    assert (changed.path, file.path, file.status, file.old_path) == ("a.py", "b.py", "copied", "a.py")
    assert new_side(file, TEN) == TEN + "y\n"


def test_binary_files_keep_their_last_section_and_their_first_origin() -> None:
    added = BINARY.replace(b"index 1", b"new file mode 100644\nindex 0").replace(b"a/x.bin and", b"/dev/null and")
    gone = BINARY.replace(b"index 1", b"deleted file mode 100644\nindex 1").replace(b"and b/x.bin", b"and /dev/null")

    assert one(patch(BINARY), patch(BINARY)).status == "modified"
    assert one(patch(added), patch(BINARY)).status == "added"
    assert one(patch(BINARY), patch(gone)).status == "deleted"
    assert joined(patch(added), patch(gone)) == []


def test_a_binary_file_that_is_renamed_keeps_its_first_name() -> None:
    gone = BINARY_RENAME.replace(b"similarity index 90%\nrename from x.bin\nrename to y.bin\n", b"").replace(
        b"x.bin", b"y.bin"
    )
    gone = gone.replace(b"index 1", b"deleted file mode 100644\nindex 1").replace(b"and b/y.bin", b"and /dev/null")
    again, deleted = (
        one(patch(BINARY_RENAME), patch(BINARY.replace(b"x.bin", b"y.bin"))),
        one(patch(BINARY_RENAME), patch(gone)),
    )

    assert (again.status, again.path, again.old_path) == ("renamed", "y.bin", "x.bin")
    assert (deleted.status, deleted.path, deleted.old_path) == ("deleted", "x.bin", None)


def test_changes_far_from_each_other_stay_hunks_of_their_own() -> None:
    long = "".join(f"{number}\n" for number in range(60))
    once, twice = long.replace("5\n", "five\n", 1), long.replace("5\n", "five\n", 1).replace("50\n", "fifty\nmore\n")

    file = one(patch(section(long, once)), patch(section(once, twice)))

    assert file.hunks == patch(section(long, twice))[0].file.hunks
    assert len(file.hunks) == 2


LONG = section(TEN, TEN + "x" * 30_000 + "\n")
LINK = (
    b"diff --git a/a.py b/a.py\ndeleted file mode 100644\n--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    b"diff --git a/a.py b/a.py\nnew file mode 120000\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+to\n"
    b"\\ No newline at end of file\n"
)


def test_a_change_of_type_by_one_patch_stays_two_sections() -> None:
    assert [file.status for file in joined(patch(LINK), patch(section(TEN, "", "b.py")))] == [
        "deleted", "added", "modified",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (section("a\n", "b\n"), section("c\n", "d\n"), "line 1: does not fit"),
        (section(None, "a\n"), section(TEN, TEN + "x\n"), "line 2: does not fit"),
        (section(None, "a\n"), section(TEN + TEN, TEN + "x\n" + TEN), "does not fit"),
        (LONG, section(TEN, "x\n"), "cannot be read in full"),
        (section(TEN, "x\n"), LONG, "cannot be read in full"),
        (section("a\n", "b\n", "x.bin"), BINARY, "cannot be read in full"),
        (LINK, section("to", "b\n"), "after its type was"),
        (section("a\n", "x\n"), LINK, "changes its type"),
        (section(TEN, "x\n", "b.py", "a.py"), section(None, "x\n"), "was renamed before"),
        (section(TEN, "x\n", "b.py"), section(TEN, "x\n", "b.py", "a.py"), "takes the name of another file"),
        (BINARY, BINARY_COPY, "a file that cannot be read"),
    ],
)  # fmt: skip
def test_what_cannot_be_put_together_is_refused_with_its_file_and_patch(
    first: bytes, second: bytes, words: str
) -> None:
    with pytest.raises(DiffError, match=rf"The series cannot be put together: '.*' in patch 2: .*{words}"):
        joined(patch(first), patch(second))


def test_a_later_patch_that_cannot_be_read_is_refused_as_well() -> None:
    with pytest.raises(DiffError, match=r"'a.py' in patch 3: .* cannot be read in full"):
        joined(patch(section(TEN, "a\n")), patch(section("a\n", TEN)), patch(LONG))


def test_a_series_that_costs_too_much_is_refused() -> None:
    with pytest.raises(DiffError, match="too long to be put together"):
        join_series([patch(section(TEN, "a\n")), patch(section("a\n", TEN))], max_work=5)


TEXTS = st.one_of(st.none(), st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n"]), max_size=16).map("".join))


@example(None, ["a\n", ""], "")
@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=5), st.sampled_from(["", "\n"]))
def test_any_series_leads_from_its_first_text_to_its_last(
    before: str | None, later: list[str | None], open_end: str
) -> None:
    texts = [before, *later]
    texts[-1] = None if texts[-1] is None else texts[-1].removesuffix(open_end)
    steps = [pair for pair in pairwise(texts) if pair[0] != pair[1]]

    files = joined(*(patch(section(old, new)) for old, new in steps if (old, new) not in [(None, ""), ("", None)]))

    for file in files:
        if all(pair not in [(None, ""), ("", None)] for pair in steps):
            assert new_side(file, before or "") == (texts[-1] or "")
            # Of a file that ends empty there is no text to be shown.
            assert file.status != "added" or (added_text(file) or "") == texts[-1]
