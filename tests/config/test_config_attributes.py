"""What `.gitattributes` of the base side declares generated or vendored, held against git itself."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.config.attributes import ATTRIBUTES, MAX_FOLDERS, MAX_RULES, declaration_reader, rules_of_text
from reviewbot.domain.errors import HostError
from tests.git_repo import GitRepo

GENERATED = "declared linguist-generated in .gitattributes of the base side"
VENDORED = "declared linguist-vendored in .gitattributes of the base side"


class Base:
    """A base side of some files that writes down which ones are read."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files
        self.read: list[str] = []

    def base_file(self, path: str) -> str | None:
        self.read.append(path)
        return self.files.get(path)

    def base_listing(self, folder: str) -> tuple[str, ...]:
        raise AssertionError(folder)


def declared(text: str, path: str) -> str | None:
    return declaration_reader(Base({".gitattributes": text}))(path)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("*.py linguist-generated", "a/b/x.py"),
        ("*.py linguist-generated=true", "x.py"),
        ("*.py text linguist-generated eol=lf", "x.py"),
        ("/x.py linguist-generated", "x.py"),
        ("gen/** linguist-generated", "gen/a/b.py"),
        ("**/gen/*.py linguist-generated", "gen/x.py"),
        ("**/gen/*.py linguist-generated", "a/b/gen/x.py"),
        ("a/**/x.py linguist-generated", "a/x.py"),
        ("a/**/x.py linguist-generated", "a/b/c/x.py"),
        ("gen/*.py linguist-generated", "gen/x.py"),
        ("*.py -linguist-generated\nx.py linguist-generated", "x.py"),
        ("# *.py -linguist-generated\n*.py linguist-generated\n\n", "x.py"),
    ],
)
def test_what_a_pattern_matches_is_declared(text: str, path: str) -> None:
    assert declared(text, path) == GENERATED


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", "x.py"),
        ("*.py text", "x.py"),
        ("*.py -linguist-generated", "x.py"),
        ("*.py !linguist-generated", "x.py"),
        ("*.py linguist-generated=false", "x.py"),
        ("*.py linguist-generated\nx.py -linguist-generated", "x.py"),
        ("/x.py linguist-generated", "a/x.py"),
        ("gen/*.py linguist-generated", "gen/a/x.py"),
        ("gen/*.py linguist-generated", "a/gen/x.py"),
        ("gen/** linguist-generated", "gen"),
        ("gen linguist-generated", "gen/x.py"),
        ("gen/ linguist-generated", "gen/x.py"),
        ("*.PY linguist-generated", "x.py"),
        ("# *.py linguist-generated", "x.py"),
        ("[attr]made linguist-generated\n*.py made", "x.py"),
        ("*.p\\y linguist-generated", "x.py"),
        ('"*.py" linguist-generated', "x.py"),
        ("!*.py linguist-generated", "x.py"),
    ],
)
def test_what_is_not_matched_or_not_understood_for_certain_is_not_declared(text: str, path: str) -> None:
    assert declared(text, path) is None


def test_vendored_is_declared_as_well() -> None:
    assert declared("lib/** linguist-vendored", "lib/x.py") == VENDORED


def test_a_file_in_a_folder_counts_for_what_lies_below_it_and_wins() -> None:
    files = {".gitattributes": "*.py linguist-generated", "src/.gitattributes": "/x.py -linguist-generated"}
    reason = declaration_reader(Base(files))

    assert [reason(path) for path in ("src/x.py", "src/a/x.py", "x.py")] == [None, GENERATED, GENERATED]


def test_without_a_base_side_nothing_is_declared() -> None:
    assert declaration_reader(None)("x.py") is None


def test_each_file_is_read_once_and_only_so_many() -> None:
    base = Base({})
    reason = declaration_reader(base)
    for path in ("a/b/x.py", "a/y.py", "a/b/x.py"):
        assert reason(path) is None
    assert base.read == [".gitattributes", "a/.gitattributes", "a/b/.gitattributes"]

    for number in range(2 * MAX_FOLDERS):
        reason(f"f{number}/x.py")
    assert len(base.read) == MAX_FOLDERS


def test_a_host_that_does_not_answer_declares_nothing() -> None:
    class Silent(Base):
        def base_file(self, path: str) -> str | None:
            raise HostError(path)

    assert declaration_reader(Silent({}))("x.py") is None


@pytest.mark.slow
def test_a_file_of_too_many_rules_declares_nothing() -> None:
    line = "*.py linguist-generated\n"

    assert declared(line * MAX_RULES, "x.py") == GENERATED
    assert declared(line * (MAX_RULES + 1), "x.py") is None


def test_a_pattern_of_many_stars_costs_no_time() -> None:
    text = f"{'**/' * 400}x.py linguist-generated\n{'*a' * 400} linguist-generated"

    assert declared(text, "/".join("a" * 2_000)) is None


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("attributes")
    return GitRepo(folder).folder


PARTS = st.sampled_from(["a", "b", "*", "**", "a*", "[ab]", "?"])
PATTERNS = st.builds(
    lambda front, parts: front + "/".join(parts), st.sampled_from(["", "/"]), st.lists(PARTS, min_size=1, max_size=4)
)
WORDS = st.sampled_from([*ATTRIBUTES, *(f"-{name}" for name in ATTRIBUTES), "!linguist-generated", "text"])
PATHS = ["a", "b", "ab", "a/a", "a/b", "b/a", "a/b/a", "a/b/ab", "b/b/b/a"]


@given(lines=st.lists(st.tuples(PATTERNS, WORDS), min_size=1, max_size=4))
def test_what_is_declared_is_what_git_says(lines: list[tuple[str, str]], repository: Path) -> None:
    text = "".join(f"{pattern} {word}\n" for pattern, word in lines)
    (repository / ".gitattributes").write_text(text)
    command = ["git", "-C", str(repository), "check-attr", "-z", "--stdin", *ATTRIBUTES]
    told = subprocess.run(command, input="\0".join(PATHS).encode(), capture_output=True, check=True)
    fields = told.stdout.decode().split("\0")[:-1]
    by_git = {
        path
        for path, _, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True)
        if value not in ("unset", "unspecified", "false")
    }

    assert {path for path in PATHS if declared(text, path)} == by_git


def test_a_line_may_hold_several_attributes() -> None:
    rules = list(rules_of_text("*.py linguist-generated -linguist-vendored text"))

    assert [(rule.attribute, rule.is_set) for rule in rules] == [
        ("linguist-generated", True),
        ("linguist-vendored", False),
    ]
