"""Weighing and clustering at their limits: the cap, the order of conflicts, thresholds shared by cards, near misses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.contracts import Finding, WorkerCard
from reviewbot.supervisor.clusters import clusters_of
from reviewbot.supervisor.merging import merged
from reviewbot.supervisor.weighing import Rules, placed, weigh

MakeFinding = Callable[..., Finding]
MakeCard = Callable[..., WorkerCard]

RULES = Rules({"security": 80, "logic": 80}, max_findings=50)


@pytest.fixture
def quarrel(a_finding: MakeFinding) -> Callable[..., list[Finding]]:
    """Two workers' programs that suggest different code for one line; the second may be told apart by its fields."""

    def make(line: int, **second: Any) -> list[Finding]:
        one = a_finding(type="logic", line=line, suggestion="a()", message="the first side of it")
        return [one, a_finding(**{"line": line, "suggestion": "b()", "message": "the second side", **second})]

    return make


def test_conflicts_over_the_cap_are_withheld_with_all_sides_and_still_count(
    quarrel: Callable[..., list[Finding]],
) -> None:
    pairs = [quarrel(line) for line in (1, 2, 3)]

    weighed = weigh([side for pair in pairs for side in pair], Rules(RULES.thresholds, max_findings=2))

    assert [conflict.findings[0].line for conflict in weighed.conflicts] == [1, 2]
    assert [(entry.finding, entry.reason, entry.message) for entry in weighed.withheld] == [
        (side, "over_cap", "the review shows at most 2 findings") for side in pairs[2]
    ]
    assert weighed.issues == 4


def test_what_a_conflict_has_second_does_not_decide_its_place(quarrel: Callable[..., list[Finding]]) -> None:
    second, first = quarrel(2), quarrel(1)
    graver = [side.model_copy(update={"severity": "critical"}) for side in quarrel(3)]
    findings = [*first, second[0], second[1].model_copy(update={"severity": "critical"}), *graver]

    conflicts = weigh(findings, RULES).conflicts

    assert [conflict.findings[0].line for conflict in conflicts] == [3, 1, 2]


def test_the_caps_of_findings_and_of_conflicts_are_counted_apart(
    quarrel: Callable[..., list[Finding]], a_finding: MakeFinding
) -> None:
    weighed = weigh([*quarrel(1), *quarrel(2), a_finding(line=5), a_finding(line=6)], Rules(RULES.thresholds, 2))

    assert (len(weighed.shown), len(weighed.conflicts), weighed.withheld) == (2, 2, [])


@pytest.mark.parametrize(
    ("thresholds", "wanted", "expected"),
    [((80, 60), None, 60), ((60, 80), None, 60), ((80, 60), 90, 90), ((80,), 0, 0)],
)
def test_workers_of_one_type_share_the_lowest_threshold_unless_one_is_given_for_all(
    thresholds: tuple[int, ...], wanted: int | None, expected: int, a_card: MakeCard
) -> None:
    cards = [a_card(f"w{n}", task_type="logic", threshold=each) for n, each in enumerate(thresholds)]

    assert Rules.of(cards, wanted, 50).thresholds == {"logic": expected}


@pytest.mark.parametrize(
    ("kept", "told"), [("x" * 240, "x" * 240), ("x" * 241, "x" * 240 + "..."), ("x" * 239 + "  y", "x" * 239 + "...")]
)
def test_a_verifiers_words_are_cut_only_where_they_are_too_long(kept: str, told: str, a_finding: MakeFinding) -> None:
    [entry] = weigh([a_finding(sources=("model:x",), confidence=60, judgement=kept)], RULES).withheld

    assert entry.message == f"confidence 60 is below 80: {told}"


def test_a_type_without_a_threshold_goes_to_nobody_but_for_what_may_be_critical(a_finding: MakeFinding) -> None:
    critical, warning = a_finding(type="licence", severity="critical"), a_finding(type="licence", line=9)

    weighed = weigh([critical, warning], RULES)

    assert [item.finding for item in weighed.human] == [critical]
    assert [entry.finding for entry in weighed.withheld] == [warning]


def test_what_there_is_no_room_for_is_withheld_with_the_room_there_is(a_finding: MakeFinding) -> None:
    by_models = [a_finding(type="logic", sources=("model:x",), line=n) for n in (1, 2, 3)]

    [entry] = weigh(by_models, Rules(RULES.thresholds, max_findings=25, room=2)).withheld

    message = "of what models alone have found a change of this size is shown the first 2"
    assert (entry.finding, entry.message) == (by_models[2], message)


@pytest.mark.parametrize(
    "later",
    [
        {"severity": "info"},
        {"confidence": 89},
        {"path": "src/b.py"},
        {"line": 2},
        {"rule": "S607"},
        {"message": "v"},
    ],
    ids=str,
)
def test_a_review_is_in_order_of_weight_then_of_place_then_of_words(
    later: dict[str, Any], a_finding: MakeFinding
) -> None:
    known = {"confidence": 90, "path": "src/a.py", "rule": "S605", "message": "u"}
    first, second = a_finding(**known), a_finding(**known | later)

    assert placed([second, first], [], RULES).shown == [first, second]


# --- clusters


def asked_about(one: Finding, other: Finding) -> bool:
    """Whether a model is asked what two findings have to do with each other."""
    found = clusters_of(merged([one, other]), RULES, limit=20)
    return bool(found.clusters)


@pytest.fixture
def by_model(a_finding: MakeFinding) -> MakeFinding:
    """A model's finding that shares nothing with `a_finding`."""

    def make(**fields: Any) -> Finding:
        known = {
            "type": "logic",
            "category": "bug",
            "sources": ("model:x",),
            "message": "it breaks",
            "evidence": "f(x)",
        }
        return a_finding(**{**known, **fields})

    return make


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("a shell gets its command", True),  # two telling words
        ("a shell gets it", False),  # one
        ("user input", True),
        ("user and the sea with quite other telling things", False),  # a word of three letters tells nothing
    ],
)
def test_two_telling_words_in_common_are_worth_a_question(
    *,
    message: str,
    expected: bool,
    a_finding: MakeFinding,
    by_model: MakeFinding,
) -> None:
    one = a_finding(message="the user's input and sea water reach some shell command here and there")

    assert asked_about(one, by_model(message=message)) is expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [((5, 7), (8, 8), True), ((5, 7), (9, 9), False), ((5, 7), (3, 4), True), ((5, 7), (2, 3), False)],
)
def test_the_next_line_is_close_and_the_one_after_is_not(
    *,
    first: tuple[int, int],
    second: tuple[int, int],
    expected: bool,
    a_finding: MakeFinding,
    by_model: MakeFinding,
) -> None:
    one = a_finding(line=first[0], end_line=first[1])

    assert asked_about(one, by_model(category="injection", line=second[0], end_line=second[1])) is expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"evidence": "os.system( name )"}, True),
        ({"evidence": ""}, False),
        ({"cwe": 78}, True),
        ({"cwe": 79}, False),
        ({"evidence": "os.system( name )", "confidence": 50}, True),
        ({"evidence": "os.system( name )", "confidence": 49}, False),
        ({"evidence": "os.system( name )", "type": "security"}, True),
        ({"evidence": "os.system( name )", "type": "security", "sources": ("model:x", "model:y")}, False),
    ],
    ids=str,
)
def test_what_two_findings_must_share_to_be_worth_a_question(
    *,
    fields: dict[str, Any],
    expected: bool,
    by_model: MakeFinding,
) -> None:
    one = by_model(type="security", cwe=78, sources=("model:y",), category="keys", evidence="os.system(  name )")

    assert asked_about(one, by_model(line=2, message="quite another text", **fields)) is expected


def test_two_findings_without_a_quote_share_none(by_model: MakeFinding) -> None:
    one = by_model(type="security", category="keys", evidence=" ", message="quite another text")

    assert not asked_about(one, by_model(evidence=" "))


@pytest.mark.parametrize(("count", "clusters"), [(6, [6]), (7, [6])])
def test_a_cluster_has_six_members_at_most(count: int, clusters: list[int], by_model: MakeFinding) -> None:
    """A chain in which each is next to the one before; a model joins no two of them by itself."""
    chain = [by_model(line=n, category="leak", sources=(f"model:{n}",), message=f"w{n}") for n in range(1, count + 1)]

    found = clusters_of(merged(chain), RULES, limit=20)

    assert [len(cluster.members) for cluster in found.clusters] == clusters
    assert len(found.single) == count - sum(clusters)


@pytest.mark.parametrize(("limit", "over"), [(3, 0), (2, 1), (0, 3)])
def test_what_is_over_the_limit_of_questions_is_counted_and_kept(limit: int, over: int, by_model: MakeFinding) -> None:
    pairs = [by_model(line=line, type=name) for line in (1, 11, 21) for name in ("logic", "security")]
    apart = [each.model_copy(update={"category": f"c{n}", "message": f"m{n}"}) for n, each in enumerate(pairs)]

    found = clusters_of(merged(apart), RULES, limit)

    assert (len(found.clusters), found.over, len(found.single)) == (limit, over, 2 * over)
