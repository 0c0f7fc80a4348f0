"""End a child process when its supervisor ends, however that happens.

The supervisor holds the other end of the child's standard input. When the system closes it, no process would ever stop
the child again, and it stops itself.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Mapping

VARIABLE = "REVIEWBOT_LIFELINE"
"""Set for a child whose standard input is one."""


def follow_supervisor(
    environ: Mapping[str, str], end: Callable[[], None] | None = None, descriptor: int = 0
) -> threading.Thread | None:
    """Stop this process in good order (by SIGTERM, or by `end`) once the supervisor is gone. None: there is none."""
    if environ.get(VARIABLE) != "stdin":
        return None
    watcher = threading.Thread(target=_watch, args=(descriptor, end or _end), name="lifeline", daemon=True)
    watcher.start()
    return watcher


def _watch(descriptor: int, end: Callable[[], None]) -> None:
    while os.read(descriptor, 1024):
        pass
    end()


def _end() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
