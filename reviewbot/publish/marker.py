"""Signed HTML comments at the end of our reviews and comments, by which we recognise them.

A marker counts only where its signature is right and its repository and pull request are those that were asked for;
callers also check who wrote it. No other text can bring a marker into a body that reviewbot writes:
`reviewbot.report.text` escapes what opens an HTML comment, and only what stands at the very end of a body is read.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, cast, get_args

from reviewbot.domain.contracts import Conclusion
from reviewbot.domain.errors import ConfigError
from reviewbot.memory.packing import MAX_PACKED_CHARS, deflate, inflate

KEY_VARIABLE = "REVIEWBOT_MARKER_KEY"
"""Where the command line and the Action find a key of the operator's own."""

MIN_KEY_CHARS = 16
"""A shorter key could be guessed."""

MAX_MARKER_CHARS = MAX_PACKED_CHARS + 500
"""More than the longest marker takes. Text that begins further from the end of a body is not a marker."""

MAX_RECORD_CHARS = 2_000
"""Of the record of one finding in the marker of its comment, packed."""

ANY_MARKER = "<!-- reviewbot:"
_OPENS_REVIEW, _OPENS_FINDING = f"{ANY_MARKER}review ", f"{ANY_MARKER}finding "
_OPENS_ANSWER, _OPENS_DISCUSSION = f"{ANY_MARKER}answer ", f"{ANY_MARKER}discussion "
_CLOSES = " -->"
_SIGNED_CHARS = 32
_DERIVED = b"reviewbot marker without a secret"
_NUMBER = "[0-9]{1,18}"
_NAME = "[0-9a-f]{32}"
_SIGNATURE = f"({_NAME})"
"""128 bits."""
_PLACE = f"v=1 repository=({_NUMBER}) pull=({_NUMBER})"
# Each field has its own separator and bounds, so that a text that fails is left at the first character that is wrong.
_REVIEW = re.compile(
    rf"{_PLACE} head=([0-9a-f]{{40}}|[0-9a-f]{{64}}) policy=({_NAME}) newer=({_NUMBER})"
    rf"(?: code=([0-9]))?(?: check=([a-z]{{7,9}}))?(?: summary=({_NUMBER}))?(?: ledger=(\{{.*\}}))?"
)
"""What the marker of a review holds."""
_PACKED = re.compile(rf"(v=2 data=([A-Za-z0-9+/=]{{1,{MAX_PACKED_CHARS + 300}}})) signature={_SIGNATURE}")
_FINDING = re.compile(
    rf"({_PLACE} finding=({_NAME})"
    rf"(?: data=([A-Za-z0-9+/=]{{1,{MAX_RECORD_CHARS}}}))?) signature={_SIGNATURE}"
)
_NAMED = re.compile(rf"{_OPENS_FINDING}[^<>]{{1,80}} finding=({_NAME}) ")
_ANSWER = re.compile(
    rf"({_PLACE} finding=({_NAME}) state=([a-z]{{3,12}}) head=([0-9a-f]{{0,64}}))"
    rf" signature={_SIGNATURE}"
)
_DISCUSSION = re.compile(
    rf"({_PLACE} finding=({_NAME}) comment=({_NUMBER})"
    rf" outcome=([a-z]{{3,12}}) code=([0-9a-f]{{0,64}})) signature={_SIGNATURE}"
)


def fingerprints_in(body: str) -> list[str]:
    """The fingerprints in markers of comments at lines, under any key: no signature is checked."""
    return _NAMED.findall(body[-MAX_MARKER_CHARS:])


@dataclass(frozen=True)
class ReviewMarker:
    """The marker of a review: what it reviewed."""

    repository_id: int
    pull: int
    head_sha: str
    policy: str
    """32 hexadecimal digits: what decided the review, see `policy_of`."""
    newer: int = 0
    """The review that has taken its place; 0 where it still counts."""
    code: int | None = None
    """How the run ended that made it, by its review; None where that is not known."""

    conclusion: Conclusion | None = None
    """The colour of the review's check run; None where that is not known."""

    summary: int = 0
    """Of a review that only adds comments at lines: the review that holds the report; 0 where it is that itself."""

    def mark_replaced(self, review_id: int) -> ReviewMarker:
        """The marker of this review once the review `review_id` has replaced it."""
        return replace(self, newer=review_id)


class AnswerMarker(NamedTuple):
    """The marker of a reply about a finding: its state since a head."""

    finding: str
    state: str
    head: str


class DiscussionMarker(NamedTuple):
    """The marker of an answer to a person's reply."""

    finding: str
    comment: int
    """The reply that it answers."""
    outcome: str
    """See `reviewbot.publish.discussion.Outcome`."""
    code: str
    """The digest of the finding's code, or its head: for other code the finding may be judged once more."""


@dataclass(frozen=True)
class Signer:
    """Writes markers and reads them again. The first key signs; the others are older ones whose markers still count.

    The App's key comes from its secret. The command line and the Action use that of `REVIEWBOT_MARKER_KEY` where it is
    set; without one the key is derived from nothing secret, and what protects against forged markers is then only that
    they must stand in a review of our own account. In an Action that account is `github-actions[bot]`, which the other
    workflows of the repository write as, too: where one of them repeats what strangers say, set a key.
    """

    keys: tuple[bytes, ...] = field(repr=False)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Signer:
        """The key of the command line and the Action. Raises ConfigError for one that is too short."""
        given = environ.get(KEY_VARIABLE, "")
        if not given:
            return cls((hashlib.sha256(_DERIVED).digest(),))
        if len(given) < MIN_KEY_CHARS:
            raise ConfigError(f"{KEY_VARIABLE} must have at least {MIN_KEY_CHARS} characters")
        return cls((hashlib.sha256(given.encode("utf-8", "surrogateescape")).digest(),))

    def review(self, marker: ReviewMarker, ledger: str = "") -> str:
        """The HTML comment of a review, one line; it keeps the ledger (JSON) as well."""
        code = "" if marker.code is None else f" code={marker.code}"
        check = "" if marker.conclusion is None else f" check={marker.conclusion}"
        summary = f" summary={marker.summary}" if marker.summary else ""
        fields = (
            f"v=1 repository={marker.repository_id} pull={marker.pull} head={marker.head_sha} policy={marker.policy}"
            f" newer={marker.newer}{code}{check}{summary}{ledger and f' ledger={ledger}'}"
        )
        return self._signed(_OPENS_REVIEW, f"v=2 data={deflate(fields)}")

    def answer(self, repository_id: int, pull: int, answer: AnswerMarker) -> str:
        """The HTML comment of a reply to one of reviewbot's comments."""
        fields = f"finding={answer.finding} state={answer.state} head={answer.head}"
        return self._signed(_OPENS_ANSWER, f"v=1 repository={repository_id} pull={pull} {fields}")

    def discussion(self, repository_id: int, pull: int, said: DiscussionMarker) -> str:
        """The HTML comment of an answer to a reply of a person."""
        fields = f"finding={said.finding} comment={said.comment} outcome={said.outcome} code={said.code}"
        return self._signed(_OPENS_DISCUSSION, f"v=1 repository={repository_id} pull={pull} {fields}")

    def read_discussion(self, body: str, repository_id: int, pull: int) -> DiscussionMarker | None:
        """Read the marker of an answer to a reply; None as for `read_review`."""
        match = self._read(_OPENS_DISCUSSION, _DISCUSSION, body, (repository_id, pull))
        return None if match is None else DiscussionMarker(match[4], int(match[5]), match[6], match[7])

    def command(self, repository_id: int, pull: int, comment: str) -> str:
        """The HTML comment of an answer to a command, by the name of the comment that gave it."""
        return self._signed(f"{ANY_MARKER}command ", f"v=1 repository={repository_id} pull={pull} comment={comment}")

    def finding(self, repository_id: int, pull: int, fingerprint: str, packed: str = "") -> str:
        """The HTML comment of a comment at a line. It holds on every head of its pull request.

        `packed`: a ledger with the record of this finding alone, for a run that is killed before it writes the summary.
        """
        kept = f" data={packed}" if packed else ""
        return self._signed(_OPENS_FINDING, f"v=1 repository={repository_id} pull={pull} finding={fingerprint}{kept}")

    def read_review(self, body: str, repository_id: int, pull: int) -> ReviewMarker | None:
        """Read the marker at the end of a review; None where there is none with our signature for this pull request."""
        match = self._review(body, (repository_id, pull))
        if match is None:
            return None
        head, policy, newer, code, colour, summary = match.group(3, 4, 5, 6, 7, 8)
        conclusion = cast("Conclusion", colour) if colour in get_args(Conclusion) else None
        known = None if code is None else int(code)
        return ReviewMarker(repository_id, pull, head, policy, int(newer), known, conclusion, int(summary or 0))

    def read_ledger(self, body: str, repository_id: int, pull: int) -> str | None:
        """The ledger (JSON) in the marker of a review; None as above."""
        match = self._review(body, (repository_id, pull))
        return None if match is None else match[9]

    def read_answer(self, body: str, repository_id: int, pull: int) -> AnswerMarker | None:
        """Read the marker of a reply; None as above."""
        match = self._read(_OPENS_ANSWER, _ANSWER, body, (repository_id, pull))
        return None if match is None else AnswerMarker(match[4], match[5], match[6])

    def read_finding(self, body: str, repository_id: int, pull: int) -> str | None:
        """The fingerprint at the end of a comment at a line; None as above."""
        match = self._read(_OPENS_FINDING, _FINDING, body, (repository_id, pull))
        return None if match is None else match[4]

    def read_record(self, body: str, repository_id: int, pull: int) -> str:
        """The packed record of a comment of which `read_finding` has read the fingerprint; empty where it has none."""
        match = self._read(_OPENS_FINDING, _FINDING, body, (repository_id, pull))
        return "" if match is None else match[5] or ""

    def _review(self, body: str, place: tuple[int, int]) -> re.Match[str] | None:
        packed = self._read(_OPENS_REVIEW, _PACKED, body, None)
        match = None if packed is None else _REVIEW.fullmatch(inflate(packed[2]) or "")
        return match if match is not None and (int(match[1]), int(match[2])) == place else None

    def _read(
        self, opens: str, form: re.Pattern[str], body: str, place: tuple[int, int] | None
    ) -> re.Match[str] | None:
        end = body[-MAX_MARKER_CHARS:].rstrip()
        start = end.rfind(opens)
        if start < 0 or not end.endswith(_CLOSES):
            return None
        match = form.fullmatch(end[start + len(opens) : -len(_CLOSES)])
        if match is None or (place is not None and (int(match[2]), int(match[3])) != place):
            return None
        signed = any(_equal(_signature(key, opens, match[1]), match[match.re.groups]) for key in self.keys)
        return match if signed else None

    def _signed(self, opens: str, fields: str) -> str:
        return f"{opens}{fields} signature={_signature(self.keys[0], opens, fields)}{_CLOSES}"


def _signature(key: bytes, opens: str, fields: str) -> str:
    """What is signed begins with its kind, so that a marker of one kind is not valid as another."""
    return hmac.new(key, (opens + fields).encode(), hashlib.sha256).hexdigest()[:_SIGNED_CHARS]


def _equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
