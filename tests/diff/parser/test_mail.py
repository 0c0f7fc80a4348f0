"""Mails of patches: their headers, encodings and signatures, and what tells a message from a change."""

from __future__ import annotations

import base64
import quopri

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.diff.parse import parse_diff
from reviewbot.diff.parser.mail import MAX_MAILS, MAX_MULTIPART_BYTES, description_of, read_mails, title_of
from reviewbot.domain.errors import DiffError

PATCH = b"diff --git a/app.py b/app.py\n--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n import os\n-x = 1\n+x = 'a=b'\n"
OTHER = PATCH.replace(b"app.py", b"lib.py")
STAT = b"---\n app.py | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n"
SIGNATURE = b"-- \n2.39.5\n\n"
FROM = b"From " + b"1" * 40 + b" Mon Sep 17 00:00:00 2001\n"


def mail(
    subject: bytes = b"[PATCH] Say it",
    *,
    message: bytes = b"",
    patch: bytes = PATCH,
    headers: bytes = b"",
    start: bytes = FROM,
) -> bytes:
    body = message + STAT + patch + SIGNATURE
    return (
        start
        + b"From: A <a@example.invalid>\nDate: Thu, 1 Jan 2026 00:00:00 +0000\nSubject: "
        + subject
        + b"\n"
        + headers
        + b"\n"
        + body
    )


def encoded(kind: str, body: bytes) -> bytes:
    headers = f"Content-Transfer-Encoding: {kind}\nContent-Type: text/plain; charset=utf-8\n\n".encode()
    return b"From: a@example.invalid\nSubject: [PATCH] Say it\n" + headers + body


def rows(data: bytes) -> list[tuple[str, str, list[str]]]:
    change = parse_diff(data)
    states = [each.state for each in change.parsed]
    assert len(states) == len(change.files)
    return [
        (file.path, state, [hunk.body for hunk in file.hunks]) for file, state in zip(change.files, states, strict=True)
    ]


def test_a_mail_gives_title_description_and_the_files_of_its_patch() -> None:
    change = parse_diff(mail(message=b"Why it is so.\n\nSigned-off-by: A <a@example.invalid>\n"))

    assert change.title == "Say it"
    assert change.description == "Why it is so.\n\nSigned-off-by: A <a@example.invalid>"
    assert (change.files, change.parsed) == (parse_diff(PATCH).files, parse_diff(PATCH).parsed)


@pytest.mark.parametrize(
    "start", [FROM, b"", b"\n\n" + FROM, b"From a@b.invalid Thu Jan  1 00:00:00 2026\n", b"\xef\xbb\xbf" + FROM]
)
def test_a_mail_may_begin_with_a_line_of_a_mailbox_or_with_its_headers(start: bytes) -> None:
    assert rows(mail(start=start)) == rows(PATCH)


def test_a_mail_with_ends_of_lines_of_the_internet_is_read_alike() -> None:
    assert rows(mail().replace(b"\n", b"\r\n")) == rows(PATCH)


@pytest.mark.parametrize(
    ("subject", "title"),
    [
        (b"[PATCH] Say it", "Say it"),
        (b"Re: [PATCH v2 net-next] [x] Say it", "Say it"),
        (b"Say [it]", "Say [it]"),
        (b"[PATCH] =?UTF-8?q?Gr=C3=B6=C3=9Fe?=\n =?UTF-8?q?_=C3=A4ndern?=", "Größe ändern"),
        (b"[PATCH] a long\n subject\n\tin three", "a long subject in three"),
        (b"=?nonsense?q?x?=", "=?nonsense?q?x?="),
        (b"[PATCH] " + b"x" * 400, "x" * 300),
        (b"", ""),
    ],
)
def test_a_subject_is_decoded_and_without_its_tags(subject: bytes, title: str) -> None:
    assert parse_diff(mail(subject)).title == title


def test_bodies_in_base64_and_quoted_printable_are_decoded() -> None:
    body = b"Gr\xc3\xb6\xc3\x9fe = 1\n" + STAT + PATCH + SIGNATURE

    for data in (
        encoded("base64", base64.encodebytes(body)),
        encoded("Base64", base64.encodebytes(body.replace(b"\n", b"\r\n"))),
        encoded("quoted-printable", quopri.encodestring(body)),
    ):
        change = parse_diff(data)
        assert rows(data) == rows(PATCH)
        assert change.description == "Größe = 1"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (encoded("base64", STAT + PATCH), "says that it is base64 and is not"),
        (encoded("base64", b"QUJ\n"), "cut off or damaged"),
        (encoded("quoted-printable", STAT + PATCH), "says that it is quoted-printable and is not"),
        (mail(message=STAT + OTHER), "not clear where the message"),
        (mail(message=OTHER), "not clear where the message"),
        (mail(message=b"Index: x\n"), "not clear where the message"),
        (mail() * 2, "not numbered in their order"),
        (mail(b"[PATCH 1/2] a") + mail(b"b", patch=OTHER), "not numbered in their order"),
        (mail(b"[PATCH 2/2] a") + mail(b"[PATCH 1/2] b", patch=OTHER), "not numbered in their order"),
        (mail(b"[PATCH 1/3] a") + mail(b"[PATCH 3/3] b", patch=OTHER), "not numbered in their order"),
        (mail(b"[PATCH 2/2] a") + mail(b"[PATCH 3/2] b", patch=OTHER), "not numbered in their order"),
        (mail().replace(STAT, b""), "not clear where the message"),
        (mail(b"[PATCH 0/1] nothing", patch=b""), "holds only white space"),
        (mail() * (MAX_MAILS + 1), "more than 1000 mails"),
    ],
)
def test_what_cannot_be_told_from_a_change_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(DiffError, match=words):
        parse_diff(data)


def test_a_fake_hunk_cannot_hide_the_line_that_ends_the_message() -> None:
    swallowing = b"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,4 +1,3 @@\n"

    with pytest.raises(DiffError, match="not clear where the message"):
        parse_diff(mail(message=swallowing))


def test_a_removed_line_that_looks_like_the_end_of_a_message_is_one_row() -> None:
    comment = b"diff --git a/q.sql b/q.sql\n--- a/q.sql\n+++ b/q.sql\n@@ -1,3 +1,2 @@\n---\n select 1;\n \n"

    assert [path for path, _, _ in rows(mail(patch=comment + PATCH))] == ["q.sql", "app.py"]


def test_words_below_the_signature_of_a_list_of_mails_cost_no_file_anything() -> None:
    footer = b"-- \nlist mailing list\n--------\n+ more\n"

    assert rows(mail() + footer) == rows(PATCH)
    assert [path for path, _, _ in rows(mail() + footer + OTHER)] == ["app.py", "lib.py"]


@pytest.mark.parametrize(
    "notes", [b"---\n- v2: better\n\n" + STAT, STAT.replace(b" app", b"- v2: better\n\n app", 1), b"---\n"]
)
def test_notes_between_the_message_and_the_patch_are_neither(notes: bytes) -> None:
    change = parse_diff(mail(message=b"Why.\n").replace(STAT, notes))

    assert change.description == "Why."
    assert [file.path for file in change.files] == ["app.py"]


def test_a_series_has_its_cover_letter_or_its_first_subject_for_a_title() -> None:
    one, two = mail(b"[PATCH 1/2] One", message=b"First.\n"), mail(b"[PATCH 2/2] Two", patch=OTHER)
    cover = mail(b"[PATCH 0/2] All of it", message=b"A plan.\n", patch=b"")

    assert parse_diff(one + two).title == "One (and 1 more)"
    assert parse_diff(one + two).description == "One\n\nFirst.\n\nTwo"
    assert parse_diff(cover + one + two).title == "All of it"
    assert [path for path, _, _ in rows(cover + one + two)] == ["app.py", "lib.py"]


def test_a_part_of_a_series_is_read_where_none_is_missing_between() -> None:
    assert len(rows(mail(b"[PATCH 2/9] a") + mail(b"[PATCH 3/9] b", patch=OTHER))) == 2


def test_a_mail_in_several_parts_is_read_without_what_is_no_text() -> None:
    head = b"From: a\nSubject: [PATCH] s\nContent-Type: multipart/mixed; boundary=B\n\n"
    parts = b"--B\nContent-Type: text/plain\n\nWhy.\n--B\nContent-Type: text/html\n\n<p>diff -</p>\n"
    patch = (
        b"--B\nContent-Type: text/x-patch\nContent-Transfer-Encoding: base64\n\n"
        + base64.encodebytes(PATCH)
        + b"--B--\n"
    )

    change = parse_diff(head + parts + patch)
    assert (change.description, [file.path for file in change.files]) == ("Why.", ["app.py"])
    with pytest.raises(DiffError, match="several parts has more than 16 MiB"):
        parse_diff(head + parts + b"x" * MAX_MULTIPART_BYTES)


@pytest.mark.slow
def test_a_mail_whose_parts_cannot_be_read_is_refused() -> None:
    head = b"From: a\nSubject: [PATCH] s\n"
    nested = b"".join(b"Content-Type: multipart/mixed; boundary=B%d\n\n--B%d\n" % (n, n) for n in range(3_000))

    with pytest.raises(DiffError, match="parts of the mail cannot be read"):
        parse_diff(head + nested)


def test_a_patch_without_lines_of_git_is_read_in_a_mail_too() -> None:
    assert [path for path, _, _ in rows(mail(patch=PATCH.partition(b"\n")[2]))] == ["app.py"]


def test_what_only_looks_like_a_mail_is_none() -> None:
    assert read_mails([]) is None
    assert read_mails([b"", b" "]) is None
    assert read_mails(PATCH.split(b"\n")) is None
    assert read_mails([b"From: a", b"", b"diff"]) is None
    assert read_mails([b"Subject: a", b"Date: b", b"", b"diff"]) is None
    assert read_mails([b"From the start: x"]) is None


def test_words_that_begin_like_a_mailbox_split_no_message() -> None:
    change = parse_diff(mail(message=b"From here on it holds.\n\nFrom 12:30 on in 2001 too\n"))

    assert change.description == "From here on it holds.\n\nFrom 12:30 on in 2001 too"


PIECES = st.sampled_from(
    [FROM, STAT, PATCH, OTHER, SIGNATURE, b"\n", b"From: a\nSubject: b\n", b"---\n", b"diff --git a/f b/f\n",
     b"@@ -1 +1 @@\n", b"Content-Transfer-Encoding: base64\n", b"text\n", b"-- \n", b"+x\n", b"=\n", b"\r\n",
     b"Subject: [PATCH 1/2] c\nFrom: d\n"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12).map(b"".join))
def test_whatever_stands_in_a_mail_it_is_read_or_refused(data: bytes) -> None:
    try:
        mails = read_mails(data.split(b"\n"))
    except DiffError:
        return
    if mails:
        assert title_of(mails).isprintable()
        assert len(description_of(mails)) <= len(data)
