"""The App's own database: progress, intents, heads, runs with their traces, workers, rates.

One SQLite file for one machine, Postgres for several, the same statements for both. The durable engine keeps its queue
elsewhere; nothing here depends on it, so that a run can be looked at without loading it.
"""

from __future__ import annotations

from reviewbot.app.store.durable.database import Database, open_database
from reviewbot.app.store.durable.heads import Heads
from reviewbot.app.store.durable.journal import DurableIntents, DurableJournal, forget_installation, forget_old_entries
from reviewbot.app.store.durable.rate import SharedRate
from reviewbot.app.store.durable.runs import RunRecord, Runs
from reviewbot.app.store.durable.workers import Chores, Workers

__all__ = [
    "Chores",
    "Database",
    "DurableIntents",
    "DurableJournal",
    "Heads",
    "RunRecord",
    "Runs",
    "SharedRate",
    "Workers",
    "forget_installation",
    "forget_old_entries",
    "open_database",
]
