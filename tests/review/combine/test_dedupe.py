"""Merging: the same defect becomes one, contradictions stay side by side, nothing is lost, and a flood stays cheap."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import Conflict, Finding
from reviewbot.review.combine.dedupe import merge
from reviewbot.review.verify.verifier import AGREEMENT_BONUS, HIGHEST_CONFIDENCE
from tests.make import MakeFinding


class Counted(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    comparisons = 0

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


@pytest.mark.parametrize(
    ("shared", "first", "second"),
    [
        ("a category", {"category": "injection"}, {"category": "injection"}),
        ("a CWE", {"category": "a", "cwe": 78}, {"category": "b", "cwe": 78}),
        ("a rule", {"category": "a", "rule": "S605"}, {"category": "b", "rule": "S605"}),
        (
            "most words",
            {"category": "a", "message": "User input reaches a shell command."},
            {"category": "b", "message": "The shell command holds user input"},
        ),
    ],
)
def test_two_findings_on_one_line_are_one_defect_if_they_share(
    shared: str, first: dict[str, object], second: dict[str, object], a_finding: MakeFinding
) -> None:
    one = a_finding(**{"type": "security", "sources": ("ruff",), "message": "first words here", **first})
    other = a_finding(**{"type": "logic", "sources": ("model:x",), "message": "quite another text", **second})

    single, conflicts = merge([one, other])

    assert [finding.sources for finding in single] == [("model:x", "ruff")], shared
    assert conflicts == []


@pytest.mark.parametrize(
    ("difference", "fields"),
    [
        ("another line", {"line": 2}),
        ("another file", {"path": "src/other.py"}),
        ("another cause", {"category": "leak", "message": "this file is never closed again"}),
        ("an empty rule like its own", {"category": "leak", "rule": "", "message": "never closed again anywhere"}),
        ("too few words to compare", {"category": "leak", "message": "shell command"}),
    ],
)
def test_two_findings_stay_two_with(difference: str, fields: dict[str, object], a_finding: MakeFinding) -> None:
    single, conflicts = merge([a_finding(), a_finding(**fields)])

    assert len(single) == 2, difference
    assert conflicts == []


def test_findings_whose_lines_overlap_are_at_one_place(a_finding: MakeFinding) -> None:
    single, _ = merge([a_finding(line=1, end_line=5), a_finding(line=5, end_line=9, type="logic")])

    assert len(single) == 1


def test_findings_that_only_touch_are_at_two_places(a_finding: MakeFinding) -> None:
    single, _ = merge([a_finding(line=1, end_line=4), a_finding(line=5, end_line=9)])

    assert len(single) == 2


def test_the_more_severe_finding_speaks_and_the_other_fills_its_blanks(a_finding: MakeFinding) -> None:
    severe = a_finding(severity="critical", confidence=60, message="the severe one", sources=("bandit",))
    surer = a_finding(confidence=95, trigger="on each call", suggestion="quote(name)", cwe=78, message="the surer one")

    [[joined], _] = merge([surer, severe])

    assert (joined.severity, joined.message, joined.confidence) == ("critical", "the severe one", 95)
    assert (joined.trigger, joined.suggestion, joined.cwe) == ("on each call", "quote(name)", 78)
    assert joined.sources == ("bandit", "ruff")


def test_a_doubt_that_was_raised_stays_whoever_speaks(a_finding: MakeFinding) -> None:
    [[joined], _] = merge(
        [a_finding(severity="critical", sources=("bandit",)), a_finding(disputed="a fixed list", judgement="by hand")]
    )

    assert (joined.severity, joined.disputed, joined.judgement) == ("critical", "a fixed list", "by hand")


def test_a_program_and_a_model_that_agree_are_believed_more(a_finding: MakeFinding) -> None:
    [[joined], _] = merge([a_finding(confidence=75), a_finding(confidence=70, sources=("model:x",))])

    assert joined.confidence == 75 + AGREEMENT_BONUS


@pytest.mark.parametrize("sources", [("ruff", "bandit"), ("model:x", "model:y")])
def test_two_of_one_kind_that_agree_are_not_believed_more(sources: tuple[str, str], a_finding: MakeFinding) -> None:
    [[joined], _] = merge([a_finding(confidence=70, sources=(source,)) for source in sources])

    assert joined.confidence == 70


def test_agreement_counts_once_however_often_a_model_repeats_itself(a_finding: MakeFinding) -> None:
    repeated = [a_finding(confidence=60, sources=("model:x",), type=name) for name in ("a", "b", "c", "d")]

    [[joined], _] = merge([a_finding(confidence=60, message="by a program"), *repeated])

    assert joined.confidence == 60 + AGREEMENT_BONUS


def test_nothing_but_a_person_is_certain(a_finding: MakeFinding) -> None:
    [[joined], _] = merge([a_finding(confidence=95), a_finding(confidence=70, sources=("model:x",))])
    [[sure], _] = merge([a_finding(confidence=100), a_finding(confidence=70, sources=("model:x",))])

    assert joined.confidence == HIGHEST_CONFIDENCE
    assert sure.confidence == 100, "a bonus never takes away"


def test_two_workers_that_disagree_on_severity_are_both_shown(a_finding: MakeFinding) -> None:
    one = a_finding(type="logic", severity="info")
    other = a_finding(type="security", severity="critical")

    single, [conflict] = merge([other, one])

    assert single == []
    assert conflict.findings == (one, other)
    assert conflict.reason == "logic calls it info, security calls it critical"


def test_one_severity_apart_is_no_contradiction(a_finding: MakeFinding) -> None:
    single, conflicts = merge([a_finding(type="logic", severity="warning"), a_finding(severity="critical")])

    assert (len(single), conflicts) == (1, [])


def test_two_workers_that_suggest_different_code_for_a_line_are_both_shown(a_finding: MakeFinding) -> None:
    one = a_finding(type="performance", suggestion="run(args)")
    other = a_finding(type="security", suggestion="run(quote(args))")

    single, [conflict] = merge([one, other])

    assert single == []
    assert conflict.reason == "performance and security suggest different code for the same defect"


def test_suggestions_that_differ_in_blanks_alone_agree(a_finding: MakeFinding) -> None:
    single, conflicts = merge(
        [
            a_finding(type="logic", suggestion="run(  args )\n"),
            a_finding(type="security", suggestion=" run( args )"),
        ]
    )

    assert (len(single), conflicts) == (1, [])


def test_one_worker_does_not_contradict_itself(a_finding: MakeFinding) -> None:
    single, conflicts = merge([a_finding(suggestion="a()"), a_finding(suggestion="b()", severity="info")])

    assert (len(single), conflicts) == (1, [])


def test_a_third_voice_at_a_conflict_stays_a_finding_of_its_own(a_finding: MakeFinding) -> None:
    votes = [
        a_finding(type=name, suggestion=f"{name}()", category=name, message=f"{name} speaks of it here")
        for name in ("logic", "security", "style")
    ]

    single, [conflict] = merge(votes)

    assert [finding.type for finding in conflict.findings] == ["logic", "security"]
    assert [finding.type for finding in single] == ["style"]


FINDINGS: st.SearchStrategy[list[dict[str, object]]] = st.lists(
    st.builds(
        dict,
        type=st.sampled_from(("security", "logic", "style")),
        severity=st.sampled_from(("critical", "warning", "info")),
        path=st.sampled_from(("a.py", "b.py")),
        line=st.integers(1, 6),
        length=st.integers(0, 4),
        message=st.sampled_from(("user input reaches a shell", "a shell gets user input", "never closed", "bad")),
        confidence=st.integers(0, 100),
        category=st.sampled_from(("injection", "leak", "naming", "cost")),
        rule=st.sampled_from(("", "S605", "E501")),
        cwe=st.sampled_from((None, 78, 79)),
        suggestion=st.sampled_from(("", "a()", "b()")),
        by=st.sampled_from(("ruff", "model:x")),
        judgement=st.sampled_from(("", "run by hand", "a guess")),
        disputed=st.sampled_from(("", "a fixed list", "a test")),
    ),
    max_size=40,
)


def _built(fields: dict[str, object], number: int, a_finding: MakeFinding) -> Finding:
    """A finding with a source of its own, by which it is known again."""
    known = dict(fields)
    end_line = int(str(known["line"])) + int(str(known.pop("length")))
    return a_finding(**known | {"end_line": end_line, "sources": (f"{known.pop('by')}-{number}",)})


@given(drawn=FINDINGS)
def test_every_finding_comes_out_exactly_once(drawn: list[dict[str, object]], a_finding: MakeFinding) -> None:
    findings = [_built(dict(fields), number, a_finding) for number, fields in enumerate(drawn)]

    single, conflicts = merge(findings)

    out = [*single, *(finding for conflict in conflicts for finding in conflict.findings)]
    assert Counter(s for f in out for s in f.sources) == Counter(s for f in findings for s in f.sources)


@given(drawn=FINDINGS, seed=st.integers(0, 1_000))
def test_the_order_in_which_answers_arrive_does_not_show(
    drawn: list[dict[str, object]], seed: int, a_finding: MakeFinding
) -> None:
    findings = [_built(dict(fields), 0, a_finding) for fields in drawn]
    shuffled = random.Random(seed).sample(findings, len(findings))

    assert _plain(merge(findings)) == _plain(merge(shuffled))


def _plain(merged: tuple[list[Finding], list[Conflict]]) -> tuple[list[str], list[str]]:
    single, conflicts = merged
    return sorted(f.model_dump_json() for f in single), sorted(c.model_dump_json() for c in conflicts)


@pytest.mark.slow
@pytest.mark.parametrize("spread", ["on one line", "on lines of their own", "over all lines at once"])
def test_twice_the_findings_take_twice_the_comparisons(spread: str, a_finding: MakeFinding) -> None:
    def comparisons(number: int) -> int:
        findings = []
        for n in range(number):
            line = {"on one line": 1, "on lines of their own": n + 1, "over all lines at once": n + 1}[spread]
            end_line = number if spread == "over all lines at once" else line
            text = f"w{n}a w{n}b w{n}c"
            finding = a_finding(type=f"t{n % 3}", message=text, line=line, end_line=end_line, suggestion=text)
            findings.append(finding.model_copy(update={"category": Counted(f"c{n}")}))
        Counted.comparisons = 0
        single, conflicts = merge(findings)
        assert len(single) + 2 * len(conflicts) == number
        return Counted.comparisons

    small, large = comparisons(500), comparisons(1_000)

    assert large <= 2.2 * small + 100


@pytest.mark.slow
def test_a_flood_of_one_defect_is_one_finding(a_finding: MakeFinding) -> None:
    single, conflicts = merge(a_finding(line=7) for _ in range(10_000))

    assert (len(single), conflicts) == (1, [])


def test_one_tool_that_reports_twice_on_a_line_means_two_defects(a_finding: MakeFinding) -> None:
    keys = [a_finding(category="secret", rule=rule, message=f"a {rule} in the code") for rule in ("aws", "github")]

    single, _ = merge([*keys, *keys])

    assert [finding.rule for finding in single] == ["aws", "github"]


def test_one_tool_that_reports_one_rule_twice_on_a_line_is_one_finding_with_both_messages(
    a_finding: MakeFinding,
) -> None:
    names = [a_finding(rule="F821", message=f"Undefined name `{name}`") for name in ("a", "b", "a")]

    single, _ = merge(names)

    assert [finding.message for finding in single] == ["Undefined name `a`; also: Undefined name `b`"]


@pytest.mark.slow
def test_a_flood_of_one_rule_on_a_line_is_one_finding_of_bounded_length(a_finding: MakeFinding) -> None:
    single, _ = merge(a_finding(rule="F821", message=f"Undefined name `{n}`") for n in range(1_000))

    assert len(single) == 1
    assert len(single[0].message) <= 2_000


def test_one_rule_twice_on_a_line_with_two_different_fixes_is_two_findings(a_finding: MakeFinding) -> None:
    names = [a_finding(rule="F821", message=f"Undefined `{name}`", suggestion=name) for name in ("x", "y")]

    single, _ = merge(names)

    assert len(single) == 2


def test_two_suggestions_for_different_defects_of_a_line_are_no_contradiction(a_finding: MakeFinding) -> None:
    one = a_finding(type="style", suggestion="rename(args)", category="naming", message="say what it holds")
    other = a_finding(type="security", suggestion="run(quote(args))")

    single, conflicts = merge([one, other])

    assert (len(single), conflicts) == (2, [])


@pytest.mark.slow
def test_a_flood_of_different_defects_on_one_line_is_kept_whole(a_finding: MakeFinding) -> None:
    flood = [a_finding(category=f"c{n}", message=f"w{n}a w{n}b w{n}c", line=7) for n in range(10_000)]

    single, conflicts = merge(flood)

    assert (len(single), conflicts) == (10_000, [])
