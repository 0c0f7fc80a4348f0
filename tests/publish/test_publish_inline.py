from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.domain.contracts import ChangeSet, FileChange, Hunk
from reviewbot.hosts.base import InlineComment
from reviewbot.publish.inline import inline_comments, suggestion_block
from reviewbot.publish.options import PublishRequest
from reviewbot.publish.places import LineSpan, Shown, api_path
from reviewbot.report.findings.agent import prompt_of
from tests.make import MakeChange, MakeFinding
from tests.publishing import OPTIONS, SIGNER, a_review, an_order, shown


def comments(order: PublishRequest, *, standing: Iterable[str] = (), **options: Any) -> tuple[InlineComment, ...]:
    return tuple(each.comment for each in inline_comments(order, replace(OPTIONS, **options), frozenset(standing)))


def only(order: PublishRequest, **options: Any) -> InlineComment:
    (comment,) = comments(order, **options)
    return comment


@pytest.fixture
def two_hunks(a_change: MakeChange, a_file: Callable[..., FileChange], a_hunk: Callable[..., Hunk]) -> ChangeSet:
    """Lines 1 to 3 and 11 to 12 of the new side; of 2 only the old side is removed."""
    hunks = (a_hunk(" a\n-b\n+c\n d"), a_hunk("+x\n y", 11))
    return a_change(a_file("src/app.py", *hunks), a_file("gone.py", a_hunk("-x"), status="deleted"))


@pytest.mark.parametrize(
    ("lines", "span"),
    [
        ((1, 3), LineSpan(1, 3)),
        ((2, 2), LineSpan(2, 2)),
        ((3, 11), LineSpan(11, 11)),
        ((9, 12), LineSpan(12, 12)),
        ((1, 5), None),
        ((4, 4), None),
        ((0, 1), LineSpan(1, 1)),
    ],
)
def test_a_place_is_in_one_hunk_or_its_last_line_is(
    lines: tuple[int, int], span: LineSpan | None, two_hunks: ChangeSet
) -> None:
    assert Shown(two_hunks).span("src/app.py", *lines) == span


def test_a_file_that_the_change_does_not_show_has_no_place(two_hunks: ChangeSet) -> None:
    assert Shown(two_hunks).span("other.py", 1, 1) is None
    assert Shown(two_hunks).span("gone.py", 1, 1) is None


def test_a_name_is_sent_as_it_is_in_the_repository() -> None:
    assert api_path("src/app.py") == "src/app.py"
    assert api_path("ein ü.py") == "ein ü.py"
    assert api_path('"a\\tb.py"') == "a\tb.py"
    assert api_path('"\\377.py"') is None


def test_a_finding_of_several_lines_has_a_comment_at_all_of_them(a_finding: MakeFinding) -> None:
    comment = only(an_order(a_review(a_finding(line=3, end_line=5))))

    assert (comment.path, comment.start_line, comment.line) == ("src/app.py", 3, 5)


def test_a_comment_at_one_line_has_no_first_line(a_finding: MakeFinding) -> None:
    assert only(an_order(a_review(a_finding(line=3)))).start_line is None


def test_the_gravest_findings_come_first_and_no_more_than_wanted(a_finding: MakeFinding) -> None:
    severities = ["info", "warning", "critical", "warning", "critical"]
    findings = [a_finding(line=number, severity=each) for number, each in enumerate(severities, 1)]

    assert [each.line for each in comments(an_order(a_review(*findings)), inline=3)] == [3, 5, 2]


def test_what_is_outside_of_the_change_makes_room(a_finding: MakeFinding) -> None:
    findings = [a_finding(line=40, severity="critical"), a_finding(line=2), a_finding(path='"\\377"', line=1)]
    here, there = shown(), shown(path='"\\377"')
    change = ChangeSet(files=here.files + there.files, parsed=here.parsed + there.parsed)
    inline = comments(an_order(a_review(*findings), change), inline=1)

    assert [each.line for each in inline] == [2]


def test_what_stands_already_is_not_repeated(a_finding: MakeFinding) -> None:
    order = an_order(a_review(a_finding(line=2), a_finding(line=3, category="other")))
    first = order.delivered.fingerprints[order.delivered.review.findings[0]]
    inline = comments(order, standing=[first])

    assert [each.line for each in inline] == [3]


def test_a_comment_repeats_the_finding_and_carries_its_name(a_finding: MakeFinding) -> None:
    finding = a_finding(
        line=2, trigger="On a name with a quote.", symptom="A shell starts.", suggestion="Use a list.", rule="S605"
    )
    order = an_order(a_review(finding))
    name, body = order.delivered.fingerprints[finding], only(order).body

    assert body == (
        "**Warning: user input reaches a shell command**\n\n"
        "*Impact:* On a name with a quote.\n\n"
        "*Seen as:* A shell starts.\n\n"
        "*Fix:* Use a list.\n\n"
        "<details><summary>Prompt for an agent</summary>\n\n"
        f"```text\n{prompt_of(finding)}\n```\n\n"
        "</details>\n\n"
        f"<sub>[S605](https://docs.astral.sh/ruff/rules/S605), 90% sure, ID `{name[:10]}`</sub>\n\n"
        + SIGNER.finding(4242, 7, name)
    )
    assert SIGNER.read_finding(body, 4242, 7) == name


def test_what_others_wrote_acts_nowhere_in_a_comment(a_finding: MakeFinding) -> None:
    result = "a <b>, @everyone\n# b"
    finding = a_finding(line=2, message=result, trigger=result, symptom=result, suggestion="a <b>, @everyone")
    body = only(an_order(a_review(finding))).body

    plain = re.sub(r"```text\n.*?\n```", "", body, flags=re.DOTALL)
    assert plain.count("&lt;b&gt;") == 4
    assert "<b>" not in plain
    assert not [line for line in body.split("\n") if line.startswith("#")]


def test_a_long_text_is_cut_and_models_are_named(a_finding: MakeFinding) -> None:
    sources = ("model:reader-x", *(f"tool-{number}" for number in range(7)))
    body = only(an_order(a_review(a_finding(line=2, message="m" * 3_000, sources=sources)))).body

    assert f"**Warning: {'m' * 156} ...**\n\n" in body
    assert f"*Why:* {'m' * 996} ...\n\n" in body
    assert "90% sure, by `reader-x`, ID `" in body


def test_a_fix_in_words_is_told_once_and_a_blank_one_never(a_finding: MakeFinding) -> None:
    assert "Fix:" not in only(an_order(a_review(a_finding(suggestion=" \n")))).body
    assert "*Fix:* a\n" in only(an_order(a_review(a_finding(suggestion="\na\n")))).body


def test_a_fix_of_several_lines_that_is_not_proven_is_code_that_cannot_be_committed(a_finding: MakeFinding) -> None:
    body = only(an_order(a_review(a_finding(suggestion="a\nb")))).body

    assert "- *Instead, not tried out:*\n\n  ```python\n  a\n  b\n  ```\n" in body
    assert "```suggestion" not in body


def test_a_proven_replacement_is_a_block_to_commit(a_finding: MakeFinding) -> None:
    order = an_order(a_review(a_finding(line=2, end_line=3, suggestion="Use a list.")))
    body = only(order, suggest=lambda _: "    run([name])\n    return").body

    assert "*Fix:* Use a list.\n\n```suggestion\n    run([name])\n    return\n```\n\n<details>" in body


def test_a_replacement_is_not_offered_at_other_lines_than_its_own(a_finding: MakeFinding, two_hunks: ChangeSet) -> None:
    comment = only(an_order(a_review(a_finding(line=3, end_line=11)), two_hunks), suggest=lambda _: "x")

    assert (comment.start_line, comment.line) == (None, 11)
    assert "```suggestion" not in comment.body


def test_a_replacement_that_deletes_is_an_empty_block() -> None:
    assert suggestion_block("") == "```suggestion\n```"


def test_a_fence_inside_of_a_replacement_does_not_end_it() -> None:
    assert suggestion_block('"""\n```suggestion\nrm\n`````\n"""') == (
        '``````suggestion\n"""\n```suggestion\nrm\n`````\n"""\n``````'
    )


@pytest.mark.parametrize(
    "lines",
    [
        None,
        "x\r\ny",
        "x = 1  # \u202e",
        "a\u2028b",
        "\x1b[31m",
        "pass\n/merge",
        "  /lgtm",
        "@dependabot merge",
        "@mergifyio queue",
        "@some-bot[bot] go",
        "bors r+",
        "!recheck now",
        "\n".join("x" * 101),
        "x" * 4_001,
    ],
)
def test_what_could_do_harm_unseen_is_not_offered(lines: str | None) -> None:
    assert suggestion_block(lines) is None


@pytest.mark.parametrize(
    "lines",
    [
        "@property\ndef x(self):",
        "@app.route('/x')",
        "// a comment",
        "x = a / b",
        "\tpass",
        "x" * 4_000,
        "\n".join("x" * 100),
        "``x``",
    ],
)
def test_plain_code_is_offered(lines: str) -> None:
    assert suggestion_block(lines) == f"```suggestion\n{lines}\n```"
