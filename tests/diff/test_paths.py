"""Which paths are those of test code."""

from __future__ import annotations

import pytest

from reviewbot.diff.paths import is_test

TESTS = ["Shop.Tests/Cart.cs", "app/src/androidTest/Cart.kt", "crates/integration-tests/src/cart.rs", "tests/a.php"]
OTHERS = ["src/latest/cart.go", "src/contest/Cart.java", "Shop.Testing.Cart.cs"]


@pytest.mark.parametrize("path", TESTS)
def test_a_folder_of_tests_is_known_in_the_form_of_each_language(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize("path", OTHERS)
def test_a_folder_that_only_sounds_like_tests_is_none(path: str) -> None:
    assert not is_test(path)
