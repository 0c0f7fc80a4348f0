"""The edges of what a terminal shows: the last row and column that fit, and what is told where nothing is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from reviewbot.domain.contracts import (
    Conflict,
    FileCoverage,
    HumanItem,
    Payload,
    Plan,
    PlannedFile,
    Review,
    SkippedWorkers,
    Usage,
    Withheld,
    WorkerUsage,
)
from reviewbot.report.plan_report import render_plan
from reviewbot.report.terminal.page import CODE_CHARS, CODE_LINES, MIN_WIDTH, Page
from reviewbot.report.terminal.timeline import render_timeline
from reviewbot.report.timeline import Timeline, TimelineRow
from tests.make import MakeFinding, MakeReview, MakeTask
from tests.rendering import render_terminal

BARE = {"evidence": "", "trigger": "", "suggestion": ""}


def a_page(width: int = 80) -> Page:
    return Page(width=width, colour=False)


def shown(review: Review, width: int = 80) -> str:
    return render_terminal(review, width=width, colour=False)


# --- pages


@pytest.mark.parametrize("width", [-5, 0, 1, MIN_WIDTH])
def test_a_page_is_never_narrower_than_its_least_width(width: int) -> None:
    page = a_page(width)
    page.paragraph("word " * 8)

    assert page.render() == "word word word word\nword word word word\n"


def test_a_paragraph_hangs_below_its_text_and_not_below_its_lead() -> None:
    page = a_page(MIN_WIDTH)
    page.paragraph("aaa bbb ccc ddd", indent=2, lead="when  ")
    page.paragraph("aaaa bbbbb ccccc", indent=30, lead="- ")

    assert page.render().split("\n") == [
        "  when  aaa bbb ccc", " " * 8 + "ddd",
        " " * 30 + "- aaaa bbbbb", " " * 32 + "ccccc", "",
    ]  # fmt: skip


@pytest.mark.parametrize(("rows", "last"), [(CODE_LINES, "12 | x"), (CODE_LINES + 1, "   | ... 1 more line")])
def test_a_screenful_of_code_is_whole_and_what_is_left_out_has_no_number(rows: int, last: str) -> None:
    page = a_page()
    page.code("\n".join(["x"] * rows), indent=0, first_line=1)

    assert page.render().rstrip("\n").split("\n")[CODE_LINES - (rows == CODE_LINES)] == last


@pytest.mark.parametrize(("first", "numbers"), [(8, ["8 |", "9 |"]), (9, [" 9 |", "10 |"]), (99, [" 99 |", "100 |"])])
def test_numbers_of_lines_are_as_wide_as_the_last_of_them(first: int, numbers: list[str]) -> None:
    page = a_page()
    page.code("x\ny", indent=0, first_line=first)

    assert page.render() == f"{numbers[0]} x\n{numbers[1]} y\n"


def test_code_keeps_its_blanks_and_blank_rows_and_is_never_broken_so_that_it_can_be_copied() -> None:
    page = a_page(MIN_WIDTH)
    page.code("a\n\n\tb  c   \n" + "0123456789" * 3, indent=0, lead="fix   ")

    assert page.render().split("\n") == [
        "fix   | a", "      | ", "      |     b  c",
        "      | " + "0123456789" * 3, "",
    ]  # fmt: skip


def test_a_long_line_of_code_is_cut_and_says_so() -> None:
    page = a_page(10 * CODE_CHARS)
    page.code("a" * CODE_CHARS, indent=0)
    page.code("b" * (CODE_CHARS + 1), indent=0)

    assert page.render() == f"| {'a' * CODE_CHARS}\n| {'b' * (CODE_CHARS - 4)} ...\n"


@given(
    text=st.text(st.sampled_from("ab \t漢字é\U0001f600"), max_size=60),
    width=st.integers(0, 60),
    indent=st.integers(0, 6),
)
def test_no_row_of_prose_is_wider_than_the_page_but_a_word_that_is(text: str, width: int, indent: int) -> None:
    page = a_page(width)
    page.paragraph(text, indent=indent)

    rows = page.render().split("\n")
    assert [row for row in rows if cell_len(row) > max(width, MIN_WIDTH) and len(row.split()) > 1] == []
    assert "".join("".join(rows).split()) == "".join(text.split())


def test_a_code_span_is_never_broken() -> None:
    page = a_page(30)
    page.paragraph("Pass the value as a parameter: `cursor.execute(sql, (name,))`, and `b")

    assert page.render() == "Pass the value as a parameter:\n`cursor.execute(sql, (name,))`,\nand `b\n"


def test_links_carry_an_address_of_plain_characters_alone_and_only_where_they_are_shown() -> None:
    linking, plain = Page(width=60, colour=False, address_of=lambda _: ""), a_page()

    assert linking.link("a.py:1", "file:///a.py") == "\x1b]8;;file:///a.py\x1b\\a.py:1\x1b]8;;\x1b\\"
    assert [linking.link("a", url) for url in ("", "file:///\x1b]2;x", "file:///é")] == ["a"] * 3
    assert plain.link("a.py:1", "file:///a.py") == "a.py:1"


def test_what_looks_like_markup_is_literal_in_every_kind_of_line() -> None:
    page = Page(width=60, colour=True)
    page.line(("[bold]x[/]", ""))
    page.paragraph("[red]y :smile:")
    page.code("[/z]", indent=0)

    assert [piece in page.render() for piece in ("[bold]x[/]", "[red]y :smile:", "[/z]")] == [True] * 3


# --- reviews


@pytest.mark.parametrize(("spare", "lines"), [(0, 1), (-1, 2)])
def test_a_message_stands_on_the_line_of_its_place_where_it_just_fits(
    spare: int, lines: int, make_review: MakeReview, make_finding: MakeFinding
) -> None:
    head = "app/db.py:41  info  It breaks here"

    text = shown(
        make_review(findings=(make_finding(severity="info", message="It breaks here.", **BARE),)), len(head) + spare
    )

    assert (head + "\n" in text, "app/db.py:41  info\n  It breaks here\n" in text) == (lines == 1, lines == 2)


@pytest.mark.parametrize(
    ("evidence", "numbered"),
    [("a", False), ("a\nb", True), ("\n\na\nb\n\n", True), ("a\n\nb", False), ("a\r\nb", True)],
)
def test_code_has_numbers_where_it_has_as_many_lines_as_the_place(
    evidence: str, *, numbered: bool, make_review: MakeReview, make_finding: MakeFinding
) -> None:
    text = shown(make_review(findings=(make_finding(evidence=evidence),)))

    assert ("    41 | a\n" in text) is numbered
    assert ("    | a\n" in text) is not numbered


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"suggestion": "Do it.", "replacement": "x"}, "  fix    Do it.\n  fix    | x\n"),
        ({"suggestion": "\n \n", "replacement": "  x = 2"}, "  fix    |   x = 2\n"),
        ({"suggestion": "", "replacement": "if a:\n    b"}, "  fix    | if a:\n         |     b\n"),
    ],
)
def test_what_mends_a_finding_is_words_and_code(
    changes: dict[str, str], part: str, make_review: MakeReview, make_finding: MakeFinding
) -> None:
    assert part in shown(make_review(findings=(make_finding(**changes),)))


def test_a_finding_that_says_no_more_than_what_is_wrong_has_two_lines(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    blank = dict.fromkeys(("contract", "symptom", "judgement", "disputed", "trigger", "suggestion", "evidence"), " \n")
    finding = make_finding(message="Wrong.", rule="", cwe=None, **blank)

    assert ("\n\napp/db.py:41  critical  Wrong\n  security, injection; 92% sure, by ruff, taint\n\n") in shown(
        make_review(findings=(finding,))
    )


def test_why_a_person_must_look_stands_after_what_mends_it(make_review: MakeReview, make_finding: MakeFinding) -> None:
    item = HumanItem(path="z.py", line=3, reason="Unsure.", finding=make_finding(suggestion="Do it."))

    text = shown(make_review(human=(item, HumanItem(path="z.py", line=3, reason="Odd."))))

    assert "\nNeeds a person\napp/db.py:41" in text
    assert "  fix    Do it.\n  person Unsure.\n  security, injection" in text
    assert text.count("z.py:3\n  Odd.\n") == text.count("z.py") == 1


@pytest.mark.parametrize("change", [{"path": "b.py"}, {"line": 40}, {"evidence": "other()"}])
def test_each_place_of_a_contradiction_shows_its_code(
    change: dict[str, Any], make_review: MakeReview, make_finding: MakeFinding
) -> None:
    sides = (make_finding(evidence="same()"), make_finding(**{"evidence": "same()", **change}))

    text = shown(make_review(conflicts=(Conflict(findings=sides, reason="They differ."),)))

    assert text.count("    | ") == 2


@pytest.mark.parametrize(("count", "tail"), [(8, "f7\n"), (9, "f7 and 1 more\n"), (1_008, "f7 and 1,000 more\n")])
def test_eight_names_stand_with_a_reason(count: int, tail: str, make_review: MakeReview) -> None:
    files = tuple(FileCoverage(path=f"f{n}", state="not_reviewed") for n in range(count))

    assert f"  - not reviewed\n    f0, f1, f2, f3, f4, f5, f6, {tail}" in shown(make_review(coverage=files))


@pytest.mark.parametrize(("count", "more"), [(50, False), (51, True)])
def test_fifty_things_for_a_person_are_listed(count: int, *, more: bool, make_review: MakeReview) -> None:
    text = shown(make_review(human=tuple(HumanItem(path=f"f{n}", reason="look") for n in range(count))))

    assert text.count("  look\n") == 50
    assert ("... and 1 more; --format json lists them." in text) is more


def test_one_withheld_finding_is_no_plural(make_review: MakeReview, make_finding: MakeFinding) -> None:
    withheld = Withheld(finding=make_finding(), reason="minor", message="m")

    assert "true and minor. --format json lists it." in shown(make_review(withheld=(withheld,)), 120)


def test_sections_without_anything_in_them_have_no_heading(make_review: MakeReview) -> None:
    lines = shown(make_review(summary=" \n")).split("\n")

    assert lines[0] == "No issues found; 1 of 1 file reviewed"
    assert lines[1:3] == ["", "Analyzed by 1 analyzer."]


def test_a_report_ends_with_the_number_of_tools_and_names_them_where_that_is_asked_for(full_review: Review) -> None:
    brief = render_terminal(full_review, width=120, colour=False)
    verbose = render_terminal(full_review, width=120, colour=False, verbose=True)

    assert "\nAnalyzed by 3 analyzers; scanned by 1 scan.\n" in brief
    assert "longest chain" not in brief
    assert "\nAnalyzed by loops, ruff, taint; scanned by secrets.\n" in verbose
    assert "longest chain of tasks 820 ms" in verbose
    assert brief.partition("\nAnalyzed by")[0] == verbose.partition("\nAnalyzed by")[0]


def test_a_bill_has_a_line_for_each_worker_and_their_sum(make_review: MakeReview) -> None:
    usage = Usage(calls=1, input_tokens=7, cost_usd=0.5)
    row = WorkerUsage(worker="logic", tasks=1, findings=0, duration_ms=1, usage=usage)

    text = shown(make_review(workers=(row,), usage=usage), 120)

    _, _, bill = text.partition("\nCost\n")
    assert [line[:7] for line in bill.split("\n")[:2]] == ["  logic", "  all: "]


# --- plans


def test_a_plan_without_tasks_and_with_nothing_left_out_says_so_in_two_lines() -> None:
    plan = Plan(goal="Review\nit", tasks=(), reason="nothing to read", strategy="reduce", origin="model")

    assert render_plan(plan, width=80, colour=False) == (
        "0 tasks: Review it\nmade by a model, results joined by reduce: nothing to read\n"
    )


def test_a_task_says_for_whom_it_waits_and_whether_it_can_do_without(make_task: MakeTask) -> None:
    names = ("a", "b\x1b")
    first = tuple(make_task(task_id=name) for name in names)
    waits = [make_task(task_id=f"{needs}", depends_on=names, needs_dependencies=needs) for needs in (True, False)]

    text = render_plan(Plan(goal="g", tasks=(*first, *waits), reason="r"), width=80, colour=False)

    assert text.count("after   ") == 2
    assert "id      True\n   after   a, b\\x1b\n" in text
    assert "id      False\n   after   a, b\\x1b (runs without it, should it fail)\n" in text


def test_a_task_of_one_tier_and_one_turn_says_no_more(make_task: MakeTask) -> None:
    task = make_task()
    limits = task.constraints.model_copy(update={"higher_tiers": (), "max_turns": 1, "timeout_ms": 900})

    text = render_plan(
        Plan(goal="g", tasks=(task.model_copy(update={"constraints": limits}),), reason="r"), width=80, colour=False
    )

    assert "   tier    small\n   budget  8,000 tokens, 900 ms, 1 turn\n" in text
    assert text.startswith("1 task: g\n")


def test_what_no_task_reads_comes_last_files_before_workers(make_task: MakeTask) -> None:
    plan = Plan(
        goal="g",
        tasks=(make_task(),),
        reason="r",
        files=(PlannedFile(path="uv.lock", need="scan", reason="a lock file"),),
        unlooked=(SkippedWorkers(path="a.py", workers=("x", "y"), reason="no check"),),
    )

    _, _, end = render_plan(plan, width=80, colour=False).partition("\n\nWill not be reviewed in full\n")
    assert end == "  - scans are enough: a lock file\n    uv.lock\n  - not looked at for x, y: no check\n    a.py\n"


def test_a_hunk_without_a_known_start_is_no_line(make_task: MakeTask) -> None:
    payload = Payload(code="@@ \n+a\n@@ \n+b", file_path="a.py", language="python", starts=((3, 3),))

    assert "lines   3\n" in render_plan(
        Plan(goal="g", tasks=(make_task(payload=payload),), reason="r"), width=80, colour=False
    )


# --- timelines


def a_timeline(*rows: TimelineRow, wall_ms: int = 100, width: int = 80) -> list[str]:
    return render_timeline(Timeline(rows, wall_ms, ()), width=width, colour=False).rstrip("\n").split("\n")


def test_a_run_without_rows_has_its_time_alone() -> None:
    assert a_timeline() == ["100 ms in all"]


@pytest.mark.parametrize(("width", "columns"), [(1, 8), (26, 8), (27, 9), (119, 39), (120, 40), (130, 40)])
def test_bars_take_a_third_of_the_width_within_bounds(width: int, columns: int) -> None:
    assert f"[{'=' * columns}]" in "\n".join(a_timeline(TimelineRow(0, 100, "a", "b", call=True), width=width))


@pytest.mark.parametrize(
    ("start", "end", "wall", "bar"),
    [
        (0, 1, 1_000, "#........."),
        (999, 1_000, 1_000, ".........#"),
        (1_000, 1_000, 1_000, ".........|"),
        (0, 0, 0, "|........."),
        (500, 5_000, 1_000, ".....#####"),
        (5_000, 9_000, 1_000, ".........#"),
        (140, 160, 1_000, ".#........"),
        (0, 260, 1_000, "###......."),
    ],
)
def test_a_bar_is_always_ten_columns_and_never_empty(start: int, end: int, wall: int, bar: str) -> None:
    assert f"[{bar}]" in "\n".join(a_timeline(TimelineRow(start, end, "a", "b"), wall_ms=wall, width=30))


@pytest.mark.parametrize(("count", "more"), [(12, []), (13, ["      and 1 more"])])
def test_twelve_notes_stand_below_a_row(count: int, more: list[str]) -> None:
    lines = a_timeline(TimelineRow(0, 1, "a", "b", tuple(f"n{n}" for n in range(count))))

    assert [line for line in lines if line.startswith("      n")] == [f"      n{n}" for n in range(12)]
    assert [line for line in lines if "more" in line] == more


def test_what_a_row_is_about_stands_on_its_line_where_it_just_fits() -> None:
    whole = f"[{'#' * 20}] a  {'x' * 22}  0 ms +100 ms"
    assert len(whole) == 62

    fits = a_timeline(TimelineRow(0, 100, "a", "x" * 22), width=62)
    longer = a_timeline(TimelineRow(0, 100, "a", "x" * 23), width=62)

    assert fits[-1] == whole
    assert longer[-2:] == [f"[{'#' * 20}] a  0 ms +100 ms", "    " + "x" * 23]


def test_names_in_a_timeline_are_shown_and_not_obeyed() -> None:
    lines = a_timeline(TimelineRow(0, 100, "a\x1b[2J", "b\nc", ("n\u202e\nm",)))

    assert lines[3:] == [f"[{'#' * 26}] a\\x1b[2J  b\\nc  0 ms +100 ms", "      n<U+202E> m"]
