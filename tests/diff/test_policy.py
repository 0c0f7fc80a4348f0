"""Which names are refused, and that harmless odd ones are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.diff.policy import refusal

GIT = "the name lies in git's own folder"
OUT = "the name leads out of the repository"
ABSOLUTE = "the name is absolute"
DRIVE = "the name begins with a drive letter"


@pytest.mark.parametrize(
    "name",
    [
        "a.py",
        "a b/c d.py",
        "new\nline.py",
        "back\\slash.py",
        'quo"te.py',
        "...",
        "..a/b..",
        "a/./b",
        ".github/workflows/ci.yml",
        ".gitignore",
        ".gitmodules",
        "x.git/config",
        "git/x",
        "git~/x",
        "digit~1",
        "-rf",
        "+x",
        "@@",
        "caf\u00e9.py",
        "\udcff.py",
        "\u05e9\u05dc\u05d5\u05dd.py",
        "\U0001f468\u200d\U0001f469.md",
        "dev/null",
        "ab:c",
    ],
)
def test_a_harmless_name_passes(name: str) -> None:
    assert refusal(name) is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "the name is empty"),
        ("a\0b", "the name holds a NUL byte"),
        ("a" * 4097, "the name is longer than 4096 bytes"),
        ("/etc/passwd", ABSOLUTE),
        ("\\\\server\\share", ABSOLUTE),
        ("\\x", ABSOLUTE),
        ("C:\\x", DRIVE),
        ("c:x", DRIVE),
        ("..", OUT),
        ("a/../b", OUT),
        ("a/..", OUT),
        ("a\\..\\b", OUT),
        (".git", GIT),
        (".git/hooks/pre-commit", GIT),
        ("x/.GIT/config", GIT),
        ("x\\.git\\config", GIT),
        (".git\u200c/config", GIT),
        (".g\u200bit/config", GIT),
        ("\ufeff.git/config", GIT),
        (".gi\u00adt/config", GIT),
        (".git\ufe0f/config", GIT),
        (".git\U000e0041/config", GIT),
        (".git\u3164/x", GIT),
        (".git. ./config", GIT),
        (".git ", GIT),
        (".git::$INDEX_ALLOCATION/config", GIT),
        ("git~1/config", GIT),
        ("GIT~2", GIT),
        ("\uff0egit/config", GIT),
    ],
)
def test_a_dangerous_name_is_refused_with_its_reason(name: str, reason: str) -> None:
    assert refusal(name) == reason


@given(st.text(st.sampled_from("abcgitxyz019 ._+@-"), min_size=1, max_size=12))
def test_plain_ascii_parts_are_refused_for_git_or_dots_only(part: str) -> None:
    plain = part.rstrip(". ")
    dangerous = part == ".." or plain == ".git"
    assert (refusal(f"src/{part}") is not None) == dangerous


@given(st.text())
def test_any_text_gets_an_answer(name: str) -> None:
    refusal(name.encode("utf-8", "replace").decode("utf-8"))
