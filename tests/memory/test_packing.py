from __future__ import annotations

import hashlib
import zlib
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts.ledger import HeadEntry, Ledger, Record
from reviewbot.memory.packing import (
    MAX_JSON_BYTES,
    MAX_PACKED_CHARS,
    decode_names,
    deflate,
    encode_names,
    inflate,
    pack,
    unpack,
)
from tests.memory.pushes import sha

HEX = "0123456789abcdef"
records = st.builds(
    Record,
    names=st.lists(st.text(HEX, min_size=32, max_size=32), min_size=1, max_size=3).map(tuple),
    path=st.text(min_size=1, max_size=30),
    title=st.text(max_size=200),
    state=st.sampled_from(["new", "open", "fixed"]),
    reason=st.text(min_size=1, max_size=100),
    who=st.just("reviewbot"),
    at=st.just("2026-01-01T00:00:00Z"),
    head=st.just(sha(1)),
    since=st.just(sha(1)),
)


@given(found=st.lists(records, max_size=5).map(tuple))
def test_a_ledger_is_unpacked_as_it_was_packed(found: tuple[Record, ...]) -> None:
    head = HeadEntry(head=sha(1), outcome="reviewed", at="", new=len(found))
    ledger = Ledger(records=found, heads=(head,), seen="AAAA")

    assert unpack(pack(ledger)) == ledger
    assert inflate(deflate(pack(ledger))) == pack(ledger)


def test_a_ledger_without_room_forgets_rows_then_closed_records_and_counts_them() -> None:
    def record(number: int, state: str) -> Record:
        title = hashlib.sha512(b"%d" % number).hexdigest()
        known = {"names": (f"{number:032x}",), "path": "a.py", "title": title, "state": state}
        return Record.model_validate({**known, "reason": "why", "who": "us", "at": "", "head": "", "since": ""})

    closed = tuple(record(number, "fixed") for number in range(300))
    still = tuple(record(number, "open") for number in range(300, 310))
    text = pack(Ledger(records=(*still, *closed), seen="A" * 4_000), 8_000)
    found = unpack(text)

    assert len(deflate(text)) <= 8_000
    assert found is not None
    assert found.seen == ""
    assert found.records[:10] == still
    assert len(found.records) + found.forgotten == 310


def test_even_open_records_are_forgotten_before_a_comment_is_too_long() -> None:
    one = Record(names=("0" * 32,), path="a" * 9_000, state="open", reason="w", who="us", at="", head="", since="")
    found = unpack(pack(Ledger(records=(one,)), 40))

    assert found == Ledger(forgotten=1, left_out=encode_names({"0" * 8}))


@given(names=st.frozensets(st.text(HEX, min_size=8, max_size=8), max_size=20))
def test_the_starts_of_fingerprints_are_read_as_they_were_written(names: frozenset[str]) -> None:
    assert decode_names(encode_names(names)) == names


def test_a_text_that_holds_no_starts_of_fingerprints_has_none() -> None:
    assert [decode_names(text) for text in ("", "no base64!", "\N{SNOWMAN}")] == [frozenset()] * 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no base64!",
        "AAAA",
        b64encode(zlib.compress(b"[]")).decode(),
        b64encode(zlib.compress(b'{"version": 2}')).decode(),
        b64encode(zlib.compress(b" " * (MAX_JSON_BYTES + 1))).decode(),
        b64encode(zlib.compress(b"{}")[:-3]).decode(),
        "\N{SNOWMAN}",
        "{",
        '{"version": 2}',
    ],
)
def test_what_is_no_ledger_of_this_version_is_none(text: str) -> None:
    assert unpack(text) is None


@pytest.mark.parametrize(
    "text", ["", "no base64!", "\N{SNOWMAN}", "////", deflate("a" * 90)[:-4], deflate("a" * 3_000_000)]
)
def test_what_was_not_made_by_deflate_or_is_too_long_is_none(text: str) -> None:
    assert inflate(text) is None


def test_the_longest_ledger_leaves_room_for_a_report() -> None:
    assert MAX_PACKED_CHARS + 30_000 + 1_000 < 60_000
