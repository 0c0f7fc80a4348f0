"""Read and check a worker's options from its environment, once."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from reviewbot.app.runtime.environment import load_environment
from reviewbot.domain.errors import ConfigError

ONLY = "this-machine"
"""The executor's id where there is one worker alone: the next one goes on with what the last one was at."""

_DAY_S = 86_400.0


@dataclass(frozen=True)
class JobOptions:
    """One worker's options."""

    state: Path
    """Where files are kept."""
    database_url: str | None = field(default=None, repr=False)
    """Of Postgres; None: files in `state`, and one worker."""
    concurrency: int = 4
    """Runs at once in this worker."""
    installation_concurrency: int = 2
    """Runs at once of one installation, in all workers together."""
    global_concurrency: int = 32
    """Runs at once in all workers together."""
    stop_s: float = 25.0
    """How long a stop waits for runs under way; what is not done by then goes on elsewhere or later."""
    keep_days: int = 30
    """How long runs, traces and progress are kept."""
    beat_s: float = 5.0
    """Between two signs of life."""
    silent_s: float = 30.0
    """After so long without one, others take over."""
    catch_up_s: float = 900.0
    """Between two looks for what GitHub failed to hand over."""
    lock_s: float = 40.0
    """How long a worker waits for another one on the same files, which may be about to stop."""
    poll_s: float = 0.2
    """Between two looks into the queue."""

    @property
    def several(self) -> bool:
        """Whether there may be other workers."""
        return self.database_url is not None

    @property
    def keep_s(self) -> float:
        """`keep_days` in seconds."""
        return self.keep_days * _DAY_S

    @property
    def database(self) -> str:
        """Where our own tables are."""
        return self.database_url or str(self.state / "app.sqlite")

    @property
    def queue(self) -> str:
        """Where the durable engine's tables are. A file of its own: each has one writer at a time."""
        return self.database_url or str(self.state / "runs.sqlite")

    def executor(self) -> str:
        """This worker's name; of several, no two have the same one, ever."""
        if not self.several:
            return ONLY
        return f"{re.sub('[^A-Za-z0-9.-]', '-', socket.gethostname())[:60]}-{os.getpid()}-{uuid4().hex[:8]}"

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> JobOptions:
        """From the environment. Raises ConfigError."""
        around = load_environment(environ)
        concurrency = _number(environ, "REVIEWBOT_RUNS_AT_ONCE", cls.concurrency, 64)
        return cls(
            state=around.state_dir,
            database_url=around.database_url,
            concurrency=concurrency,
            installation_concurrency=_number(
                environ, "REVIEWBOT_RUNS_PER_INSTALLATION", cls.installation_concurrency, 64
            ),
            global_concurrency=_number(
                environ, "REVIEWBOT_RUNS_IN_ALL", max(cls.global_concurrency, concurrency), 1_000
            ),
            stop_s=float(_number(environ, "REVIEWBOT_STOP_SECONDS", int(cls.stop_s), 3_600)),
            keep_days=_number(environ, "REVIEWBOT_KEEP_DAYS", cls.keep_days, 3_650),
            catch_up_s=float(_number(environ, "REVIEWBOT_CATCH_UP_SECONDS", int(cls.catch_up_s), 86_400)),
        )


def _number(environ: Mapping[str, str], name: str, default: int, most: int) -> int:
    text = environ.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= most and len(text) <= len(str(most))):
        raise ConfigError(f"{name} must be a whole number from 1 to {most}")
    return int(text)
