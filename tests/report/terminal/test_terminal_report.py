from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.domain.contracts import (
    Conflict,
    FileCoverage,
    Finding,
    Gap,
    HumanItem,
    Review,
    Usage,
    Verdict,
    Withheld,
    WorkerUsage,
)
from tests.rendering import render_terminal

if TYPE_CHECKING:
    from collections.abc import Callable

SGR = re.compile(r"\x1b\[[0-9;]*m")
HIDDEN = {"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_full_review_in_a_terminal(width: int, full_review: Review, golden: Callable[[str, str], None]) -> None:
    golden(f"review-{width}.txt", render_terminal(full_review, width=width, colour=False))


def test_a_full_review_in_colour(full_review: Review, golden: Callable[[str, str], None]) -> None:
    golden("review-colour.ansi", render_terminal(full_review, width=80, colour=True))


def test_a_clean_review_in_a_terminal(make_review: Callable[..., Review], golden: Callable[[str, str], None]) -> None:
    golden("clean.txt", render_terminal(make_review(), width=80, colour=False))


def test_colour_changes_no_word(full_review: Review) -> None:
    coloured = render_terminal(full_review, width=80, colour=True)

    assert SGR.sub("", coloured) == render_terminal(full_review, width=80, colour=False)


def test_the_verdict_comes_first_and_the_critical_finding_next(full_review: Review) -> None:
    out = render_terminal(full_review, width=80, colour=False)

    assert out.startswith("4 issues found; 4 of 7")
    places = [
        "app/db.py:41",
        "list_view.py:118",
        "app/util.py:7",
        "app/cache.py:12",
        "app/shell.py:9",
        "Not reviewed in full",
    ]
    assert [out.index(place) for place in places] == sorted(out.index(place) for place in places)


@given(
    path=st.text(
        st.characters(exclude_characters="\n\t", exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Mn"))
    )
    .filter(lambda path: path.strip() == path != "")
    .map(lambda path: path + ".py"),
    width=st.integers(1, 130),
    line=st.integers(1, 10**6),
)
def test_the_place_of_a_finding_is_never_broken(
    path: str, width: int, line: int, make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(path=path, line=line, end_line=line)
    human = (HumanItem(path=path, line=line + 1, reason="r"), HumanItem(path=path, line=1, reason="r", finding=finding))

    shown = render_terminal(make_review(findings=(finding,), human=human), width=width, colour=False)

    if "\u3164" not in path:
        assert shown.count(f"{path}:{line}") >= 2
        assert f"{path}:{line + 1}\n" in shown


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(), colour=st.booleans())
def test_no_text_reaches_the_terminal_with_a_character_that_acts(
    text: str, *, colour: bool, make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(
        message=text, path=text, evidence=text, trigger=text, suggestion=text, rule=text, category=text,
        sources=(text,), contract=text, symptom=text, judgement=text, disputed=text,
    )  # fmt: skip
    review = make_review(
        headline=text,
        summary=text,
        engine=text,
        findings=(finding,),
        human=(HumanItem(path=text, reason=text),),
        gaps=(Gap(path=text, worker=text, reason="budget", message=text, tool=text),),
        workers=(WorkerUsage(worker=text, tasks=1, findings=1, duration_ms=1, usage=Usage(calls=1)),),
        usage=Usage(calls=1),
        coverage=(FileCoverage(path=text, state="partial", reason=text, analyzers=(text,)),),
        notes=(text,),
    )

    shown = SGR.sub("", render_terminal(review, width=60, colour=colour)).replace("\u200d", "")

    assert [char for char in shown if char != "\n" and unicodedata.category(char) in HIDDEN] == []


def test_an_escape_sequence_is_shown_and_not_sent(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(message="\x1b]0;owned\x07 \u202e", evidence="\x1b[2J")

    shown = render_terminal(make_review(findings=(finding,)), width=80, colour=False)

    assert "\\x1b]0;owned\\x07 <U+202E>" in shown
    assert "| \\x1b[2J" in shown


def test_markup_and_emoji_names_are_not_interpreted(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    message = "[bold red]x[/] [link=http://127.0.0.1:9]y[/link] :warning:"

    shown = render_terminal(make_review(findings=(make_finding(message=message),)), width=80, colour=True)

    assert message in shown


def test_code_has_line_numbers_where_it_is_the_whole_place(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    whole = make_finding(line=9, end_line=10, evidence="a = 1\r\nb = 2")
    part = make_finding(line=9, end_line=20, evidence="a = 1\nb = 2")

    shown = render_terminal(make_review(findings=(whole, part)), width=80, colour=False)

    assert "     9 | a = 1\n    10 | b = 2\n" in shown
    assert "    | a = 1\n    | b = 2\n" in shown


def test_long_code_is_cut_and_says_so(make_review: Callable[..., Review], make_finding: Callable[..., Finding]) -> None:
    evidence = "\n".join(f"line{n} = '{'x' * 1_000}'" for n in range(30))

    shown = render_terminal(
        make_review(findings=(make_finding(line=1, end_line=30, evidence=evidence),)), width=80, colour=False
    )

    assert "     1 | line0 = 'xxx" in shown
    assert "       | ... 18 more lines\n" in shown
    assert "xxx ...\n     2 | line1" in shown
    assert "line12" not in shown


def test_many_files_with_one_reason_are_counted(make_review: Callable[..., Review]) -> None:
    coverage = tuple(
        FileCoverage(path=f"{n}.lock", state="scanned", need="scan", reason="a lock file") for n in range(20)
    )

    shown = render_terminal(make_review(coverage=coverage), width=80, colour=False)

    assert "  - only scanned, which is enough: a lock file\n    0.lock, 1.lock," in shown
    assert "7.lock and 12 more\n" in shown


def test_a_flood_of_things_for_a_person_is_counted_and_not_listed(make_review: Callable[..., Review]) -> None:
    items = tuple(HumanItem(path=f"f{n}.py", reason="look") for n in range(1_050))

    text = render_terminal(make_review(human=items), width=80, colour=False)

    assert "f49.py" in text
    assert "f50.py" not in text
    assert "... and 1,000 more" in text


def test_contradictions_show_their_code_once_and_stand_apart(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    sides = (make_finding(message="Yes."), make_finding(message="No."))
    conflict = Conflict(findings=sides, reason="They disagree.")

    shown = render_terminal(make_review(conflicts=(conflict, conflict)), width=80, colour=False)

    assert shown.count("app/db.py:41  critical") == 4
    assert shown.count("42 | cursor.execute(query)") == 2
    assert "\n\n  They disagree.\napp/db.py:41  critical  Yes\n" in shown


def test_withheld_findings_are_counted_by_reason(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    withheld = tuple(Withheld(finding=make_finding(), reason="over_cap", message="m") for _ in range(2))

    shown = render_terminal(make_review(withheld=withheld), width=120, colour=False)

    assert "2 findings withheld: 2 over the cap on findings. --format json lists them.\n" in shown


@pytest.mark.parametrize("verdict", get_args(Verdict))
def test_every_verdict_has_its_headline_first(verdict: Verdict, make_review: Callable[..., Review]) -> None:
    review = make_review(verdict=verdict, headline=f"It is {verdict}")

    assert render_terminal(review, width=80, colour=False).startswith(f"It is {verdict}\n")


def test_the_environment_does_not_change_a_page(full_review: Review) -> None:
    program = (
        "import sys; from reviewbot.domain.contracts import Review;"
        "from reviewbot.report.formats import ReportInput; from reviewbot.report.terminal.report import render;"
        "print(render(ReportInput(Review.model_validate_json(sys.stdin.read()), {}, 80, True)), end='')"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        input=full_review.model_dump_json(),
        env={"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "30", "TTY_COMPATIBLE": "0", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )

    assert run.stdout == render_terminal(full_review, width=80, colour=True)


def test_rich_is_not_loaded_before_a_page_is_made() -> None:
    program = (
        "import sys, reviewbot.report.terminal, reviewbot.report.markdown.comment, reviewbot.report.json_report,"
        " reviewbot.report.plan_report, reviewbot.report.progress; sys.exit('rich' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_what_backs_a_finding_stands_below_it(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    finding = make_finding(contract="It promises.", symptom="It hangs.", judgement="Two callers do.", disputed="No.")

    shown = render_terminal(make_review(findings=(finding,)), width=80, colour=False)

    assert "  seen   It hangs.\n  rule   It promises.\n  proof  Two callers do.\n  doubt  No.\n" in shown


def test_what_the_change_does_stands_below_the_verdict(make_review: Callable[..., Review]) -> None:
    shown = render_terminal(make_review(about=("It adds a retry.", "It tests it.")), width=80, colour=False)

    assert shown.startswith("No issues found; 1 of 1 file reviewed\nIt adds a retry. It tests it.\n")
