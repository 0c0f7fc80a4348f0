"""The App's own database: progress, intents, heads, runs with their traces, workers, rates.

One SQLite file for one machine, Postgres for several, the same statements for both. The durable engine keeps its queue
elsewhere; nothing here depends on it, so that a run can be looked at without loading it.
"""
