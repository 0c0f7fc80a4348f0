"""The words of names, comments, messages, prompts and documents: none that `tests/data/words.toml` bans."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PATTERNS = (
    "*.md",
    "*.yml",
    "*.yaml",
    "docs/**/*.md",
    "docs/schemas/*.json",
    "prompts/*.md",
    "reviewbot/**/*.html",
    "reviewbot/**/*.py",
    "reviewbot/**/*.sql",
    "reviewbot/**/*.toml",
    "workers/*.toml",
)
WORDS: dict[str, Any] = tomllib.loads((ROOT / "tests/data/words.toml").read_text(encoding="utf-8"))
BANNED: list[dict[str, Any]] = WORDS["banned"]
REPLACED = frozenset[str](WORDS["replaced_names"]["names"])
EXCEPTIONS: dict[str, str] = WORDS["replaced_names"]["exceptions"]
DEFINITION = re.compile(
    r"^(?: *(?:(?:async )?(?:class|def)|type) (?=\w)|(?=_*[A-Z]\w*[a-z]\w*(?:: [^=\n]+)? = ))(\w+)", re.MULTILINE
)
"""A line of source that defines a class, a function or an alias: syntax trees of all modules would take a second."""


class Use(NamedTuple):
    """A banned word on a line of a file."""

    word: str
    path: str
    line: int


@cache
def expression_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """One group for each word. A letter before or after it makes it another word; an underscore does not.

    A space matches the end of a line as well, with the mark of a comment.
    """
    groups = "|".join(f"(?P<w{at}>{word})" for at, word in enumerate(words)).replace(" ", r"[\s#]+")
    return re.compile(f"(?<![a-z])(?:{groups})(?![a-z])", re.IGNORECASE)


def uses_in(path: str, text: str) -> list[Use]:
    """The banned words of a text, also those that go over the end of a line."""
    words = tuple(entry["word"] for entry in BANNED)
    return [
        Use(words[int(str(found.lastgroup)[1:])], path, text.count("\n", 0, found.start()) + 1)
        for found in expression_of(words).finditer(text)
    ]


def faults_in(texts: dict[str, str]) -> list[str]:
    """Each use that no exception allows, and each exception that allows more than there is; one line for each."""
    uses = [use for path, text in texts.items() for use in uses_in(path, text)]
    faults = []
    for entry in BANNED:
        of_word = [use for use in uses if use.word == entry["word"]]
        exceptions = entry.get("exception", [])
        allowed = Counter[str]()
        for use in of_word:
            files = next((each["files"] for each in exceptions if fnmatch(use.path, each["files"])), None)
            if files is None:
                faults.append(f"{use.path}:{use.line}: {entry['word']!r}: {entry['reason']}; write: {entry['instead']}")
            else:
                allowed[files] += 1
        faults += [
            f"the exception for {entry['word']!r} in {each['files']} allows {each['lines']}, and there are {number}"
            for each in exceptions
            if (number := allowed[each["files"]]) != each["lines"]
        ]
    return faults


def replaced_names_in(path: str, text: str) -> list[str]:
    """`PATH:NAME` for a folder, module, class, alias or function, private ones too, that has a replaced name.

    A class or an alias may not have one in other letters either, as `Patience` for `patience`.
    """
    names = (Path(path).parent.name, Path(path).stem, *DEFINITION.findall(text))
    bare = [(name, name.lstrip("_")) for name in names]
    return [
        f"{path}:{name}" for name, each in bare if each in REPLACED or (each[:1].isupper() and each.lower() in REPLACED)
    ]


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    paths = (path for pattern in PATTERNS for path in ROOT.glob(pattern))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def test_no_banned_word_stands_in_source_prompts_or_documents(texts: dict[str, str]) -> None:
    assert len(texts) > 500
    assert faults_in(texts) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\n# Whoever calls it waits.\n", 2),
        ('def told(): """Say it."""\n', 1),
        ("_told_again = 1\n", 1),
        ("untold: int\n", 1),
        ("\n_MOST_LINES = 9\n", 2),
        ("A miss is as\n    good as none.\n", 1),
        ("    # a message in words\n    # of ours\n", 1),
    ],
)
def test_a_banned_word_is_found_in_names_comments_and_over_line_ends(text: str, line: int) -> None:
    assert [use.line for use in uses_in("a.py", text)] == [line]


def test_a_word_that_only_contains_a_banned_one_is_no_fault() -> None:
    assert uses_in("a.md", "It foretold that a stolid reader tells offers, at most AT_MOST and ALMOST_NOW.\n") == []


def test_a_fault_names_place_reason_and_replacement() -> None:
    fault = next(each for each in faults_in({"a.py": "\nnobody = 1\n"}) if each.startswith("a.py"))

    assert fault.startswith("a.py:2: 'nobody': ")
    assert "write: no reader" in fault


def test_an_exception_that_no_line_needs_is_a_fault() -> None:
    assert "the exception for 'nobody' in docs/configuration.md allows 1, and there are 0" in faults_in({})


def test_each_banned_word_has_a_reason_and_a_replacement() -> None:
    assert all(entry["reason"] and entry["instead"] for entry in BANNED)


def test_a_replaced_name_stands_only_where_an_exception_says_why(texts: dict[str, str]) -> None:
    found = {each for path, text in texts.items() if path.endswith(".py") for each in replaced_names_in(path, text)}
    assert found == set(EXCEPTIONS)
    assert all(EXCEPTIONS.values())


def test_a_replaced_name_is_found_in_folders_modules_classes_and_functions() -> None:
    text = "class _Crew:\n    def told(self) -> None:\n        async def begun() -> None: ...\n\nnames = _given = 1\n"
    names = [each.removeprefix("keeper/office.py:") for each in replaced_names_in("keeper/office.py", text)]
    assert names == ["keeper", "office", "_Crew", "told", "begun"]


def test_a_replaced_name_is_found_in_other_letters_as_the_name_of_a_class() -> None:
    text = "class _Patience:\n    def Facts(self) -> None: ...\n\nclass Line_: ...\n"
    names = [each.removeprefix("review/plan.py:") for each in replaced_names_in("review/plan.py", text)]
    assert names == ["_Patience", "Facts"]


def test_a_replaced_name_is_found_in_aliases_of_types() -> None:
    text = (
        'Standing = int | Literal["gone"]\ntype Wish = str\ntype Voice[T] = list[T]\n_Pace: TypeAlias = float\n'
        'Pulse = NewType("Pulse", int)\nMAX = Wish = 1\nrate = fit = 1\nif Terms == Spent:\n    Order.Line = 1\n'
    )
    names = [each.removeprefix("review/plan.py:") for each in replaced_names_in("review/plan.py", text)]
    assert names == ["Standing", "Wish", "Voice", "_Pace", "Pulse"]
