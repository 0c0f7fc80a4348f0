"""Answer and resolve the threads of findings that are dealt with; a thread in which a person wrote is left alone.

What is done is read off the ledger and off what stands in the thread, so that a second run completes the first one and
repeats nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from reviewbot.domain.contracts.ledger import FindingState, Ledger, Record
from reviewbot.domain.errors import HostError
from reviewbot.hosts.base import PullRequest, ReviewHost
from reviewbot.memory.decisions import FILE_NAME, Decision, format_entry
from reviewbot.memory.recall import RETURNED
from reviewbot.publish.marker import AnswerMarker, Signer
from reviewbot.publish.rebuild_ledger import OwnThread
from reviewbot.report.markdown.finding import fold_section
from reviewbot.report.text import md, md_block, md_code, short_line
from reviewbot.wording import with_count

_WORDS: dict[FindingState, str] = {
    "new": "Back since",
    "open": "Back since",
    "fixed": "Fixed by",
    "dismissed": "Dismissed as of",
    "refuted": "Withdrawn at",
    "outdated": "No longer a part of the change since",
}
_SHORT_SHA, _REASON_CHARS, _MAX_FAILURES = 10, 300, 3


class Answered(NamedTuple):
    """The ledger with the records whose threads are resolved now, and notes on what failed."""

    ledger: Ledger
    notes: list[str]


@dataclass(frozen=True)
class Answering:
    """The threads of one pull request, and who writes into them."""

    pull: PullRequest
    signer: Signer
    host: ReviewHost

    async def answer_all(self, threads: Iterable[OwnThread], ledger: Ledger) -> Answered:
        """Say once in the thread of each finding how it ended; a thread that was opened again is left alone."""
        failures: list[HostError] = []
        settled: set[str] = set()
        for own in threads:
            record = ledger.find(own.name)
            if record is None or own.has_others or len(failures) >= _MAX_FAILURES:
                continue
            try:
                if await self._answer(own, record):
                    settled.add(record.name)
            except HostError as error:
                failures.append(error)
        records = (
            each.model_copy(update={"settled": True}) if each.name in settled else each for each in ledger.records
        )
        count = with_count(len(failures), "thread")
        notes = [f"{count} could not be answered or resolved: {failures[0]}"] if failures else []
        return Answered(ledger.model_copy(update={"records": tuple(records)}), notes)

    async def _answer(self, own: OwnThread, record: Record) -> bool:
        """Answer one thread; whether it is resolved now."""
        said = own.answer.state if own.answer is not None else "open"
        if record.is_open:
            # Without an answer by us a person has resolved it, perhaps with the push that fixed it.
            is_back = said not in ("new", "open") or (own.answer is None and record.reason == RETURNED)
            if is_back:
                # In this order: a run that is killed in between leaves it open, and the next one says why.
                await asyncio.to_thread(self.host.resolve, own.thread.thread_id, resolved=False)
                await self._reply(own, record)
            return False
        if own.thread.resolved and own.answer is None:
            return True  # a person has resolved it
        if record.settled and own.thread.resolved is False:
            return False  # a person has opened it again, and disagrees
        if said != record.state:
            await self._reply(own, record)
        if not own.thread.resolved:
            await asyncio.to_thread(self.host.resolve, own.thread.thread_id)
        return True

    async def _reply(self, own: OwnThread, record: Record) -> None:
        mark = AnswerMarker(own.name, record.state, record.head)
        marker = self.signer.answer(self.pull.repository_id, self.pull.number, mark)
        body = "\n\n".join([answer_text(record), *proposed_decision(record), marker])
        await asyncio.to_thread(self.host.reply, own.thread.thread_id, body)


def answer_text(record: Record) -> str:
    """One line of Markdown: what the finding has come to, at which commit, who decided it and why."""
    fixed_in_head = record.state == "fixed" and not record.commit
    commit = record.commit or record.head
    where = md_code(commit[:_SHORT_SHA]) if commit else "this head"
    who = f" ({md(short_line(record.who, _REASON_CHARS))})" if record.state == "dismissed" else ""
    word = "Fixed as of" if fixed_in_head else _WORDS[record.state]
    return f"**{word}** {where}: {md(short_line(record.reason, _REASON_CHARS))}{who}"


def proposed_decision(record: Record) -> Iterator[str]:
    """What makes a dismissal by a comment one of the repository, in a fold; nothing for any other state."""
    if (record.state, record.origin) == ("dismissed", "comment"):
        about = short_line(f"{record.title} ({record.path})", _REASON_CHARS)
        entry = format_entry(Decision(record.who, record.reason, finding=record.name, about=about))
        yield from fold_section(f"To keep it for other branches: an entry of {FILE_NAME}", [md_block(entry, "toml")])
