from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from reviewbot.domain.contracts import (
    CoverageState,
    Finding,
    Gap,
    GapReason,
    Review,
    Severity,
    SkippedWorkers,
    Withheld,
)
from reviewbot.domain.contracts import FileCoverage as Covered
from reviewbot.report.view_model import (
    GAP_WORDS,
    SEVERITY_WORDS,
    WITHHELD_WORDS,
    Unseen,
    by_severity,
    readers_line,
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


def test_readers_are_named_by_what_they_do_and_no_file_is_counted(make_review: Callable[..., Review]) -> None:
    coverage = (
        Covered(path="a", state="reviewed", models=("large",), analyzers=("taint", "ruff"), scans=("secrets",)),
        Covered(path="b", state="partial", analyzers=("ruff",)),
        Covered(path="c", state="not_reviewed"),
    )

    told = readers_line(make_review(coverage=coverage))

    assert told == "Read by large; analyzed by ruff, taint; scanned by secrets."
    by_number = readers_line(make_review(coverage=coverage), names=False)
    assert by_number == "Read by large; analyzed by 2 analyzers; scanned by 1 scan."


def test_a_change_that_only_scans_saw_names_no_reader(make_review: Callable[..., Review]) -> None:
    scanned = Covered(path="a", state="scanned", scans=("secrets",))

    assert readers_line(make_review(coverage=(scanned,))) == "Scanned by secrets."
    assert readers_line(make_review(coverage=())) == "Nothing was read."


def test_what_an_earlier_head_read_is_not_said_to_lack_a_review(make_review: Callable[..., Review]) -> None:
    before = Covered(path="a", state="earlier", earlier="e" * 40, reason="by the review of eeeeeeeeee")

    assert unseen(make_review(coverage=(before,), gaps=())) == []


def test_equal_reasons_are_told_once_with_their_files(make_review: Callable[..., Review]) -> None:
    review = make_review(
        coverage=(
            Covered(path="a.lock", state="scanned", need="scan", reason="a lock file"),
            Covered(path="a.py", state="reviewed"),
            Covered(path="b.lock", state="scanned", need="scan", reason="a lock file"),
            Covered(path="c.yml", state="scanned", reason="nothing in this run understands yaml"),
            Covered(path="x.png", state="not_reviewed"),
        ),
        unlooked=(SkippedWorkers(path="a.py", workers=("logic", "style"), reason="no check"),),
        gaps=(
            Gap(path="a.py", worker="security", reason="missing_program", message="", tool="zizmor"),
            Gap(path="a.py", worker="logic", reason="breaker", message="three failures"),
            Gap(path="a.py", worker="logic", reason="breaker", message="three failures"),
        ),
    )

    assert unseen(review) == [
        Unseen("only scanned, which is enough", "a lock file", ("a.lock", "b.lock")),
        Unseen("only scanned", "nothing in this run understands yaml", ("c.yml",)),
        Unseen("not reviewed", "", ("x.png",)),
        Unseen("not looked at for logic, style", "no check", ("a.py",)),
        Unseen("security (zizmor)", "a program is missing", ("a.py",)),
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


def test_every_file_that_was_not_reviewed_is_told_with_its_state_and_its_gap_with_its_cause(
    make_review: Callable[..., Review],
) -> None:
    review = make_review(
        coverage=(
            Covered(path="b.py", state="partial", reason="a line was cut; a part of its review failed"),
            Covered(path="c.py", state="not_reviewed", reason="short hunk"),
            Covered(path="d.py", state="removed", reason="deleted"),
        ),
        gaps=(
            Gap(path="b.py", worker="style", reason="crashed", message="crashed"),
            Gap(path="c.py", worker="reader", reason="unreadable", message="short hunk"),
        ),
    )

    assert unseen(review) == [
        Unseen("reviewed in part", "a line was cut; a part of its review failed", ("b.py",)),
        Unseen("not reviewed", "short hunk", ("c.py",)),
        Unseen("removed", "deleted", ("d.py",)),
        Unseen("style", "crashed: crashed", ("b.py",)),
    ]


def test_a_file_that_could_not_be_read_is_told_even_where_its_coverage_is_silent(
    make_review: Callable[..., Review],
) -> None:
    gap = Gap(path="a.py", worker="reader", reason="unreadable", message="short hunk")

    for state in get_args(CoverageState):
        told = unseen(make_review(coverage=(Covered(path="a.py", state=state),), gaps=(gap,)))
        assert told[-1] == Unseen("reader", "could not read it: short hunk", ("a.py",))


def test_every_reason_of_a_gap_has_its_words() -> None:
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
