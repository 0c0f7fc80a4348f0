"""Merging at its limits: how many words, how many lines and how many findings apart two reports are still one."""

from __future__ import annotations

import pytest

from reviewbot.domain.contracts import Finding
from reviewbot.review.combine.dedupe import merge
from tests.make import MakeFinding


def merged_into(*findings: Finding) -> int:
    """How many defects they are; none of them may be a contradiction."""
    single, conflicts = merge(findings)
    assert conflicts == []
    return len(single)


@pytest.fixture
def by_other(a_finding: MakeFinding) -> MakeFinding:
    """What another program found for another worker, of another category: its words alone may join it to the first."""

    def make(**fields: object) -> Finding:
        return a_finding(**{"type": "logic", "sources": ("bandit",), "category": "other", **fields})

    return make


@pytest.mark.parametrize(
    ("difference", "fields"),
    [
        ("another line", {"category": "injection", "line": 2}),
        ("another file", {"category": "injection", "path": "src/other.py"}),
        ("another cause", {"message": "this file is never closed again"}),
        ("no rule, like the other", {"rule": "", "message": "never closed again anywhere"}),
        ("no weakness, like the other", {"cwe": None, "message": "never closed again anywhere"}),
        ("too few words to compare", {"message": "shell command"}),
    ],
)
def test_what_two_programs_say_for_two_workers_stays_two_with(
    difference: str, fields: dict[str, object], a_finding: MakeFinding, by_other: MakeFinding
) -> None:
    assert merged_into(a_finding(), by_other(**fields)) == 2, difference


@pytest.mark.parametrize(
    ("message", "defects"),
    [
        ("alpha beta gamma", 1),
        ("alpha beta", 2),
        ("alpha beta by of", 2),  # words of two letters are none
        ("ALPHA Beta gamma", 1),
        ("alpha beta gamma one two", 1),  # three of five
        ("alpha beta one two", 2),  # two of four
        ("alpha beta gamma delta one two three", 2),  # four of seven
        ("alpha, beta; gamma!", 1),
    ],
)
def test_messages_are_the_same_with_three_words_and_three_of_five_in_common(
    message: str, defects: int, a_finding: MakeFinding, by_other: MakeFinding
) -> None:
    one = a_finding(message="alpha beta gamma delta epsilon zeta eta theta")

    assert merged_into(one, by_other(message=message)) == defects


@pytest.mark.parametrize(("between", "defects"), [(1, 1), (60, 1), (61, 2)])
def test_a_value_is_followed_over_sixty_lines(between: int, defects: int, a_finding: MakeFinding) -> None:
    built = a_finding(cwe=89, line=5, end_line=8, message="a statement is built")
    used = a_finding(cwe=89, line=8 + between, sources=("taint",), message="it runs", also=(6,), category="flow")

    assert merged_into(built, used) == defects


@pytest.mark.parametrize(
    ("also", "defects"), [((5,), 1), ((8,), 1), ((4,), 2), ((9,), 2), ((1, 7), 1), ((), 2)], ids=str
)
def test_only_what_lies_on_the_way_of_a_value_is_one_defect_with_it(
    also: tuple[int, ...], defects: int, a_finding: MakeFinding
) -> None:
    built = a_finding(cwe=89, line=5, end_line=8)
    used = a_finding(cwe=89, line=20, sources=("taint",), also=also)

    assert merged_into(built, used) == defects


@pytest.mark.parametrize(
    "fields",
    [{"cwe": 78}, {"cwe": None}, {"sources": ("ruff",)}, {"path": "src/other.py"}],
    ids=["another weakness", "no weakness", "the same program", "another file"],
)
def test_a_way_joins_two_programs_of_one_weakness_in_one_file(
    fields: dict[str, object], a_finding: MakeFinding
) -> None:
    built = a_finding(cwe=89, line=5)
    used = a_finding(**{"cwe": 89, "line": 20, "sources": ("taint",), "also": (5,), **fields})

    assert merged_into(built, used) == 2


@pytest.mark.parametrize(("between", "defects"), [(15, 1), (16, 2)])
def test_at_one_place_a_finding_is_compared_with_the_last_sixteen(
    between: int, defects: int, a_finding: MakeFinding
) -> None:
    first = a_finding(type="a", sources=("first",), category="same", message="alpha")
    others = [a_finding(type=f"b{n:02}", sources=(f"s{n}",), category=f"c{n}", message="x") for n in range(between)]
    last = a_finding(type="z", sources=("last",), category="same", message="omega")

    assert merged_into(first, *others, last) == defects + between


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("trigger", "on each call"),
        ("contract", "the docstring promises one"),
        ("symptom", "it hangs"),
        ("suggestion", "quote(name)"),
        ("judgement", "by hand"),
        ("disputed", "a fixed list"),
        ("cwe", 78),
        ("also", (3, 9)),
        ("replacement", "quote(name)"),
    ],
)
def test_what_the_speaker_leaves_blank_the_other_fills_and_nothing_else(
    field: str, value: object, a_finding: MakeFinding
) -> None:
    speaker = a_finding(severity="critical", sources=("bandit",), rule="B602")
    other = a_finding(rule="S602", **{field: value})

    [[one], _] = merge([other, speaker])

    assert getattr(one, field) == value
    assert one == speaker.model_copy(update={field: value, "sources": ("bandit", "ruff"), "confidence": one.confidence})


@pytest.mark.parametrize("place", [{"line": 1, "end_line": 3}, {"line": 2, "end_line": 2}])
def test_a_replacement_of_other_lines_is_not_lent(place: dict[str, int], a_finding: MakeFinding) -> None:
    speaker = a_finding(severity="critical", sources=("bandit",), line=1, end_line=2)

    [[one], _] = merge([a_finding(replacement="quote(name)", **place), speaker])

    assert (one.replacement, one.line, one.end_line) == (None, 1, 2)


def test_an_empty_replacement_of_the_speaker_takes_no_others_place(a_finding: MakeFinding) -> None:
    """It deletes the line, which is a proposal like any other."""
    speaker = a_finding(severity="critical", sources=("bandit",), replacement="")

    [[one], _] = merge([a_finding(replacement="quote(name)"), speaker])

    assert one.replacement == ""
