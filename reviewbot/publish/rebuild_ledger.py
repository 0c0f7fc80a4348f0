"""Rebuild the ledger of a pull request from our own reviews and threads; what other accounts claim to be ours is named.

The summary carries the whole ledger, signed. A thread that it does not know, of a run that was killed before it wrote
the summary, is a record of its own, in the state that our last reply to it says.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, cast, get_args

from reviewbot.domain.contracts.ledger import FindingState, Ledger, Record
from reviewbot.hosts.base import PostedReview, PullRequest, ReviewHost, Thread
from reviewbot.memory.packing import unpack
from reviewbot.memory.states import US, Event, advance
from reviewbot.publish.discussion import version_of
from reviewbot.publish.marker import ANY_MARKER, AnswerMarker, DiscussionMarker, Signer
from reviewbot.report.text import short_line

_NAME_CHARS = 80
_COMMAND = re.compile(r"\s*[/@]reviewbot[ \t][^\r\n]*\s*", re.IGNORECASE)
"""A comment of nothing but a command: no word to other people."""


class OwnThread(NamedTuple):
    """A thread that a comment by reviewbot opened."""

    thread: Thread
    name: str
    """The fingerprint in its marker."""
    answer: AnswerMarker | None
    """What our last reply says."""
    has_others: bool
    """Whether another account has written into it what is more than a command."""
    discussed: tuple[DiscussionMarker, ...] = ()
    """What our answers to people's replies say."""
    kept: Record | None = None
    """The record that its first comment holds, as it was when that was posted."""


class RebuiltLedger(NamedTuple):
    """What a pull request says about earlier heads."""

    ledger: Ledger
    threads: tuple[OwnThread, ...]
    notes: tuple[str, ...]
    """Markers that do not count (another account has them), one line each."""
    unposted: tuple[str, ...] = ()
    """Heads whose runs posted comments at lines, and were killed before the summary."""


async def remember(pull: PullRequest, signer: Signer, host: ReviewHost) -> RebuiltLedger:
    """Read reviews and threads, and rebuild the ledger. Raises HostError."""
    account = await asyncio.to_thread(host.own_id)
    reviews = await asyncio.to_thread(host.reviews)
    threads = await asyncio.to_thread(host.threads)
    ours = [each for each in reviews if each.author_id == account and ANY_MARKER in each.body]
    editors = await asyncio.to_thread(host.editors) if ours else {}
    edited = frozenset(review for review, editor in editors.items() if editor != account)
    return rebuild(pull, signer, account, reviews, threads, edited)


def rebuild(
    pull: PullRequest,
    signer: Signer,
    account: int,
    reviews: Iterable[PostedReview],
    threads: Iterable[Thread],
    edited: Collection[int] = frozenset(),
) -> RebuiltLedger:
    """The ledger of what stands there. Pure.

    A ledger in a review that another account has edited (`edited`: ids) may be an old one, or one of theirs.
    """
    reviews, threads = tuple(reviews), tuple(threads)
    ledger, parts = Ledger(), list[str]()
    for review in sorted(reviews, key=lambda each: each.review_id):
        if review.author_id != account or review.review_id in edited:
            continue
        marker = signer.read_review(review.body, pull.repository_id, pull.number)
        if marker is not None and marker.summary:
            parts.append(marker.head_sha)
        elif marker is not None:
            packed = signer.read_ledger(review.body, pull.repository_id, pull.number)
            found = unpack(packed) if packed and not marker.newer else None
            ledger = found or ledger
    own = tuple(own_threads(pull, signer, account, threads))
    lost = {thread.name: thread for thread in own if ledger.find(thread.name) is None}
    # A run that was killed before it wrote the summary has posted these; the next run tells the ledger of them.
    known = {each.head for each in ledger.heads}
    unposted = tuple(head for head in parts if head not in known)
    cut_short = unposted[-1] if unposted else ""
    talked = {each.name: each for each in own if each.discussed}
    records = tuple(
        _discussed(each, talked)
        for each in (*ledger.records, *(_record(each, cut_short, pull.head_sha) for each in lost.values()))
    )
    notes = tuple(dict.fromkeys([*_edited(account, reviews, edited), *_foreign_markers(account, reviews, threads)]))
    return RebuiltLedger(ledger.model_copy(update={"records": records}), own, notes, unposted)


def own_threads(pull: PullRequest, signer: Signer, account: int, threads: Iterable[Thread]) -> Iterator[OwnThread]:
    """The threads that comments by reviewbot opened."""
    place = (pull.repository_id, pull.number)
    for thread in threads:
        first, *replies = thread.comments
        name = signer.read_finding(first.body, *place) if first.author_id == account else None
        if name is not None:
            answers = [signer.read_answer(each.body, *place) for each in replies if each.author_id == account]
            last = next((each for each in reversed(answers) if each is not None), None)
            talks = (signer.read_discussion(each.body, *place) for each in replies if each.author_id == account)
            discussed = tuple(each for each in talks if each is not None and each.finding == name)
            others = any(each.author_id != account and not _COMMAND.fullmatch(each.body) for each in replies)
            record = _read_record(signer.read_record(first.body, *place), name)
            yield OwnThread(thread, name, last, others, discussed, record)


def _read_record(packed: str, name: str) -> Record | None:
    found = unpack(packed) if packed else None
    return None if found is None else found.find(name)


def _discussed(record: Record, threads: Mapping[str, OwnThread]) -> Record:
    """The record with what our last answer to a reply about this code has said."""
    own = next((threads[name] for name in record.names if name in threads), None)
    code = version_of(record)
    said = () if own is None else [each for each in own.discussed if each.code == code and each.outcome != "answered"]
    if own is None or not said or not record.is_open:
        return record
    who = next((each.author for each in own.thread.comments if each.comment_id == said[-1].comment), "a person")
    if said[-1].outcome == "withdrawn":
        why = f"withdrawn after the reply of {short_line(who, _NAME_CHARS)}"
        return advance(record, Event("refuted", why, f"{US}'s judge", record.head, record.at))
    return record.model_copy(update={"disputed": "" if said[-1].outcome == "stands" else who[:_NAME_CHARS]})


def _record(own: OwnThread, cut_short: str, here: str) -> Record:
    """What a thread alone tells: its finding, and the state that our last reply has said.

    `cut_short`: the head whose run has posted it and was killed; empty where that is not known. `here`: the head now.
    """
    known = own.kept or Record(
        names=(own.name,),
        path=own.thread.path,
        line=max(1, own.thread.line or 1),
        state="open",
        reason="known from its thread alone",
        who=US,
        at="",
        head=cut_short,
        since=cut_short,
    )
    if own.answer is not None and own.answer.state in get_args(FindingState):
        state = cast("FindingState", own.answer.state)
        return known.model_copy(
            update={"state": state, "reason": "known from its thread alone", "head": own.answer.head}
        )
    return known.model_copy(update={"state": "new" if known.since and known.since == here else "open"})


def _edited(account: int, reviews: Iterable[PostedReview], edited: Collection[int]) -> Iterator[str]:
    """Reviews by reviewbot that another account has edited."""
    for review in reviews:
        if review.author_id == account and review.review_id in edited and ANY_MARKER in review.body:
            yield f"review {review.review_id} was edited by another account, and the ledger in it does not count"


def _foreign_markers(account: int, reviews: Iterable[PostedReview], threads: Iterable[Thread]) -> Iterator[str]:
    """What other accounts have written in the form of our markers."""
    for review in reviews:
        if review.author_id != account and ANY_MARKER in review.body:
            yield f"a review by account {review.author_id or 'unknown'} has a marker of reviewbot, and does not count"
    for thread in threads:
        for comment in thread.comments:
            if comment.author_id != account and ANY_MARKER in comment.body:
                who = short_line(comment.author, _NAME_CHARS) or "an unknown account"
                yield f"a comment by {who} has a marker of reviewbot, and does not count"
