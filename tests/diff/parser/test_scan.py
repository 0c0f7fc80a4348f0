"""The state machine between the hunks: what is swallowed, what is a sign, and where reading goes on."""

from __future__ import annotations

import pytest

from reviewbot.diff.parse import parse_diff
from reviewbot.domain.errors import DiffError

GOOD = b"diff --git a/good.py b/good.py\nindex 1..2 100644\n--- a/good.py\n+++ b/good.py\n@@ -1 +1 @@\n-a\n+b\n"
HEAD = b"diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n"


def found(data: bytes) -> list[tuple[str, str]]:
    return [(each.path, each.state) for each in parse_diff(data).parsed]


def reason(data: bytes, at: int = 0) -> str:
    return parse_diff(data).parsed[at].reason


def around(middle: bytes) -> list[tuple[str, str]]:
    """What becomes of a broken section between two good ones, which must not be hurt."""
    ends = found(GOOD + middle + GOOD)
    assert ends[0] == ends[-1] == ("good.py", "read")
    return ends[1:-1]


@pytest.mark.parametrize(
    ("hunk", "why"),
    [
        (b"@@ -1 +1 @@\n-a\n+b\n+c\n", "line 15 of the diff: a changed line stands outside every hunk"),
        (b"@@ -1 +1 @@\n-a\n+b\n-c\n", "line 15 of the diff: a changed line stands outside every hunk"),
        (b"@@ -1 +1 @@\n-a\n+b\n c\n", "line 15 of the diff: a hunk has more lines than its header says"),
        (b"@@ -1 +1 @@\n-a\n+b\n\x1b[32m+c\n", "line 15 of the diff: a changed line stands outside every hunk"),
        (
            b"@@ -1 +1 @@\n-a\n+b\n\n\\ No newline\n",
            "line 16 of the diff: a missing newline is noted outside every hunk",
        ),
        (b"@@ -1,2 +1,2 @@\n-a\n+b\n", "line 15 of the diff: 'd' marks no line of a hunk, or the hunk is too short"),
        (b"@@ -1,2 +1,2 @@\n-a\n*b\n", "line 14 of the diff: '*' marks no line of a hunk, or the hunk is too short"),
        (
            b"@@ -1 +1 @@\n\\ x\n-a\n+b\n",
            "line 13 of the diff: '\\\\' marks no line of a hunk, or the hunk is too short",
        ),
        (b"@@ -1,2 +1 @@\n-a\n a\n+b\n", "line 15 of the diff: a changed line stands outside every hunk"),
        (
            b"@@ -1,2 +1 @@\n+b\n a\n",
            "line 14 of the diff: the lines of the hunk do not add up to the counts in its header",
        ),
        (b"@@ -1,2 +1,2 @@\n a\n b\n", "line 12 of the diff: the hunk changes nothing"),
        (b"@@ -1 +1 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n", "line 15 of the diff: the hunks overlap or are out of order"),
        (b"@@ -5 +5 @@\n-a\n+b\n@@ -9 +4 @@\n-a\n+b\n", "line 15 of the diff: the hunks overlap or are out of order"),
        (b"@@ -5,0 +5 @@\n+b\n@@ -5 +6,0 @@\n-b\n", "line 14 of the diff: the hunks overlap or are out of order"),
        (b"@@ -1,2 +1 @@\n-a\n\\ No\n-b\n+c\n", "line 12 of the diff: a line follows the one that has no newline"),
        (
            b"@@ -1 +1 @@\n-a\n+b\n\\ No newline\n@@ -5 +5 @@\n-a\n+b\n",
            "line 16 of the diff: a hunk follows the line that has no newline",
        ),
        (b"@@ -0,0 +0,0 @@\n", "line 12 of the diff: the hunk header cannot be read"),
        (b"@@ -0 +1 @@\n-a\n+b\n", "line 12 of the diff: the hunk header cannot be read"),
        (b"@@ -1 +0 @@\n-a\n+b\n", "line 12 of the diff: the hunk header cannot be read"),
        (b"@@ -1234567890 +1 @@\n-a\n+b\n", "line 12 of the diff: the hunk header cannot be read"),
        ("@@ -\u0661 +1 @@\n-a\n+b\n".encode(), "line 12 of the diff: the hunk header cannot be read"),
        (b"@@ -1,3 +1,4\n-a\n+b\n", "line 12 of the diff: the hunk header cannot be read"),
        (b"@@@ -1 -1 +1 @@@\n--a\n", "line 12 of the diff: the hunk header cannot be read"),
        (b"@ -1 +1 @@\n-a\n+b\n", "line 13 of the diff: a changed line stands outside every hunk"),
        (b"", "no hunk follows its names"),
    ],
)
def test_wrong_counts_and_stray_lines_make_their_file_malformed(hunk: bytes, why: str) -> None:
    section = HEAD + hunk
    assert around(section) == [("f", "malformed")]
    assert reason(GOOD + section + GOOD, 1) == why
    file = parse_diff(GOOD + section + GOOD).files[1]
    assert (file.hunks, file.added, file.removed) == ((), 0, 0)


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (b"old mode 100644\nnew mode 100755\nindex 1..2\n--- a/f\n+++ b/f\n", "no hunk follows its names"),
        (b"index 1..1\nnew mode 100644\n", "one of its two modes is missing"),
        (b"new file mode 10064x\n", "line 2 of the diff: this is no file mode"),
        (
            b"old mode 100644\nold mode 100644\nnew mode 100755\n",
            "line 3 of the diff: a header line stands there twice",
        ),
        (b"rename from g\nrename from g\nrename to f\n", "line 3 of the diff: a header line stands there twice"),
        (b"index zzz\n", "line 2 of the diff: the index line cannot be read"),
        (b"new file mode 100644\ndeleted file mode 100644\n", "it is said to be added, deleted or renamed at once"),
        (b"rename from g\n", "one of the two names of a rename is missing"),
        (b"rename from f\nrename to f\n", "the lines that name the file disagree"),
        (b"rename from q\nrename to f\n", "the lines that name the file disagree"),
        (b'rename from "q\nrename to f\n', "a quoted file name cannot be read"),
        (b'--- "a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n', "a quoted file name cannot be read"),
        (b"@@ -1 +1 @@\n-a\n+b\n", "line 2 of the diff: a hunk stands there without file names"),
        (
            b"Binary files a/f and b/f differ\n@@ -1 +1 @@\n-a\n+b\n",
            "line 3 of the diff: a hunk stands there without file names",
        ),
        (b"--- a/f\n", "line 2 of the diff: a changed line stands outside every hunk"),
        (b"+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "line 2 of the diff: a changed line stands outside every hunk"),
        (b"new file mode 100644\n--- /dev/null\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "a new file has lines of an old one"),
        (
            b"deleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n",
            "a deleted file has lines of a new one",
        ),
        (b"new file mode 100644\n--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+b\n", "the lines that name the file disagree"),
        (b"--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+b\n", "the lines that name the file disagree"),
        (b"--- a/g\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "the lines that name the file disagree"),
        (
            b"--- a/f\n+++ b/" + b"g" * 9000 + b"\n",
            "line 3 of the diff: a header line is longer than any that git writes",
        ),
        (b"x" * 9000 + b"\n", "line 2 of the diff: a header line is longer than any that git writes"),
    ],
)
def test_a_header_that_is_wrong_makes_its_file_malformed(header: bytes, why: str) -> None:
    section = b"diff --git a/f b/f\n" + header
    assert {state for _, state in found(section + GOOD)} == {"malformed", "read"}
    assert found(section + GOOD)[-1] == ("good.py", "read")
    assert reason(section + GOOD) == why


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"index 1111..2222 100644\n",
        b"new file mode 100644\nindex 0000..5fa4183\n",
        b"new file mode 100644\nindex 0000..e69\n",
        b"deleted file mode 100644\nindex 5fa4183..0000000\n",
        b"similarity index 90%\nrename from g\nrename to f\nindex 1111..2222 100644\n",
    ],
)
def test_a_file_whose_lines_git_was_told_to_leave_out_is_partial(header: bytes) -> None:
    section = b"diff --git a/f b/f\n".replace(b"a/f", b"a/g" if b"rename" in header else b"a/f") + header
    assert around(section) == [("f", "partial")]
    assert reason(section + GOOD) == "the diff names this file and shows no line of its change"


def test_the_reason_says_where_the_first_fault_is() -> None:
    assert reason(HEAD + b"@@ -1 +1 @@\n-a\n+b\n+c\n+d\n" + GOOD) == (
        "line 8 of the diff: a changed line stands outside every hunk"
    )


@pytest.mark.parametrize("spoiled", [b"diff -git a/f b/f\n", b"dif --git a/f b/f\n", b"x" * 9000 + b"\n", b""])
def test_a_section_without_its_first_line_is_named_by_what_is_left(spoiled: bytes) -> None:
    rest = b"similarity index 90%\nrename from e\nrename to f\nindex 1..2 100644\n"
    assert ("f", "malformed") in around(spoiled + rest)
    assert around(spoiled + b"old mode 100644\nnew mode 100755\n")[-1][1] == "malformed"


@pytest.mark.parametrize(
    "orphan", [b"+x\n", b"@@ -1 +1 @@\n-a\n+b\n", b"GIT binary patch\nliteral 5\n", b"@@ x\n", b"- \n"]
)
def test_changed_lines_above_every_file_are_named(orphan: bytes) -> None:
    assert found(orphan + GOOD) == [("(unnamed section at line 1 of the diff)", "malformed"), ("good.py", "read")]


def test_a_new_name_above_every_file_is_used() -> None:
    assert found(b"+++ b/f\n@@ -1 +1 @@\n-a\n+b\n" + GOOD) == [("f", "malformed"), ("good.py", "read")]


PLAIN = b"--- a/p.py\n+++ b/p.py\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    "hunk",
    [
        b"@@ -1,9 +1,9 @@\n-a\n+b\n",
        b"@@ -1,2 +1 @@\n-a\n+b\n",
        b"@@ -1 +1,2 @@\n-a\n+b\n",
        b"@@ -1,2 +1,2 @@\n-a\n+b\n",
        b"@@ -1 +1 @@\n-a\n+b\n+c\n",
        b"@@ -1,3 +1,2 @@\n-a\n+b\n",
    ],
)
def test_a_hunk_that_swallows_the_next_names_gives_them_back(hunk: bytes) -> None:
    data = b"--- a/f\n+++ b/f\n" + hunk + PLAIN
    assert found(data) == [("f", "malformed"), ("p.py", "read")]


@pytest.mark.parametrize("new", [b"+++", b"+++ ", b"+++\r", b"+++\tp", b"++++ p"])
@pytest.mark.parametrize("old", [b"---", b"--- ", b"--- p", b"---\r", b"---- p"])
@pytest.mark.parametrize("above", [b"", HEAD, PLAIN, b"--- a/f\n+++ b/f\n@@ -1,2 +0,0 @@\n-a\n", HEAD + b"@@ x\n-a\n"])
def test_half_a_name_never_stops_the_reading(above: bytes, old: bytes, new: bytes) -> None:
    data = above + old + b"\n" + new + b"\n@@ -1 +1 @@\n-a\n+b\n"
    assert found(data + GOOD)[-1] == ("good.py", "read")
    assert "malformed" in [state for _, state in found(data + GOOD)] or (old, new) == (b"--- p", b"+++ p")


def test_names_without_a_hunk_do_not_hide_stray_lines() -> None:
    assert found(PLAIN + b"--- x\n+++ eval\n" + GOOD) == [
        ("p.py", "malformed"),
        ("eval", "malformed"),
        ("good.py", "read"),
    ]


def test_stray_names_in_a_broken_part_are_passed_over() -> None:
    assert found(HEAD + b"@@ x\n-a\n--- x\n+++ y\n+b\n" + GOOD) == [("f", "malformed"), ("good.py", "read")]


def test_a_hunk_of_git_may_end_in_lines_that_look_like_names() -> None:
    data = HEAD + b"@@ -1 +1 @@\n--- x\n+++ y\n@@ -9 +9 @@\n-a\n+b\n"
    assert found(data) == [("f", "read")]
    assert [hunk.body for hunk in parse_diff(data).files[0].hunks] == ["--- x\n+++ y", "-a\n+b"]


@pytest.mark.parametrize(
    "text",
    [
        b"\n\n",
        b"some words\n",
        b" src/f.py | 2 +-\n 1 file changed\n\n",
        b"commit " + b"1" * 40 + b"\nAuthor: a\n\n    -- message\n    +x\n\n",
        b"---\n",
        b":100644 100644 1111 2222 M\tf\n\n",
        b"new things are old news: copy and rename, index and similarity\n",
        b"Only Binary files Submodule diff of GIT Cannot Property ## * commit\n",
        b"Only in the beginning\nBinary files\nSubmodule x\nProperty changes on: x\n",
        b"* Unmerged\ndiff x\ncommit x\n## a ##\n",
        b"y" * 9000 + b"\n",
    ],
)
def test_words_above_the_first_file_change_nothing(text: bytes) -> None:
    assert found(text + GOOD) == [("good.py", "read")]


def test_a_signature_ends_the_diff() -> None:
    assert found(GOOD + b"-- \n2.39.5\n\n") == [("good.py", "read")]
    assert found(GOOD + b"-- \nnot a version\n") == [("good.py", "malformed")]
    assert found(GOOD + b"-- \n2.39.5\n" + GOOD)[0] == ("good.py", "malformed")


def test_a_diff_that_ends_in_a_hunk_keeps_what_came() -> None:
    data = HEAD + b"@@ -1,3 +1,4 @@\n a\n+b\n+c\n"
    file = parse_diff(data).files[0]
    assert reason(data) == "the diff ends inside a hunk, at its line 8"
    assert found(data) == [("f", "partial")]
    assert (file.hunks[0].old_count, file.hunks[0].new_count, file.added, file.hunks[0].body) == (1, 3, 2, " a\n+b\n+c")


def test_a_last_row_without_its_newline_may_be_cut_and_is_dropped() -> None:
    file = parse_diff(HEAD + b"@@ -1,3 +1,4 @@\n a\n+b\n+import o").files[0]
    assert file.hunks[0].body == " a\n+b"


def test_a_hunk_cut_before_its_first_change_leaves_nothing() -> None:
    data = HEAD + b"@@ -1 +1 @@\n-a\n+b\n@@ -9,3 +9,4 @@\n a\n"
    assert found(data) == [("f", "partial")]
    assert len(parse_diff(data).files[0].hunks) == 1


@pytest.mark.parametrize(
    "end",
    [
        b"diff --git a/f b/f",
        b"diff --git a/f b/f\n",
        b"diff --git a/f b/f\nold mode 100644\n",
        b"diff --git a/f b/f\nindex 1111..2222 100644\n",
        b"diff --git a/f b/f\nindex 1111..2222 100644\n--- a/f\n",
        b"diff --git a/f b/f\nindex 1111..2222 100644\n--- a/f\n+++",
        HEAD,
        HEAD[:-2],
        HEAD.replace(b"--- a/f\n+++ b/f\n", b"--- a/"),
    ],
)
def test_a_diff_that_ends_in_a_header_names_the_file(end: bytes) -> None:
    assert found(GOOD + end) == [("good.py", "read"), ("f", "partial")]
    assert reason(GOOD + end, 1) == "the diff ends inside the header of this file"


def test_the_limit_of_a_diff_line_holds_for_all_that_begin_a_file() -> None:
    for begin in (b"diff --git ", b"Index: "):
        assert found(begin + b"x" * 9000 + b"\n" + GOOD)[0][1] == "malformed"


@pytest.mark.parametrize("line", [b"+", b"-", b"@"])
def test_a_long_stray_line_is_a_sign_as_well(line: bytes) -> None:
    assert found(GOOD + line + b"x" * 9000 + b"\n") == [("good.py", "malformed")]


def test_subversion_is_read_with_its_properties_named() -> None:
    head = b"Index: trunk/a b.py\n" + b"=" * 67 + b"\n"
    names = b"--- trunk/a b.py\t(revision 1)\n+++ trunk/a b.py\t(working copy)\n"
    hunk = b"@@ -1 +1 @@\n-a\n+b\n"
    props = b"\nProperty changes on: trunk/a b.py\n___\nAdded: svn:executable\n## -0,0 +1 ##\n+*\n\\ No newline\n"
    assert found(head + names + hunk) == [("trunk/a b.py", "read")]
    assert found(head + names + hunk + props) == [("trunk/a b.py", "partial")]
    assert found(head + names + props) == [("trunk/a b.py", "partial")]
    assert found(head + names + hunk + props.replace(b"+1 ##", b"+1,5 ##")) == [("trunk/a b.py", "malformed")]
    assert found(head + names + hunk + props.replace(b"## -0", b"## 0")) == [("trunk/a b.py", "malformed")]
    assert found(head + b"Cannot display: file marked as a binary type.\n") == [("trunk/a b.py", "binary")]
    assert found(head + names.replace(b"trunk/", b"x/") + hunk) == [("x/a b.py", "malformed")]
    assert found(head + names.replace(b"trunk/", b"") + hunk) == [("a b.py", "read")]
    assert found(head) == [("trunk/a b.py", "partial")]


def test_quilt_is_read() -> None:
    rest = b"@@ -1 +1 @@\n-a\n+b\n"
    for title, old, new in ((b"p/f", b"a/f", b"b/f"), (b"p/f", b"p.orig/f", b"p/f"), (b"b/f", b"a/f", b"b/f")):
        assert found(b"Index: " + title + b"\n===\n--- " + old + b"\n+++ " + new + b"\n" + rest) == [("f", "read")]


def test_cvs_and_mercurial_are_read() -> None:
    cvs = b"Index: a.c\n===\nRCS file: /r/a.c,v\ndiff -u -r1.1 -r1.2\n--- a.c\t1 Jan\n+++ a.c\t2 Jan\n"
    assert found(cvs + b"@@ -1 +1 @@\n-a\n+b\n") == [("a.c", "read")]
    plain = b"diff -r 12ab34 -r 56cd78 a.py\n--- a/a.py\tThu Jan 01\n+++ b/a.py\tFri Jan 02\n@@ -1 +1 @@\n-a\n+b\n"
    binary = b"diff -r 12ab34 x.png\nBinary file x.png has changed\n"
    assert found(plain + binary) == [("a.py", "read"), ("x.png", "binary")]


def test_plain_binary_files_are_named_after_a_broken_one() -> None:
    data = b"--- a/f\n+++ b/f\n@@ x\n-a\nBinary files a/x y.png and b/x y.png differ\n"
    assert found(data) == [("f", "malformed"), ("x y.png", "binary")]


def test_binary_words_in_a_broken_git_section_name_no_other_file() -> None:
    data = b"diff --git a/f b/f\nindex zzz\nBinary files a/f and b/f differ\n"
    assert found(data + GOOD) == [("f", "malformed"), ("good.py", "read")]


def test_two_binary_lines_are_two_files() -> None:
    data = b"Binary files a/x and b/x differ\nBinary files a/y and /dev/null differ\n"
    assert found(data) == [("x", "binary"), ("y", "binary")]
    assert [file.status for file in parse_diff(data).files] == ["modified", "modified"]


def test_a_diff_in_colour_is_refused_only_where_nothing_was_read() -> None:
    with pytest.raises(DiffError, match="coloured"):
        parse_diff(b"\x1b[1mdiff --git a/f b/f\x1b[m\n")
