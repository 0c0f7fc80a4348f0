"""Judge a finding of a pull request once more, with a person's reply as data, by the settings of the base side."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

from reviewbot import wiring
from reviewbot.domain.contracts import Finding
from reviewbot.hosts.base import PullRequest, Workspace
from reviewbot.pull_requests.host_session import READING_S, HostSession, RunOptions
from reviewbot.wiring.reply_judge import SecondRuling
from reviewbot.wiring.reply_judge import judge_reply as ask_judge


def judge_reply(
    session: HostSession, pull: PullRequest, options: RunOptions, finding: Finding, reply: str
) -> SecondRuling | None:
    """The ruling; None where no model is configured for this repository. Blocking. Raises ReviewbotError."""
    session.host.within(READING_S)
    with ExitStack() as closing:
        hosted = session.host.change(pull, Workspace(options.inputs.environ or {}, options.inputs.checkout, closing))
        subject = wiring.Subject(hosted.change, hosted.digest, hosted.snapshot, hosted.snapshot, hosted.notes)
        settings = wiring.settings_for(subject.base, options.inputs.environ, options.flags)
        return asyncio.run(ask_judge(subject, settings, options.inputs, options.journal, finding, reply))
