"""The edges of what is read, by whom, and in which slices: the last line and column that count, and what wins."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.review.plan.routing import (
    LINE_WIDTH,
    SMALL_LINES,
    Readers,
    is_plain,
    is_test,
    may_cost,
    route,
    unread_note,
)
from reviewbot.review.plan.slices import (
    MAX_CONTEXT_LINE,
    MAX_ENCLOSING,
    Slice,
    bundles,
    changed_lines,
    enclosing,
    payloads,
)
from reviewbot.review.plan.triage import (
    TriageRules,
    looks_generated,
    risk,
    triage,
)
from tests.make import MakeCard, MakeChange, MakeFile, MakeHunk, MakePayload

MARKER_LINES, MARKER_WIDTH = 5, 300
"""As the product says it."""

SAYS_SO = "it says so in its first lines"


def nowhere(_path: str) -> bool:
    return False


# --- what is read


@pytest.mark.parametrize(
    ("above", "reason"),
    [
        ("+x = 1\n" * (MARKER_LINES - 1), SAYS_SO),
        (" x = 1\n" * (MARKER_LINES - 1), SAYS_SO),
        (" x = 1\n" * MARKER_LINES, None),
        ("-x = 1\n" * (2 * MARKER_LINES), SAYS_SO),
    ],
    ids=["the fifth line", "the fifth line, unchanged ones above", "the sixth line", "removed lines have no number"],
)
def test_the_first_lines_are_five_of_the_new_side(
    above: str, reason: str | None, a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    assert looks_generated(a_file("api.py", a_hunk(f"{above}+# @generated"))) == reason


@pytest.mark.parametrize(("to_the_right", "reason"), [(0, SAYS_SO), (1, None)])
def test_the_marker_may_end_in_the_last_column_that_is_looked_at(
    to_the_right: int, reason: str | None, a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    line = "@generated".rjust(MARKER_WIDTH + to_the_right)

    assert looks_generated(a_file("api.py", a_hunk(f"+{line}"))) == reason


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("vendor/third_party/a.py", "vendored, below vendor/"),
        ("third_party/vendor/uv.lock", "vendored, below third_party/"),
        ("uv.lock/a.py", None),
        ("src/app.min.js/a.py", None),
        ("src/APP.MIN.JS", None),
    ],
)
def test_the_outermost_folder_is_named_and_only_the_last_name_can_be_that_of_a_program(
    path: str, reason: str | None, a_file: MakeFile
) -> None:
    assert looks_generated(a_file(path)) == reason


@pytest.mark.parametrize(
    ("path", "fields", "ignore", "paths", "reason"),
    [
        ("a/uv.lock", {}, ["a/*"], ["b/*"], "not among the paths to review"),
        ("a/uv.lock", {}, ["a/*"], ["b/*", "a/*"], "matches the ignore pattern 'a/*'"),
        ("a/uv.lock", {"mode": "160000"}, ["a/*"], [], "a submodule, which is never followed"),
        ("a/uv.lock", {"status": "deleted", "minified": True}, ["a/*"], [], "deleted"),
    ],
)
def test_of_several_reasons_not_to_read_a_file_the_surest_is_told(
    path: str,
    fields: dict[str, Any],
    ignore: list[str],
    paths: list[str],
    reason: str,
    a_change: MakeChange,
    a_file: MakeFile,
) -> None:
    [entry] = triage(a_change(a_file(path, **fields)), TriageRules(ignore, paths)).files

    assert entry.reason == reason


@pytest.mark.parametrize(("limit", "over"), [(2, 0), (1, 1), (0, 2)])
def test_as_many_files_as_the_limit_says_are_read(
    limit: int, over: int, a_change: MakeChange, a_file: MakeFile
) -> None:
    found = triage(a_change(a_file("a.py"), a_file("b.py")), TriageRules(max_files=limit))

    assert (len(found.read), len(found.scan), sum(entry.over_cap for entry in found.files)) == (limit, over, over)


def test_ten_added_lines_weigh_as_much_as_one_step_and_removed_ones_nothing(a_file: MakeFile) -> None:
    assert [risk(a_file(added=count)) - risk(a_file(added=0)) for count in (9, 10, 199, 200, 210)] == [0, 1, 19, 20, 20]
    assert risk(a_file(removed=500)) == risk(a_file())


@pytest.mark.parametrize(("one", "other"), [("src/AUTH.py", "src/auth.py"), ("Tests/a.py", "tests/a.py")])
def test_the_case_of_a_name_does_not_change_its_risk(one: str, other: str, a_file: MakeFile) -> None:
    assert risk(a_file(one)) == risk(a_file(other)) != risk(a_file("src/a.py"))


# --- who reads it


@pytest.mark.parametrize(
    ("added", "removed", "plain"),
    [(SMALL_LINES, 0, True), (0, SMALL_LINES, True), (30, 30, True), (30, 31, False), (SMALL_LINES + 1, 0, False)],
)
def test_a_plain_change_has_a_screenful_of_lines_at_most(
    added: int,
    removed: int,
    *,
    plain: bool,
    a_file: MakeFile,
) -> None:
    assert is_plain([a_file("src/app.py", added=added, removed=removed)]) is plain


@pytest.mark.parametrize(("to_the_right", "found"), [(0, True), (1, False)])
def test_a_word_may_end_in_the_last_column_that_is_looked_at(
    to_the_right: int,
    *,
    found: bool,
    a_file: MakeFile,
    a_hunk: MakeHunk,
) -> None:
    costs, hurts = (f"+{word.rjust(LINE_WIDTH + to_the_right)}" for word in ("await", "secret"))

    assert may_cost(a_file("a.py", a_hunk(costs))) is found
    assert is_plain([a_file("a.py", a_hunk(hurts))]) is not found


def test_every_hunk_is_looked_at_and_lines_that_stay_are_not(a_file: MakeFile, a_hunk: MakeHunk) -> None:
    before, after = a_hunk(" await it\n secret\n+x = 1"), a_hunk("+    while True:\n+    eval(x)", start=90)

    assert not may_cost(a_file("a.py", before))
    assert is_plain([a_file("a.py", before)])
    assert may_cost(a_file("a.py", before, after))
    assert not is_plain([a_file("a.py", before, after)])


def test_a_remark_costs_nothing_and_may_hurt_all_the_same(a_file: MakeFile, a_hunk: MakeHunk) -> None:
    file = a_file("a.py", a_hunk("+# for each SECRET in the list"))

    assert (may_cost(file), is_plain([file])) == (False, False)


def test_readers_stand_in_the_order_of_the_crew_also_the_one_that_was_called_in(
    a_card: MakeCard, a_file: MakeFile
) -> None:
    worker_set = [a_card(name) for name in ("style", "logic", "licence", "security")]

    readers = route(a_file("README.md", kind="prose"), worker_set, nowhere, plain=False)

    assert [card.name for card in readers.models] == ["logic", "licence"]
    assert [card.name for card in readers.programs] == ["style", "security"]


def test_who_is_called_in_does_not_depend_on_the_order_of_the_crew(a_card: MakeCard, a_file: MakeFile) -> None:
    worker_set = [a_card(name) for name in ("performance", "style", "security")]

    for able in (worker_set, worker_set[::-1]):
        readers = route(a_file("README.md", kind="prose"), able, nowhere, plain=True)
        assert [card.name for card in readers.models] == ["security"]


@pytest.mark.parametrize("path", ["tests/deploy.yml", "Fixtures/deploy.yml", "src/__tests__/deploy.yml"])
def test_configuration_of_tests_is_read_by_the_one_who_is_called_in(
    path: str, a_card: MakeCard, a_file: MakeFile
) -> None:
    worker_set = [a_card("security"), a_card("logic")]

    assert [card.name for card in route(a_file(path, kind="config"), worker_set, nowhere, plain=False).models] == [
        "logic"
    ]


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("TESTS/a.py", True),
        ("spec/a.rb", True),
        ("attest_a.py", False),
        ("contests/a.py", False),
        ("a_test/b.py", False),
    ],
)
def test_a_word_that_only_ends_like_a_test_is_none(path: str, test: bool) -> None:  # noqa: FBT001 - the expectation
    assert is_test(path) is test


def test_who_was_spared_is_told_in_order_of_their_names(a_card: MakeCard, a_file: MakeFile) -> None:
    spared = Readers((), (a_card("style"), a_card("logic")))

    told = unread_note([(a_file(), spared), (a_file(), Readers((), (a_card("style"),)))])

    assert told == "; files where only the programs of a worker run: logic 1, style 2"


# --- in which slices


@pytest.mark.parametrize(
    ("body", "limit", "count"),
    [
        ("\n".join(["+x"] * 10), 10, 1),
        ("\n".join(["+x"] * 11), 10, 2),
        ("\n".join(["-x"] * 10 + ["+x"] * 10), 10, 1),
        ("\n".join(["-x"] * 11 + ["+x"]), 10, 2),
        ("\n".join([" x"] * 5 + ["+x"] * 5), 10, 1),
        ("\n".join([" x"] * 5 + ["+x"] * 6), 10, 2),
    ],
)
def test_a_hunk_is_cut_where_its_larger_side_is_over_the_limit(
    body: str, limit: int, count: int, a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    assert len(payloads(a_file("a.py", a_hunk(body)), None, limit)) == count


def test_a_limit_of_one_line_cuts_down_to_rows_and_a_single_row_stays_whole(a_file: MakeFile, a_hunk: MakeHunk) -> None:
    cut = payloads(a_file("a.py", a_hunk("+a\n+b\n+c", start=5)), None, 1)

    assert [(part.code, part.starts) for part in cut] == [
        ("@@\n+a", ((5, 5),)), ("@@\n+b", ((5, 6),)), ("@@\n+c", ((5, 7),)),
    ]  # fmt: skip


def test_a_definition_around_two_hunks_is_shown_once_and_outermost_first(a_file: MakeFile, a_hunk: MakeHunk) -> None:
    whole = "class A:\n    def one(self):\n        x = 1\n    def two(self):\n        y = 1\n"
    file = a_file("a.py", a_hunk("+        x = 1", start=3), a_hunk("+        y = 1", start=5))

    [payload] = payloads(file, whole, 400)

    assert payload.context == "class A:\n    def one(self):\n    def two(self):"


def test_of_deep_nesting_the_innermost_definitions_are_shown_and_a_long_head_is_cut() -> None:
    lines = [f"{' ' * depth}level {depth} {'x' * MAX_CONTEXT_LINE}" for depth in range(MAX_ENCLOSING + 2)]

    found = enclosing([*lines, " " * 99 + "x = 1"], len(lines) + 1)

    assert [line.split()[1] for line in found] == [str(depth) for depth in range(2, MAX_ENCLOSING + 2)]
    assert {len(line) for line in found} == {MAX_CONTEXT_LINE}


@pytest.mark.parametrize(
    ("text", "start", "found"),
    [
        ("def f():   \n\n    \n    x = 1", 2, ["def f():"]),
        ("def f():\n    x = 1\n", 3, []),
        ("def f():\n    x = 1", 2, ["def f():"]),
        ("def f():\n    x = 1", 3, []),
        ("if a:\n    b\nelse:\n    c", 4, ["else:"]),
        ("a = [\n  (\n    x,", 3, ["a = ["]),
        ("\tdef f():\n\t\tx = 1", 2, ["\tdef f():"]),
    ],
    ids=["a blank line", "the end of the file", "the last line", "below the file", "a branch", "no letter", "tabs"],
)
def test_what_a_line_is_nested_in_is_judged_by_the_next_line_with_text(text: str, start: int, found: list[str]) -> None:
    assert enclosing(text.split("\n"), start) == found


def test_a_slice_has_an_old_name_only_where_it_is_another_one(a_file: MakeFile) -> None:
    old = [payloads(a_file("a.py", old_path=name), None, 9)[0].old_path for name in (None, "a.py", "b.py")]

    assert old == [None, None, "b.py"]


def test_only_added_and_removed_lines_are_counted(a_payload: MakePayload) -> None:
    assert changed_lines(a_payload(" a\n+b\n-c\n\\ No newline at end of file\n+", "+@@ d")) == 4
    assert changed_lines(a_payload(" a")) == 0


@given(sizes=st.lists(st.integers(1, 30), max_size=50), limit=st.integers(0, 60))
def test_bundles_keep_the_slices_in_order_and_only_one_alone_is_over_the_limit(
    a_payload: MakePayload, sizes: list[int], limit: int
) -> None:
    slices = [Slice(f"{n}\udc80", a_payload("\n".join(["+x"] * size))) for n, size in enumerate(sizes)]

    found = bundles(iter(slices), limit)

    assert [each for part in found for each in part] == slices
    for part in found:
        assert part
        assert len(part) == 1 or sum(changed_lines(each.payload) for each in part) <= limit


@pytest.mark.parametrize(("count", "lines", "limit", "parts"), [(16, 1, 16, 1), (17, 1, 16, 2), (2, 5, 9, 2)])
def test_what_fits_just_so_is_one_bundle(
    count: int, lines: int, limit: int, parts: int, a_payload: MakePayload
) -> None:
    slices = [Slice(str(n), a_payload("\n".join(["+x"] * lines))) for n in range(count)]

    assert len(bundles(slices, limit)) == parts


def test_where_a_bundle_is_parted_the_names_decide_and_nothing_else(a_payload: MakePayload) -> None:
    names = [f"f{n}.py#1" for n in range(12)]

    one, other = (
        [[each.name for each in part] for part in bundles([Slice(name, a_payload(body)) for name in names], 6 * size)]
        for body, size in (("+x", 1), ("+y\n-z", 2))
    )

    assert one == other
    assert len(one) > 1
