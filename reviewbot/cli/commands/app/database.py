"""The database of the App that runs on this machine, or that the environment names, for commands that look into it."""

from __future__ import annotations

import os
from pathlib import Path

from reviewbot.app.store.durable.database import Database, open_database
from reviewbot.app.worker.options import JobOptions
from reviewbot.domain.errors import InputError


def open_app_database() -> Database | None:
    """Open it; None where no App has run here. Raises ConfigError."""
    options = JobOptions.of(os.environ)
    return open_database(options.database) if options.several or Path(options.database).exists() else None


def app_database() -> Database:
    """The same; raises InputError where no App has run here."""
    if (database := open_app_database()) is None:
        raise InputError(f"the App has not run here yet: there is no {JobOptions.of(os.environ).database}")
    return database
