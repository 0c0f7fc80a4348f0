"""Answer a person's reply in a finding's thread, once: a question from the trace, a dispute by judging once more."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from reviewbot.app.scheduling.resolve_command import acknowledge, may_command
from reviewbot.app.store.durable.runs import Runs
from reviewbot.app.worker.trace_lookup import evidence_of, finding_of
from reviewbot.app.worker.work import ReviewRequest
from reviewbot.domain.contracts import Finding
from reviewbot.domain.contracts.ledger import Record
from reviewbot.domain.errors import ReviewbotError
from reviewbot.hosts.base import CodeHost, PostedComment, PullRequest
from reviewbot.publish.discussion import (
    MAX_REPLY_CHARS,
    Outcome,
    ReplyRuling,
    answer_dispute,
    answer_question,
    next_step,
    outcome_of,
    version_of,
)
from reviewbot.publish.marker import DiscussionMarker, Signer
from reviewbot.publish.rebuild_ledger import OwnThread, remember
from reviewbot.redact.mask import redact

logger = logging.getLogger("reviewbot.app.worker")

JudgeReply = Callable[[PullRequest, Finding, str], ReplyRuling | None]
"""Rule once more on a finding, with a reply as data. Blocking; None where no model is configured. Raises
ReviewbotError."""

NO_MODEL = "no model is configured here"
NOT_KEPT = "what the review found out about it is not kept any more"
NOT_ASKED = "the model could not be asked"


class _Reply(NamedTuple):
    """A person's reply, and where it stands."""

    own: OwnThread
    record: Record
    comment: PostedComment
    in_pull: int
    """How many replies reviewbot has answered in all threads of the pull request."""


@dataclass(frozen=True)
class ReplyAnswerer:
    """Answers replies on one host."""

    host: CodeHost
    runs: Runs
    signer: Signer
    judge: JudgeReply

    def answer(self, request: ReviewRequest) -> None:
        """Answer it, if it is in a thread of reviewbot. Blocking; a second call repeats nothing. Raises HostError."""
        pull = self.host.pull_request(request.repository, request.number)
        if pull.repository_id != request.repository_id or not pull.is_open or not may_command(self.host, request):
            return
        found = self._find(pull, request)
        if found is None:
            return
        own, record, comment, in_pull = found
        step = next_step(comment.body, comment.comment_id, version_of(record), own.discussed, in_pull)
        if step == "nothing":
            self._resolve_if_withdrawn(pull, own, comment.comment_id)
            return
        acknowledge(self.host, pull, request.trigger)
        if step == "answer":
            outcome: Outcome = "answered"
            text = answer_question(record, evidence_of(self.runs, pull, record))
        else:
            outcome, text = self._judged(pull, record, comment)
        said = DiscussionMarker(own.name, comment.comment_id, outcome, version_of(record))
        marker = self.signer.discussion(pull.repository_id, pull.number, said)
        reviews = self.host.reviews(pull)
        reviews.reply(own.thread.thread_id, f"{text.rstrip()}\n\n{marker}\n")
        if outcome == "withdrawn":
            reviews.resolve(own.thread.thread_id)

    def _find(self, pull: PullRequest, request: ReviewRequest) -> _Reply | None:
        """The reply, where its thread is about a reported finding and the delivery named its author."""
        wanted, actor = request.trigger.get("comment_id"), str(request.trigger.get("actor"))
        reviews = self.host.reviews(pull)
        memory = asyncio.run(remember(pull, self.signer, reviews))
        account = reviews.own_id()
        for own in memory.threads:
            comment = next((each for each in own.thread.comments[1:] if each.comment_id == wanted), None)
            record = memory.ledger.find(own.name)
            if comment is None or record is None:
                continue
            if comment.author_id in (None, account) or comment.author.casefold() != actor.casefold():
                return None
            return _Reply(own, record, comment, sum(len(each.discussed) for each in memory.threads))
        return None

    def _judged(self, pull: PullRequest, record: Record, comment: PostedComment) -> tuple[Outcome, str]:
        """The outcome of one re-judgement, and the answer that says it."""
        finding = finding_of(self.runs, pull, record)
        why_not = NOT_KEPT if finding is None else NO_MODEL
        ruling = None
        if finding is not None:
            try:
                ruling = self.judge(pull, finding, redact(comment.body)[:MAX_REPLY_CHARS])
            except ReviewbotError as error:
                logger.warning("a reply was not judged: %s", redact(str(error)))
                why_not = NOT_ASKED
        if finding is None or ruling is None:
            return "disputed", answer_dispute(record, "disputed", comment.author, None, why_not)
        outcome = outcome_of(finding, ruling, by_model=record.by_model)
        return outcome, answer_dispute(record, outcome, comment.author, ruling)

    def _resolve_if_withdrawn(self, pull: PullRequest, own: OwnThread, comment: int) -> None:
        """Complete an answer that was cut short between its reply and the thread."""
        last = own.discussed[-1] if own.discussed else None
        if last is not None and (last.comment, last.outcome) == (comment, "withdrawn") and own.thread.resolved is False:
            self.host.reviews(pull).resolve(own.thread.thread_id)
