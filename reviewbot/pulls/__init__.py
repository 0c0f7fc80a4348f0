"""A pull request from its name to its posted review, in the three steps that every door takes: fetch, review, post."""

from __future__ import annotations

from reviewbot.pulls.fetching import fetch
from reviewbot.pulls.naming import PullName, pull_name
from reviewbot.pulls.office import Office, Terms
from reviewbot.pulls.posting import post, posted_before
from reviewbot.pulls.reviewing import Prepared, Reviewed, carry_out, prepare

__all__ = [
    "Office",
    "Prepared",
    "PullName",
    "Reviewed",
    "Terms",
    "carry_out",
    "fetch",
    "post",
    "posted_before",
    "prepare",
    "pull_name",
]
