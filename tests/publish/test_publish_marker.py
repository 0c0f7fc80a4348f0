from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.config import Settings, load_settings
from reviewbot.domain.contracts import Conclusion
from reviewbot.domain.errors import ConfigError
from reviewbot.publish.marker import (
    KEY_VARIABLE,
    MAX_MARKER_CHARS,
    AnswerMarker,
    ReviewMarker,
    Signer,
)

SIGNER = Signer((b"k" * 32,))
NAMES = tuple(f"{number:032x}" for number in range(3))
MARKER = ReviewMarker(4242, 7, "a" * 40, "0" * 32)
HEX = st.text("0123456789abcdef", min_size=32, max_size=32)


@given(
    st.builds(
        ReviewMarker,
        st.integers(0, 10**18 - 1),
        st.integers(0, 10**9),
        st.text("0123456789abcdef", min_size=40, max_size=40),
        HEX,
        st.integers(0, 10**12),
        st.none() | st.integers(0, 9),
        st.none() | st.sampled_from(get_args(Conclusion)),
        st.integers(0, 10**12),
    )
)
def test_a_marker_is_read_as_it_was_written(marker: ReviewMarker) -> None:
    body = f"## reviewbot: anything\n\n{SIGNER.review(marker)}\n"

    assert SIGNER.read_review(body, marker.repository_id, marker.pull) == marker


@given(HEX, st.text(max_size=50))
def test_the_marker_of_a_comment_is_read_as_it_was_written(name: str, before: str) -> None:
    body = f"{before}\n{SIGNER.finding(4242, 7, name)}"

    assert SIGNER.read_finding(body, 4242, 7) == name


@given(st.integers(0), st.characters())
def test_a_marker_with_any_other_character_is_none(at: int, char: str) -> None:
    text = SIGNER.review(MARKER)
    at %= len(text)
    forged = text[:at] + char + text[at + 1 :]

    assert SIGNER.read_review(forged, 4242, 7) in ((MARKER,) if forged.rstrip() == text else (None,))


@given(st.integers(1, len(SIGNER.review(MARKER))))
def test_a_truncated_marker_is_none(cut: int) -> None:
    assert SIGNER.read_review(SIGNER.review(MARKER)[:-cut], 4242, 7) is None


@given(st.text())
def test_any_other_text_has_no_marker(text: str) -> None:
    assert SIGNER.read_review(text, 4242, 7) is None
    assert SIGNER.read_finding(text, 4242, 7) is None


def test_a_marker_of_another_pull_request_or_repository_is_foreign() -> None:
    text = SIGNER.review(MARKER)

    assert SIGNER.read_review(text, 4242, 8) is None
    assert SIGNER.read_review(text, 4243, 7) is None
    assert SIGNER.read_finding(SIGNER.finding(4242, 7, NAMES[0]), 4242, 8) is None


def test_a_marker_signed_with_another_key_is_forged() -> None:
    assert SIGNER.read_review(Signer((b"x" * 32,)).review(MARKER), 4242, 7) is None


def test_markers_of_an_older_key_still_count() -> None:
    older = Signer((b"older" * 8,))
    both = Signer((b"newer" * 8, b"older" * 8))

    assert both.read_review(older.review(MARKER), 4242, 7) == MARKER
    assert older.read_review(both.review(MARKER), 4242, 7) is None


def test_a_marker_of_one_kind_is_none_of_the_other() -> None:
    finding = SIGNER.finding(4242, 7, NAMES[0])

    assert SIGNER.read_review(finding, 4242, 7) is None
    assert SIGNER.read_review(finding.replace("finding ", "review ", 1), 4242, 7) is None


def test_only_the_end_of_a_body_counts() -> None:
    text = SIGNER.review(MARKER)

    assert SIGNER.read_review(f"{text}\nand more", 4242, 7) is None
    assert SIGNER.read_review(f"{text}\r\n \n", 4242, 7) == MARKER
    assert SIGNER.read_review(f"{text}{' ' * MAX_MARKER_CHARS}", 4242, 7) is None


def test_of_several_markers_the_last_one_counts() -> None:
    other = replace(MARKER, head_sha="c" * 40)

    assert SIGNER.read_review(f"{SIGNER.review(other)}\n{SIGNER.review(MARKER)}", 4242, 7) == MARKER


def test_a_replaced_review_names_the_newer_one() -> None:
    assert MARKER.mark_replaced(12).newer == 12


@given(st.text(max_size=200), st.sampled_from(["", "\n", "\n\n"]))
def test_the_ledger_in_the_marker_of_a_review_is_read_as_it_was_written(text: str, below: str) -> None:
    ledger = json.dumps({"seen": text})
    body = f"## reviewbot\n\n{SIGNER.review(MARKER, ledger)}{below}"

    assert SIGNER.read_ledger(body, 4242, 7) == ledger
    assert SIGNER.read_ledger(body, 4242, 8) is None
    assert SIGNER.read_review(body, MARKER.repository_id, MARKER.pull) == MARKER
    assert SIGNER.read_ledger(SIGNER.review(MARKER), 4242, 7) is None
    assert Signer((b"o" * 32,)).read_ledger(body, 4242, 7) is None


@given(st.builds(AnswerMarker, HEX, st.sampled_from(["fixed", "open", "outdated"]), st.just("a" * 40) | st.just("")))
def test_the_marker_of_an_answer_is_read_as_it_was_written(answer: AnswerMarker) -> None:
    body = f"**Fixed by** it.\n\n{SIGNER.answer(4242, 7, answer)}"

    assert SIGNER.read_answer(body, 4242, 7) == answer
    assert SIGNER.read_answer(body, 4241, 7) is None
    assert SIGNER.read_finding(body, 4242, 7) is None


@pytest.mark.parametrize("unit", ["<!-- reviewbot:review ", " -->", "finding=" + "0" * 32 + " ", "v=1 repository=1 "])
def test_a_hostile_body_of_megabytes_has_none(unit: str) -> None:
    assert SIGNER.read_review(unit * (5_000_000 // len(unit)) + " -->", 4242, 7) is None


def test_the_key_of_the_operator_signs_where_it_is_set() -> None:
    text = Signer.from_environment({KEY_VARIABLE: "a key of some length"}).review(MARKER)

    assert Signer.from_environment({KEY_VARIABLE: "a key of some length"}).read_review(text, 4242, 7) == MARKER
    assert Signer.from_environment({}).read_review(text, 4242, 7) is None


def test_without_a_key_every_run_signs_alike() -> None:
    text = Signer.from_environment({}).review(MARKER)

    assert Signer.from_environment({KEY_VARIABLE: ""}).read_review(text, 4242, 7) == MARKER


def test_a_key_that_can_be_guessed_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least 16 characters"):
        Signer.from_environment({KEY_VARIABLE: "short"})


def test_a_key_of_sixteen_characters_is_long_enough() -> None:
    assert Signer.from_environment({KEY_VARIABLE: "k" * 16}) != Signer.from_environment({})


@pytest.mark.parametrize("tail", ["", " ", "x", " -->x", " --> -->", "x -->"])
def test_what_stands_between_a_signature_and_the_end_of_a_comment_makes_it_none(tail: str) -> None:
    plain = SIGNER.review(MARKER).removesuffix(" -->")

    assert SIGNER.read_review(plain + tail, 4242, 7) is None


def test_the_variable_of_the_key_is_taken_for_no_slip_in_a_setting() -> None:
    assert load_settings(None, {KEY_VARIABLE: "a key of some length"}, {}) == Settings()


def test_a_signer_does_not_show_its_keys() -> None:
    assert "kkkk" not in repr(SIGNER)
