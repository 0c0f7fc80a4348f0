"""Claims of a reader: whose task they are, where their quotes stand, and what one repair may change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import ReviewTask, Side
from reviewbot.domain.contracts.answers import Claim
from reviewbot.llm.agents.claims import (
    NO_WORDS,
    QuoteFinder,
    apply_repair,
    by_task,
    candidate_of,
    problems_of,
    with_own_ids,
)
from tests.make import MakePayload

LEDGER = "def credit(account, cents):\n    assert cents > 0\n\n    account.cents += cents\n"


def files(path: str, side: Side) -> str | None:
    """A repository of one file, which was empty before."""
    if path != "shop/ledger.py":
        return None
    return LEDGER if side == "new" else "pass\n"


@pytest.fixture
def a_claim(claim: Callable[..., dict[str, Any]]) -> Callable[..., Claim]:
    def make(**fields: Any) -> Claim:
        proof = tuple(
            {"path": "shop/ledger.py", "side": "new", "why": "it decides", **each} for each in fields.pop("proof", ())
        )
        return Claim.model_validate({**claim(), "proof": proof, **fields})

    return make


MakeClaim = Callable[..., Claim]


@pytest.fixture
def finder(a_payload: MakePayload) -> QuoteFinder:
    return QuoteFinder((a_payload(" before\n+x = 1\n-y = 2\n+z = 3", "+x = 1", path="src/app.py"),), files)


@pytest.mark.parametrize(
    "quote",
    [
        "    assert cents > 0",
        "assert   cents > 0",
        "def credit(account, cents):\n    assert cents > 0",
        "    assert cents > 0\n    account.cents += cents",
        "    2     assert cents > 0",
        "+    assert cents > 0",
        "account.cents += cents",
    ],
    ids=[
        "whole",
        "white space",
        "two lines",
        "over a blank line",
        "with its number",
        "with a mark",
        "a part of a line",
    ],
)
def test_a_proof_is_found_where_it_stands_whatever_its_white_space_and_marks(
    quote: str, finder: QuoteFinder, a_claim: MakeClaim
) -> None:
    [found] = finder.proof(a_claim(proof=[{"quote": quote}]))

    lines = LEDGER.split("\n")
    assert found.quote == "\n".join(lines[found.line - 1 : found.end_line])
    assert (found.path, found.side, found.why) == ("shop/ledger.py", "new", "it decides")


@pytest.mark.parametrize(
    "proof",
    [{"quote": "assert cents > 1"}, {"quote": "cents"}, {"quote": " \n}"}, {"path": "shop/other.py", "quote": "x = 1"}],
    ids=["other words", "too short for a part", "nothing to look for", "no such file"],
)
def test_a_proof_that_stands_nowhere_does_not_count(
    proof: dict[str, str], finder: QuoteFinder, a_claim: MakeClaim
) -> None:
    assert finder.proof(a_claim(proof=[proof])) == ()


def test_a_proof_on_the_other_side_than_it_says_is_found_there(finder: QuoteFinder, a_claim: MakeClaim) -> None:
    [found] = finder.proof(a_claim(proof=[{"side": "old", "quote": "assert cents > 0"}]))

    assert (found.side, found.line) == ("new", 2)


def test_without_the_repository_a_proof_is_looked_for_in_the_change_on_both_of_its_sides(
    finder: QuoteFinder, a_claim: MakeClaim
) -> None:
    new, old = finder.proof(
        a_claim(
            proof=[{"path": "src/app.py", "quote": "z = 3"}, {"path": "src/app.py", "side": "old", "quote": "y = 2"}]
        )
    )

    assert [(new.side, new.line), (old.side, old.line)] == [("new", 3), ("old", 2)]


def test_a_secret_in_a_proof_is_masked(a_payload: MakePayload, a_claim: MakeClaim) -> None:
    key = "AKIA" + "Z7Q2M5X8K1N4P6R9"
    finder = QuoteFinder((a_payload(),), lambda _path, _side: f'KEY = "{key}"\n')

    [found] = finder.proof(a_claim(proof=[{"quote": f'KEY = "{key}"'}]))

    assert key not in found.quote
    assert found.line == 1


KEYS = tuple(f'key = "AKIA{rest}"' for rest in ("Z7Q2M5X8K1N4P6R9", "B3D5F7H9J2L4N6P8"))
MASKED = 'key = "AKIA****"'


def test_a_quote_with_a_masked_secret_stands_for_the_line_as_it_is(a_payload: MakePayload, a_claim: MakeClaim) -> None:
    payload = a_payload(f" x = 1\n-{KEYS[1]}\n+{KEYS[0]}\n+use(key)", path="src/app.py")
    finder = QuoteFinder((payload,), files)

    new = finder.unmask(a_claim(quote=f"{MASKED}\n  use(key)", replacement=f"{MASKED}  # of the test"))
    old = finder.unmask(a_claim(quote=f"-{MASKED}", side="old", replacement="key = secrets.key()"))
    elsewhere = a_claim(quote=f"{MASKED}\nuse(other)")

    assert (new.quote, new.replacement) == (f"{KEYS[0]}\nuse(key)", None)
    assert (old.quote, old.replacement) == (KEYS[1], "key = secrets.key()")
    assert finder.in_change(new)
    assert finder.in_change(old)
    assert finder.unmask(elsewhere) == elsewhere
    assert finder.unmask(a_claim(quote=MASKED, file="other.py")).quote == MASKED


def test_of_two_masked_lines_that_look_alike_the_one_at_the_claims_line_is_meant(
    a_payload: MakePayload, a_claim: MakeClaim
) -> None:
    finder = QuoteFinder((a_payload(f"+{KEYS[0]}\n+{KEYS[1]}", path="src/app.py"),), files)

    assert [finder.unmask(a_claim(quote=MASKED, line=line)).quote for line in (1, 2)] == list(KEYS)


def test_code_that_holds_what_looks_like_a_mask_is_left_as_it_is(a_payload: MakePayload, a_claim: MakeClaim) -> None:
    finder = QuoteFinder((a_payload('+rule = "a****"', path="src/app.py"),), files)
    claim = a_claim(quote='rule = "a****"', replacement='rule = "b****"')

    assert finder.unmask(claim) == claim


def test_without_the_repository_a_proof_on_a_masked_line_is_found(a_payload: MakePayload, a_claim: MakeClaim) -> None:
    finder = QuoteFinder((a_payload(f" {KEYS[0]}\n+x = 1", path="src/app.py"),), lambda _path, _side: None)

    [found] = finder.proof(a_claim(proof=[{"path": "src/app.py", "quote": MASKED}]))

    assert (found.line, found.quote) == (1, MASKED)


@pytest.mark.parametrize(
    ("fields", "there"),
    [
        ({"quote": "z = 3"}, True),
        ({"quote": "x = 1"}, False),
        ({"quote": "x = 1", "line": 2}, True),
        ({"quote": "y = 2", "side": "old"}, True),
        ({"quote": "y = 2"}, False),
        ({"quote": "before", "side": "old"}, False),
        ({"quote": "z = 3", "file": "src/other.py"}, False),
    ],
    ids=[
        "once",
        "twice",
        "twice with its line",
        "removed",
        "removed but called new",
        "kept but called removed",
        "elsewhere",
    ],
)
def test_the_quote_of_a_claim_must_stand_in_the_change(
    fields: dict[str, Any],
    finder: QuoteFinder,
    a_claim: MakeClaim,
    *,
    there: bool,
) -> None:
    assert finder.in_change(a_claim(**fields)) is there


def test_a_repair_is_asked_for_quotes_that_are_not_there_and_for_claims_whose_whole_proof_is_not(
    finder: QuoteFinder, a_claim: MakeClaim
) -> None:
    claims = [
        a_claim(id="f1", quote="not there"),
        a_claim(id="f2", quote="z = 3", proof=[{"quote": "not there"}]),
        a_claim(id="f3", quote="z = 3", proof=[{"quote": "not there"}, {"quote": "assert cents > 0"}]),
        a_claim(id="f4", quote="z = 3"),
        a_claim(id="f5", quote="not there", confidence=49),
    ]

    assert list(problems_of(claims, finder)) == ["f1", "f2"]


def test_a_quote_from_a_line_of_the_file_that_no_hunk_shows_is_refused_for_that_reason(
    a_claim: MakeClaim, a_payload: MakePayload
) -> None:
    finder = QuoteFinder((a_payload(" def credit(account, cents):\n+    x = 1", path="shop/ledger.py"),), files)
    place = {"file": "shop/ledger.py", "side": "new"}
    claims = [
        a_claim(id="f1", quote="    account.cents += cents", **place),
        a_claim(id="f2", quote="not there", **place),
    ]

    problems = problems_of(claims, finder)

    assert "at line 4 of the new side, but no hunk of the change shows that line" in problems["f1"]
    assert "the quote is not in `shop/ledger.py` on the new side" in problems["f2"]


def test_a_quote_that_the_change_shows_twice_is_not_said_to_lie_outside_of_it(
    a_claim: MakeClaim, a_payload: MakePayload
) -> None:
    finder = QuoteFinder((a_payload("+again = 1\n+other = 2\n+again = 1", path="shop/ledger.py"),), files)
    claim = a_claim(id="f1", quote="again = 1", file="shop/ledger.py", side="new", line=None)

    assert "more than once" in problems_of([claim], finder)["f1"]


def test_a_removed_line_that_a_hunk_shows_is_not_said_to_lie_outside_of_it(
    a_claim: MakeClaim, a_payload: MakePayload
) -> None:
    finder = QuoteFinder((a_payload("-pass\n+x = 1", path="shop/ledger.py"),), files)
    claim = a_claim(id="f1", quote="pass", file="shop/ledger.py", side="new")

    assert "on the new side of the change" in problems_of([claim], finder)["f1"]


def test_a_repair_replaces_what_it_was_asked_for_drops_what_was_withdrawn_and_adds_none(a_claim: MakeClaim) -> None:
    first, second, third = (a_claim(id=name) for name in ("f1", "f2", "f3"))
    mended, other = a_claim(id="f2", quote="z = 3"), a_claim(id="f1", quote="z = 3")

    assert apply_repair((first, second, third), (mended, other, a_claim(id="f9")), {"f2", "f3"}) == (first, mended)


def test_two_claims_of_one_id_are_told_apart(a_claim: MakeClaim) -> None:
    assert [each.id for each in with_own_ids([a_claim(), a_claim(), a_claim(id="f2")])] == ["f1", "f1-2", "f2"]


def test_each_claim_goes_to_its_task_by_the_workers_name_or_its_type_and_else_to_the_first(
    a_claim: MakeClaim, a_task: Callable[..., ReviewTask]
) -> None:
    tasks = [a_task("1", worker="logic", type="logic"), a_task("2", worker="own-licences", type="licence")]
    claims = [a_claim(id=f"f{n}", task=task) for n, task in enumerate(("own-licences", "licence", "logic", "what?"))]

    found = by_task(claims, tasks)

    assert {name: [each.id for each in mine] for name, mine in found.items()} == {
        "logic": ["f2", "f3"],
        "own-licences": ["f0", "f1"],
    }


def test_a_claim_about_a_file_of_another_task_of_the_reader_goes_to_that_task(
    a_claim: MakeClaim, a_task: Callable[..., ReviewTask], a_payload: MakePayload
) -> None:
    tasks = [
        a_task("1", worker="logic", type="logic"),
        a_task("2", worker="security", type="security", payload=a_payload(path="package.json")),
    ]

    found = by_task([a_claim(file="package.json"), a_claim(file="nowhere.py")], tasks)

    assert [[each.file for each in mine] for mine in found.values()] == [["nowhere.py"], ["package.json"]]


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ({"category": "SQL Injection!"}, "category", "sql-injection-"),
        ({"category": "  "}, "category", "race"),
        ({"cwe": 0}, "cwe", None),
        ({"cwe": 89}, "cwe", 89),
        ({"line": -4}, "near", None),
        ({"message": " ", "title": " "}, "message", NO_WORDS),
        ({"message": " "}, "message", "One is the wrong number"),
        ({"replacement": "x" * 4_001}, "replacement", None),
        ({"suggestion": "", "replacement": "x = 2"}, "suggestion", "x = 2"),
        ({"message": "m" * 5_000}, "message", "m" * 2_000),
    ],
)
def test_an_odd_field_costs_itself_and_not_the_claim(
    fields: dict[str, Any], name: str, value: object, a_claim: MakeClaim
) -> None:
    assert getattr(candidate_of(a_claim(**fields), "opus-x", ()), name) == value
