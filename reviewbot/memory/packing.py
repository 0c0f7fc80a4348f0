"""A ledger as text for the marker of a comment, cut to its room, and texts in short for HTML comments, and back."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Collection, Iterable

from pydantic import ValidationError

from reviewbot.domain.contracts.ledger import Ledger, Record

MAX_PACKED_CHARS = 24_000
"""What a comment of 65,536 characters has room for beside its report."""

NAME_DIGITS, MAX_LEFT_OUT = 8, 500
"""Of the fingerprint of a finding that had no room, and how many such findings are known again."""

MAX_JSON_BYTES = 2_000_000
"""More than the largest ledger takes. What unpacks to more is refused."""

_RAW = -zlib.MAX_WBITS
_DICTIONARY = (
    b'"lacking":["files":["since":"new":1,"open":1,"closed":1,"symbol":"kind":"code":"line":"rows":"rule":"reason":'
    b'"first reported","who":"reviewbot","severity":"critical","state":"records":[{"names":["v=1 repository= pull= '
    b'head= policy= newer=0 code=0 check=success ledger={"heads":[{"head":"","outcome":"reviewed",'
    b'"at":"2026-12-01T00:00:00Z","policy":"","base":""}],"seen_last":"*"}'
)
"""How a marker is likely to read. It must stay as it is: what was written with it can be read with nothing else."""


def pack(ledger: Ledger, most: int = MAX_PACKED_CHARS) -> str:
    """The ledger as JSON, with as much of it as there is room for: at most so many characters after `deflate`.

    First the rows that were read are left out, then what was said of the findings, then closed records from the oldest
    on (critical ones last), then open ones, and counted: see `leave_out`.
    """
    text = _json(ledger)
    if len(deflate(text)) <= most:
        return text
    ledger = ledger.model_copy(update={"seen": "", "seen_last": ""})
    if len(deflate(_json(ledger))) > most:
        silent = tuple(each.model_copy(update={"message": ""}) for each in ledger.records)
        ledger = ledger.model_copy(update={"records": silent})
    while len(deflate(text := _json(ledger))) > most and ledger.records:
        records = sorted(ledger.records, key=lambda each: (each.is_open, each.severity == "critical"))
        dropped = records[: max(1, len(records) // 8)]
        ledger = leave_out(ledger, dropped)
    return text


def keep_within(ledger: Ledger, most: int) -> Ledger:
    """The ledger with so many records: the oldest closed ones go first, then the last open ones, critical ones last."""
    closed = [each for each in ledger.records if not each.is_open]
    others = [each for each in reversed(ledger.records) if each.is_open]
    others.sort(key=lambda each: each.severity == "critical")
    return leave_out(ledger, [*closed, *others][: max(0, len(ledger.records) - most)])


def leave_out(ledger: Ledger, records: Collection[Record]) -> Ledger:
    """The ledger without these records, which are counted. Of open ones the start of the fingerprint stays."""
    lost = {each.name for each in records}
    names = decode_names(ledger.left_out) | {each.name[:NAME_DIGITS] for each in records if each.is_open}
    return ledger.model_copy(
        update={
            "records": tuple(each for each in ledger.records if each.name not in lost),
            "forgotten": ledger.forgotten + len(lost),
            "left_out": encode_names(names),
        }
    )


def encode_names(starts: Iterable[str]) -> str:
    """The first `NAME_DIGITS` of fingerprints as one text, of at most `MAX_LEFT_OUT`."""
    return b64encode(bytes.fromhex("".join(sorted(starts)[:MAX_LEFT_OUT]))).decode("ascii")


def decode_names(text: str) -> frozenset[str]:
    """The starts of fingerprints in a text of `encode_names`; none for any other text."""
    try:
        digits = b64decode(text.encode("ascii"), validate=True).hex()
    except ValueError:
        return frozenset()
    return frozenset(digits[at : at + NAME_DIGITS] for at in range(0, len(digits), NAME_DIGITS))


def pack_record(record: Record, most: int) -> str:
    """One record without what was said of it, as a ledger of its own; a ledger without records where it is too long."""
    return deflate(pack(Ledger(records=(record.model_copy(update={"message": ""}),)), most))


def unpack(text: str) -> Ledger | None:
    """The ledger of a text of `pack` or `pack_record`; None for anything else, also of another version."""
    try:
        return Ledger.model_validate_json(text if text.startswith("{") else inflate(text) or "")
    except ValidationError:
        return None


def deflate(text: str) -> str:
    """A text, compressed, in the alphabet of base64."""
    packer = zlib.compressobj(9, wbits=_RAW, zdict=_DICTIONARY)
    return b64encode(packer.compress(text.encode()) + packer.flush()).decode("ascii")


def inflate(text: str) -> str | None:
    """The text that `deflate` made this of; None for anything else."""
    try:
        unpacker = zlib.decompressobj(_RAW, zdict=_DICTIONARY)
        data = unpacker.decompress(b64decode(text.encode("ascii"), validate=True), MAX_JSON_BYTES)
        return data.decode() if unpacker.eof else None
    except (Error, ValueError, zlib.error):
        return None


def _json(ledger: Ledger) -> str:
    return ledger.model_dump_json(exclude_defaults=True)
