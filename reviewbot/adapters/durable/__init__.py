"""What the App keeps in its own database: progress, intents, heads, runs with their traces, workers, rates.

One SQLite file for one machine, Postgres for several, the same statements for both. The durable engine keeps its queue
elsewhere; nothing here depends on it, so that a run can be looked at without loading it.
"""

from __future__ import annotations

from reviewbot.adapters.durable.database import Database, open_database
from reviewbot.adapters.durable.heads import Heads
from reviewbot.adapters.durable.intents import DurableIntents
from reviewbot.adapters.durable.journal import DurableJournal, forget_installation, forget_old_entries
from reviewbot.adapters.durable.rate import SharedRate
from reviewbot.adapters.durable.runs import RunRecord, Runs
from reviewbot.adapters.durable.workers import Chores, Workers

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
