from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.diff.parser.file_names import label
from reviewbot.domain.contracts import DESCRIPTION, TITLE, Conflict, HumanItem, Review
from reviewbot.report.annotations import PER_LEVEL
from tests.make import MakeFinding, MakeReview
from tests.rendering import render_annotations

Command = tuple[str, dict[str, str], str]

# Texts that try to end a line or a property, or that are commands themselves.
INJECTIONS = [
    "a\n::error file=x::gone",
    "a\r::warning::gone",
    "a\r\n::set-output name=x::1",
    "::add-mask::secret",
    "::stop-commands::token",
    "##[error]gone",
    "a%0A::error::gone",
    "a%250A::error::gone",
    "x,line=1,title=other::gone",
    "a\u2028::error::gone",
    "a\x85::error::gone",
    "a\x0b\x0c\x1c\x1d\x1e::error::gone",
    "\x1b[31m::error::gone",
    "\u202e::error::gone",
]

SQL = "SQL is built from user input: `name` goes into the query unescaped"


def commands(text: str) -> list[Command]:
    """What GitHub's runner makes of a log: it splits lines at LF, CR and both, and a command at the first "::"."""
    assert text == "" or text.endswith("\n")
    read: list[Command] = []
    for line in re.split(r"\r\n|\r|\n", text)[:-1]:
        assert line.startswith("::"), line
        head, _, message = line[2:].partition("::")
        level, _, properties = head.partition(" ")
        pairs = (pair.split("=", 1) for pair in properties.split(",") if pair)
        read.append((level, {name: decoded(value) for name, value in pairs}, decoded(message)))
    return read


def decoded(text: str) -> str:
    """The runner knows five codes; none of them means anything to it but these."""
    assert set(re.findall(r"%..", text)) <= {"%25", "%0D", "%0A", "%3A", "%2C"}
    return unquote(text)


def test_the_whole_review_as_annotations(full_review: Review, golden: Callable[[str, str], None]) -> None:
    golden("review.annotations", render_annotations(full_review))


def test_a_review_with_nothing_to_say_says_nothing(make_review: MakeReview) -> None:
    assert render_annotations(make_review()) == ""


def test_a_finding_is_at_its_lines_at_the_level_of_its_severity(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    (command,) = commands(render_annotations(make_review(findings=(make_finding(trigger=""),))))

    assert command == (
        "error",
        {"file": "app/db.py", "line": "41", "endLine": "42", "title": f"reviewbot: {SQL}"},
        "Fix: Pass the value as a parameter: `cursor.execute(sql, (name,))`.\nS608, CWE-89, 92% sure",
    )


@pytest.mark.parametrize(("severity", "level"), [("critical", "error"), ("warning", "warning"), ("info", "notice")])
def test_each_severity_has_its_level(
    make_review: MakeReview, make_finding: MakeFinding, severity: str, level: str
) -> None:
    (command,) = commands(render_annotations(make_review(findings=(make_finding(severity=severity),))))

    assert command[0] == level


def test_the_impact_stands_on_a_line_of_its_own(make_review: MakeReview, make_finding: MakeFinding) -> None:
    finding = make_finding(
        message="It breaks.", trigger="On\nSundays.", rule="", category="date", cwe=None, suggestion=""
    )

    ((_, properties, message),) = commands(render_annotations(make_review(findings=(finding,))))

    assert message == "Impact: On Sundays.\ndate, 92% sure"
    assert properties["title"] == "reviewbot: It breaks"


def test_what_is_uncertain_is_a_notice_however_bad_it_would_be(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    sides = (make_finding(message="Yes."), make_finding(message="No.", severity="info"))
    review = make_review(
        human=(
            HumanItem(path="app/db.py", line=41, reason="Nobody is sure.", finding=make_finding()),
            HumanItem(path="link", reason="It is a link."),
            HumanItem(path="link", line=7, reason="It is long."),
        ),
        conflicts=(Conflict(findings=sides, reason="They differ."),),
    )

    read = commands(render_annotations(review))

    assert {level for level, _, _ in read} == {"notice"}
    assert [message.split("\n")[-1] for _, _, message in read] == [
        "needs a person: Nobody is sure.",
        "It is a link.",
        "It is long.",
        "contradicted: They differ.",
        "contradicted: They differ.",
    ]
    assert [properties["line"] for _, properties, _ in read] == ["41", "1", "7", "41", "41"]


def test_an_incomplete_review_says_so_first_of_the_warnings(make_review: MakeReview, make_finding: MakeFinding) -> None:
    review = make_review(incomplete=True, headline="1 of 2 files", findings=(make_finding(severity="warning"),))

    read = commands(render_annotations(review))

    assert read[0] == ("warning", {"title": "reviewbot: incomplete"}, "1 of 2 files")
    assert len(read) == 2


@pytest.mark.parametrize(
    ("numbers", "shown", "left"),
    [
        ((10, 10, 10), (10, 10, 10), 0),
        ((11, 0, 0), (10, 0, 1), 1),
        ((0, 12, 9), (0, 10, 10), 2),
        ((0, 12, 10), (0, 10, 10), 3),
        ((0, 0, 1_211), (0, 0, 10), 1_202),
    ],
)
def test_no_more_of_a_level_than_github_shows_and_the_rest_counted(
    make_review: MakeReview,
    make_finding: MakeFinding,
    numbers: tuple[int, int, int],
    shown: tuple[int, int, int],
    left: int,
) -> None:
    severities = zip(("critical", "warning", "info"), numbers, strict=True)
    findings = tuple(
        make_finding(severity=severity, line=line, end_line=line)
        for severity, number in severities
        for line in range(1, number + 1)
    )

    read = commands(render_annotations(make_review(findings=findings)))

    levels = Counter(level for level, _, _ in read)
    assert (levels["error"], levels["warning"], levels["notice"]) == shown
    if left:
        noun = "annotation" if left == 1 else "annotations"
        assert read[-1][2] == f"{left:,} further {noun} left out: GitHub shows {PER_LEVEL} of each level"
    else:
        assert all("left out" not in message for _, _, message in read)


def test_an_info_finding_gives_way_to_what_a_person_must_see(
    make_review: MakeReview, make_finding: MakeFinding
) -> None:
    notes = tuple(make_finding(severity="info", line=line, end_line=line) for line in range(1, 20))
    review = make_review(findings=notes, human=(HumanItem(path="link", reason="It is a link."),))

    assert commands(render_annotations(review))[0][1]["file"] == "link"


@pytest.mark.parametrize("text", INJECTIONS)
@pytest.mark.parametrize("field", ["message", "trigger", "rule", "category", "path", "contract", "symptom", "disputed"])
def test_no_text_becomes_a_command_of_its_own(
    make_review: MakeReview, make_finding: MakeFinding, text: str, field: str
) -> None:
    out = render_annotations(make_review(findings=(make_finding(**{field: text}),)))

    ((level, properties, _),) = commands(out)
    assert out.splitlines() == [out.removesuffix("\n")]
    assert level == "error"
    assert list(properties) == ["file", "line", "endLine", "title"]
    assert properties["line"] == "41"


@given(text=st.text(max_size=60), reason=st.text(max_size=60))
def test_any_text_stays_in_its_place(
    make_review: MakeReview, make_finding: MakeFinding, text: str, reason: str
) -> None:
    backing = {"contract": text, "symptom": text, "judgement": text, "disputed": text}
    finding = make_finding(message=text, trigger=text, path=text or "a", rule=text, evidence=text, **backing)
    human = (HumanItem(path="b", reason=reason), HumanItem(path="c", reason=reason, finding=finding))

    out = render_annotations(make_review(findings=(finding,), human=human, headline=text, incomplete=True))

    read = commands(out)
    assert [level for level, _, _ in read] == ["error", "warning", "notice", "notice"]
    assert all(char.isprintable() or char in "\n\t" or char.isspace() for char in out)
    assert len(out.splitlines()) == 4


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"src/a b.py", "src/a b.py"),
        (b"src/a,b:c%41.py", "src/a,b:c%41.py"),
        ("src/\u00fcber.py".encode(), "src/\u00fcber.py"),
        (b'"quoted".py', '"quoted".py'),
        (b"two\nlines.py", "two\nlines.py"),
        (b"esc\x1b.py", "esc\\x1b.py"),
        (b"latin\xff.py", '"latin\\377.py"'),
    ],
)
def test_a_file_has_its_real_name_unless_a_log_must_not_hold_it(
    make_review: MakeReview, make_finding: MakeFinding, name: bytes, shown: str
) -> None:
    (command,) = commands(render_annotations(make_review(findings=(make_finding(path=label(name)),))))

    assert command[1]["file"] == shown


def test_texts_without_an_end_are_cut(make_review: MakeReview, make_finding: MakeFinding) -> None:
    finding = make_finding(message="long " * 10_000, trigger="t" * 10_000, rule="r" * 300)

    assert len(render_annotations(make_review(findings=(finding,)))) < 5_000


@pytest.mark.parametrize("text", [TITLE, DESCRIPTION])
def test_what_is_about_the_change_as_a_whole_stands_at_the_run(
    make_review: MakeReview, make_finding: MakeFinding, text: str
) -> None:
    [(_, properties, _)] = commands(render_annotations(make_review(findings=(make_finding(path=text),))))

    assert "file" not in properties
