"""Clusters: what rules cannot settle and a reader would see is asked about, and nothing else is."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.contracts import Finding
from reviewbot.supervisor.clusters import MEMBERS, Cluster, Sorted, clusters_of, severities
from reviewbot.supervisor.merging import Saying, merged
from reviewbot.supervisor.weighing import Rules

MakeFinding = Callable[..., Finding]

RULES = Rules({"security": 80, "logic": 80, "style": 90, "performance": 80}, max_findings=50)


def sorted_out(*findings: Finding, limit: int = 20) -> Sorted:
    return clusters_of(merged(findings), RULES, limit)


def all_of(found: Sorted) -> list[Finding]:
    """Every finding of every place."""
    inside = [defect.finding for cluster in found.clusters for defect in cluster.members]
    return [*inside, *found.single, *(finding for conflict in found.conflicts for finding in conflict.findings)]


@pytest.fixture
def by_model(a_finding: MakeFinding) -> MakeFinding:
    """A verified finding of the logic worker's model, in words of its own."""

    def make(**fields: Any) -> Finding:
        known = {"type": "logic", "category": "bug", "sources": ("model:x",), "message": "a crafted file breaks out"}
        return a_finding(**{**known, "evidence": "run(name)", **fields})

    return make


def kinds(found: Sorted) -> list[str]:
    return [cluster.kind for cluster in found.clusters]


# --- what is asked about


def test_findings_that_have_nothing_in_common_are_no_cluster(a_finding: MakeFinding, by_model: MakeFinding) -> None:
    found = sorted_out(a_finding(), by_model())

    assert (found.clusters, len(found.single), found.conflicts) == ((), 2, ())


@pytest.mark.parametrize(
    ("shared", "fields"),
    [
        ("a quote", {"evidence": "  os.system(name)\n"}),
        ("two telling words", {"message": "an input that was crafted leaves the shell"}),
        ("a category, one line further down", {"category": "injection", "line": 2}),
        ("a weakness, one line further down", {"cwe": 78, "line": 2}),
    ],
)
def test_what_may_be_one_cause_in_different_words_is_asked_about(
    shared: str, fields: dict[str, Any], a_finding: MakeFinding, by_model: MakeFinding
) -> None:
    found = sorted_out(a_finding(cwe=78), by_model(**fields))

    assert kinds(found) == ["same_cause"], shared
    assert found.single == ()


@pytest.mark.parametrize(
    ("difference", "fields"),
    [
        ("two lines away", {"line": 3}),
        ("in another file", {"path": "b.py"}),
        ("of the same model for the same worker", {"type": "security"}),
        ("with short words alone in common", {"evidence": "", "message": "the use of it as a key"}),
    ],
)
def test_what_is_further_apart_is_not(difference: str, fields: dict[str, Any], by_model: MakeFinding) -> None:
    one = by_model(type="security", evidence="os.system(name)", message="the key is of a use", category="keys")
    other = by_model(**{"evidence": "os.system(name)", **fields})

    assert kinds(sorted_out(one, other)) == [], difference


def test_two_programs_are_never_asked_about(a_finding: MakeFinding) -> None:
    one = a_finding(suggestion="a()")
    other = a_finding(type="logic", sources=("bandit",), suggestion="b()")
    near = a_finding(line=2, sources=("taint",))

    found = sorted_out(one, other, near)

    assert (found.clusters, found.single) == ((), (near,))
    assert [conflict.findings for conflict in found.conflicts] == [(other, one)]


@pytest.mark.parametrize(
    "second", [{"suggestion": "b()"}, {"suggestion": "", "severity": "info"}], ids=["advice", "severity"]
)
def test_a_contradiction_with_a_model_is_asked_about(
    second: dict[str, Any], a_finding: MakeFinding, by_model: MakeFinding
) -> None:
    one = a_finding(suggestion="a()", severity="critical")

    found = sorted_out(one, by_model(category="injection", **second))

    assert kinds(found) == ["contradiction"]
    assert (found.single, found.conflicts) == ((), ())


def test_a_third_voice_at_a_contradiction_belongs_to_it(by_model: MakeFinding) -> None:
    voices = [
        by_model(type=name, suggestion=f"{name}()", message=f"{name} speaks") for name in ("logic", "security", "style")
    ]

    [cluster] = sorted_out(*voices).clusters

    assert (cluster.kind, len(cluster.loose), len(cluster.contradictions)) == ("contradiction", 1, 1)
    assert [defect.finding.type for defect in cluster.members] == ["logic", "security", "style"]


def test_what_is_close_to_one_side_of_a_contradiction_belongs_to_it(by_model: MakeFinding) -> None:
    short, long = by_model(suggestion="a()"), by_model(type="security", end_line=9, suggestion="b()")
    close = by_model(type="style", line=10, message="another word", confidence=95)

    [cluster] = sorted_out(short, long, close).clusters

    assert [defect.finding.type for defect in cluster.members] == ["logic", "security", "style"]


def test_a_quarrel_over_a_critical_severity_is_asked_about(by_model: MakeFinding) -> None:
    found = sorted_out(by_model(severity="critical"), by_model(type="security"))

    assert kinds(found) == ["severity"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"severity": "warning"}, {"severity": "info"}),
        ({"severity": "critical"}, {"severity": "critical"}),
        ({"severity": "critical", "sources": ("ruff",)}, {"severity": "warning"}),
    ],
    ids=["below critical", "no quarrel", "a program called it critical"],
)
def test_other_quarrels_over_severity_are_settled_by_rule(
    one: dict[str, Any], other: dict[str, Any], by_model: MakeFinding
) -> None:
    assert kinds(sorted_out(by_model(**one), by_model(type="security", **other))) == []


def test_what_no_reader_would_see_is_not_worth_a_question(by_model: MakeFinding) -> None:
    weak = [by_model(type=name, suggestion=f"{name}()", confidence=60) for name in ("logic", "security")]

    assert kinds(sorted_out(*weak)) == []
    assert kinds(sorted_out(weak[0], weak[1].model_copy(update={"severity": "critical"}))) == ["contradiction"]


# --- how many, and in which order


def test_contradictions_and_what_weighs_most_come_first_and_the_rest_stays(by_model: MakeFinding) -> None:
    findings = [
        by_model(
            type=name, line=line, category=category, severity=severity, message=f"{name} {line}", suggestion=advice
        )
        for line, severity, category, advice in (
            (10, "critical", "", ""),
            (20, "warning", "bug", "()"),
            (30, "critical", "bug", "()"),
        )
        for name, category, advice in (("logic", category or "a", advice and "a()"), ("style", category or "b", advice))
    ]

    found = sorted_out(*findings, limit=2)

    assert [(c.kind, c.members[0].finding.line) for c in found.clusters] == [
        ("contradiction", 30),
        ("contradiction", 20),
    ]
    assert ([f.line for f in found.single], found.conflicts, found.over) == ([10, 10], (), 1)


def test_a_chain_of_many_is_cut_where_nobody_could_compare_it(by_model: MakeFinding) -> None:
    chain = [by_model(type=f"t{n}", line=n, confidence=99, category="bug") for n in range(1, 3 * MEMBERS + 1)]
    rules = Rules({finding.type: 80 for finding in chain}, 50)

    found = clusters_of(merged(chain), rules, 20)

    assert [len(cluster.members) for cluster in found.clusters] == [MEMBERS] * 3


def test_a_flood_of_findings_is_sorted_out(a_finding: MakeFinding) -> None:
    flood = [a_finding(category=f"c{n}", message=f"w{n}a w{n}b w{n}c", line=7) for n in range(2_000)]

    assert len(sorted_out(*flood).single) == 2_000


# --- the severities that may be chosen


@pytest.mark.parametrize(
    ("said", "choice"),
    [
        ("Mc Mw Mi", ["critical", "warning", "info"]),
        ("Mc Mi", ["critical", "info"]),
        ("Pw Mc Mi", ["critical", "warning"]),
        ("Pi Mc", ["critical", "info"]),
        ("Pc Mi", ["critical"]),
    ],
)
def test_no_severity_may_be_chosen_below_what_a_program_said(said: str, choice: list[str]) -> None:
    names: dict[str, Any] = {"c": "critical", "w": "warning", "i": "info"}

    assert severities(Saying(names[each[1]], each[0] == "P", "logic", "m") for each in said.split()) == choice


# --- whatever is found

DRAWN = st.lists(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(("security", "logic", "style")),
            "severity": st.sampled_from(("critical", "warning", "info")),
            "path": st.sampled_from(("a.py", "b.py")),
            "line": st.integers(1, 5),
            "message": st.sampled_from(("user input reaches a shell", "a shell gets user input", "never closed")),
            "confidence": st.sampled_from((40, 60, 85, 95)),
            "category": st.sampled_from(("injection", "leak", "naming")),
            "suggestion": st.sampled_from(("", "a()", "b()")),
            "sources": st.sampled_from((("ruff",), ("model:x",), ("model:y",))),
        }
    ),
    max_size=20,
)


@settings(max_examples=50)
@given(drawn=DRAWN, seed=st.integers(0, 99), limit=st.integers(0, 3))
def test_every_finding_is_in_one_place_and_the_order_of_answers_does_not_show(
    drawn: list[dict[str, object]], seed: int, limit: int, a_finding: MakeFinding
) -> None:
    findings = [a_finding(**fields) for fields in drawn]
    shuffled = random.Random(seed).sample(findings, len(findings))

    one, other = sorted_out(*findings, limit=limit), sorted_out(*shuffled, limit=limit)

    assert one.clusters == other.clusters
    assert sorted(map(repr, all_of(one))) == sorted(map(repr, all_of(other)))
    single, pairs = merged(findings)
    assert len(all_of(one)) == len(single) + 2 * len(pairs)
    assert all(len(cluster.members) <= MEMBERS for cluster in one.clusters)


def test_a_cluster_has_its_members_by_place(a_finding: MakeFinding, by_model: MakeFinding) -> None:
    [cluster] = sorted_out(by_model(line=2, category="injection"), a_finding()).clusters

    assert isinstance(cluster, Cluster)
    assert [defect.finding.line for defect in cluster.members] == [1, 2]
