"""The whole front: wrappings, limits, fragments, and the state of each file."""

from __future__ import annotations

import bz2
import gzip
import lzma
from dataclasses import replace

import pytest

from reviewbot.diff.limits import DiffLimits
from reviewbot.diff.parse import parse_diff, parse_fragment
from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.errors import DiffError

DIFF = b"diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@ def f():\n-a\n+b\n+c\n"
SMALL = DiffLimits()


def found(data: bytes, limits: DiffLimits = SMALL) -> list[tuple[str, str, str]]:
    return [(each.path, each.state, each.reason) for each in parse_diff(data, limits).parsed]


def test_a_file_is_read_with_all_that_the_diff_tells() -> None:
    change = parse_diff(DIFF)
    (file,), (parsed,) = change.files, change.parsed
    (hunk,) = file.hunks
    assert (file.path, file.old_path, file.status, file.language, file.kind, file.mode) == (
        "a.py", None, "modified", "python", "code", "100644",
    )  # fmt: skip
    assert (file.added, file.removed, file.minified) == (2, 1, False)
    assert (hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count) == (1, 1, 1, 2)
    assert (hunk.heading, hunk.body) == ("def f():", "-a\n+b\n+c")
    assert (parsed.path, parsed.state, parsed.reason) == ("a.py", "read", "")


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_nothing_is_an_empty_change(data: bytes) -> None:
    assert parse_diff(data) == ChangeSet()


@pytest.mark.parametrize("data", [b"\n", b" \n\t\n", b"\r\n"])
def test_white_space_alone_is_an_error_that_says_so(data: bytes) -> None:
    with pytest.raises(DiffError, match="only white space"):
        parse_diff(data)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_diff_in_another_encoding_is_decoded_where_it_says_so(encoding: str) -> None:
    data = DIFF.decode().encode(encoding)
    if encoding in {"utf-16-le", "utf-16-be"}:
        with pytest.raises(DiffError, match="UTF-16 without a byte order mark"):
            parse_diff(data)
        data = "\ufeff".encode(encoding) + data
    assert parse_diff(data) == parse_diff(DIFF)


def test_broken_utf_16_is_decoded_as_far_as_it_goes() -> None:
    assert found(DIFF.decode().encode("utf-16") + b"\x00\xd8\n")[0][:2] == ("a.py", "read")


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (gzip.compress(DIFF), "gzip"),
        (bz2.compress(DIFF), "bzip2"),
        (lzma.compress(DIFF), "xz"),
        (b"\x28\xb5\x2f\xfd" + DIFF, "zstd"),
        (b"PK\x03\x04" + DIFF, "zip"),
    ],
)
def test_a_packed_diff_is_refused_by_name(data: bytes, name: str) -> None:
    with pytest.raises(DiffError, match=f"{name}.*unpack it first"):
        parse_diff(data)


def test_a_diff_whose_every_line_ends_in_cr_lf_was_changed_on_its_way() -> None:
    assert parse_diff(DIFF.replace(b"\n", b"\r\n")) == parse_diff(DIFF)


def test_headers_alone_may_end_in_cr_lf() -> None:
    head, _, body = DIFF.partition(b"@@")
    change = parse_diff(head.replace(b"\n", b"\r\n") + b"@@" + body)
    assert change.files == parse_diff(DIFF).files


def test_content_that_ends_in_cr_lf_keeps_it() -> None:
    change = parse_diff(DIFF.replace(b"+b\n", b"+b\r\n"))
    assert change.files[0].hunks[0].body == "-a\n+b\r\n+c"


def test_bytes_that_are_not_utf_8_become_replacement_characters() -> None:
    assert parse_diff(DIFF.replace(b"+b", b"+\xff\xe2\x80")).files[0].hunks[0].body == "-a\n+\ufffd\ufffd\n+c"


def test_an_empty_line_is_an_empty_context_line() -> None:
    data = b"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n\n-a\n+b\n\r\n"
    assert parse_diff(data).files[0].hunks[0].body == " \n-a\n+b\n \r"


def test_a_note_on_a_missing_newline_gets_its_one_form() -> None:
    data = DIFF + b"\\ Kein Zeilenumbruch am Dateiende.\n"
    assert parse_diff(data).files[0].hunks[0].body == "-a\n+b\n+c\n\\ No newline at end of file"


def test_too_many_bytes_are_refused_as_a_whole() -> None:
    with pytest.raises(DiffError, match="in parts"):
        parse_diff(DIFF, replace(SMALL, input_bytes=len(DIFF) - 1))


def test_too_many_lines_are_refused_as_a_whole() -> None:
    assert found(DIFF, replace(SMALL, input_lines=8))
    with pytest.raises(DiffError, match="more than 7 lines"):
        parse_diff(DIFF, replace(SMALL, input_lines=7))


def test_too_many_files_to_name_are_refused_as_a_whole() -> None:
    limits = replace(SMALL, named_files=2)
    assert len(found(DIFF * 2, limits)) == 2
    with pytest.raises(DiffError, match="more than 2 files"):
        parse_diff(DIFF * 3, limits)


TWO_HUNKS = DIFF + b"@@ -9 +10 @@\n-x\n+y\n"


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (replace(SMALL, file_bytes=8), "the file has more than 8 bytes of changes"),
        (replace(SMALL, file_bytes=12), "the file has more than 12 bytes of changes"),
        (replace(SMALL, file_hunks=1), "the file has more than 1 hunks"),
        (replace(SMALL, text_bytes=8), "the diff has more than 8 bytes of changes"),
        (replace(SMALL, hunks=1), "the diff has more than 1 hunks"),
        (replace(SMALL, files=0), "the diff has more than 0 files"),
    ],
)
def test_what_passes_a_limit_is_named_with_it(limits: DiffLimits, reason: str) -> None:
    change = parse_diff(TWO_HUNKS, limits)
    assert found(TWO_HUNKS, limits) == [("a.py", "over_budget", reason)]
    assert (change.files[0].hunks, change.files[0].added, change.files[0].removed) == ((), 0, 0)


def test_a_file_below_the_limits_is_read_beside_one_that_passes_them() -> None:
    limits = replace(SMALL, file_hunks=1)
    assert [state for _, state, _ in found(TWO_HUNKS + DIFF + TWO_HUNKS, limits)] == [
        "over_budget",
        "read",
        "over_budget",
    ]


def test_a_file_that_passes_a_limit_and_is_broken_is_malformed() -> None:
    assert found(TWO_HUNKS + b"+z\n", replace(SMALL, file_hunks=1))[0][1] == "malformed"


@pytest.mark.parametrize(
    ("row", "kept"),
    [
        (b"+" + b"x" * 30, "+" + "x" * 9),
        (b"+1234567" + b"\xc3\xa9" * 2, "+1234567\u00e9"),
        (b"+12345678" + b"\xc3\xa9", "+12345678"),
        (b"+" + b"\x80" * 30, "+" + "\ufffd" * 9),
    ],
)
def test_a_long_line_is_cut_between_characters(row: bytes, kept: str) -> None:
    file = parse_diff(DIFF.replace(b"+b", row), replace(SMALL, line_bytes=10)).files[0]
    assert file.minified
    assert file.hunks[0].body.split("\n")[1] == kept


def test_a_refused_name_is_refused_whatever_else_is_wrong() -> None:
    for data in (DIFF, DIFF + b"+stray\n", DIFF[:-6]):
        assert found(data.replace(b"a.py", b"../x"))[0][1:] == ("refused", "the name leads out of the repository")


def test_a_refused_old_name_is_refused_as_well() -> None:
    data = b"diff --git a/.git/x b/y\nsimilarity index 100%\nrename from .git/x\nrename to y\n"
    change = parse_diff(data)
    assert [(file.path, file.old_path) for file in change.files] == [("y", ".git/x")]
    assert change.parsed[0].state == "refused"


def test_the_old_name_of_a_rename_is_a_label_like_any_other() -> None:
    data = b'diff --git "a/\\377" b/y\nsimilarity index 100%\nrename from "\\377"\nrename to y\n'
    assert parse_diff(data).files[0].old_path == '"\\377"'


def test_a_name_that_is_no_text_has_a_label_and_its_own_language() -> None:
    change = parse_diff(b'--- "a/\\377.py"\n+++ "b/\\377.py"\n@@ -1 +1 @@\n-a\n+b\n')
    assert [(file.path, file.language) for file in change.files] == [('"\\377.py"', "python")]


@pytest.mark.parametrize(
    ("old", "new", "path", "old_path", "status"),
    [
        ("a/x.py", "b/x.py", "x.py", None, "modified"),
        ("x.py", "x.py", "x.py", None, "modified"),
        ("old/x.py", "new/x.py", "x.py", None, "modified"),
        ("x.py.orig", "x.py", "x.py", "x.py.orig", "renamed"),
        ("a/x.py", "b/y.py", "y.py", "x.py", "renamed"),
        ("a/x.py", "y.py", "y.py", "a/x.py", "renamed"),
        ("/dev/null", "b/x.py", "x.py", None, "added"),
        ("a/x.py", "/dev/null", "x.py", None, "deleted"),
        ("/dev/null", "x.py", "x.py", None, "added"),
    ],
)
def test_names_without_a_git_line_are_read_as_patch_does(
    old: str, new: str, path: str, old_path: str | None, status: str
) -> None:
    counts = {"/dev/null": "0,0"}
    rows = ("" if old == "/dev/null" else "-a\n") + ("" if new == "/dev/null" else "+b\n")
    data = f"--- {old}\n+++ {new}\n@@ -{counts.get(old, '1')} +{counts.get(new, '1')} @@\n{rows}"
    file = parse_diff(data.encode()).files[0]
    assert (file.path, file.old_path, file.status) == (path, old_path, status)


@pytest.mark.parametrize("names", [b"--- /dev/null\n+++ /dev/null\n", b"--- \n+++ b/x\n", b"--- a/x\n+++ \n"])
def test_a_section_that_names_no_file_is_malformed(names: bytes) -> None:
    assert found(names + b"@@ -1 +1 @@\n-a\n+b\n")[0][1] == "malformed"


@pytest.mark.parametrize(
    ("hunk", "status"),
    [(b"@@ -0,0 +1 @@\n+b\n", "added"), (b"@@ -1 +0,0 @@\n-a\n", "deleted"), (b"@@ -1,0 +2 @@\n+b\n", "modified")],
)
def test_epoch_times_of_gnu_diff_leave_the_status_to_the_counts(hunk: bytes, status: str) -> None:
    assert parse_diff(b"--- a/x\t1970-01-01\n+++ b/x\t2020-01-01\n" + hunk).files[0].status == status


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (b"Binary files a/x and y and b/x and y differ", "x and y"),
        (b"Binary files /dev/null and b/q and zzzz differ", "q and zzzz"),
        (b"Binary files a/q and r and /dev/null differ", "q and r"),
        (b"Binary files old/x and newer/x differ", "x"),
        (b'Binary files "a/\\303\\251" and "b/\\303\\251" differ', "\u00e9"),
    ],
)
def test_the_names_of_a_binary_line_are_told_apart(line: bytes, path: str) -> None:
    assert found(line + b"\n")[0][:2] == (path, "binary")


@pytest.mark.parametrize("line", [b'Binary files "a and b differ', b"Binary files  and  differ"])
def test_a_binary_line_without_names_is_malformed(line: bytes) -> None:
    assert found(line + b"\n") == [("(unnamed section at line 1 of the diff)", "malformed", "its file name is missing")]


@pytest.mark.parametrize(("name", "words"), [("x.py", "its name says python"), ("x.png", "shows no text of it")])
def test_a_binary_file_with_the_name_of_code_says_so(name: str, words: str) -> None:
    data = f"diff --git a/{name} b/{name}\nindex 1..2 100644\nBinary files a/{name} and b/{name} differ\n"
    ((_, state, reason),) = found(data.encode())
    assert state == "binary"
    assert words in reason


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"@@ -1,2 +1,3 @@ def f():\n a\n+b\n c", "modified"),
        (b"@@ -1,2 +1,3 @@ def f():\n a\n+b\n c\n", "modified"),
        (b"@@ -0,0 +1 @@\n+b", "added"),
        (b"@@ -1 +0,0 @@\n-b\n\\ No newline at end of file", "deleted"),
    ],
)
def test_a_fragment_is_read_with_the_name_that_came_with_it(data: bytes, status: str) -> None:
    change = parse_fragment(data, 'odd "name\udcff.py')
    assert [(file.path, file.language, file.status) for file in change.files] == [
        ('"odd \\"name\\377.py"', "python", status)
    ]
    assert change.parsed[0].state == "read"


@pytest.mark.parametrize(
    ("data", "state"),
    [
        (b"", "partial"),
        (b"@@ -1,5 +1,5 @@\n a\n-b\n+c", "partial"),
        (b"@@ -1 +1 @@\n-a\n+b\n+c", "malformed"),
        (b"+b", "malformed"),
        (b"@@ -1 +1 @@\n-a\n+b\n" + DIFF, "malformed"),
        (b"words", "partial"),
    ],
)
def test_a_fragment_that_is_no_whole_patch_is_never_reviewed(data: bytes, state: str) -> None:
    assert [each.state for each in parse_fragment(data, "a.py").parsed] == [state]


def test_a_fragment_with_a_dangerous_name_is_refused() -> None:
    assert parse_fragment(b"@@ -1 +1 @@\n-a\n+b", ".git/config").parsed[0].state == "refused"
    assert parse_fragment(b"@@ -1 +1 @@\n-a\n+b", "").parsed[0].reason == "the name is empty"


def test_a_fragment_knows_nothing_of_headers_within() -> None:
    assert parse_fragment(b"rename from a\nrename to b\n@@ -1 +1 @@\n-a\n+b", "a.py").parsed[0].state == "malformed"


def test_a_commit_that_mercurial_exported_is_refused() -> None:
    with pytest.raises(DiffError, match="message is not part of the change"):
        parse_diff(b"# HG changeset patch\n# User a\n\n" + DIFF)


def test_words_of_a_mail_below_the_first_file_are_content() -> None:
    assert found(DIFF + b"From: a\nSubject: b\n")[0][1] == "read"
