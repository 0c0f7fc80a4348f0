"""The inbox of accepted deliveries that are not yet runs, and the counts that workers leave for the metrics.

A SQLite file or Postgres, by the same statements. The web process writes and waits for the disk; workers take.
"""

from reviewbot.app.store.inbox.counters import COUNTERS, Tallies, Tally
from reviewbot.app.store.inbox.inbox import Inbox, open_inbox
from reviewbot.app.store.inbox.store import InboxError, open_store

__all__ = ["COUNTERS", "Inbox", "InboxError", "Tallies", "Tally", "open_inbox", "open_store"]
