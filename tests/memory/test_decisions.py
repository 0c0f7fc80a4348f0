from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.errors import ConfigError
from reviewbot.memory.decisions import MAX_DECISIONS, Decision, check_decision, covering, format_entry, read_decisions
from tests.make import MakeFinding

TODAY = dt.date(2026, 11, 23)
NAME = "d6cc44e3717c28155e56e2ab0166b7fa"

words = st.text(min_size=1, max_size=60).map(lambda text: " ".join(text.split())).filter(bool)


def entry(**fields: str) -> str:
    known = {"finding": f'"{NAME}"', "author": '"jo"', "reason": '"meant so"', **fields}
    return "[[decision]]\n" + "".join(f"{key} = {value}\n" for key, value in known.items() if value)


def test_a_file_with_decisions_is_read() -> None:
    text = entry(until="2027-01-31") + entry(finding="", rule='"S608"', path='"tests/*"')

    decisions, notes = read_decisions(text, TODAY)

    assert notes == ()
    assert decisions == (
        Decision("jo", "meant so", finding=NAME, until=dt.date(2027, 1, 31)),
        Decision("jo", "meant so", rule="S608", path="tests/*"),
    )


def test_no_file_is_no_decision() -> None:
    assert read_decisions(None, TODAY) == ((), ())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (entry(finding='"xyz"'), "is a fingerprint"),
        (entry(path='"a/*"'), "without `path`"),
        (entry(finding=""), "either `finding` or `rule`"),
        (entry(rule='"S608"'), "either `finding` or `rule`"),
        (entry(finding="", rule='"a b"'), "is no name of a rule"),
        (entry(finding="", rule='"S608"', path='"' + "a" * 300 + '"'), "`path` is longer"),
        (entry(finding="", rule='"S608"', path='"../**"'), "`path` must name files from the top"),
        (entry(finding="", rule='"S608"', path='"src/../../*"'), "`path` must name files from the top"),
        (entry(finding="", rule='"S608"', path='"/etc/*"'), "`path` must name files from the top"),
        (entry(finding="", rule='"S608"', path='"src\\\\*"'), "`path` must name files from the top"),
        (entry(author=""), "no `author`"),
        (entry(reason='" "'), "no `reason`"),
        (entry(reason="3"), "`reason` is no text"),
        (entry(reason='"' + "a" * 501 + '"'), "`reason` is no text of at most 500"),
        (entry(until='"soon"'), "`until` is a date"),
        (entry(until="2027-01-31T10:00:00"), "`until` is a date"),
        (entry(command='"rm"'), "'command' is no key"),
        ("decision = [1]", "no table"),
        (entry(until="2026-11-22"), "ended on 2026-11-22"),
    ],
)
def test_an_entry_that_cannot_be_used_is_named_and_costs_the_others_nothing(text: str, why: str) -> None:
    decisions, notes = read_decisions(text if text.startswith("decision") else entry() + text, TODAY)

    assert len(decisions) == (0 if text.startswith("decision") else 1)
    assert why in notes[0]


@pytest.mark.parametrize("text", ["[[decision", "x = 1\n" * 20_000, "decision = 3", "decision = 3\n" * 2])
def test_a_file_that_cannot_be_used_is_named(text: str) -> None:
    decisions, notes = read_decisions(text, TODAY)

    assert (decisions, len(notes)) == ((), 1)


def test_too_many_entries_are_not_used() -> None:
    text = "[[decision]]\n" * (MAX_DECISIONS + 1)

    assert "at most 1000" in read_decisions(text, TODAY)[1][0]


@given(author=words, reason=words, about=words, until=st.none() | st.dates(min_value=TODAY))
def test_what_is_written_is_read_again(author: str, reason: str, about: str, until: dt.date | None) -> None:
    text = format_entry(Decision(author, reason, finding=NAME, about=about, until=until))

    ((decision,), notes) = read_decisions(text, TODAY)

    assert notes == ()
    assert (decision.finding, decision.until) == (NAME, until)
    assert check_decision(decision) == decision
    assert text.isascii()


def test_a_decision_that_no_file_could_hold_is_refused() -> None:
    with pytest.raises(ConfigError, match="no `reason`"):
        check_decision(Decision("jo", "", finding=NAME))


def test_a_secret_in_a_reason_is_masked() -> None:
    secret = "sk_live_" + "a8Kq2Lm9Zx4Vt7RwB3nY6cDf"
    ((decision,), _) = read_decisions(entry(reason=f'"the key {secret} is for tests"'), TODAY)

    assert secret not in decision.reason


def test_the_first_decision_that_covers_a_finding_counts(make_finding: MakeFinding) -> None:
    finding = make_finding()
    by_category = Decision("jo", "one", rule="injection", path="app/*")
    by_name = Decision("mo", "two", finding=NAME)

    assert covering([by_category, by_name])(finding, {NAME}) == by_category
    assert covering([by_name])(finding, {"0" * 32}) is None
    assert covering([Decision("jo", "one", rule="S608", path="other/*")])(finding, set()) is None
    assert covering([Decision("jo", "one")])(make_finding(rule=""), set()) is None
