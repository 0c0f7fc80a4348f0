-- The tables of the inbox (reviewbot/app/store/inbox), in SQL that SQLite and Postgres both understand. Each statement
-- may run again. `{identity}` is the type of a column that the database counts by itself.

CREATE TABLE IF NOT EXISTS reviewbot_inbox_schema (version BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS reviewbot_inbox (
    id {identity} PRIMARY KEY, delivery TEXT NOT NULL, event TEXT NOT NULL, body TEXT NOT NULL UNIQUE,
    once TEXT UNIQUE, place TEXT, key TEXT NOT NULL, told TEXT NOT NULL, received DOUBLE PRECISION NOT NULL,
    state TEXT NOT NULL,
    holder TEXT, until DOUBLE PRECISION, tries BIGINT NOT NULL, reason TEXT
);
CREATE INDEX IF NOT EXISTS reviewbot_inbox_place ON reviewbot_inbox (place, id);
CREATE INDEX IF NOT EXISTS reviewbot_inbox_open ON reviewbot_inbox (id) WHERE state IN ('waiting', 'claimed');
CREATE TABLE IF NOT EXISTS reviewbot_tallies (
    name TEXT NOT NULL, labels TEXT NOT NULL, value DOUBLE PRECISION NOT NULL, PRIMARY KEY (name, labels)
);
