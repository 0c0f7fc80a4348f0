"""Mails of `git format-patch` and GitHub's `.patch`: where each message ends and its patch begins.

A message is its author's text and may look like anything. A mail whose message holds lines of a diff, and a series
whose numbers do not fit, are refused: nothing else separates a change from a text about one.
"""

from __future__ import annotations

import binascii
import quopri
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from reviewbot.diff.parser.decode_input import WANTED
from reviewbot.domain.errors import DiffError

MAX_MAILS = 1_000
MAX_MULTIPART_BYTES = 16 * 2**20
MAX_TITLE_CHARS, MAX_DESCRIPTION_CHARS = 300, 20_000

_SHOWN_CHARS = 60
_FROM_GIT = re.compile(rb"From [0-9a-f]{7,64} ")
_FROM = re.compile(rb"From \S{1,200} [^\n]{0,60}\d{1,2}:\d\d[^\n]{0,20} \d{4}\s*")
_HEADER = re.compile(rb"([!-9;-~]{1,100}):[ \t]?(.*)", re.DOTALL)
_BEGINS = (b"diff -", b"Index: ", b"@@ -")
_SEPARATOR = b"---"
_STAT = re.compile(
    rb" (?:.{1,2000} \| .{1,200}|\d+ files? changed.{0,200}"
    rb"|(?:create|delete|rename|copy|mode change|rewrite) .{1,9000})",
    re.DOTALL,
)
"""A line of `git diff --stat --summary`."""
_TAGS = re.compile(r"(?:\s*(?:Re:|\[[^\]]{0,80}\]))*\s*", re.IGNORECASE)
_NUMBER = re.compile(r"\[[^\]]{0,60}?\b(\d{1,4})/(\d{1,4})\]")
_BASE64 = re.compile(rb"[A-Za-z0-9+/=\s]*")
_STRAY_EQUALS = re.compile(rb"=(?![0-9A-Fa-f]{2}|[ \t]*\r?(?:\n|\Z))")


class Mail(NamedTuple):
    """One mail. `patch` begins with its first file and may end with a signature; empty: a cover letter."""

    subject: str
    """Decoded, on one line, without "[PATCH 1/2]"."""
    number: tuple[int, int] | None
    """Its place in a series, and how many there are; a cover letter is 0."""
    message: str
    patch: Sequence[bytes]


def read_mails(lines: Sequence[bytes]) -> list[Mail] | None:
    """The mails of a file, by its lines; None where it does not begin like one.

    Raises DiffError where a mail cannot be read, where a message may itself be a change, and for several mails
    that are no numbered series.
    """
    start = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    if not _begins_mail(lines, start):
        return None
    later = range(start + 1, len(lines))
    bounds = [start, *(at for at in later if not lines[at - 1].strip() and _is_from(lines[at]))]
    if len(bounds) > MAX_MAILS:
        raise DiffError(f"The input has more than {MAX_MAILS} mails: {WANTED}.")
    mails = [_read(lines[first:last]) for first, last in zip(bounds, [*bounds[1:], len(lines)], strict=True)]
    _check_series(mails)
    return mails


def title_of(mails: Sequence[Mail]) -> str:
    """The subject of the cover letter or of the only mail, else the first subject with the number of the others."""
    first, more = mails[0], len(mails) - 1
    alone = not more or not first.patch
    return first.subject[:MAX_TITLE_CHARS] + ("" if alone else f" (and {more} more)")


def description_of(mails: Sequence[Mail]) -> str:
    """The message of a single mail; of a series, each message under its subject."""
    if len(mails) == 1:
        return mails[0].message[:MAX_DESCRIPTION_CHARS]
    parts = (f"{mail.subject}\n\n{mail.message}".strip() for mail in mails)
    return "\n\n".join(parts)[:MAX_DESCRIPTION_CHARS]


def _is_from(line: bytes) -> bool:
    return line.startswith(b"From ") and (_FROM_GIT.match(line) is not None or _FROM.fullmatch(line) is not None)


def _begins_mail(lines: Sequence[bytes], start: int) -> bool:
    """Whether a line begins a mailbox, or the headers of a single mail: a sender, and a subject or a date."""
    if start == len(lines):
        return False
    if _is_from(lines[start]):
        return True
    names = {name for name, _ in _headers(lines[start:])}
    return b"from" in names and not names.isdisjoint((b"subject", b"date"))


def _headers(lines: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Names, in lower case, and values of the headers up to the first line that is not one; folded lines are joined."""
    name, value = b"", b""
    for line in lines:
        if name and line[:1] in (b" ", b"\t") and line.strip():
            value += b" " + line.strip()
            continue
        if name:
            yield name, value
        match = _HEADER.fullmatch(line)
        if match is None:
            return
        name, value = match[1].lower(), match[2].strip()
    if name:
        yield name, value


def _read(lines: Sequence[bytes]) -> Mail:
    at = 1 if _is_from(lines[0]) else 0
    head = at
    while at < len(lines) and (_HEADER.fullmatch(lines[at]) or (at > head and lines[at][:1] in (b" ", b"\t"))):
        at += 1
    headers = dict(_headers(lines[head:at]))
    subject = " ".join(_decoded(headers.get(b"subject", b"")).split())
    message, patch = _split(_body(headers, lines[head:], at - head), subject)
    number = _NUMBER.search(subject)
    return Mail(
        subject=_TAGS.sub("", subject, count=1),
        number=None if number is None else (int(number[1]), int(number[2])),
        message=b"\n".join(message).decode("utf-8", "replace").strip(),
        patch=patch,
    )


def _body(headers: Mapping[bytes, bytes], lines: Sequence[bytes], at: int) -> Sequence[bytes]:
    """The lines below the headers, decoded."""
    if headers.get(b"content-type", b"").lower().startswith(b"multipart/"):
        return _text_parts(b"\n".join(lines)).split(b"\n")
    encoding = headers.get(b"content-transfer-encoding", b"").strip().lower()
    body = lines[at:]
    if encoding == b"base64":
        data = b"\n".join(body)
        if not _BASE64.fullmatch(data):
            raise DiffError(f"The mail says that it is base64 and is not: {WANTED}.")
        return _lines(_from_base64(data))
    if encoding == b"quoted-printable":
        data = b"\n".join(body)
        if _STRAY_EQUALS.search(data):
            raise DiffError(f"The mail says that it is quoted-printable and is not: {WANTED}.")
        return _lines(quopri.decodestring(data))
    return body


def _from_base64(data: bytes) -> bytes:
    try:
        return binascii.a2b_base64(data)
    except binascii.Error:
        raise DiffError("The base64 of the mail is cut off or damaged: save it again.") from None


def _lines(data: bytes) -> list[bytes]:
    """The lines of a decoded text. Mails write CR LF; files with both kinds of ends keep theirs."""
    if data.count(b"\r\n") == data.count(b"\n"):
        data = data.replace(b"\r\n", b"\n")
    return data.split(b"\n")


def _text_parts(data: bytes) -> bytes:
    """The text and the attached patches of a mail of several parts, with "---" between them."""
    from email import message_from_bytes  # noqa: PLC0415 - few mails have several parts, and it takes long to load

    if len(data) > MAX_MULTIPART_BYTES:
        raise DiffError(f"The mail of several parts has more than {MAX_MULTIPART_BYTES >> 20} MiB: {WANTED}.")
    try:
        parts = [
            part.get_payload(decode=True)
            for part in message_from_bytes(data).walk()
            if not part.is_multipart() and part.get_content_type() != "text/html"
        ]
    except (RecursionError, LookupError, ValueError) as error:
        raise DiffError(f"The parts of the mail cannot be read ({type(error).__name__}): {WANTED}.") from None
    return b"\n---\n".join(b"\n".join(_lines(part)) for part in parts if isinstance(part, bytes))


def _decoded(value: bytes) -> str:
    """The text of a header, whose words may be encoded."""
    from email.errors import HeaderParseError  # noqa: PLC0415 - as above
    from email.header import decode_header, make_header  # noqa: PLC0415 - as above

    text = value.decode("utf-8", "replace")
    try:
        return str(make_header(decode_header(text))) if "=?" in text else text
    except (HeaderParseError, LookupError, ValueError):
        return text


def _split(body: Sequence[bytes], subject: str) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """Message and patch. Raises DiffError where the message could be taken for a part of the patch.

    A line "---" must stand above the patch, and none above a list of files may stand further down: that one would
    be the end of the message, also where a hunk in the message takes it for a row of its own.
    """
    lines = [line.removesuffix(b"\r") for line in body]
    first = next((at for at in range(len(lines)) if _begins_change(lines, at)), len(lines))
    ends = [at for at, line in enumerate(lines) if line == _SEPARATOR]
    clear = bool(ends) and ends[0] < first
    if first < len(lines) and (not clear or any(_leads_to_change(lines, at + 1) for at in ends if at > first)):
        shown = ascii(subject[:_SHOWN_CHARS])
        raise DiffError(f"It is not clear where the message of the mail {shown} ends and its patch begins: {WANTED}.")
    return body[: min(first, ends[0]) if ends else first], body[first:]


def _begins_change(lines: Sequence[bytes], at: int) -> bool:
    line = lines[at]
    if line.startswith(b"--- "):
        return at + 1 < len(lines) and lines[at + 1].startswith(b"+++ ")
    return line.startswith(_BEGINS)


def _leads_to_change(lines: Sequence[bytes], at: int) -> bool:
    """Whether nothing but a list of files, as `git diff --stat` writes it, stands above the next file of a diff."""
    while at < len(lines) and (not lines[at] or _STAT.fullmatch(lines[at])):
        at += 1
    return at < len(lines) and lines[at].startswith(b"diff -")


def _check_series(mails: Sequence[Mail]) -> None:
    """Refuse several mails but a series in its order: a message could hold what looks like a mail of its own."""
    if len(mails) == 1:
        return
    numbers = [mail.number for mail in mails]
    first = numbers[0]
    wanted = None if first is None else [(first[0] + n, first[1]) for n in range(len(mails))]
    if wanted is None or numbers != wanted or numbers[-1] is None or numbers[-1][0] > numbers[-1][1]:
        raise DiffError(
            "The input has several mails that are not numbered in their order ([PATCH 1/2], [PATCH 2/2]): "
            f"give them one by one, or {WANTED}."
        )
