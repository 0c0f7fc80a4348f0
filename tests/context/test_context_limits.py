"""What answers about the surroundings of a change hold at most, and by which marks their parts are known."""

from __future__ import annotations

from typing import Any

import pytest

from reviewbot.context.comments import MAX_CHARS, MAX_COMMENTS, comments
from reviewbot.context.conventions import ANYWHERE, MAX_FILE, TOP, conventions
from reviewbot.context.imports import MAX_IMPORTS, MAX_SCANNED, imports
from reviewbot.context.symbols import MAX_LINE, SHOWN, symbol
from reviewbot.context.texts import MAX_TEXT, capped
from reviewbot.diff.language import language_of

HASHES = {
    "python": "a.py", "cython": "a.pyx", "ruby": "Gemfile", "shell": "a.sh", "perl": "a.pl", "r": "a.R",
    "julia": "a.jl", "elixir": "a.ex", "yaml": "a.yml", "toml": "a.toml", "make": "Makefile", "docker": "Dockerfile",
    "cmake": "CMakeLists.txt", "starlark": "BUILD", "just": "justfile", "nim": "a.nim", "powershell": "a.ps1",
    "graphql": "a.graphql", "requirements": "requirements.txt", "ignorefile": ".gitignore", "codeowners": "CODEOWNERS",
}  # fmt: skip


# --- comments


@pytest.mark.parametrize(("language", "name"), HASHES.items(), ids=HASHES)
def test_where_a_hash_alone_begins_a_comment_other_marks_begin_none(language: str, name: str) -> None:
    assert language_of(name) == language
    for other in ("* @owner", "--hash=sha256:0", "// x", "/* x", ";; x"):
        found = comments(f"{other}\n# why\nx", language, 3, 3).comments
        assert [each.text for each in found] == ["# why"], other


@pytest.mark.parametrize("mark", ["//", "/*", " *", "--", ";;", "#", "<!--", "\t//"])
def test_elsewhere_every_common_mark_begins_a_comment(mark: str) -> None:
    (found,) = comments(f"{mark} why\nx", "sql", 2, 2).comments

    assert (found.text, found.where, found.first, found.last) == (f"{mark.strip()} why", "above", 1, 1)


def test_only_what_stands_directly_above_belongs_to_the_lines() -> None:
    text = "# far\n\n# near\n# nearer\nx = 1\n# below\ny = 2"

    assert [each.text for each in comments(text, "python", 5, 5).comments] == ["# near\n# nearer"]
    assert [each.text for each in comments(text, "python", 5, 6).comments] == ["# near\n# nearer", "# below"]
    assert [each.text for each in comments(text, "python", 2, 2).comments] == ["# far"]


@pytest.mark.parametrize(("extra", "cut"), [(0, False), (1, True)])
def test_a_comment_is_cut_at_its_limit(extra: int, *, cut: bool) -> None:
    said = "#" * (MAX_CHARS + extra)

    (found,) = comments(f"{said}\nx = 1", "python", 2, 2).comments

    assert (found.text, found.truncated) == (said[:MAX_CHARS], cut)


@pytest.mark.parametrize(("count", "cut"), [(MAX_COMMENTS, False), (MAX_COMMENTS + 1, True)])
def test_so_many_comments_are_told(count: int, *, cut: bool) -> None:
    answer = comments("def f():\n" + "".join(f"    # {n}\n    x = {n}\n" for n in range(count)), "python", 1, 1)

    assert (len(answer.comments), answer.truncated) == (MAX_COMMENTS, cut)


def test_of_too_many_comments_a_long_one_that_the_lines_touch_is_kept() -> None:
    block = "".join(f"    # said {n}\n" for n in range(50))
    others = "".join(f"    x = {n}\n    # {n}\n" for n in range(MAX_COMMENTS + 5))

    kept = comments(f"def f():\n{block}    y = 1\n{others}", "python", 51, 51).comments

    assert [(each.first, each.last) for each in kept[:2]] == [(2, 51), (54, 54)]
    assert len(kept) == MAX_COMMENTS


def test_of_too_many_comments_those_next_to_the_lines_are_kept_on_either_side() -> None:
    pairs = "".join(f"    # {n}\n    x = {n}\n" for n in range(15))
    text = f"def f():\n{pairs}" + "    y = 1\n" * 40 + pairs

    kept = comments(text, "python", 71, 71).comments  # right above the lower fifteen

    assert [each.first for each in kept] == [*range(22, 31, 2), *range(72, 102, 2)]


def test_lines_outside_of_the_text_mean_its_ends() -> None:
    text = "# top\nx = 1\n# end"

    assert [each.text for each in comments(text, "python", -5, 0).comments] == ["# top"]
    assert [each.text for each in comments(text, "python", 99, 99).comments] == ["# end"]


def test_the_docstring_of_another_definition_is_not_told() -> None:
    text = 'def f():\n    """Of f."""\n\n\nasync def g():\n    """Of g."""\n    x = 1\n'

    assert [each.text for each in comments(text, "python", 7, 7).comments] == ["Of g."]


# --- symbols


@pytest.mark.parametrize(
    "line",
    [
        "def total(x):", "async def total(x):", "class total:", "function total() {", "func total(x int) {",
        "func (s *Shop) total() int {", "pub fn total() {", "const total = 1", "let total = 1", "type total struct {",
        "trait total {", "def self.total", "total = 1", "    total: int = 1", "interface total {", "module total",
    ],
)  # fmt: skip
def test_a_line_that_defines_a_name_is_its_definition(snapshot_with: Any, line: str) -> None:
    (found,) = symbol(snapshot_with({"a.x": line}), "total").references

    assert (found.kind, found.text) == ("definition", line.strip())


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("if total == 1:", "mention"), ("return total", "mention"), ("shop.total", "mention"), ("total: 1", "mention"),
        ("x = total(1)", "call"), ("shop.total (1)", "call"), ("use shop::total;", "import"),
        ("from total import x", "import"), ("# include <total>", "import"), ("export { total } from 'x'", "import"),
        ("importance = total", "mention"), ("define total", "mention"),
    ],
)  # fmt: skip
def test_a_line_that_only_uses_a_name_is_no_definition(snapshot_with: Any, line: str, kind: str) -> None:
    (found,) = symbol(snapshot_with({"a.x": line}), "total").references

    assert found.kind == kind


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("definition", "total = {n}"),
        ("call", "x(total({n}))"),
        ("import", "import total{n}, total"),
        ("mention", "# total {n}"),
    ],
)
def test_of_each_kind_so_many_lines_are_handed_on(snapshot_with: Any, kind: str, line: str) -> None:
    def lines(count: int) -> Any:
        return symbol(snapshot_with({"a.x": "\n".join(line.format(n=n) for n in range(count))}), "total")

    fitting, more = lines(SHOWN[kind]), lines(SHOWN[kind] + 1)
    assert {each.kind for each in fitting.references} == {kind}
    assert (len(fitting.references), fitting.truncated) == (SHOWN[kind], False)
    assert (more.references, more.truncated) == (fitting.references, True)


def test_of_a_long_line_the_start_is_handed_on(snapshot_with: Any) -> None:
    (found,) = symbol(snapshot_with({"a.x": "  total" + "x " * MAX_LINE + "def total"}), "total").references

    assert found.text == ("total" + "x " * MAX_LINE)[: MAX_LINE - 2].strip()
    assert found.kind == "mention"


def test_the_nearest_file_comes_first_then_the_name_then_the_line(snapshot_with: Any) -> None:
    files = dict.fromkeys(("z.x", "src/b.x", "src/shop/c.x", "src/shop/a.x"), "total(1)\ntotal(2)")

    found = symbol(snapshot_with(files), "total", near="src/shop/here.x").references

    assert [(each.path, each.line) for each in found] == [
        (path, line) for path in ("src/shop/a.x", "src/shop/c.x", "src/b.x", "z.x") for line in (1, 2)
    ]


def test_a_name_with_signs_of_patterns_is_taken_as_it_is(snapshot_with: Any) -> None:
    snapshot = snapshot_with({"a.x": "x"})

    for name in ("a.b", "a{0}", "(", "a+", "$x", "{word}"):
        assert symbol(snapshot, name).references == ()


# --- the lines that import


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("export { a } from 'b'", True), ("export const a = 1", False), ("using System;", True), ("mod a;", True),
        ("include 'a.php'", True), ("extern crate a;", True), ("mod a {", False), ("@import 'a.css'", True),
        ("source ./a.sh", True), (". ./a.sh", True), ("package main", True), ("importance = 1", False),
        ("user = 1", False), ("requires = 1", False), ("require('a')", True),
        ("var a = require('a')", True), ("    import a", True), ("// import a", False),
    ],
)  # fmt: skip
def test_a_line_imports_by_its_first_words(line: str, *, found: bool) -> None:
    assert imports(line, "other").statements == ((line.strip(),) if found else ())


@pytest.mark.parametrize(("count", "cut"), [(MAX_IMPORTS, False), (MAX_IMPORTS + 1, True)])
@pytest.mark.parametrize("language", ["python", "java"])
def test_so_many_imports_are_told(language: str, count: int, *, cut: bool) -> None:
    answer = imports("\n".join(f"import a{n}" for n in range(count)), language)

    assert answer.statements == tuple(f"import a{n}" for n in range(MAX_IMPORTS))
    assert answer.truncated is cut


def test_imports_of_other_languages_are_looked_for_at_the_top_and_python_everywhere() -> None:
    last, behind = ("x\n" * (rows - 1) + "import a" for rows in (MAX_SCANNED, MAX_SCANNED + 1))

    assert [imports(text, "java").statements for text in (last, behind)] == [("import a",), ()]
    assert imports(behind, "python").statements == ("import a",)


def test_a_long_import_is_cut() -> None:
    names = ", ".join(f"name_{n}" for n in range(100))

    for language in ("python", "javascript"):
        assert imports(f"from a import {names}", language).statements == (f"from a import {names}"[:300],)


def test_brackets_of_go_hold_imports_up_to_the_closing_one() -> None:
    text = 'import(\n\n// no\n"a"\n)\n"b"\nimport (\n"c"\n'

    assert imports(text, "go").statements == ('import "a"', 'import "c"')


# --- texts and conventions


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [("ab\ncd", 5, "ab\ncd"), ("ab\ncd\n", 5, "ab\n"), ("ab\ncd", 3, "ab\n"), ("ab\ncd", 2, "ab"), ("\nab", 1, "\n")],
)
def test_a_text_is_kept_up_to_the_last_whole_line_that_fits(text: str, limit: int, kept: str) -> None:
    answer = capped("a", text, limit)

    assert answer is not None
    assert (answer.path, answer.text, answer.truncated) == ("a", kept, kept != text)


def test_a_text_of_just_the_limit_is_whole() -> None:
    answer = capped("a", "x" * MAX_TEXT)

    assert answer is not None
    assert not answer.truncated
    assert capped("a", None) is None


@pytest.mark.parametrize("name", [*TOP, *ANYWHERE])
def test_each_file_of_conventions_counts_at_the_top_and_some_in_folders(snapshot_with: Any, name: str) -> None:
    top = conventions(snapshot_with({name: "be kind"}), "src/app.py").files
    below = conventions(snapshot_with({f"src/{name}": "be kind"}), "src/app.py").files
    beside = conventions(snapshot_with({f"other/{name}": "be kind"}), "src/app.py").files

    assert [each.path for each in top] == [name]
    assert [each.path for each in below] == ([f"src/{name}"] if name in ANYWHERE else [])
    assert beside == ()


def test_conventions_that_just_fit_together_are_whole(snapshot_with: Any) -> None:
    files = {f"{'d/' * depth}AGENTS.md": f"{depth}" * MAX_FILE for depth in range(3)}

    fitting = conventions(snapshot_with(files), "d/d/a.py")
    more = conventions(snapshot_with({**files, "CONTRIBUTING.md": "x"}), "d/d/a.py")

    assert ([each.path for each in fitting.files], fitting.truncated) == ([*files], False)
    assert (more.files, more.truncated) == (fitting.files, True)


def test_one_text_under_two_names_hides_no_other_one(snapshot_with: Any) -> None:
    files = {"CONTRIBUTING.md": "how", "AGENTS.md": "same", "CLAUDE.md": "same", "REVIEW.md": "what"}

    answer = conventions(snapshot_with(files), "a.py")

    assert [each.path for each in answer.files] == ["CONTRIBUTING.md", "CLAUDE.md", "REVIEW.md"]
    assert not answer.truncated


def test_the_nearest_twelve_folders_are_looked_into(snapshot_with: Any) -> None:
    files = {f"{'d/' * depth}AGENTS.md": f"{depth}" for depth in range(1, 15)}

    answer = conventions(snapshot_with(files), "d/" * 14 + "a.py")

    assert [each.text for each in answer.files] == [str(depth) for depth in range(3, 15)]


def test_one_file_that_is_cut_makes_the_answer_a_part(snapshot_with: Any) -> None:
    answer = conventions(snapshot_with({"AGENTS.md": "x" * (MAX_FILE + 1)}), "a.py")

    assert ([len(each.text) for each in answer.files], answer.truncated) == ([MAX_FILE], True)
