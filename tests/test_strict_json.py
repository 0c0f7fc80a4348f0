"""JSON that every reader reads alike."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.strict_json import StrictJsonError, mend_surrogates, strictly, write_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_what_can_be_read_in_one_way_is_read(value: object) -> None:
    assert strictly(json.dumps(value)) == strictly(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "a": 1}', "a key stands twice"),
        ('[{"b": {"a": 1, "a": 2}}]', "a key stands twice"),
        ("NaN", "NaN is no number"),
        ("[-Infinity]", "-Infinity is no number"),
        ("1e999", "too large"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_readers_read_differently_is_refused(text: str, said: str) -> None:
    with pytest.raises(StrictJsonError, match=said):
        strictly(text)


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", "1" * 5_000, b"\xff"])
def test_what_is_no_json_is_no_value(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        strictly(text)


@given(VALUES)
def test_what_is_written_is_read_again(value: object) -> None:
    assert strictly(write_json(value)) == strictly(write_json(value, indent=2)) == value


@pytest.mark.parametrize("text", ["##[add-mask]x", "\\##vso[a]", "###[b]", "\x7f", "##teamcity[x]"])
def test_what_is_written_holds_nothing_that_a_terminal_or_a_runner_obeys(text: str) -> None:
    written = write_json({text: [text]})

    assert strictly(written) == {text: [text]}
    assert "\x7f" not in written
    assert not re.search(r"##[a-z]*\[", written)


@given(st.recursive(st.text(st.characters()), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_what_is_mended_has_an_encoding_and_whole_characters_stay(value: object) -> None:
    mended = mend_surrogates(value)
    text = json.dumps(value, ensure_ascii=False)

    json.dumps(mended, ensure_ascii=False).encode("utf-8")
    assert mended == value or re.search("[\ud800-\udfff]", text)


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udfff", "\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
    ],
)
def test_halves_of_a_pair_are_joined_or_marked(text: str, mended: str) -> None:
    assert mend_surrogates({"a": [text], text: 1}) == {"a": [mended], mended: 1}
