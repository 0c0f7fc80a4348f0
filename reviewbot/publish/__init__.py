"""Review -> exactly one review on a host, and a check run that proves it."""

from __future__ import annotations

from reviewbot.publish.check import CHECK_NAME, check_of
from reviewbot.publish.intents import JournalIntents, MemoryIntents
from reviewbot.publish.lookup import posted_before
from reviewbot.publish.marker import KEY_VARIABLE, Signer
from reviewbot.publish.order import Desk, Manner, Order, Published, policy_of
from reviewbot.publish.post import publish

__all__ = [
    "CHECK_NAME",
    "KEY_VARIABLE",
    "Desk",
    "JournalIntents",
    "Manner",
    "MemoryIntents",
    "Order",
    "Published",
    "Signer",
    "check_of",
    "policy_of",
    "posted_before",
    "publish",
]
