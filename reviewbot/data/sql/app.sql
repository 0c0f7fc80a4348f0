-- The tables of the App's state (reviewbot/app/store/durable), in SQL that SQLite and Postgres both understand.
-- Each statement may run again, also by two processes that start at the same moment. Texts from outside are kept as
-- bytes: Postgres takes neither a NUL nor half a surrogate pair in a text.

CREATE TABLE IF NOT EXISTS reviewbot_schema (version BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS reviewbot_journal (
    key TEXT PRIMARY KEY, value BYTEA NOT NULL, installation BIGINT NOT NULL, written DOUBLE PRECISION NOT NULL
);
CREATE INDEX IF NOT EXISTS reviewbot_journal_written ON reviewbot_journal (written);
CREATE TABLE IF NOT EXISTS reviewbot_intents (
    key TEXT PRIMARY KEY, holder TEXT NOT NULL, until DOUBLE PRECISION NOT NULL, review BIGINT,
    written DOUBLE PRECISION NOT NULL
);
CREATE TABLE IF NOT EXISTS reviewbot_heads (
    repository BIGINT NOT NULL, number BIGINT NOT NULL, head TEXT NOT NULL, run TEXT NOT NULL,
    sequence BIGINT NOT NULL, as_of DOUBLE PRECISION NOT NULL, written DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (repository, number)
);
CREATE TABLE IF NOT EXISTS reviewbot_runs (
    run TEXT PRIMARY KEY, installation BIGINT NOT NULL, name TEXT NOT NULL, repository BIGINT NOT NULL,
    number BIGINT NOT NULL, head TEXT NOT NULL, sequence BIGINT NOT NULL, state TEXT NOT NULL,
    reason TEXT NOT NULL, owner TEXT NOT NULL, executor TEXT NOT NULL, attempts BIGINT NOT NULL,
    barren BIGINT NOT NULL DEFAULT 0,
    dollars DOUBLE PRECISION NOT NULL, tokens BIGINT NOT NULL, url TEXT NOT NULL,
    created DOUBLE PRECISION NOT NULL, started DOUBLE PRECISION, ended DOUBLE PRECISION
);
CREATE INDEX IF NOT EXISTS reviewbot_runs_pull ON reviewbot_runs (repository, number);
CREATE INDEX IF NOT EXISTS reviewbot_runs_created ON reviewbot_runs (created);
CREATE INDEX IF NOT EXISTS reviewbot_runs_newest ON reviewbot_runs (created DESC, run DESC);
CREATE INDEX IF NOT EXISTS reviewbot_runs_newest_of ON reviewbot_runs (repository, created DESC, run DESC);
CREATE INDEX IF NOT EXISTS reviewbot_runs_newest_in ON reviewbot_runs (state, created DESC, run DESC);
CREATE TABLE IF NOT EXISTS reviewbot_worker_costs (
    run TEXT NOT NULL, worker TEXT NOT NULL, dollars DOUBLE PRECISION NOT NULL, tokens BIGINT NOT NULL,
    PRIMARY KEY (run, worker)
);
CREATE TABLE IF NOT EXISTS reviewbot_sessions (
    name TEXT PRIMARY KEY, kind TEXT NOT NULL, login TEXT NOT NULL, sealed BYTEA NOT NULL,
    repositories BYTEA NOT NULL, checked DOUBLE PRECISION NOT NULL, until DOUBLE PRECISION NOT NULL
);
CREATE INDEX IF NOT EXISTS reviewbot_sessions_until ON reviewbot_sessions (until);
CREATE TABLE IF NOT EXISTS reviewbot_traces (run TEXT PRIMARY KEY, trace BYTEA NOT NULL);
CREATE TABLE IF NOT EXISTS reviewbot_workers (
    executor TEXT PRIMARY KEY, beat DOUBLE PRECISION NOT NULL, reaper TEXT NOT NULL,
    reaped DOUBLE PRECISION NOT NULL
);
CREATE TABLE IF NOT EXISTS reviewbot_commands (
    name TEXT PRIMARY KEY, installation BIGINT NOT NULL, repository BIGINT NOT NULL, number BIGINT NOT NULL,
    verb TEXT NOT NULL, actor TEXT NOT NULL, finding TEXT NOT NULL, reason BYTEA NOT NULL,
    written DOUBLE PRECISION NOT NULL
);
CREATE INDEX IF NOT EXISTS reviewbot_commands_pull ON reviewbot_commands (repository, number);
CREATE TABLE IF NOT EXISTS reviewbot_chores (name TEXT PRIMARY KEY, due DOUBLE PRECISION NOT NULL);
CREATE TABLE IF NOT EXISTS reviewbot_rates (
    name TEXT PRIMARY KEY, requests_free DOUBLE PRECISION NOT NULL, tokens_free DOUBLE PRECISION NOT NULL,
    closed_until DOUBLE PRECISION NOT NULL
);
CREATE TABLE IF NOT EXISTS reviewbot_queue_items (
    item TEXT PRIMARY KEY, installation BIGINT NOT NULL, repository BIGINT NOT NULL, number BIGINT NOT NULL,
    name TEXT NOT NULL, fingerprint TEXT NOT NULL, head TEXT NOT NULL, run TEXT NOT NULL, content BYTEA NOT NULL
);
CREATE INDEX IF NOT EXISTS reviewbot_queue_items_pull ON reviewbot_queue_items (repository, number);
CREATE TABLE IF NOT EXISTS reviewbot_queue_log (
    item TEXT NOT NULL, position BIGINT NOT NULL, action TEXT NOT NULL, actor TEXT NOT NULL, channel TEXT NOT NULL,
    reason BYTEA NOT NULL, head TEXT NOT NULL, url TEXT NOT NULL, at DOUBLE PRECISION NOT NULL, token TEXT NOT NULL,
    PRIMARY KEY (item, position)
);
CREATE TABLE IF NOT EXISTS reviewbot_labels (
    repository BIGINT NOT NULL, pull TEXT NOT NULL, finding TEXT NOT NULL, latest TEXT NOT NULL,
    installation BIGINT NOT NULL,
    worker TEXT NOT NULL, rule TEXT NOT NULL, kind TEXT NOT NULL, source TEXT NOT NULL, by_model BIGINT NOT NULL,
    severity TEXT NOT NULL, stated BIGINT, state TEXT NOT NULL, origin TEXT NOT NULL, dismissed_as TEXT NOT NULL,
    queue TEXT NOT NULL, up BIGINT NOT NULL, down BIGINT NOT NULL, resolved BIGINT NOT NULL, outcome TEXT NOT NULL,
    written DOUBLE PRECISION NOT NULL, PRIMARY KEY (repository, pull, finding)
);
CREATE INDEX IF NOT EXISTS reviewbot_labels_written ON reviewbot_labels (installation, written);
