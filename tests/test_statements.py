"""What benchmarks/statements.py leaves out of the count of the same features is new, by git's own account."""

from __future__ import annotations

import subprocess
from collections import Counter

import pytest

from benchmarks.statements import (
    LISTED,
    ROOT,
    Feature,
    by_package,
    count_definitions,
    count_statements,
    definitions_of,
    modules_of,
    read_features,
    renamed_since,
    sources_at,
    sources_now,
)

THEN, FEATURES = read_features(LISTED.read_text("utf-8"))


@pytest.fixture
def then() -> str:
    """The earlier commit, where this clone has it."""
    if subprocess.run(["git", "cat-file", "-e", THEN], cwd=ROOT, check=False, capture_output=True).returncode:
        pytest.skip("the history of the repository is not at hand")
    return THEN


def test_each_pattern_names_modules_and_none_is_named_twice() -> None:
    named = modules_of(FEATURES, dict.fromkeys(sources_now(), 1))

    assert {feature.name for feature in FEATURES} == set(named.values())


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_each_feature_says_what_a_user_can_do(feature: Feature) -> None:
    assert len(feature.gives.split()) > 1 or feature.gives.startswith("`")
    assert feature.modules


def test_no_module_that_is_left_out_stood_at_the_earlier_commit_under_any_name(then: str) -> None:
    before, renamed = sources_at(then), renamed_since(then)
    named = modules_of(FEATURES, dict.fromkeys(sources_now(), 1))

    assert {path: renamed.get(path, path) for path in named if path in before or path in renamed} == {}


def test_no_part_of_a_module_that_is_left_out_had_its_name_at_the_earlier_commit(then: str) -> None:
    before = {name.rpartition(".")[2].rpartition(":")[2].lstrip("_") for name in count_definitions(sources_at(then))}
    sources = sources_now()
    named = definitions_of(FEATURES, count_definitions(sources), modules_of(FEATURES, dict.fromkeys(sources, 1)))

    assert [name for name in named if name.rpartition(".")[2].rpartition(":")[2].lstrip("_") in before] == []


def test_a_definition_counts_with_all_that_stands_in_it() -> None:
    source = "class C:\n    x = 1\n\n    def m(self):\n        return 1\n\n\ndef f():\n    def g():\n        pass\n"

    assert count_definitions({"a.py": source}) == {"a.py:C": 4, "a.py:C.m": 2, "a.py:f": 3, "a.py:f.g": 2}


@pytest.mark.parametrize("names", [("a.py:D",), ("a.py:C", "a.py:C.m"), ("a.py:f", "a.py:f"), ("b.py:h",)])
def test_a_definition_that_is_unknown_or_counted_already_is_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit, match="of 'x' is unknown, or counted already"):
        definitions_of((Feature("x", "y", (), names),), {"a.py:C", "a.py:C.m", "a.py:f", "b.py:h"}, {"b.py"})


def test_statements_are_counted_in_all_depths_and_by_package() -> None:
    counts = count_statements({"a/b.py": "def f():\n    if x:\n        return 1\n", "c.py": '"""Text."""\nx = 1\n'})

    assert counts == Counter({"a/b.py": 3, "c.py": 2})
    assert by_package(counts) == Counter({"a": 3, "(modules)": 2})


@pytest.mark.parametrize("patterns", [("a/*.py", "a/b.py"), ("z/*",)])
def test_a_pattern_that_names_nothing_or_a_module_again_is_refused(patterns: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit, match="of 'x' names"):
        modules_of((Feature("x", "y", patterns),), {"a/b.py": 1})
