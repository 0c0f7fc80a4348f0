"""Follow the command of a comment: react to it, record it, answer it once, and order the review that it asks for."""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass
from typing import get_args

from reviewbot.app.scheduling.resolve_command import acknowledge, resolve_command
from reviewbot.app.store.durable.commands import CommandRecord, Commands
from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.durable.runs import Runs
from reviewbot.app.triggers.commands import READING, REPLY, REVIEWING
from reviewbot.app.worker.answer_reply import JudgeReply, ReplyAnswerer
from reviewbot.app.worker.trace_lookup import evidence_of
from reviewbot.app.worker.work import ReviewRequest
from reviewbot.config.settings import EffortName
from reviewbot.domain.contracts.ledger import Ledger, Record
from reviewbot.hosts.base import CodeHost, PullRequest, ReviewHost, Thread
from reviewbot.memory.packing import NAME_DIGITS, decode_names
from reviewbot.publish.history import record_line
from reviewbot.publish.marker import Signer
from reviewbot.publish.rebuild_ledger import remember
from reviewbot.report.text import md_code
from reviewbot.tables import packaged_text

logger = logging.getLogger("reviewbot.app.worker")

HOUR_S = 3_600.0
MAX_AN_HOUR, MAX_OF_ONE = 40, 15
"""Commands that are followed on one pull request in an hour: of all accounts, and of one. Two programs that answer each
other through accounts of people end there."""

HELP = packaged_text("comment_help.md")
"""The answer to `help`."""

_ID = re.compile(r"`?(?P<id>[0-9a-fA-F]{8,32})`?(?:\s+(?P<reason>.*))?")


@dataclass(frozen=True)
class _Comment:
    """The comment that gives a command."""

    request: ReviewRequest
    verb: str
    argument: str
    actor: str

    @property
    def name(self) -> str:
        """The key under which the command is stored: repository, kind of comment and comment."""
        trigger = self.request.trigger
        return f"{self.request.repository_id}:{trigger.get('comment_kind')}:{trigger.get('comment_id')}"


class CommandFollower:
    """Follows commands on one host."""

    def __init__(self, host: CodeHost, database: Database, signer: Signer, judge: JudgeReply) -> None:
        self._host = host
        self._judge = judge
        self._commands = Commands(database)
        self._runs = Runs(database)
        self._signer = signer

    def follow(self, request: ReviewRequest) -> ReviewRequest | None:
        """Follow it; the review to order, or None. Blocking; a second time it repeats nothing. Raises HostError."""
        trigger = request.trigger
        words = (trigger.get("verb") or "review", trigger.get("argument", ""), trigger.get("actor") or "")
        comment = _Comment(request, *(str(word) for word in words))
        if self._is_too_much(comment):
            logger.warning("a command was not followed: too many in an hour on one pull request")
            return None
        if comment.verb == REPLY:
            self._record(comment, REPLY)
            ReplyAnswerer(self._host, self._runs, self._signer, self._judge).answer(request)
            return None
        if comment.verb in READING:
            pull = self._host.pull_request(request.repository, request.number)
            if pull.repository_id == request.repository_id:
                acknowledge(self._host, pull, trigger)
                self._record(comment, comment.verb)
                self._answer(pull, comment, HELP if comment.verb == "help" else self._explained(pull, comment))
            return None
        resolved = resolve_command(self._host, request)
        if resolved is None:
            return None
        pull = self._host.pull_request(request.repository, request.number)
        refusal = self._act(pull, comment)
        if refusal:
            self._record(comment, "refused")
            self._answer(pull, comment, refusal)
        return resolved if comment.verb in REVIEWING and not refusal else None

    def _act(self, pull: PullRequest, comment: _Comment) -> str:
        """Do what a command asks for; why it cannot be done, in Markdown, or an empty text."""
        if comment.verb == "dismiss":
            return self._dismiss(pull, comment)
        if comment.verb == "effort" and comment.argument.lower() not in get_args(EffortName):
            return f"There is no such effort. There are {', '.join(md_code(each) for each in get_args(EffortName))}."
        self._record(comment, comment.verb)
        if comment.verb == "pause":
            self._answer(
                pull, comment, "Automatic reviews of this pull request are paused. `/reviewbot resume` ends that."
            )
        return ""

    def _dismiss(self, pull: PullRequest, comment: _Comment) -> str:
        found = _ID.fullmatch(comment.argument)
        if found is None or not found["reason"]:
            return "A dismissal needs a finding and a reason: `/reviewbot dismiss ID REASON`."
        start = found["id"].lower()
        ledger = self._ledger(pull)
        record = record_of(ledger, start)
        if isinstance(record, str) and start[:NAME_DIGITS] not in decode_names(ledger.left_out):
            return record
        # Of a finding for which the ledger has no room the start of the fingerprint is known, and is enough.
        self._record(comment, "dismiss", start if isinstance(record, str) else record.name, found["reason"])
        return ""

    def _explained(self, pull: PullRequest, comment: _Comment) -> str:
        found = _ID.fullmatch(comment.argument)
        if found is None:
            return "Name a finding by the first 8 or more digits of its fingerprint: `/reviewbot explain ID`."
        record = record_of(self._ledger(pull), found["id"].lower())
        if isinstance(record, str):
            return record
        return "\n".join([record_line(record), "", *(f"- {row}" for row in evidence_of(self._runs, pull, record))])

    def _ledger(self, pull: PullRequest) -> Ledger:
        return asyncio.run(remember(pull, self._signer, self._host.reviews(pull))).ledger

    def _record(self, comment: _Comment, verb: str, finding: str = "", reason: str = "") -> None:
        pull = (comment.request.repository_id, comment.request.number)
        record = CommandRecord(comment.name, comment.request.installation, pull, verb, comment.actor, finding, reason)
        self._commands.add(record)

    def _is_too_much(self, comment: _Comment) -> bool:
        pull = (comment.request.repository_id, comment.request.number)
        return (
            self._commands.count(pull, HOUR_S, comment.name) >= MAX_AN_HOUR
            or self._commands.count(pull, HOUR_S, comment.name, comment.actor) >= MAX_OF_ONE
        )

    def _answer(self, pull: PullRequest, comment: _Comment, text: str) -> None:
        """Answer in the thread of the comment, or in the conversation; once, by the marker of the answer."""
        host = self._host.reviews(pull)
        mark = self._signer.command(pull.repository_id, pull.number, comment.name)
        body = f"{text.rstrip()}\n\n{mark}\n"
        thread = _thread_of(host, comment)
        said = host.conversation() if thread is None else thread.comments
        own = host.own_id()
        if any(each.author_id == own and mark in each.body for each in said):
            return
        if thread is None:
            host.say(body)
        else:
            host.reply(thread.thread_id, body)


def record_of(ledger: Ledger, start: str) -> Record | str:
    """The finding whose fingerprint begins like this; or why there is none."""
    found = [each for each in ledger.records if any(name.startswith(start) for name in each.names)]
    if len(found) == 1:
        return found[0]
    return f"{'Several findings' if found else 'No finding'} of this pull request begin with {md_code(start)}."


def _thread_of(host: ReviewHost, comment: _Comment) -> Thread | None:
    """The thread that a comment at a line is in; None for one in the conversation, or where it is gone."""
    if comment.request.trigger.get("comment_kind") != "review":
        return None
    wanted = comment.request.trigger.get("comment_id")
    return next((each for each in host.threads() if wanted in {one.comment_id for one in each.comments}), None)


def with_wishes(request: ReviewRequest) -> tuple[dict[str, object], str]:
    """The settings that a command gives to its review, and the name of a request for a full one."""
    trigger = request.trigger
    if trigger.get("verb") == "effort":
        # Who asks again in the human queue gets a review, also where there is one of this effort.
        by_queue = trigger.get("kind") == "queue"
        return {"effort": str(trigger.get("argument", "")).lower()}, request.again if by_queue else ""
    anew = trigger.get("verb") == "full review"
    return {}, f"{trigger.get('comment_kind')}:{trigger.get('comment_id')}" if anew else ""
