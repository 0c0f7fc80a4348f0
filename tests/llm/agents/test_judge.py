"""The judge: what it is shown, what its rulings do, and that without it nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from reviewbot.config.rules import RuleSetting
from reviewbot.domain.contracts import ChangeSet, Finding, Plan, Proof, ReadBefore, Review, WorkerResult
from reviewbot.domain.contracts.answers import JudgeRuling
from reviewbot.domain.errors import BudgetError, RefusedError, TransientError
from reviewbot.domain.ports import OfferedTool, TaskResult, Text
from reviewbot.llm.agents.calibrator import Calibrator
from reviewbot.llm.agents.conversation import Bounds
from reviewbot.llm.agents.judge import BATCH, MAX_JUDGED, ConversingModel, JudgingSynthesizer
from reviewbot.llm.agents.rulings import apply_ruling, contradictions
from reviewbot.llm.prompts.judge_prompt import (
    MAX_PROOF_CHARS,
    PUSH_PROOF_ROWS,
    NamedClaim,
    judge_request,
    proof_excerpts,
    shown_lines,
)
from reviewbot.llm.prompts.reader_prompt import SharedPrefix
from reviewbot.llm.tools import RepositoryTools
from reviewbot.review.combine.suppression import Suppressor
from reviewbot.review.combine.synthesizer import ReviewFacts
from reviewbot.review.combine.visibility import Rules
from reviewbot.sources.memory import DiffSnapshot
from tests.make import MakeFinding, MakeReply

RULES = Rules({"logic": 80, "security": 80}, max_findings=50)
PREFIX = SharedPrefix("large", shown=(Text("What the readers were shown."),))
HUNK = "\n".join(f"+value_{n} = {n}" for n in range(1, 60))


@pytest.fixture
def claimed(a_finding: MakeFinding) -> MakeFinding:
    """A finding of a model alone."""

    def make(**fields: Any) -> Finding:
        known = {"type": "logic", "sources": ("model:x",), "confidence": 85, "claimed": 85, "line": 1, "worth": 70}
        known |= {"severity": "warning", "message": f"value {fields.get('line', 1)} is wrong"}
        return a_finding(**known | fields)

    return make


@pytest.fixture
def judged(a_task: Any, a_payload: Any, a_change: Any, a_file: Any, a_hunk: Any, trace: Any) -> Callable[..., Review]:
    """The review of these findings with a judge."""

    def run(model: Any, findings: Sequence[Finding], **fields: Any) -> Review:
        change = a_change(a_file("src/app.py", a_hunk(HUNK)), title="More values", description="As agreed.")
        change = change.model_copy(update={"read_before": fields.pop("read_before", None)})
        task = a_task(payload=a_payload(HUNK))
        result = WorkerResult(task_id=task.task_id, paths=("src/app.py",), findings=tuple(findings))
        result = fields.pop("suppressor", Suppressor()).apply(result)
        plan = Plan(goal="g", tasks=(task,), reason="r")
        prompts = {"prompt": "Judge it."}
        known = {"rules": RULES, **prompts, "facts": ReviewFacts("models"), "calibrator": Calibrator(trace)}
        judge = JudgingSynthesizer(model=model, trace=trace, **{**known, **fields})
        settled = {task.task_id: TaskResult(task, (result,), done=True)}
        return asyncio.run(judge.synthesize(change, plan, settled))

    return run


def test_a_claim_is_ruled_on_with_its_hunk_and_its_proof_in_sight(
    judged: Any, claimed: MakeFinding, fake_model: Any, ruled: MakeReply, text_of: Any
) -> None:
    proof = Proof(path="src/other.py", line=7, end_line=7, quote="assert n > 0", why="it must be positive")
    model = fake_model(ruled({"claim": "c1", "confidence": 95, "severity": "critical", "worth": 90}))

    lines = {("src/other.py", "new"): [*(f"# {n}" for n in range(1, 7)), "assert n > 0", "go()"]}
    review = judged(
        model,
        [claimed(line=5, proof=(proof,))],
        lines_of=lambda path, side: lines.get((path, side), ()),
        prefix_of=lambda _path: PREFIX,
    )

    [found] = review.findings
    assert (found.confidence, found.severity, found.worth, found.claimed) == (95, "critical", 80, 85)
    assert found.judgement == "`x = 1` is assigned and read once. Against it: none found"
    text = text_of(model.requests[0])
    for shown in (
        "src/other.py:7 (new side)",
        "    6 # 6\n    7 assert n > 0\n    8 go()",
        "it must be positive",
        "What the readers were shown.",
    ):
        assert shown in text
    assert "85" not in text.partition("Claim c1")[2], "the reader's own number is not shown"


def test_a_severity_that_is_configured_stays_whatever_the_judge_says(
    judged: Any, claimed: MakeFinding, fake_model: Any, ruled: MakeReply
) -> None:
    model = fake_model(ruled({"claim": "c1", "confidence": 95, "severity": "critical", "worth": 90}))
    suppressor = Suppressor((RuleSetting("correctness", "info", origin=".reviewbot.toml"),))

    review = judged(model, [claimed(category="correctness")], suppressor=suppressor)

    assert [(f.severity, f.confidence) for f in review.findings] == [("info", 95)]
    assert [entry.shown_as for entry in review.suppressed] == ["info"]


def test_what_the_judge_refutes_is_withheld_with_its_reason(
    judged: Any, claimed: MakeFinding, fake_model: Any, ruled: MakeReply
) -> None:
    review = judged(fake_model(ruled({"claim": "c1", "confidence": 10, "reason": "line 4 checks it"})), [claimed()])

    [entry] = review.withheld
    assert (entry.finding.confidence, entry.reason) == (10, "below_threshold")
    assert "line 4 checks it" in entry.message


def test_nobody_is_asked_where_models_claim_nothing(judged: Any, a_finding: MakeFinding, fake_model: Any) -> None:
    model = fake_model()

    review = judged(model, [a_finding(type="logic", confidence=90)])

    assert (len(model.requests), len(review.findings)) == (0, 1)


def test_without_judging_claims_stand_as_they_were_made(judged: Any, claimed: MakeFinding, fake_model: Any) -> None:
    model = fake_model()

    assert [f.confidence for f in judged(model, [claimed()], judging=False).findings] == [85]
    assert model.requests == []


def test_a_duplicate_costs_one_ruling(
    judged: Any, claimed: MakeFinding, fake_model: Any, ruled: MakeReply, text_of: Any
) -> None:
    model = fake_model(ruled({"claim": "c1"}))
    same = claimed(type="security", cause="wrong-value", message="another wording altogether", category="other")

    review = judged(model, [claimed(cause="wrong-value"), same])

    assert text_of(model.requests[0]).count("Claim c") == 1
    assert len(review.findings) == 1


def test_a_critical_claim_below_eighty_is_asked_once_more_and_then_goes_to_a_person(
    judged: Any, claimed: MakeFinding, fake_model: Any, ruled: MakeReply, text_of: Any
) -> None:
    model = fake_model(
        ruled({"claim": "c1", "confidence": 72, "reason": "the caller is not in sight"}),
        ruled({"claim": "c1", "confidence": 74, "severity": "warning"}),
    )

    review = judged(model, [claimed(severity="critical", confidence=96)])

    assert [item.finding.confidence for item in review.human if item.finding] == [74]
    assert len(model.requests) == 2
    assert "the caller is not in sight" in text_of(model.requests[1])


@pytest.mark.parametrize(("tools", "asked"), [((), 1), ((OfferedTool("read", "Lines.", {}),), 2)])
def test_after_a_small_push_a_critical_claim_is_asked_once_more_only_where_more_can_be_looked_up(
    tools: tuple[OfferedTool, ...],
    asked: int,
    judged: Any,
    claimed: MakeFinding,
    fake_model: Any,
    ruled: MakeReply,
) -> None:
    model = fake_model(*(ruled({"claim": "c1", "confidence": 66, "severity": "critical"}) for _ in range(2)))
    prefix = SharedPrefix("large", small_push=True, tools=tools)

    review = judged(model, [claimed(severity="critical", confidence=96)], prefix_of=lambda _path: prefix)

    assert [item.finding.confidence for item in review.human if item.finding] == [66]
    assert len(model.requests) == asked


def test_a_critical_claim_that_the_second_ruling_confirms_is_shown(
    judged: Any, claimed: MakeFinding, fake_model: Any, ruled: MakeReply
) -> None:
    twice = [ruled({"claim": "c1", "confidence": number, "severity": "critical"}) for number in (60, 93)]

    review = judged(fake_model(*twice), [claimed(severity="critical")])

    assert [(f.confidence, f.severity) for f in review.findings] == [(93, "critical")]


@pytest.mark.parametrize(
    ("stated", "place"),
    [({"severity": "critical", "confidence": 90}, "person"), ({"severity": "critical", "confidence": 79}, "withheld"),
     ({"severity": "warning", "confidence": 99}, "withheld")],
    ids=["sure and critical", "unsure", "a warning"],
)  # fmt: skip
def test_a_critical_claim_goes_to_a_person_where_a_sure_reader_and_the_judge_are_far_apart(
    stated: dict[str, Any], place: str, judged: Any, claimed: MakeFinding, fake_model: Any, ruled: MakeReply
) -> None:
    ruling = {"claim": "c1", "confidence": 5, "severity": "info", "reason": "line 4 checks it"}

    review = judged(fake_model(ruled(ruling)), [claimed(**stated)])

    assert (len(review.human), len(review.withheld)) == ((1, 0) if place == "person" else (0, 1))
    for item in review.human:
        assert item.finding is not None
        assert (item.finding.severity, item.finding.confidence) == ("critical", 5)
        assert item.reason.endswith("the judge holds that it is wrong: line 4 checks it")


def test_claims_are_judged_in_batches_the_gravest_first_and_the_rest_is_named(
    judged: Any, claimed: MakeFinding, fake_model: Any, ruled: MakeReply, text_of: Any
) -> None:
    count = MAX_JUDGED + 2
    findings = [
        claimed(line=n, category=f"c{n}", severity="critical" if n == 30 else "info") for n in range(1, count + 1)
    ]
    words = [claimed(line=f.line, category=f.category, severity=f.severity, message=f"{f.line} " * 9) for f in findings]
    model = fake_model(ruled())

    review = judged(model, words)

    assert len(model.requests) == MAX_JUDGED // BATCH
    assert f"{count - MAX_JUDGED} claims of models without a judge's ruling: there were too many" in review.notes


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (BudgetError("no"), "the budget had no room for it"),
        (RefusedError("no"), "the model declined to answer"),
        (TransientError("no"), "the model could not be reached"),
        (ValueError("/root/secret"), "the answer could not be used"),
    ],
    ids=["budget", "refusal", "outage", "bug"],
)
def test_without_a_ruling_a_claim_stands_at_its_cap_and_the_report_says_why(
    answer: Exception, why: str, judged: Any, claimed: MakeFinding, fake_model: Any
) -> None:
    review = judged(fake_model(answer), [claimed()])

    assert f"1 claim of models without a judge's ruling: {why}" in review.notes
    assert [f.confidence for f in review.findings] == [85]


def test_a_judge_that_hangs_ends_with_the_time(judged: Any, claimed: MakeFinding, fake_model: Any) -> None:
    review = judged(fake_model(None), [claimed()], remaining_s=lambda: 0.02)

    assert "1 claim of models without a judge's ruling: no time was left" in review.notes


def test_a_ruling_on_a_claim_that_there_is_not_changes_nothing(
    judged: Any, claimed: MakeFinding, fake_model: Any, ruled: MakeReply
) -> None:
    review = judged(fake_model(ruled({"claim": "c9", "confidence": 0}, {"claim": "x", "confidence": 0})), [claimed()])

    assert [f.confidence for f in review.findings] == [85]


def test_no_ruling_lowers_or_deletes_what_an_analyzer_found(
    judged: Any, claimed: MakeFinding, fake_model: Any, ruled: MakeReply
) -> None:
    both = claimed(sources=("model:x", "taint"), severity="critical", confidence=90)
    model = fake_model(ruled({"claim": "c1", "confidence": 3, "severity": "info", "worth": 0, "reason": "LGTM"}))

    review = judged(model, [both])

    [found] = review.findings
    assert (found.confidence, found.severity, found.disputed) == (90, "critical", "LGTM")


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"worth": 49}, "minor"),
        ({"worth": 50}, "shown"),
        ({"worth": None}, "shown"),
        ({"worth": 0, "severity": "critical"}, "shown"),
        ({"worth": 0, "type": "security"}, "shown"),
    ],
    ids=str,
)
def test_worth_puts_a_true_finding_into_the_fold_and_never_a_critical_or_a_certain_security_one(
    fields: dict[str, Any], place: str, judged: Any, claimed: MakeFinding, fake_model: Any
) -> None:
    review = judged(fake_model(), [claimed(**fields)], judging=False)

    assert [entry.reason for entry in review.withheld] + ["shown" for _ in review.findings] == [place]


def test_two_claims_that_the_judge_holds_to_contradict_each_other_are_shown_side_by_side(
    judged: Any, claimed: MakeFinding, fake_model: Any, ruled: MakeReply
) -> None:
    apart = [
        claimed(line=3, message="make it two", category="a"),
        claimed(line=40, message="leave it one", category="b"),
    ]

    review = judged(fake_model(ruled({"claim": "c1", "contradicts": ["c2"]}, {"claim": "c2"})), apart)

    assert [len(conflict.findings) for conflict in review.conflicts] == [2]
    assert review.findings == ()


@pytest.mark.parametrize(
    ("other", "handles"),
    [({"confidence": 49}, ["c2"]), ({}, ["c1"]), ({}, ["c9"]), ({}, [])],
    ids=["refuted", "itself", "unknown", "none"],
)
def test_what_is_refuted_or_unknown_contradicts_nothing(
    other: dict[str, Any], handles: list[str], claimed: MakeFinding
) -> None:
    known: dict[str, Any] = {
        "argument_against": "", "reason": "r", "confidence": 90, "severity": "warning", "worth": 70, "contradicts": (),
    }  # fmt: skip
    rulings = {
        "c1": JudgeRuling.model_validate({**known, "claim": "c1", "contradicts": tuple(handles)}),
        "c2": JudgeRuling.model_validate({**known, "claim": "c2", **other}),
    }

    assert contradictions({"c1": claimed(), "c2": claimed(line=9)}, rulings) == []


def test_a_quarrel_of_which_one_side_is_refuted_is_none(
    judged: Any, claimed: MakeFinding, fake_model: Any, ruled: MakeReply
) -> None:
    sides = [
        claimed(suggestion="a()", message="one way", category="a"),
        claimed(type="security", suggestion="b()", category="b", message="the other thing"),
    ]
    model = fake_model(ruled({"claim": "c1", "confidence": 92}, {"claim": "c2", "confidence": 8}))

    review = judged(model, sides)

    assert review.conflicts == ()
    assert (len(review.findings), len(review.withheld)) == (1, 1)


def test_claims_of_each_part_of_a_change_are_judged_with_what_its_readers_were_shown(
    judged: Any, claimed: MakeFinding, fake_model: Any, ruled: MakeReply, text_of: Any
) -> None:
    other = SharedPrefix("medium", shown=(Text("The other part."),), is_whole=True)
    proof = Proof(path="src/other.py", line=1, end_line=1, quote="n = 0")
    findings = [claimed(line=3, category="a"), claimed(line=9, path="lib/b.py", category="b", proof=(proof,))]
    model = fake_model(ruled())

    judged(model, findings, prefix_of={"src/app.py": PREFIX, "lib/b.py": other}.get, lines_of=lambda *_: ["n = 0"])

    texts = {text_of(request).split("\n")[0]: text_of(request) for request in model.requests}
    assert sorted((request.tier, request.subject) for request in model.requests) == [
        ("large", "batch 2"), ("medium", "batch 1"),
    ]  # fmt: skip
    assert "Claim c2:" in texts["What the readers were shown."]
    assert "Claim c1:" in texts["The other part."]
    assert "Code around proofs" not in texts["The other part."], "it is shown whole already"


def test_code_around_proofs_is_shown_once_for_all_claims_and_not_where_a_hunk_shows_it(
    claimed: MakeFinding, a_change: Any, a_payload: Any, text_of: Any
) -> None:
    lines = [f"line {n}" for n in range(1, 101)]
    first = Proof(path="lib.py", line=40, end_line=41, quote="line 40\nline 41", why="the callee")
    second = Proof(path="lib.py", line=44, end_line=44, quote="line 44")
    old = Proof(path="lib.py", side="old", line=1, end_line=1, quote="line 1")
    seen = Proof(path="src/app.py", line=2, end_line=2, quote="value_2 = 2")
    claims = [NamedClaim("c1", claimed(line=1, proof=(first, old))), NamedClaim("c2", claimed(proof=(second, seen)))]

    proofs = [proof for claim in claims for proof in claim.finding.proof]
    code = proof_excerpts(proofs, shown_lines((a_payload(HUNK),), ""), lambda _path, _side: lines)

    text = text_of(judge_request(PREFIX, claims, code, "J", Bounds(), subject="b"))
    assert text.count("   43 line 43") == 1
    assert "lib.py (new side)\n[cut]\n   28 line 28\n" in text
    assert "   56 line 56\n[cut]\n" in text
    assert "lib.py (old side)\n    1 line 1\n" in text
    assert "src/app.py (new side)" not in text.partition("Claim c1")[0]
    assert "proof: lib.py:40 (new side), named because: the callee\nline 40\nline 41" in text


def test_proofs_in_code_that_readers_of_a_push_were_shown_bring_no_code_again() -> None:
    lines = [f"line {n}" for n in range(1, 101)]
    proofs = [Proof(path="lib.py", line=line, end_line=line, quote=f"line {line}") for line in (8, 60)]
    shown = shown_lines((), "### lib.py\n8 line 8")
    [code] = proof_excerpts(proofs, shown, lambda _path, _side: lines, PUSH_PROOF_ROWS)

    assert [row.strip() for row in code.split("\n")[2:-1]] == [f"{line} line {line}" for line in range(56, 65)]


def test_after_a_push_a_removed_line_that_proves_a_claim_is_quoted_without_the_code_that_was_around_it(
    judged: Any, claimed: MakeFinding, fake_model: Any, ruled: MakeReply, text_of: Any
) -> None:
    removed = Proof(path="src/app.py", side="old", line=2, end_line=2, quote="check(value)")
    model = fake_model(ruled({"claim": "c1", "confidence": 95, "severity": "warning"}))
    judged(
        model,
        [claimed(proof=(removed,))],
        lines_of=lambda _path, side: ["first()", "check(value)", "last()"] if side == "old" else (),
        read_before=ReadBefore(head="0" * 40),
    )

    text = text_of(model.requests[0])
    assert "check(value)" in text
    assert "first()" not in text


def test_a_claim_about_lines_that_its_readers_were_shown_names_them_and_quotes_the_others(
    claimed: MakeFinding, text_of: Any
) -> None:
    seen = Proof(path="lib.py", line=8, end_line=9, quote="line 8\nline 9", why="the callee")
    half = Proof(path="lib.py", line=9, end_line=10, quote="line 9\nline 10")
    old = Proof(path="lib.py", side="old", line=8, end_line=8, quote="was 8")
    finding = claimed(path="lib.py", line=8, suggestion="Keep it.", proof=(seen, half, old))
    shown = shown_lines((), "### lib.py\n8 line 8\n9 line 9")

    text = text_of(judge_request(PREFIX, [NamedClaim("c1", finding)], (), "", Bounds(), subject="b", shown=shown))

    assert "proof: lib.py:8-9 the callee\n" in text
    assert "line 8\nline 9" not in text
    assert "proof: lib.py:9 (new side)\nline 9\nline 10" in text
    assert "proof: lib.py:8 (old side)\nwas 8" in text
    assert "quote (" not in text
    assert "Keep it." not in text


def test_of_proofs_with_more_code_than_there_is_room_the_quotes_are_shown(
    claimed: MakeFinding, a_change: Any, text_of: Any
) -> None:
    proofs = tuple(Proof(path=f"{n}.py", line=40, end_line=40, quote=f"assert n > {n}") for n in range(20))
    lines = ["x" * 400 for _ in range(100)]

    code = proof_excerpts(proofs, {}, lambda _path, _side: lines)

    text = text_of(judge_request(PREFIX, [NamedClaim("c1", claimed(proof=proofs))], code, "J", Bounds(), subject="b"))
    assert len(text) < MAX_PROOF_CHARS + 5_000
    assert "assert n > 19" in text


def test_a_long_ruling_is_cut(claimed: MakeFinding) -> None:
    ruling = JudgeRuling(
        claim="c1",
        argument_against="a" * 3_000,
        reason="r" * 3_000,
        confidence=90,
        severity="info",
        worth=50,
        contradicts=(),
    )

    assert len(apply_ruling(claimed(), ruling).judgement) == 1_000
    assert apply_ruling(claimed(), None) == claimed()


def test_a_conversation_with_tools_is_one_answer_with_the_cost_of_all_turns(
    fake_model: Any, calling: MakeReply, ruled: MakeReply, a_request: Any, trace: Any
) -> None:
    inner = fake_model(calling(("list", {})), ruled())
    model = ConversingModel(inner, RepositoryTools(DiffSnapshot(ChangeSet())), Bounds(tool_turns=2), trace)

    reply = asyncio.run(model.ask(a_request(max_tokens=4_000)))

    assert reply.usage.calls == 2
    assert [event["tool"] for event in trace.of("tool_call")] == ["list"]
