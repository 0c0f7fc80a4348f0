"""Reload credentials in a running process, so that keys are exchanged without a restart."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import RLock

from reviewbot.app.runtime.credentials import FILE_NAME, Credentials, credentials_from
from reviewbot.domain.errors import ConfigError

logger = logging.getLogger("reviewbot.credentials")

_Mark = tuple[int, int, int]

LOOK_S = 1.0
"""Between two looks at whether the file is another one."""


class WatchedCredentials:
    """The App's credentials as they are now. The file is read again when it is another one than before."""

    def __init__(
        self, environ: Mapping[str, str], state_dir: Path, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Raises ConfigError where there are some that cannot be right."""
        self._clock = clock
        self._looked = float("-inf")
        self._environ = dict(environ)
        self._state_dir = state_dir
        self._lock = RLock()  # what is logged inside asks for the secrets to mask
        self._mark: _Mark | None = None
        self._read: Credentials | None = None
        self._seen: set[str] = set()
        self()

    def __call__(self) -> Credentials | None:
        """Those of now; None where there are none yet. Raises ConfigError where the first ones cannot be right.

        A file that cannot be read any more, as one that is being written, changes nothing until it can be: what comes
        in meanwhile must not be turned away.
        """
        with self._lock:
            if self._read is not None and self._clock() < self._looked + LOOK_S:
                return self._read
            self._looked = self._clock()
            mark = _mark_of(self._state_dir / FILE_NAME)
            if self._read is None or mark != self._mark:
                self._read = self._newer()
                self._mark = mark
                self._seen.update(() if self._read is None else self._read.secrets())
            return self._read

    def _newer(self) -> Credentials | None:
        try:
            found = credentials_from(self._environ, self._state_dir)
        except ConfigError as error:
            if self._read is None:
                raise
            logger.error("the credentials of before are used: %s", error)  # noqa: TRY400 - it says what to do
            return self._read
        return found

    def secrets(self) -> tuple[str, ...]:
        """All secrets that this process has ever loaded: an exchanged key is a secret still."""
        with self._lock:
            return tuple(self._seen)


def _mark_of(path: Path) -> _Mark | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
