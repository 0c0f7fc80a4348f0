"""A ledger as a short text for a comment, and back: JSON, compressed, in the alphabet of base64."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from binascii import Error

from pydantic import ValidationError

from reviewbot.domain.contracts.ledger import Ledger

MAX_PACKED_CHARS = 24_000
"""What a comment of 65,536 characters has room for beside its report."""

MAX_JSON_BYTES = 2_000_000
"""More than the largest ledger takes. What unpacks to more is refused."""


def pack(ledger: Ledger, most: int = MAX_PACKED_CHARS) -> str:
    """The ledger, with as much of it as there is room for.

    First the rows that were read are left out, then what was said of the findings, then closed records from the oldest
    on (critical ones last), then open ones, and counted.
    """
    text = _packed(ledger)
    if len(text) <= most:
        return text
    ledger = ledger.model_copy(update={"seen": "", "seen_last": ""})
    if len(_packed(ledger)) > most:
        silent = tuple(each.model_copy(update={"message": ""}) for each in ledger.records)
        ledger = ledger.model_copy(update={"records": silent})
    while len(text := _packed(ledger)) > most and ledger.records:
        records = sorted(ledger.records, key=lambda each: (each.is_open, each.severity == "critical"))
        dropped = records[: max(1, len(records) // 8)]
        ledger = ledger.model_copy(
            update={
                "records": tuple(each for each in ledger.records if each not in dropped),
                "forgotten": ledger.forgotten + len(dropped),
            }
        )
    return text


def unpack(text: str) -> Ledger | None:
    """The ledger of a text of `pack`; None for anything else, also of another version."""
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(b64decode(text.encode("ascii"), validate=True), MAX_JSON_BYTES)
        return Ledger.model_validate_json(data) if unpacker.eof else None
    except (Error, ValueError, ValidationError, zlib.error):
        return None


def _packed(ledger: Ledger) -> str:
    data = ledger.model_dump_json(exclude_defaults=True).encode()
    return b64encode(zlib.compress(data, 9)).decode("ascii")
