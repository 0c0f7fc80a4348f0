"""search over a repository in memory: expressions, scopes, bounds, secrets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.llm.tools import RepositoryTools
from reviewbot.llm.tools.arguments import Arguments, EvidenceEntry, ToolLimits, ToolParameter
from reviewbot.llm.tools.search import BRACES, compile_pattern, search
from reviewbot.llm.tools.view import RepositoryView

FILES = {
    "src/app.py": "import shop\n\n\ndef total(cart):\n    return shop.total(cart)\n",
    "src/deep/price.py": "total = 1\r\n",
    "tests/test_app.py": "def test_total():\n    total()\n",
    "web/a.js": "total()\n",
}


def test_lines_are_grouped_by_file_with_sources_before_tests(repository: Any, calls: Any) -> None:
    result = calls(repository(FILES))("search", pattern=r"\btotal\(")

    assert result.text.split("\n") == [
        "4 lines in 3 of 4 files",
        "src/app.py",
        "     4 def total(cart):",
        "     5     return shop.total(cart)",
        "web/a.js",
        "     1 total()",
        "tests/test_app.py",
        "     2     total()",
    ]
    assert result.evidence[0] == EvidenceEntry(
        "src/app.py", "head", 4, 5, ("def total(cart):", "    return shop.total(cart)")
    )


@pytest.mark.parametrize(
    ("scope", "found"),
    [
        ("src", ["src/app.py", "src/deep/price.py"]),
        ("./src/", ["src/app.py", "src/deep/price.py"]),
        ("src/**/*.py", ["src/app.py", "src/deep/price.py"]),
        ("**/*.js", ["web/a.js"]),
        ("*.js", ["web/a.js"]),
        ("price.py", ["src/deep/price.py"]),
        ("web/a.js", ["web/a.js"]),
        ("", ["src/app.py", "src/deep/price.py", "web/a.js", "tests/test_app.py"]),
    ],
)
def test_a_scope_is_a_file_a_folder_or_a_glob(repository: Any, calls: Any, scope: str, found: list[str]) -> None:
    result = calls(repository(FILES))("search", pattern="total", path=scope)

    assert [entry.path for entry in result.evidence] == list(dict.fromkeys(entry.path for entry in result.evidence))
    assert sorted({entry.path for entry in result.evidence}) == sorted(found)


def test_a_scope_without_files_is_said(repository: Any, calls: Any) -> None:
    result = calls(repository(FILES))("search", pattern="total", path="lib/*.py")

    assert (result.failed, result.text) == (True, "no file has a path like lib/*.py")


def test_a_scope_with_braces_that_matches_nothing_is_told_that_they_are_no_alternatives(
    repository: Any, calls: Any
) -> None:
    result = calls(repository(FILES))("search", pattern="total", path="**/*.{py,toml}")
    named = calls(repository({"{{ name }}/a.py": "total = 1\n"}))("search", pattern="total", path="{{ name }}/*.py")

    assert (result.failed, result.text) == (True, f"no file has a path like **/*.{{py,toml}}{BRACES}")
    assert "1 lines in 1 of 1 files" in named.text


@pytest.mark.parametrize(
    ("pattern", "options", "lines"),
    [
        ("TOTAL", {"ignore_case": True}, 6),
        ("TOTAL", {}, 0),
        ("total(", {"literal": True}, 5),
        ("total(", {}, 5),
        ("^def .*:$", {}, 2),
        ("^total = 1$", {}, 1),
        ("shop\\s+def", {}, 0),
        ("^$", {}, 2),
        ("a{1000}{1000}", {}, 0),
        ("(?<=x)total", {}, 0),
    ],
)
def test_a_pattern_matches_within_lines(
    repository: Any, calls: Any, pattern: str, options: dict[str, bool], lines: int
) -> None:
    result = calls(repository(FILES))("search", pattern=pattern, **options)

    assert sum(len(entry.lines) for entry in result.evidence) == lines
    assert not result.failed


def test_what_is_no_expression_is_searched_as_it_stands_and_said(repository: Any, calls: Any) -> None:
    text = calls(repository(FILES))("search", pattern="total(").text

    assert text.endswith("[no expression of RE2 (missing ): total(): searched as it stands]")


def test_withheld_files_are_not_searched(repository: Any, calls: Any) -> None:
    call = calls(repository({**FILES, ".env": "total=1\n", "legal/x.txt": "total\n"}), private=("legal/*",))

    assert call("search", pattern="total").text.startswith("6 lines in 4 of 4 files")
    assert call("search", pattern="total", path=".env").failed


def test_a_masked_secret_is_not_found_by_its_value(repository: Any, calls: Any) -> None:
    secret = "aB3dE6gH9" * 4
    call = calls(repository({"a.py": f"x = 1\nkey = '{'gh' + 'p_'}{secret}'\n"}))

    assert call("search", pattern="aB3").text == "no line of 1 files matches"
    shown = call("search", pattern="key = ")
    assert secret not in shown.text + str(shown.evidence)


def test_each_bound_is_kept_and_said(repository: Any, calls: Any) -> None:
    many = {f"{n:03}.py": "hit\n" * 20 for n in range(100)}

    text = calls(repository(many))("search", pattern="hit").text
    assert text.startswith("100 lines in 5 of 100 files\n000.py\n")
    assert "       [8 more here]" in text
    assert text.endswith("[there are more, in further files: narrow the pattern or the path]")
    few = calls(repository(many), ToolLimits(matches_counted=15))("search", pattern="hit", path="001.py").text
    assert "       [3 more here]" in few
    short = calls(repository(many), ToolLimits(search_bytes=1 << 10))("search", pattern="no")
    assert short.text == "no line of 100 files matches\n[stopped after 0 MiB behind 012.py: narrow it by path]"
    tight = calls(repository(many), ToolLimits(chars=900))("search", pattern="hit").text
    assert len(tight) < 900
    assert "there are more" in tight


def test_a_search_ends_when_its_time_is_over(repository: Any) -> None:
    view = RepositoryView(repository(FILES), ToolLimits(search_seconds=3), str, ())
    given_ = Arguments((ToolParameter("pattern", "pattern", ""),), {"pattern": "nothing"})
    ticks = iter(range(0, 99, 2))

    text = search(view, given_, lambda: next(ticks)).text

    assert text == "no line of 4 files matches\n[stopped after 3 s behind src/deep/price.py: narrow it by path]"


def test_nothing_is_searched_where_the_tree_is_not_at_hand(repository: Any, calls: Any) -> None:
    result = calls(repository(FILES, whole=False))("search", pattern="total")

    assert result.failed
    assert "only the changed files are at hand" in result.text


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "(.*)(.*)(.*)(.*)(.*)[^a]$", "^(([a-z])+.)+[A-Z]$", "a?" * 90 + "a" * 90]
)
def test_a_hostile_pattern_is_searched_by_re2_which_does_not_go_back(repository: Any, calls: Any, pattern: str) -> None:
    result = calls(repository({"a.txt": "a" * 500_000 + "!"}))("search", pattern=pattern)

    assert isinstance(compile_pattern(pattern, literal=False, ignore_case=False).expression, type(re2.compile("a")))
    assert result.text.startswith(("1 lines in 1 of 1 files", "no line of 1 files matches"))


@given(st.text(max_size=40), st.booleans())
def test_a_pattern_of_any_text_is_answered(pattern: str, literal: bool) -> None:  # noqa: FBT001 - drawn
    tools = RepositoryTools(_any_repository())
    result = asyncio.run(tools.call("search", {"pattern": pattern, "literal": literal}))

    assert result.text


def _any_repository() -> Any:
    class One:
        def files(self) -> tuple[str, ...]:
            return ("a.py",)

        def contents(self, paths: Any) -> Any:
            return ((path, b"one\n\xff two\n\nthree") for path in paths)

        def head(self, path: str) -> str:
            return b"one\n\xff two\n\nthree".decode("utf-8", "replace")

    return One()


def test_a_pattern_that_is_no_text_is_refused(repository: Any, calls: Any) -> None:
    assert calls(repository(FILES))("search", pattern="\ud800").failed


def test_an_expression_that_needs_too_much_memory_is_taken_literally() -> None:
    assert compile_pattern("((a{100}){100}){100}", literal=False, ignore_case=False).fault
