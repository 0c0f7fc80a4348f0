"""Quoting, labels, and the splitting of git's lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.diff.parser import file_names

if TYPE_CHECKING:
    from collections.abc import Callable

EMPTY = b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
NAMES = st.binary(min_size=1, max_size=40) | st.text(min_size=1).map(lambda text: text.encode("utf-8", "replace"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (rb'"a b"', b"a b"),
        (rb'"caf\303\251"', b"caf\xc3\xa9"),
        (rb'"\a\b\t\n\v\f\r\"\\"', b'\a\b\t\n\v\f\r"\\'),
        (rb'""', b""),
    ],
)
def test_a_quoted_name_is_read_as_git_wrote_it(text: bytes, value: bytes) -> None:
    assert file_names.unquote(text) == (value, b"")


def test_what_follows_the_quotes_is_given_back() -> None:
    assert file_names.unquote(b'"a" "b"') == (b"a", b' "b"')


@pytest.mark.parametrize("text", [b'"a', b"a", rb'"\x41"', rb'"\400"', rb'"\30"', b'"\\'])
def test_bad_quotes_are_no_name(text: bytes) -> None:
    assert file_names.unquote(text) is None


@given(NAMES)
def test_quoting_and_unquoting_give_the_name_back(name: bytes) -> None:
    assert file_names.unquote(file_names.quote(name).encode("ascii")) == (name, b"")


@given(NAMES)
def test_a_label_is_valid_text_and_stands_for_one_name(name: bytes) -> None:
    label = file_names.label(name)
    label.encode("utf-8")
    assert file_names.to_bytes(label) == name


@given(NAMES, NAMES)
def test_two_names_never_share_a_label(one: bytes, other: bytes) -> None:
    assert (file_names.label(one) == file_names.label(other)) == (one == other)


@given(NAMES)
def test_the_exact_name_is_what_a_file_system_takes(name: bytes) -> None:
    assert file_names.exact(file_names.label(name)).encode("utf-8", "surrogateescape") == name


@pytest.mark.parametrize(
    ("name", "label"),
    [
        (b"a/b.py", "a/b.py"),
        ("caf\u00e9".encode(), "caf\u00e9"),
        (b"new\nline", "new\nline"),
        (b'in"side', 'in"side'),
        (b'"begins', r'"\"begins"'),
        (b"\xff", r'"\377"'),
    ],
)
def test_only_names_that_need_it_are_quoted(name: bytes, label: str) -> None:
    assert file_names.label(name) == label


@pytest.mark.parametrize("text", ['"', '"a" b', '"\\x"'])
def test_a_text_that_is_no_label_stands_for_itself(text: str) -> None:
    assert file_names.to_bytes(text) == text.encode()


def test_a_surrogate_that_stands_for_no_byte_does_no_harm() -> None:
    assert file_names.exact("a\ud800") == "a\udced\udca0\udc80"
    assert file_names.label(file_names.encode("a\ud800")) == r'"a\355\240\200"'


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (b"a/x b\t", b"a/x b"),
        (b"a/x\t2020-01-01 00:00:00", b"a/x"),
        (b"a/trail ", b"a/trail "),
        (rb'"a/\t"', b"a/\t"),
        (b'"a/x"\t2020', b"a/x"),
        (b'"a/x" y', None),
        (b'"a/x', None),
    ],
)
def test_the_name_of_a_title_line_ends_at_a_tab(text: bytes, name: bytes | None) -> None:
    assert file_names.read_name(text) == name


@pytest.mark.parametrize(("text", "name"), [(b"a\tb", b"a\tb"), (b'"a"', b"a"), (b'"a"x', None), (b'"a', None)])
def test_a_name_that_fills_its_line_has_nothing_behind_it(text: bytes, name: bytes | None) -> None:
    assert file_names.whole(text) == name


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        (b"a/x b/x", (b"a/x", b"b/x")),
        (b"a/x b/x b/x b/x", (b"a/x b/x", b"b/x b/x")),
        (b"a/x b/y.py b/x b/y.py", (b"a/x b/y.py", b"b/x b/y.py")),
        (rb'"a/\303\251" "b/\303\251"', (b"a/\xc3\xa9", b"b/\xc3\xa9")),
        (rb'a/x "b/\303\251"', (b"a/x", b"b/\xc3\xa9")),
        (rb'"a/\303\251" b/x', (b"a/\xc3\xa9", b"b/x")),
        (b"a/xx b/x", None),
        (b"a/x-b/x", None),
        (b"", None),
        (b'"a/x"b/x', None),
        (b'"a/x', None),
        (b'"a/x" "b', None),
        (b'x"', None),
        (b'a/x "b"c"', None),
    ],
)
def test_the_two_names_of_a_git_line_are_told_apart(text: bytes, pair: tuple[bytes, bytes] | None) -> None:
    assert file_names.split_git_line(text) == pair


@pytest.mark.parametrize(
    ("text", "old", "new", "joins"),
    [
        (b"a/old.py b/new.py", b"old.py", b"new.py", True),
        (b"old.py new.py", b"old.py", b"new.py", True),
        (b"i/old w/new", b"old", b"new", True),
        (b"a/x b/y b/x b/z", b"x b/y", b"x b/z", True),
        (b"a/a/x b/b/x", b"a/x", b"b/x", True),
        (b"a/x b/x", b"a/x", b"b/x", True),
        (rb'a/x "b/\303\251"', b"x", b"\xc3\xa9", True),
        (b"a/dir/old b/new", b"old", b"new", False),
        (b"a/old b/dir/new", b"old", b"new", False),
        (b"a/old b/new", b"old", b"other", False),
        (b"a/old b/new", b"other", b"new", False),
        (b"new", b"old", b"new", False),
        (rb'"a/x', b"x", b"x", False),
    ],
)
def test_a_rename_must_fit_its_git_line(text: bytes, old: bytes, new: bytes, joins: bool) -> None:  # noqa: FBT001 - a table
    assert file_names.joins(text, old, new) is joins


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        (b"a/x", b"b/x", b"x"),
        (b"i/x", b"w/x", b"x"),
        (b"old/x", b"newer/x", b"x"),
        (b"a/b.py", b"a/b.py", b"a/b.py"),
        (b"a/x", b"b/y", None),
        (b"a/", b"b/", None),
        (b"x", b"y", None),
    ],
)
def test_prefixes_are_what_the_two_sides_do_not_share(old: bytes, new: bytes, name: bytes | None) -> None:
    assert file_names.common(old, new) == name


def test_our_quotes_are_those_of_git(git: Callable[..., bytes]) -> None:
    name = bytes(byte for byte in range(1, 256) if byte != ord("/"))
    git("-c", "core.quotePath=true", "update-index", "--add", "--cacheinfo", b"100644," + EMPTY + b"," + name)
    assert git("ls-files").rstrip(b"\n") == file_names.quote(name).encode("ascii")
