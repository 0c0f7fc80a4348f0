"""Review a pull request in the three steps that command line, Action and App share: fetch, review, post."""

from __future__ import annotations

from reviewbot.pull_requests.fetch import fetch
from reviewbot.pull_requests.host_session import HostSession, RunOptions
from reviewbot.pull_requests.post import find_posted, post
from reviewbot.pull_requests.review import Prepared, Reviewed, carry_out, prepare

__all__ = [
    "HostSession",
    "Prepared",
    "Reviewed",
    "RunOptions",
    "carry_out",
    "fetch",
    "find_posted",
    "post",
    "prepare",
]
