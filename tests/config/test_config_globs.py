from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.config.globs import MAX_LENGTH, applies, glob_fault, matches_glob


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.py", "a.py"),
        ("*.py", "deep/down/a.py"),
        ("src/*", "src/deep/a.py"),
        ("**/a.py", "a.py"),
        ("**/a.py", "x/y/a.py"),
        ("src/**/a.py", "src/x/y/a.py"),
        ("src/**/a.py", "src/a.py"),
        ("**/src/**/a.py", "src/a.py"),
        ("src/**/*.py", "src/a.py"),
        ("***", "anything/at all"),
        ("?.py", "a.py"),
        ("[ab].py", "b.py"),
        ("a\\b", "a\\b"),
        ("*.py", "line\nbreak.py"),
    ],
)
def test_a_path_of_the_patterns_form_matches(pattern: str, path: str) -> None:
    assert matches_glob(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.py", "a.pyc"),
        ("*.PY", "a.py"),
        ("src/*", "lib/src/a.py"),
        ("**/a.py", "xa.py"),
        ("[!ab].py", "b.py"),
        ("", ""),
    ],
)
def test_a_path_of_another_form_does_not_match(pattern: str, path: str) -> None:
    assert not matches_glob(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("", "is empty"),
        ("a" * (MAX_LENGTH + 1), "is longer than 256 characters"),
        ("a\x1b", "holds a character that cannot be printed"),
        ("a\n", "holds a character that cannot be printed"),
    ],
)
def test_a_pattern_that_nobody_means_is_refused_and_matches_nothing(pattern: str, fault: str) -> None:
    assert glob_fault(pattern) == fault
    assert not matches_glob(pattern, pattern)


@pytest.mark.parametrize(
    "pattern", ["*" * 200 + "a", "*a" * 128, "*?" * 128, "*[ab]" * 51, "**/" * 80, "*a?" * 80, "[" * 256]
)
def test_a_pattern_made_to_back_track_is_answered(pattern: str) -> None:
    # Exponential time would never end here; the runner's own limit is the only clock.
    for path in ("b" * 4096, "a" * 4096 + "b", "a/" * 2048):
        assert isinstance(matches_glob(pattern, path), bool)


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_pattern_and_any_path_get_an_answer(pattern: str, path: str) -> None:
    assert isinstance(matches_glob(pattern, path), bool)


@given(st.text(alphabet="[]!^-&~|:.=\\*?a", min_size=1, max_size=20))
def test_no_pattern_becomes_a_regular_expression_that_warns_or_fails(pattern: str) -> None:
    assert isinstance(matches_glob(pattern, "a"), bool)


@given(st.text(min_size=1, max_size=40).filter(lambda text: text.isprintable() and not set(text) & set("*?[")))
def test_a_pattern_without_wildcards_matches_itself_alone(path: str) -> None:
    assert matches_glob(path, path)
    assert not matches_glob(path, path + "x")


@pytest.mark.parametrize(
    ("globs", "path", "kind"),
    [
        (("@code",), "a.py", "code"),
        (("@prose", "@config"), "a.toml", "config"),
        (("*.py",), "deep/a.py", "code"),
        (("**/Dockerfile",), "Dockerfile", "config"),
        (("**/Dockerfile",), "x/Dockerfile", "config"),
    ],
)
def test_a_card_applies_by_glob_or_by_kind(globs: tuple[str, ...], path: str, kind: str) -> None:
    assert applies(globs, path, kind)


@pytest.mark.parametrize(
    ("globs", "path", "kind"),
    [
        (("@code",), "a.toml", "config"),
        (("@code",), "@code", "config"),
        (("*.py",), "a.pyi", "code"),
        (("*" * 200 + "a",), "b" * 4_000, "code"),
    ],
)
def test_a_card_does_not_apply_to_anything_else(globs: tuple[str, ...], path: str, kind: str) -> None:
    assert not applies(globs, path, kind)
