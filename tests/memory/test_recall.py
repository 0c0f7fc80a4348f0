from __future__ import annotations

import pytest

from reviewbot.domain.contracts import Gap, Proof, Suppression
from reviewbot.domain.contracts.ledger import Record
from reviewbot.memory.decisions import Decision
from reviewbot.memory.packing import pack, unpack
from reviewbot.memory.recall import MAX_RECORDS
from tests.memory.pushes import Pushes, Said, sha
from tests.work import count_calls

BASE = {"app/pay.py": "def pay(order):\n    total = 0\n    return total\n"}
BAD = "    total = order.sum - order.fee\n"
HEAD = {"app/pay.py": f"def pay(order):\n{BAD}    return total\n"}
SAID = Said("app/pay.py", "order.sum - order.fee")


def other_words(**fields: object) -> Said:
    return SAID._replace(fields={"title": "Another title", "message": "Other words.", "confidence": 81, **fields})


def test_a_finding_is_new_then_open_and_keeps_the_head_at_which_it_was_reported() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)

    assert (pushes.record.state, pushes.record.since) == ("new", sha(1))
    review, made = pushes.push({"app/pay.py": "\n\n" + HEAD["app/pay.py"]}, other_words())

    assert (pushes.record.state, pushes.record.since, pushes.record.line) == ("open", sha(1), 4)
    assert (made.held, len(review.findings)) == ({}, 1)


def test_the_same_head_again_changes_nothing() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    pushes.push({**HEAD, "app/new.py": "x = 1\n"}, SAID, Said("app/new.py", "x = 1"))
    before = pushes.ledger
    pushes.push({**HEAD, "app/new.py": "x = 1\n"}, SAID, Said("app/new.py", "x = 1"), again=True)

    assert pushes.ledger == before


def test_code_that_was_changed_fixes_its_finding_at_the_head_that_did_it() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    pushes.push({"app/pay.py": HEAD["app/pay.py"].replace("-", "+")})

    assert pushes.states == [("fixed", "its code was changed or removed")]
    assert (pushes.record.head, pushes.record.since) == (sha(2), sha(1))


def test_what_a_model_leaves_out_once_while_its_code_stands_stays_open() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    pushes.push(HEAD)

    assert pushes.record.state == "new"  # since the first head
    review, _ = pushes.push(HEAD, SAID)
    assert (pushes.record.state, len(review.findings)) == ("open", 1)


def test_what_a_program_no_longer_reports_is_fixed_if_it_could_look_with_the_same_settings() -> None:
    program = SAID._replace(fields={"sources": ("ruff",), "rule": "F632", "cause": None})
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, program)
    gap = Gap(path="app/pay.py", worker="logic", reason="crashed", message="", tool="ruff")
    pushes.push(HEAD, gaps=(gap,), incomplete=True)
    assert (pushes.record.state, pushes.ledger.heads[-1].outcome) == ("new", "partial")
    pushes.policy = "1" * 32
    pushes.push(HEAD)
    assert pushes.record.state == "new"

    pushes.push(HEAD)

    assert pushes.states == [("fixed", "what found it no longer does")]


def test_code_that_left_the_change_and_stands_is_outdated() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    pushes.base = dict(HEAD)
    pushes.push({**HEAD, "app/new.py": "x = 1\n"})

    assert pushes.states == [("outdated", "its code is no longer a part of the change")]


def test_a_finding_at_an_unchanged_line_that_a_hunk_shows_stands_after_a_push_elsewhere() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, Said("app/pay.py", "return total"))
    pushes.push({**HEAD, "app/new.py": "x = 1\n"})

    assert pushes.record.is_open


def test_a_finding_that_comes_back_after_its_fix_is_open_again() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    pushes.push(BASE)
    assert pushes.record.state == "fixed"

    pushes.push(HEAD, other_words())

    assert (pushes.record.state, pushes.record.head) == ("open", sha(3))
    assert pushes.record.reason == "found again after it was closed"


def test_a_deleted_file_fixes_what_was_found_in_it() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    pushes.push({})

    assert pushes.record.state == "fixed"


def test_a_file_that_cannot_be_read_leaves_its_findings_as_they_are() -> None:
    pushes = Pushes({**BASE, "app/other.py": "y = 1\n"})
    pushes.push({**HEAD, "app/other.py": "y = 1\n"}, SAID)
    pushes.base.pop("app/pay.py")
    pushes.push({"app/other.py": "y = 2\n"})

    assert pushes.record.state == "new"


def test_a_renamed_file_takes_its_findings_along() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    renamed = {"shop/money.py": HEAD["app/pay.py"]}
    pushes.push(renamed, SAID._replace(path="shop/money.py"), renames={"app/pay.py": "shop/money.py"})

    assert (pushes.record.state, pushes.record.path, len(pushes.record.names)) == ("open", "shop/money.py", 2)


def test_a_renamed_file_in_which_the_code_changed_fixes_its_finding() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    pushes.push({"money.py": BASE["app/pay.py"]}, renames={"app/pay.py": "money.py"})

    assert pushes.record.state == "fixed"


def test_a_function_that_moved_to_a_class_of_another_file_takes_its_finding_along() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    inside = "\n".join(f"    {row}" if row else "" for row in HEAD["app/pay.py"].split("\n"))
    pushes.push({"app/shop.py": f"class Shop:\n{inside}"}, SAID._replace(path="app/shop.py"))

    assert (pushes.record.state, pushes.record.path, pushes.record.symbol) == ("open", "app/shop.py", "Shop.pay")


def test_a_model_that_takes_the_same_code_for_another_kind_of_mistake_says_nothing_new() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID._replace(fields={"title": "The fee is subtracted and not added"}))
    words = {"title": "Fee subtracted where it is added", "cause": "wrong-condition", "category": "fees"}
    pushes.push(HEAD, SAID._replace(fields=words))

    assert pushes.record.state == "open"


def test_a_model_that_quotes_another_line_of_the_same_function_says_nothing_new() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    pushes.push(HEAD, other_words()._replace(code="return total"))

    assert (pushes.record.state, pushes.record.line) == ("open", 3)


def test_two_defects_are_two_records_also_on_one_line() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID, SAID._replace(fields={"cause": "race", "title": "Two threads share it"}))

    assert len(pushes.ledger.records) == 2


@pytest.mark.parametrize("severity", ["warning", "info"])
def test_a_new_finding_on_code_that_was_reviewed_before_is_late(severity: str) -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD)
    review, made = pushes.push(HEAD, SAID._replace(fields={"severity": severity}))

    assert [(entry.reason, entry.finding.line) for entry in made.held.values()] == [("late", 2)]
    assert (review.findings, pushes.ledger.records) == ((), ())
    assert [entry.reason for entry in review.withheld] == ["late"]
    assert pushes.notes(made) == ()


def test_a_critical_one_is_said_on_any_code() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD)
    review, _ = pushes.push(HEAD, SAID._replace(fields={"severity": "critical", "judgement": "it is so"}))

    assert (len(review.findings), pushes.record.state) == (1, "new")


def test_code_of_several_earlier_heads_counts_as_reviewed_also_after_a_rebase() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD)
    pushes.push({**HEAD, "b.py": "b = 1\n"})
    pushes.base = {"app/pay.py": "# on top\n\n" + BASE["app/pay.py"]}
    head = {"app/pay.py": "# on top\n\n" + HEAD["app/pay.py"], "b.py": "b = 1\n"}
    review, _ = pushes.push(head, SAID, Said("b.py", "b = 1"))

    assert review.findings == ()


def test_new_code_other_settings_and_a_proof_on_new_code_are_not_late() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD)
    head = {**HEAD, "app/fee.py": "fee = -1\n"}
    proof = Proof(path="app/fee.py", line=1, end_line=1, quote="fee = -1")
    review, _ = pushes.push(head, SAID._replace(fields={"proof": (proof,)}))
    assert len(review.findings) == 1

    pushes = Pushes(dict(BASE))
    pushes.push(HEAD)
    pushes.policy = "1" * 32
    review, _ = pushes.push(HEAD, SAID)
    assert len(review.findings) == 1


def test_a_file_that_was_not_read_in_full_is_not_reviewed_code() -> None:
    pushes = Pushes(dict(BASE))
    gap = Gap(path="app/pay.py", worker="logic", reason="timeout", message="")
    pushes.push(HEAD, gaps=(gap,))
    review, _ = pushes.push(HEAD, SAID)

    assert len(review.findings) == 1


def test_a_decision_of_the_base_branch_withholds_a_finding_and_survives_other_words_and_lines() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    decision = Decision("jo", "we want that", finding=pushes.record.name)
    for head in (HEAD, {"app/pay.py": "import os\n\n" + HEAD["app/pay.py"]}):
        review, _ = pushes.push(head, other_words(), decisions=(decision,))

        assert (review.findings, [entry.reason for entry in review.withheld]) == ((), ["dismissed"])
        assert (pushes.record.state, pushes.record.who, pushes.record.origin) == ("dismissed", "jo", "decisions")
        assert "we want that" in review.withheld[0].message


def test_a_decision_ends_with_the_code_that_it_is_about() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    decision = Decision("jo", "we want that", finding=pushes.record.name)
    pushes.push(HEAD, SAID, decisions=(decision,))
    changed = {"app/pay.py": HEAD["app/pay.py"].replace("order.fee", "order.fee * 2")}
    review, _ = pushes.push(changed, SAID._replace(code="order.fee * 2"), decisions=(decision,))

    assert [state for state, _ in pushes.states] == ["outdated", "new"]
    assert len(review.findings) == 1


def test_a_decision_that_was_withdrawn_brings_its_finding_back() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    pushes.push(HEAD, SAID, decisions=(Decision("jo", "we want that", finding=pushes.record.name),))
    assert pushes.record.state == "dismissed"
    review, _ = pushes.push(HEAD, SAID)

    assert (pushes.record.state, len(review.findings)) == ("open", 1)


def test_a_decision_that_was_withdrawn_or_ended_brings_back_what_no_model_has_read_again() -> None:
    for decision in (Decision("jo", "no", rule="logic"), Decision("jo", "no", rule="wrong-value", path="app/*")):
        pushes = Pushes(dict(BASE))
        pushes.push(HEAD, SAID)
        named = decision if decision.path else Decision("jo", "we want that", finding=pushes.record.name)
        fields = {"category": "logic"}
        for each in (decision, named):
            pushes.push(HEAD, other_words(**fields), decisions=(each,))
            assert (pushes.record.state, pushes.record.origin) == ("dismissed", "decisions")
            pushes.push(HEAD, decisions=(each,))
            assert (pushes.record.state, pushes.record.origin) == ("dismissed", "decisions")

            pushes.push(HEAD)
            assert pushes.states == [("open", "the decision against it does not stand any more")]


def test_a_rule_that_is_decided_against_also_covers_what_no_model_has_read_again() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    pushes.push(HEAD, decisions=(Decision("jo", "not here", rule="wrong-value", path="app/*"),))

    assert pushes.states == [("dismissed", "not here (.reviewbot/decisions.toml)")]


def test_a_critical_dismissed_finding_stays_listed() -> None:
    pushes = Pushes(dict(BASE))
    grave = SAID._replace(fields={"severity": "critical", "title": "Money is lost"})
    pushes.push(HEAD, grave)
    decision = Decision("jo", "we want that", finding=pushes.record.name)
    _, made = pushes.push(HEAD, grave, decisions=(decision,))

    (note,) = pushes.notes(made)
    assert note.startswith("critical and dismissed: app/pay.py:2: Money is lost")
    assert "we want that" in note

    _, made = pushes.push(HEAD, decisions=(decision,))  # the model says nothing of it this time
    (note,) = pushes.notes(made)
    assert note.startswith("critical and dismissed: app/pay.py:2: Money is lost")
    assert note.endswith("not reported for this head")


def test_a_rule_may_be_decided_against_in_some_files() -> None:
    rule = SAID._replace(fields={"sources": ("ruff",), "rule": "F632", "cause": None})
    for path, shown in (("app/*", 0), ("tests/*", 1)):
        pushes = Pushes(dict(BASE))
        review, _ = pushes.push(HEAD, rule, decisions=(Decision("jo", "no", rule="F632", path=path),))
        assert len(review.findings) == shown


def test_what_the_judge_of_a_later_head_holds_to_be_wrong_is_refuted_and_does_not_return() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    doubted = SAID._replace(fields={"judgement": "The fee is negative by contract.", "confidence": 20})
    pushes.push(HEAD, withheld=((doubted, "below_threshold"),))
    assert pushes.states == [("refuted", "The fee is negative by contract.")]

    review, made = pushes.push(HEAD, other_words())
    assert (review.findings, pushes.record.state) == ((), "refuted")
    assert [entry.reason for entry in made.held.values()] == ["refuted"]

    review, _ = pushes.push(HEAD, other_words(severity="critical"))
    assert (len(review.findings), pushes.record.state) == (1, "open")


def test_what_the_judge_of_a_later_head_is_not_sure_of_stays_open() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    unsure = SAID._replace(fields={"judgement": "It depends on the caller.", "confidence": 70})
    pushes.push(HEAD, withheld=((unsure, "below_threshold"),))
    assert pushes.states == [("open", "found again")]

    review, _ = pushes.push(HEAD, other_words())
    assert (len(review.findings), pushes.record.state) == (1, "open")


def test_what_was_fixed_is_not_opened_again_by_a_claim_that_the_judge_is_not_sure_of() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    pushes.push(BASE)
    unsure = SAID._replace(fields={"judgement": "It depends on the caller.", "confidence": 70})
    pushes.push(HEAD, withheld=((unsure, "below_threshold"),))

    assert pushes.record.state == "fixed"


def test_what_falls_below_the_threshold_without_a_ruling_stays_open() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    pushes.push(HEAD, withheld=((SAID, "below_threshold"),))

    assert pushes.record.state == "open"


def test_what_a_comment_of_the_base_side_ignores_now_is_dismissed() -> None:
    program = SAID._replace(fields={"sources": ("ruff",), "rule": "F632", "cause": None})
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, program)
    ignored = Suppression(
        action="ignored", path="app/pay.py", line=2, rule="F632", by="comment at line 1", reason="meant so"
    )
    pushes.push(HEAD, suppressed=(ignored,))

    assert (pushes.states, pushes.record.origin) == ([("dismissed", "meant so")], "settings")


def test_findings_over_the_cap_are_remembered_and_uncertain_ones_are_not() -> None:
    pushes = Pushes(dict(BASE))
    second = SAID._replace(code="return total", fields={"cause": "race"})
    pushes.push(HEAD, withheld=((SAID, "over_cap"), (second, "below_threshold")))

    assert [record.line for record in pushes.ledger.records] == [2]


def test_closed_records_are_forgotten_first_and_counted() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    closed = pushes.record.model_copy(update={"state": "fixed", "path": "gone.py"})
    many = tuple(closed.model_copy(update={"names": (f"{n:032x}",)}) for n in range(MAX_RECORDS))
    pushes.ledger = pushes.ledger.model_copy(update={"records": (*many, pushes.record)})
    pushes.push(HEAD, SAID)

    assert (len(pushes.ledger.records), pushes.ledger.forgotten) == (MAX_RECORDS, 1)
    assert pushes.ledger.records[-1].is_open


def test_a_record_without_code_is_known_by_its_name_alone() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    bare = Record(
        names=pushes.record.names, path="app/pay.py", state="open", reason="a comment", who="reviewbot", at="",
        head=sha(1), since=sha(1),
    )  # fmt: skip
    pushes.ledger = pushes.ledger.model_copy(update={"records": (bare,)})
    pushes.push({"app/pay.py": "x = 1\n"})
    assert pushes.record.state == "open"

    pushes.push(HEAD, SAID)
    assert (pushes.record.state, pushes.record.line) == ("open", 2)


@pytest.mark.parametrize(
    "said",
    [
        SAID._replace(code="return total", fields={"cause": "race", "category": "x"}),
        SAID._replace(fields={"cause": "race", "category": "x", "title": "Threads meet here"}),
        SAID._replace(code="far = 1", fields={"category": "x"}),
        SAID._replace(code="far = 1", fields={"category": "x", "sources": ("ruff",)}),
    ],
)
def test_another_defect_in_the_same_function_is_new(said: Said) -> None:
    head = {"app/pay.py": HEAD["app/pay.py"] + "\n".join(f"    x{n} = {n}" for n in range(9)) + "\n    far = 1\n"}
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    pushes.push(head, said._replace(fields={**said.fields, "severity": "critical", "judgement": "it is so"}))

    assert [state for state, _ in pushes.states] == ["new", "new"]


def test_a_finding_about_removed_code_is_not_fixed_by_that_the_head_lacks_it() -> None:
    pushes = Pushes(dict(BASE))
    removed = SAID._replace(fields={"side": "old", "evidence": "    total = 0"})
    pushes.push(HEAD, removed)
    pushes.push(HEAD)
    assert pushes.states == [("new", "first reported")]

    pushes.push(HEAD, removed)
    assert pushes.states == [("open", "found again")]


def test_a_title_that_was_changed_fixes_what_a_program_found_in_it() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD)
    record = Record(
        names=("1" * 32,), path="(title)", code="0" * 16, by_model=False, state="open", reason="r", who="reviewbot",
        at="", head=sha(1), since=sha(1),
    )  # fmt: skip
    pushes.ledger = pushes.ledger.model_copy(update={"records": (record,)})
    pushes.push(HEAD)

    assert pushes.states == [("fixed", "what found it no longer does")]


def test_code_of_many_statements_is_found_again() -> None:
    body = "".join(f"    step_{number}(order)\n" for number in range(9))
    head = {"app/pay.py": f"def pay(order):\n{body}"}
    whole = Said("app/pay.py", "step_0", {"end_line": 10, "evidence": body.rstrip("\n")})
    pushes = Pushes(dict(BASE))
    pushes.push(head, whole)
    pushes.push({"app/pay.py": f"import os\n\n\ndef pay(order):\n{body}"})
    assert pushes.states == [("new", "first reported")]

    pushes.push({"app/pay.py": f"def pay(order):\n{body.replace('step_7', 'skip_7')}"})
    assert pushes.states == [("fixed", "its code was changed or removed")]


@pytest.mark.slow
def test_many_findings_and_many_records_are_compared_with_little_work_for_a_pair() -> None:
    rows = [f"    x{number} = order.sum - {number}" for number in range(1_000)]
    head = {"app/pay.py": "\n".join(["def pay(order):", *rows, ""])}
    pushes = Pushes(dict(BASE))
    said = [Said("app/pay.py", f"x{number} =", {"sources": ("ruff",), "rule": "R1"}) for number in range(0, 600, 3)]
    pushes.push(head, *said)
    other = [each._replace(code=f"x{number + 1} =") for number, each in zip(range(0, 600, 3), said, strict=True)]

    assert count_calls(lambda: pushes.push(head, *other)).total() < 100 * len(said) * len(other)
    assert {state for state, _ in pushes.states} == {"fixed"}


def test_of_too_many_findings_the_gravest_are_remembered_and_the_others_are_no_news_on_each_head() -> None:
    rows = [f"    x{number} = order.sum - {number}" for number in range(MAX_RECORDS + 9)]
    head = {"app/pay.py": "\n".join(["def pay(order):", *rows, ""])}
    said = [Said("app/pay.py", f"x{number} =", {"severity": "critical"}) for number in range(MAX_RECORDS + 9)]
    pushes = Pushes(dict(BASE))
    pushes.push(head, *said)
    first = pushes.ledger.records
    pushes.push(head, *said)

    assert [record.line for record in first] == list(range(2, MAX_RECORDS + 2))
    assert [record.names for record in pushes.ledger.records] == [record.names for record in first]
    assert pushes.ledger.forgotten == 9


def test_open_findings_for_which_a_ledger_had_no_room_are_no_news_on_the_next_head() -> None:
    rows = [f"    x{number} = order.sum - {number}" for number in range(300)]
    head = {"app/pay.py": "\n".join(["def pay(order):", *rows, ""])}
    said = [Said("app/pay.py", f"x{number} =") for number in range(300)]
    pushes = Pushes(dict(BASE))
    left = []
    for number in range(3):
        pushes.push({**head, "b.py": f"b = {number}\n"}, *said)
        packed = unpack(pack(pushes.ledger, 12_000))
        assert packed is not None
        pushes.ledger = packed
        left.append((len(packed.records) + packed.forgotten, packed.heads[-1].new))
    assert left == [(300, 300), (300, 0), (300, 0)]
    assert pushes.ledger.forgotten > 0

    pushes.push({**head, "b.py": "b = 9\n"})  # nobody says anything of them
    pushes.push({**head, "b.py": "b = 10\n"}, *said, Said("b.py", "b = 10"))
    assert [each.path for each in pushes.ledger.records if each.state == "new"] == ["b.py"]


def test_a_finding_that_is_decided_against_is_dismissed_also_where_a_model_left_it_out() -> None:
    """And by a comment it stays so without the decision: no file has to keep it."""
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    decision = Decision("jo", "we want that", finding=pushes.record.name, source="a comment")
    pushes.push(HEAD, decisions=(decision,))

    assert (pushes.record.state, pushes.record.who, pushes.record.origin) == ("dismissed", "jo", "comment")
    assert pushes.record.reason == "we want that (a comment)"
    review, _ = pushes.push(HEAD, SAID)
    assert (review.findings, pushes.record.state) == ((), "dismissed")


@pytest.mark.parametrize("state", ["dismissed", "refuted"])
def test_a_decision_about_one_place_does_not_hold_for_new_code_beside_it(state: str) -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    decision = Decision("jo", "we want that", finding=pushes.record.name)
    pushes.push(HEAD, SAID, decisions=(decision,))
    pushes.ledger = pushes.ledger.model_copy(
        update={"records": (pushes.record.model_copy(update={"state": state, "origin": "review"}),)}
    )
    head = {"app/pay.py": HEAD["app/pay.py"].replace("    return total", "    total -= 99\n    return total")}
    review, _ = pushes.push(head, SAID._replace(code="total -= 99"), decisions=(decision,))

    assert [each.line for each in review.findings] == [3]
    assert [found for found, _ in pushes.states] == [state, "new"]


def test_a_decision_that_comes_with_new_code_beside_its_own_is_not_about_that() -> None:
    pushes = Pushes(dict(BASE))
    pushes.push(HEAD, SAID)
    decision = Decision("jo", "we want that", finding=pushes.record.name)
    head = {"app/pay.py": HEAD["app/pay.py"].replace("    return total", "    total -= 99\n    return total")}
    review, _ = pushes.push(head, SAID._replace(code="total -= 99"), decisions=(decision,))

    assert [each.line for each in review.findings] == [3]
