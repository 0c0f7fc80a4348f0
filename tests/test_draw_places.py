"""benchmarks/draw_places.py draws what a review would show of foreign code, and a sample of it that no rule fills."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.draw_places import MAX_OF_A_RULE, Row, of_commits, of_tree, sample
from tests.git_repo import GitRepo

WEAK = "import os, flask\ndef run():\n    return os.system('ls ' + flask.request.args['name'])\n"


def row(language: str, rule: str, place: str) -> Row:
    return {"project": "shop", "language": language, "rule": rule, "place": place}


@pytest.mark.slow
def test_a_tree_gives_what_is_shown_of_its_own_files(tmp_path: Path) -> None:
    tree = tmp_path / "shop+web"
    tree.mkdir()
    GitRepo(tree).commit({"run.py": WEAK, "vendor/run.py": WEAK, "calm.py": "x = 1\n", "run.go": "package a\n"})

    looked, rows = of_tree(tree, 10, ["python"])

    assert looked == Counter({"python": 2})
    assert [(each["project"], each["place"], each["rule"]) for each in rows] == [
        ("shop/web", "run.py:3", "command-external")
    ]


@pytest.mark.slow
def test_commits_give_what_each_of_them_brings(tmp_path: Path) -> None:
    repository = GitRepo(tmp_path)
    repository.commit({"calm.py": "x = 1\n"})
    repository.commit({"run.py": WEAK})
    repository.commit({"calm.py": "x = 2\n"})

    looked, rows = of_commits(tmp_path, 10)

    assert looked == Counter({"python": 2})
    assert [each["place"] for each in rows] == ["run.py:3"]


def test_a_sample_has_few_of_each_rule_and_language() -> None:
    rows = [row("go", rule, f"a.go:{line}") for rule in ("one", "two", "three") for line in range(9)]

    counts = Counter(each["rule"] for each in sample(rows, 7))

    assert sum(counts.values()) == 7
    assert max(counts.values()) <= MAX_OF_A_RULE
