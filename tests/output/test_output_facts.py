from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from reviewbot.contracts import (
    CoverageState,
    Finding,
    Gap,
    GapReason,
    HumanItem,
    Review,
    Severity,
    Unlooked,
    Withheld,
)
from reviewbot.contracts import FileCoverage as Covered
from reviewbot.output.facts import (
    GAP_WORDS,
    SEVERITY_WORDS,
    STATE_WORDS,
    WITHHELD_WORDS,
    Unseen,
    by_severity,
    counted,
    coverage_line,
    tags,
    unseen,
    withheld_counts,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def test_critical_comes_first_and_equal_ones_keep_their_order(make_finding: Callable[..., Finding]) -> None:
    given = [
        make_finding(severity=severity, message=message)
        for severity, message in [("info", "a"), ("warning", "b"), ("critical", "c"), ("warning", "d")]
    ]

    assert [finding.message for finding in by_severity(given)] == ["c", "b", "d", "a"]


def test_a_number_stands_with_its_noun() -> None:
    assert [counted(number, "file") for number in (0, 1, 2_000)] == ["0 files", "1 file", "2,000 files"]


def test_coverage_counts_files_that_were_read_at_least_in_part(make_review: Callable[..., Review]) -> None:
    coverage = (
        Covered(path="a", state="reviewed", looked=("taint", "ruff")),
        Covered(path="b", state="partial", looked=("ruff",)),
        Covered(path="c", state="binary"),
    )

    assert coverage_line(make_review(coverage=coverage)) == "Looked at 2 of 3 files (1 only in part), with ruff, taint."


def test_coverage_of_nothing_names_no_tool(make_review: Callable[..., Review]) -> None:
    assert coverage_line(make_review(coverage=())) == "Looked at 0 of 0 files."


def test_equal_reasons_are_told_once_with_their_files(make_review: Callable[..., Review]) -> None:
    review = make_review(
        coverage=(
            Covered(path="a.lock", state="generated", reason="a lock file"),
            Covered(path="a.py", state="reviewed"),
            Covered(path="b.lock", state="generated", reason="a lock file"),
            Covered(path="x.png", state="binary"),
        ),
        unlooked=(Unlooked(path="a.py", workers=("logic", "style"), reason="no check"),),
        gaps=(
            Gap(path="a.py", worker="security", reason="missing_program", message="", tool="zizmor"),
            Gap(path="a.py", worker="logic", reason="breaker", message="three failures"),
            Gap(path="a.py", worker="logic", reason="breaker", message="three failures"),
        ),
    )

    assert unseen(review) == [
        Unseen("generated", "a lock file", ("a.lock", "b.lock")),
        Unseen("binary", "", ("x.png",)),
        Unseen("not looked at for logic, style", "no check", ("a.py",)),
        Unseen("security, zizmor", "a program is missing", ("a.py",)),
        Unseen("logic", "failed too often: three failures", ("a.py",)),
    ]


def test_a_provider_that_failed_is_one_entry_whatever_workers_met_it(make_review: Callable[..., Review]) -> None:
    met = [("a.py", "logic"), ("a.py", "security"), ("b.py", "logic"), ("c.md", "style")]
    review = make_review(
        gaps=tuple(Gap(path=path, worker=worker, reason="provider", message="it is down") for path, worker in met)
    )
    assert unseen(review)[-1] == Unseen(
        "models", "the model provider could not be used: it is down", ("a.py", "b.py", "c.md")
    )


def test_what_gaps_and_unlooked_parts_say_is_not_repeated_by_the_coverage(make_review: Callable[..., Review]) -> None:
    review = make_review(
        coverage=(
            Covered(path="a.ts", state="partial", reason="logic: no reader"),
            Covered(path="b.py", state="partial", reason="a line was cut; style: crashed; ask somebody"),
            Covered(path="c.py", state="malformed", reason="short hunk"),
            Covered(path="d.py", state="partial"),
        ),
        unlooked=(Unlooked(path="a.ts", workers=("logic",), reason="no reader"),),
        gaps=(
            Gap(path="b.py", worker="style", reason="crashed", message="crashed"),
            Gap(path="b.py", worker="reader", reason="unreadable", message="a line was cut"),
            Gap(path="c.py", worker="reader", reason="unreadable", message="short hunk"),
        ),
        human=(HumanItem(path="b.py", reason="ask somebody"),),
    )

    assert unseen(review) == [
        Unseen("reviewed in part", "a line was cut", ("b.py",)),
        Unseen("malformed", "short hunk", ("c.py",)),
        Unseen("reviewed in part", "", ("d.py",)),
        Unseen("not looked at for logic", "no reader", ("a.ts",)),
        Unseen("style", "crashed: crashed", ("b.py",)),
    ]


def test_a_file_that_could_not_be_read_is_told_even_where_its_coverage_is_silent(
    make_review: Callable[..., Review],
) -> None:
    gap = Gap(path="a.py", worker="reader", reason="unreadable", message="short hunk")

    for state in get_args(CoverageState):
        told = unseen(make_review(coverage=(Covered(path="a.py", state=state),), gaps=(gap,)))
        assert told[-1] == Unseen("reader", "could not read it: short hunk", ("a.py",))


def test_every_state_and_every_reason_has_its_words() -> None:
    assert set(STATE_WORDS) == set(get_args(CoverageState))
    assert set(GAP_WORDS) == set(get_args(GapReason))
    assert set(SEVERITY_WORDS) == set(get_args(Severity))
    assert set(WITHHELD_WORDS) == set(get_args(Withheld.model_fields["reason"].annotation))


def test_withheld_findings_are_counted_by_reason(
    make_review: Callable[..., Review], make_finding: Callable[..., Finding]
) -> None:
    low = Withheld(finding=make_finding(), reason="below_threshold", message="")
    capped = Withheld(finding=make_finding(), reason="over_cap", message="")

    counts = withheld_counts(make_review(withheld=(low, capped, low)))

    assert counts == "2 below the confidence threshold, 1 over the cap on findings"


def test_tags_name_each_kind_once(make_finding: Callable[..., Finding]) -> None:
    assert tags(make_finding()) == ["security", "injection", "S608", "CWE-89"]
    assert tags(make_finding(category="security", rule="", cwe=None)) == ["security"]
