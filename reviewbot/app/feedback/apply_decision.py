"""Carry out what a person decided in the human queue: post a confirmed finding once, dismiss one, or review it again.

A decision is read off the queue's log, so that a second execution finds what the first one did. A comment is looked
for by its signed marker before it is posted, under an intent that outlasts a crashed poster.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal
from uuid import uuid4

from reviewbot.app.store.durable.commands import CommandRecord, Commands
from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.durable.human_queue import Action, HumanQueue, QueueItem
from reviewbot.app.store.durable.intents import DurableIntents
from reviewbot.app.store.durable.labels import Labels
from reviewbot.app.worker.work import Json, ReviewRequest
from reviewbot.domain.errors import HostError, HostInvalidError, HostUnknownError
from reviewbot.hosts.base import CodeHost, InlineComment, PullRequest, ReviewDraft, ReviewHost
from reviewbot.hosts.registry import links_of
from reviewbot.publish.marker import Signer
from reviewbot.publish.places import api_path
from reviewbot.publish.post_review import LEASE_S, PATIENCE_S
from reviewbot.report.markdown.finding import comment_blocks
from reviewbot.report.text import md, md_code, short_line

logger = logging.getLogger("reviewbot.app.worker")

BUSY = "another worker is posting this comment"
OTHER = "the repository of this name is another one now"
CLOSED = "the pull request is closed"
NO_RIGHT = "{} has no write access to {}"
UNKNOWN = "it is not known whether the comment was posted; the next try looks for it"

_SHORT_SHA, _REASON_CHARS = 10, 300


@dataclass(frozen=True)
class DecisionFollower:
    """Carries out decisions on one host. Blocking; raises HostError where a later try may help."""

    host: CodeHost
    database: Database
    signer: Signer
    sleep: Callable[[float], None] = field(default=time.sleep)

    def follow(self, item: QueueItem) -> Json:
        """Carry out the last decision about an item.

        The result: the `action` and `reason` of the row that records it, the `url` of a comment, and in `order` the
        review that follows from it, as JSON.
        """
        pull = self.host.pull_request(item.name, item.pull)
        if (why := self._refusal(item, pull)) is not None:
            return {"action": "failed", "reason": why}
        if item.last.action == "confirmed":
            url = self._post(item, pull)
            return {"action": "posted", "reason": "posted on the pull request", "url": url}
        if item.last.action == "dismissed":
            self._dismiss(item)
            reason = "the next review withholds it" if pull.is_open else CLOSED
            return {"action": "recorded", "reason": reason, **_order(item, pull, {})}
        trigger = {"verb": "effort", "argument": "deep"}
        return {"action": "ordered", "reason": "the head is reviewed again", **_order(item, pull, trigger)}

    def _refusal(self, item: QueueItem, pull: PullRequest) -> str | None:
        """Why a decision is not carried out; None where it is."""
        if pull.repository_id != item.repository:
            return OTHER
        if not pull.is_open and item.last.action != "dismissed":
            return CLOSED
        who = item.last.actor
        if item.last.channel != "command line" and not self.host.may_write(item.name, who):
            return NO_RIGHT.format(who, item.name)
        return None

    def _dismiss(self, item: QueueItem) -> None:
        who = item.last
        name = f"{item.repository}:queue:{item.item}:{who.position}"
        pull = (item.repository, item.pull)
        Commands(self.database).add(
            CommandRecord(name, item.installation, pull, "dismiss", who.actor, item.fingerprint, who.reason)
        )

    def _post(self, item: QueueItem, pull: PullRequest) -> str:
        """Post a comment at the lines of a finding, or in the conversation, once; its address."""
        host = self.host.reviews(pull)
        intents = DurableIntents(self.database, item.installation)
        key, holder = f"queue:{item.item}", uuid4().hex
        if not intents.begin(key, holder, LEASE_S):
            raise HostError(BUSY)
        try:
            url = self._find(item, pull, host) or self._send(item, pull, host)
        except HostUnknownError:
            for wait in PATIENCE_S:
                self.sleep(wait)
                if found := self._find(item, pull, host):
                    return found
            raise HostError(UNKNOWN) from None
        except HostError:
            intents.begin(key, holder, 0)  # no request is under way: the next try need not wait
            raise
        intents.begin(key, holder, 0)
        return url

    def _find(self, item: QueueItem, pull: PullRequest, host: ReviewHost) -> str:
        """The address of our comment about a finding; empty where there is none."""
        own = host.own_id()
        place = (item.repository, item.pull)
        for thread in host.threads():
            first = thread.comments[0]
            if first.author_id == own and self.signer.read_finding(first.body, *place) == item.fingerprint:
                return f"{pull.url}#discussion_r{first.comment_id}"
        for comment in host.conversation():
            if comment.author_id == own and self.signer.read_finding(comment.body, *place) == item.fingerprint:
                return f"{pull.url}#issuecomment-{comment.comment_id}"
        return ""

    def _send(self, item: QueueItem, pull: PullRequest, host: ReviewHost) -> str:
        finding, path = item.finding, api_path(item.finding.path)
        said = f"**Confirmed by {md(item.last.actor)}:** {md(short_line(item.last.reason, _REASON_CHARS))}"
        if pull.head_sha == item.head and path is not None:
            links = links_of(pull.url, pull.head_sha, pull.base_sha)
            body = self._body(item, [*comment_blocks(finding, links, None, item.fingerprint), said])
            comment = InlineComment(path, finding.end_line, body)
            words = (
                f"## reviewbot: a finding of {md_code(item.head[:_SHORT_SHA])} that {md(item.last.actor)} confirmed\n"
            )
            try:
                return host.post_review(ReviewDraft(pull.head_sha, words, comments=(comment,))).url
            except HostInvalidError as error:
                logger.info("a confirmed finding stands in the conversation: %s", error)
        links = links_of(pull.url, item.head, pull.base_sha)
        place = md_code(short_line(f"{finding.path}:{finding.line}", _REASON_CHARS))
        where = f"At {place} of {md_code(item.head[:_SHORT_SHA])}."
        if pull.head_sha != item.head:
            now = md_code(pull.head_sha[:_SHORT_SHA])
            where = f"{where} The head is {now} by now; the review of it says whether the code still stands."
        posted = host.say(self._body(item, [where, *comment_blocks(finding, links, None, item.fingerprint), said]))
        return f"{pull.url}#issuecomment-{posted.comment_id}"

    def _body(self, item: QueueItem, blocks: Sequence[str]) -> str:
        marker = self.signer.finding(item.repository, item.pull, item.fingerprint)
        return "\n\n".join([*blocks, marker])


def record_result(database: Database, item: QueueItem, result: Json) -> None:
    """Write the result of `follow` into the queue's log, and the decision into the label of the finding."""
    action: Action = result["action"]
    if action in ("posted", "recorded"):
        decision: Literal["confirmed", "dismissed"] = "confirmed" if action == "posted" else "dismissed"
        Labels(database).decide(item.repository, item.pull, item.fingerprint, decision)
    HumanQueue(database).record(item, action, str(result["reason"]), str(result.get("url", "")))


def _order(item: QueueItem, pull: PullRequest, trigger: Json) -> Json:
    """The review of the head that a decision leads to; none of a pull request that is closed."""
    if not pull.is_open:
        return {}
    again = f"queue-{item.item[:16]}-{item.last.position}"
    return {
        "order": ReviewRequest(
            installation=item.installation,
            repository=item.name,
            repository_id=item.repository,
            number=item.pull,
            head_sha=pull.head_sha,
            cause="a decision in the human queue",
            again=again,
            trigger={"kind": "queue", **trigger},
        ).as_json()
    }
