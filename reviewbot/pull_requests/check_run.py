"""Begin the check run of a review, and conclude it afterwards; where the token may not, only a note says so."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from reviewbot.domain.contracts import Conclusion
from reviewbot.domain.contracts.pulls import PullRef
from reviewbot.domain.errors import HostError
from reviewbot.hosts.base import CheckDraft
from reviewbot.publish.check_run import CHECK_NAME
from reviewbot.pull_requests.host_session import HostSession
from reviewbot.report.text import md, one_line

GIVING_UP_S = 30.0
"""Seconds to conclude a check run that proves nothing. The caller waits for us to stop; a run that comes later takes it
up where the host cannot be reached in that time."""


class Check(NamedTuple):
    """A check run in progress; `check_id` is None where there is none, and `note` says why if it was wanted."""

    check_id: int | None = None
    note: str = ""


async def start_check(session: HostSession, ref: PullRef) -> Check:
    """Begin the check run of a head, or take up the one that a run before has begun."""
    checks = session.host.checks(ref.repository, ref.number)
    try:
        return Check(await asyncio.to_thread(checks.start_check, CHECK_NAME, ref.head_sha))
    except HostError as error:
        return Check(note=f"no check run: {one_line(str(error))}")


async def finish_check(session: HostSession, ref: PullRef, check_id: int | None, draft: CheckDraft) -> tuple[str, str]:
    """Conclude a check run: its URL, and what went wrong."""
    if check_id is None:
        return "", ""
    checks = session.host.checks(ref.repository, ref.number)
    try:
        return await asyncio.to_thread(checks.finish_check, check_id, draft), ""
    except HostError as error:
        return "", f"the check run could not be concluded: {one_line(str(error))}"


async def abandon_check(
    session: HostSession,
    ref: PullRef,
    check: Check,
    why: str,
    conclusion: Conclusion = "neutral",
    title: str = "Not reviewed",
) -> None:
    """Conclude the check run of a head that was not reviewed, or got no review posted. It is never green."""
    session.host.within(GIVING_UP_S)
    await finish_check(session, ref, check.check_id, CheckDraft(title, f"**{title}:** {md(why)}\n", "", conclusion))
