"""The tables, in words that SQLite and Postgres both understand."""

from __future__ import annotations

SCHEMA_VERSION = 1
"""A database of a newer version is refused and left as it is."""

TABLES = (
    "CREATE TABLE IF NOT EXISTS reviewbot_inbox_schema (version BIGINT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS reviewbot_inbox (
        id {identity} PRIMARY KEY, delivery TEXT NOT NULL, event TEXT NOT NULL, body TEXT NOT NULL UNIQUE,
        once TEXT UNIQUE, place TEXT, key TEXT NOT NULL, told TEXT NOT NULL, received DOUBLE PRECISION NOT NULL,
        state TEXT NOT NULL,
        holder TEXT, until DOUBLE PRECISION, tries BIGINT NOT NULL, reason TEXT
    )""",
    "CREATE INDEX IF NOT EXISTS reviewbot_inbox_place ON reviewbot_inbox (place, id)",
    "CREATE INDEX IF NOT EXISTS reviewbot_inbox_open ON reviewbot_inbox (id) WHERE state IN ('waiting', 'claimed')",
    """CREATE TABLE IF NOT EXISTS reviewbot_tallies (
        name TEXT NOT NULL, labels TEXT NOT NULL, value DOUBLE PRECISION NOT NULL, PRIMARY KEY (name, labels)
    )""",
)
"""Each statement may run again. `identity` is how the database counts rows by itself."""
