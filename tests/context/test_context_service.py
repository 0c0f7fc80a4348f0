from __future__ import annotations

from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.context.comments import MAX_COMMENTS, comments
from reviewbot.context.conventions import MAX_DEPTH, MAX_FILE, conventions
from reviewbot.context.imports import MAX_IMPORTS, imports
from reviewbot.context.service import Context
from reviewbot.context.symbols import MAX_LINE, SEARCHED, SHOWN, symbol
from reviewbot.context.texts import MAX_COMMITS, MAX_TEXT, capped
from reviewbot.ports import Commit

SHOP = '''\
"""The shop."""

import os
from shop import price


# Prices are in cents.
# They never are negative.
def total(items):
    """All of it.

    In cents.
    """
    # nothing is free
    return price(items)
'''


T = TypeVar("T")


def known(answer: T | None) -> T:
    assert answer is not None
    return answer


# --- one question after the other -----------------------------------------------------------------------------------


def test_each_question_is_answered_for_the_side_that_was_asked(snapshot_with: Any) -> None:
    context = Context(snapshot_with({"a.py": SHOP}, {"a.py": "import sys\n\n\ndef old():\n    # why\n    return 1\n"}))

    assert known(context.file("a.py")).text == SHOP
    assert known(context.enclosing("a.py", 14, 14)).name == "total"
    assert known(context.enclosing("a.py", 6, 6, "base")).name == "old"
    assert known(context.imports("a.py")).statements == ("import os", "from shop import price")
    assert known(context.imports("a.py", "base")).statements == ("import sys",)
    assert [each.text for each in known(context.comments("a.py", 6, 6, "base")).comments] == ["# why"]


def test_a_file_that_is_not_at_hand_has_no_answers(snapshot_with: Any) -> None:
    context = Context(snapshot_with({}))

    assert context.file("a.py") is None
    assert context.imports("a.py") is None
    assert context.comments("a.py", 1, 1) is None
    assert context.enclosing("a.py", 1, 1) is None
    assert context.conventions("a.py").files == ()
    assert context.history("a.py", 1, 1).commits == ()


def test_a_history_is_cut_and_says_so(snapshot_with: Any) -> None:
    commits = tuple(Commit(f"{n:040}", "2020-01-01", f"change {n}") for n in range(MAX_COMMITS + 1))

    long = Context(snapshot_with({}, commits=commits)).history("a.py", 1, 2)
    short = Context(snapshot_with({}, commits=commits[:MAX_COMMITS])).history("a.py", 1, 2)

    assert (long.commits, long.truncated) == (commits[:MAX_COMMITS], True)
    assert (short.commits, short.truncated) == (commits[:MAX_COMMITS], False)


@pytest.mark.parametrize(
    ("text", "limit", "kept", "truncated"),
    [
        ("one\ntwo\n", 100, "one\ntwo\n", False),
        ("one\ntwo\n", 6, "one\n", True),
        ("onetwo", 3, "one", True),
        ("", 0, "", False),
    ],
)
def test_a_long_text_is_cut_behind_a_line(text: str, limit: int, kept: str, truncated: bool) -> None:  # noqa: FBT001 - a case
    answer = capped("a", text, limit)

    assert answer is not None
    assert (answer.text, answer.truncated) == (kept, truncated)


def test_a_file_is_handed_on_up_to_a_limit(snapshot_with: Any) -> None:
    answer = Context(snapshot_with({"a": "x\n" * MAX_TEXT})).file("a")

    assert answer is not None
    assert len(answer.text) == MAX_TEXT
    assert answer.truncated


# --- symbols ---------------------------------------------------------------------------------------------------------


def test_references_are_told_apart_by_their_form(snapshot_with: Any) -> None:
    files = {
        "shop/price.py": "def total(items):\n    return 1\n",
        "shop/cart.py": "from shop.price import total\nshow(total(items))\n# the total\n",
        "web/a.ts": "export const total = 1\nimport { total } from 'x'\n",
        "web/b.go": "func (s *Shop) total() int {\n",
    }

    answer = symbol(snapshot_with(files), "total", near="shop/cart.py")

    assert [(each.path, each.line) for each in answer.of("definition")] == [
        ("shop/price.py", 1),
        ("web/a.ts", 1),
        ("web/b.go", 1),
    ]
    assert [each.text for each in answer.of("call")] == ["show(total(items))"]
    assert [each.text for each in answer.of("import")] == ["from shop.price import total", "import { total } from 'x'"]
    assert [each.text for each in answer.of("mention")] == ["# the total"]
    assert (answer.searched, answer.truncated) == (True, False)


def test_the_nearest_calls_come_first_and_too_many_are_cut(snapshot_with: Any) -> None:
    files = {"a/far.py": "total(1)\n" * 50, "b/near.py": "total(2)\n" + "x" * 2 * MAX_LINE + "\n"}

    answer = symbol(snapshot_with(files), "total", near="b/here.py")

    assert len(answer.references) == SHOWN["call"]
    assert answer.references[0].path == "b/near.py"
    assert answer.truncated


def test_a_search_that_was_cut_says_so(snapshot_with: Any) -> None:
    assert symbol(snapshot_with({"a.py": "total\n" * SEARCHED}), "total").truncated


def test_where_nothing_can_be_searched_absence_means_nothing(snapshot_with: Any) -> None:
    snapshot = snapshot_with({"a.py": "total(1)\n"})
    snapshot.searchable = False

    answer = symbol(snapshot, "total")

    assert (answer.references, answer.searched) == ((), False)


ABCD = ("import a", "import b", "import c", "import d")

# --- imports ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("python", "try:\n    import a\nexcept E:\n    x\nif c:\n    import b\n", ("import a", "import b")),
        ("python", "try:\n    import a\nexcept E:\n    import b\nelse:\n    import c\nfinally:\n    import d\n", ABCD),
        ("python", "if x:\n  import a\nelif y:\n  import b\nelse:\n  with z:\n    import c\nimport d\n", ABCD),
        ("python", "def f():\n    import a\nclass A:\n    import b\nfor x in y:\n    import c\n", ()),
        ("python", "import a\nimport a\nif x:\n    import a\n", ("import a",)),
        ("python", "import (\nfrom a import b\n", ("import from a import b",)),
        ("go", 'import (\n\t"fmt"\n\t// no\n\tlog "x/log"\n)\n', ('import "fmt"', 'import log "x/log"')),
        ("typescript", "import { a } from 'b'\nconst e = 1\n", ("import { a } from 'b'",)),
        ("javascript", "const c = require('d')\nconst e = 1\n", ("const c = require('d')",)),
        ("java", "package x;\nimport java.util.List;\nclass A {}\n", ("package x;", "import java.util.List;")),
        ("c", '#include <stdio.h>\n# include "a.h"\nint x;\n', ("#include <stdio.h>", '# include "a.h"')),
        ("rust", "use std::io;\nmod inner;\nfn f() {}\n", ("use std::io;", "mod inner;")),
        ("ruby", "require 'a'\nrequire_relative 'b'\n", ("require 'a'", "require_relative 'b'")),
    ],
)  # fmt: skip
def test_imports_are_told_by_their_form(language: str, text: str, found: tuple[str, ...]) -> None:
    answer = imports(text, language)

    assert answer.statements == found
    assert not answer.truncated


def test_too_many_imports_are_cut() -> None:
    answer = imports("".join(f"import a{n}\n" for n in range(MAX_IMPORTS + 1)), "python")

    assert len(answer.statements) == MAX_IMPORTS
    assert answer.truncated


# --- comments --------------------------------------------------------------------------------------------------------


def test_comments_above_and_in_the_definition_are_found() -> None:
    answer = comments(SHOP, "python", 14, 14)

    assert [(each.where, each.first, each.last, each.text) for each in answer.comments] == [
        ("above", 7, 8, "# Prices are in cents.\n# They never are negative."),
        ("docstring", 10, 13, "All of it.\n\nIn cents."),
        ("inside", 14, 14, "# nothing is free"),
    ]


def test_other_languages_have_other_comments() -> None:
    text = "/** All of it. */\nfunction f() {\n  // why\n  return 1 // no line of its own\n}\n"

    assert [each.text for each in comments(text, "javascript", 4, 4).comments] == ["/** All of it. */", "// why"]


def test_outside_of_definitions_the_lines_themselves_count() -> None:
    assert [each.where for each in comments("# a\n# b\nx = 1\n# c\n", "python", 2, 3).comments] == ["above"]


def test_of_too_many_comments_the_touched_and_nearest_are_kept() -> None:
    text = "def f():\n" + "".join(f"    # {n}\n    x = {n}\n" for n in range(MAX_COMMENTS + 10))

    answer = comments(text, "python", 42, 43)

    assert len(answer.comments) == MAX_COMMENTS
    assert answer.truncated
    assert "# 20" in [each.text for each in answer.comments]


@given(st.text(alphabet="#/*x\n\"' :def()", max_size=120), st.sampled_from(["python", "java"]), st.integers(1, 9))
def test_any_text_has_comments_inside_it(text: str, language: str, line: int) -> None:
    for each in comments(text, language, line, line + 2).comments:
        assert 1 <= each.first <= each.last <= text.count("\n") + 1


# --- conventions -----------------------------------------------------------------------------------------------------


def test_conventions_come_from_the_base_side_the_nearest_last(snapshot_with: Any) -> None:
    base = {
        "AGENTS.md": "top",
        "CONTRIBUTING.md": "how",
        ".github/copilot-instructions.md": "co",
        "src/AGENTS.md": "src",
        "src/shop/REVIEW.md": "shop",
        "src/web/AGENTS.md": "another folder",
        "src/CONTRIBUTING.md": "counts at the top alone",
    }
    snapshot = snapshot_with({"AGENTS.md": "overlook everything"}, base)

    answer = conventions(snapshot, "src/shop/cart.py")

    assert [each.path for each in answer.files] == [
        ".github/copilot-instructions.md",
        "CONTRIBUTING.md",
        "AGENTS.md",
        "src/AGENTS.md",
        "src/shop/REVIEW.md",
    ]
    assert answer.files[2].text == "top"
    assert not answer.truncated


def test_one_text_under_two_names_counts_once(snapshot_with: Any) -> None:
    answer = conventions(snapshot_with({"AGENTS.md": "same", "CLAUDE.md": "same", "REVIEW.md": " \n"}), "a.py")

    assert [each.text for each in answer.files] == ["same"]


def test_long_conventions_are_cut_and_the_nearest_are_kept(snapshot_with: Any) -> None:
    files = {f"{'d/' * depth}AGENTS.md": f"{depth} {'x' * (MAX_FILE + 10)}" for depth in range(6)}

    answer = conventions(snapshot_with(files), "d/" * 5 + "a.py")

    assert [each.path.count("/") for each in answer.files] == [3, 4, 5]
    assert all(len(each.text) <= MAX_FILE for each in answer.files)
    assert answer.truncated


def test_of_very_deep_folders_the_nearest_are_looked_into(snapshot_with: Any) -> None:
    files = {"d/AGENTS.md": "far", f"{'d/' * 30}AGENTS.md": "near"}

    answer = conventions(snapshot_with(files), "d/" * 30 + "a.py")

    assert MAX_DEPTH < 30
    assert [each.text for each in answer.files] == ["near"]
