"""Publish a review: exactly one review on a host, and a check run that proves it."""

from __future__ import annotations

from reviewbot.publish.check_run import CHECK_NAME, check_of
from reviewbot.publish.existing_reviews import find_posted_review
from reviewbot.publish.intents import JournalIntents, MemoryIntents
from reviewbot.publish.marker import KEY_VARIABLE, Signer
from reviewbot.publish.options import PublishContext, Published, PublishOptions, PublishRequest, policy_of
from reviewbot.publish.post import publish

__all__ = [
    "CHECK_NAME",
    "KEY_VARIABLE",
    "JournalIntents",
    "MemoryIntents",
    "PublishContext",
    "PublishOptions",
    "PublishRequest",
    "Published",
    "Signer",
    "check_of",
    "find_posted_review",
    "policy_of",
    "publish",
]
