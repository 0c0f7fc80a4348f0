"""Decide what a person's reply in a finding's thread leads to, and word the answer. Pure; a reply's text is data.

A question is answered from what the review kept. Anything else that is no mere acknowledgement disputes the finding,
which is judged once more, and not again until its code changes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from reviewbot.domain.contracts import SURE, Finding, Usage, is_grave
from reviewbot.domain.contracts.ledger import Record
from reviewbot.publish.history import record_line
from reviewbot.publish.marker import DiscussionMarker
from reviewbot.report.text import md, md_code, short_line
from reviewbot.wording import with_count

Outcome = Literal["answered", "stands", "withdrawn", "person", "disputed"]
"""answered: a question. stands, withdrawn: judged once more. person: judged, and a person has to decide. disputed: not
judged, for there is no model, or it could not be asked."""

Step = Literal["nothing", "answer", "judge"]

MAX_IN_THREAD, MAX_IN_PULL = 5, 30
"""Replies that are answered: two programs that answer each other through accounts of people stop there."""

MAX_REPLY_CHARS = 2_000
"""Of a reply that a judge is shown."""

REFUTED = 50
"""A finding that is judged less likely than this is withdrawn."""

_REASON_CHARS, _SHOWN_DIGITS = 600, 10
_QUOTED = re.compile(r"^[ \t]*>[^\n]*|```.*?(?:```|\Z)|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_THANKS = re.compile(
    r"(?:(?:ok(?:ay)?|thanks?|thank you|ty|done|fixed|will do|good (?:catch|point|find)|agreed?|yes|sure|nice|great"
    r"|lgtm|i will|on it|\+1|right|fair|in)\b[\s,.!]*)+[0-9a-f]{0,64}[\s.!]*",
    re.IGNORECASE,
)
"""A mere acknowledgement, also with the commit of a fix."""


class ReplyRuling(NamedTuple):
    """What a judge made of a finding and of a reply to it."""

    confidence: int
    reason: str
    usage: Usage


def next_step(reply: str, comment: int, version: str, earlier: Sequence[DiscussionMarker], in_pull: int) -> Step:
    """What a reply leads to.

    Args:
        reply: its text.
        comment: its id.
        version: of the finding's code, see `DiscussionMarker.code`.
        earlier: our answers in this thread.
        in_pull: how many such answers there are in all threads of the pull request.
    """
    words = _QUOTED.sub(" ", reply[:MAX_REPLY_CHARS]).strip()
    too_many = len(earlier) >= MAX_IN_THREAD or in_pull >= MAX_IN_PULL
    if too_many or any(each.comment == comment for each in earlier) or not any(map(str.isalnum, words)):
        return "nothing"
    if words.rstrip(" .!)\"'*_").endswith(("?", "\uff1f", "\u061f")):
        return "answer"
    decided = any(each.outcome != "answered" and each.code == version for each in earlier)
    return "nothing" if decided or _THANKS.fullmatch(words) else "judge"


def version_of(record: Record) -> str:
    """What names the code that a finding is about."""
    return record.code or record.head


def outcome_of(finding: Finding, ruling: ReplyRuling, *, by_model: bool) -> Outcome:
    """The outcome of a ruling after a reply. A critical finding, a secret, and what a program found go to a person."""
    if ruling.confidence >= SURE:
        return "stands"
    if by_model and not is_grave(finding.severity, finding.category) and ruling.confidence < REFUTED:
        return "withdrawn"
    return "person"


def answer_question(record: Record, evidence: Collection[str]) -> str:
    """The answer to a question: what is known of the finding, in Markdown rows that were escaped before."""
    rows = "\n".join(f"- {row}" for row in evidence)
    return f"What this review has kept of the finding; no model was asked.\n\n{record_line(record)}\n\n{rows}"


def answer_dispute(record: Record, outcome: Outcome, who: str, ruling: ReplyRuling | None, why_not: str = "") -> str:
    """The answer to a reply that disputes a finding: the outcome, why, and what was not done."""
    name = md_code(record.name[:_SHOWN_DIGITS])
    decide = f"To decide against it, write `/reviewbot dismiss ID REASON` with {name} as ID."
    if ruling is None:
        by = md(short_line(who, _REASON_CHARS))
        return f"Recorded as disputed by {by}. It was not judged again: {why_not}. The finding stays open. {decide}"
    words = {
        "stands": f"The finding stands. {decide}",
        "withdrawn": "The finding is withdrawn, and this thread is resolved.",
        "person": f"The finding needs a person: it is not withdrawn by a model alone. {decide}",
    }
    reason = md(short_line(ruling.reason, _REASON_CHARS))
    tokens = ruling.usage.input_tokens + ruling.usage.cached_tokens + ruling.usage.cache_write_tokens
    cost = f"{with_count(tokens, 'token')} read, {with_count(ruling.usage.output_tokens, 'token')} written"
    judged = f"Judged once more, with this reply as data: confidence {ruling.confidence} of 100. {reason}"
    return f"{words.get(outcome, '')}\n\n{judged}\n\nIt is not judged again until its code changes ({cost})."
