"""JSON logging of the App: one line an event, the run's id in each, secrets masked, and no text of a foreign error.

    {"at": "2026-01-01T00:00:00.000Z", "level": "info", "logger": "reviewbot.app.web", "run": null, "message": "..."}

Whatever was handed to `extra=` stands beside `message`; a `run` there replaces the one of `run_named`. Lines are
ASCII, so that nothing that was logged can begin a line of its own or steer a terminal.
"""

from __future__ import annotations

import contextlib
import logging
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from types import TracebackType
from typing import TextIO

from reviewbot.config.providers import SDK_LOGGERS
from reviewbot.redact.mask import MASK, redact
from reviewbot.strict_json import write_json

MAX_TEXT = 2_000
"""Characters of one field. A line is for reading; what is longer is a payload."""

_MIN_SECRET_CHARS = 8
"""Characters. To mask every place where a shorter value stands would mask words."""

_QUIET = ("waitress", "werkzeug", "dbos", "sqlalchemy", "urllib3", "github", "httpx", *SDK_LOGGERS)
"""Libraries that log for themselves (some of them each call, with its address), and through handlers of their own:
heard from warnings on, through ours."""

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every record has; the rest came by `extra=`."""

_FIXED = frozenset({"at", "level", "logger", "run", "error", "where"})

_OURS = frozenset({"at", "level", "logger"})

_PLAIN = re.compile(r"[a-z_ .,:;()'/-]*|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_run: ContextVar[str | None] = ContextVar("reviewbot_run", default=None)


@contextlib.contextmanager
def run_named(run: str) -> Iterator[None]:
    """Add this run's id to everything that is logged inside, in threads and tasks begun there too."""
    token = _run.set(run)
    try:
        yield
    finally:
        _run.reset(token)


class LineFormatter(logging.Formatter):
    """A record as one line of JSON. `hidden` is asked for the secrets of now each time, so that keys may be rotated."""

    def __init__(self, hidden: Callable[[], Iterable[str]] = tuple) -> None:
        super().__init__()
        self._hidden = hidden

    def format(self, record: logging.LogRecord) -> str:
        """Never raises for what a caller handed in; an argument that fits no placeholder leaves the bare message."""
        secrets = _pieces(tuple(self._hidden()))
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "run": getattr(record, "run", None) or _run.get(),
            "message": _clean(_message(record), secrets),
        }
        for key, value in vars(record).items():
            if key not in _OWN and key not in _FIXED:
                line[key] = _plain(value, secrets)
        if record.exc_info and record.exc_info[0] is not None:
            line |= _fault(record.exc_info[0], record.exc_info[2])
        text = write_json(line)
        # Over the whole line, for a value is recognised by its name as well; and only where there can be one.
        return text if all(_harmless(value) for key, value in line.items() if key not in _OURS) else redact(text)


def configure_logs(
    stream: TextIO | None = None, level: str = "INFO", hidden: Callable[[], Iterable[str]] = tuple
) -> None:
    """Make this process log to `stream` (standard error) in lines of JSON, and libraries with it."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(LineFormatter(hidden))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.raiseExceptions = False  # a log that cannot be written is no reason to print a stack
    for name in _QUIET:
        library = logging.getLogger(name)
        library.handlers.clear()
        library.propagate = True
        library.setLevel(logging.WARNING)
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # a line for each request that waits, in every burst


def _harmless(value: object) -> bool:
    """Whether nothing in it can be a secret: those have digits or capitals, and are no ids of deliveries."""
    return not isinstance(value, str) or _PLAIN.fullmatch(value) is not None


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError):
        return str(record.msg)


def _plain(value: object, secrets: tuple[str, ...]) -> object:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else str(value)
    return _clean(str(value), secrets)


def _clean(text: str, secrets: tuple[str, ...]) -> str:
    for secret in secrets:
        text = text.replace(secret, MASK)
    if len(text) <= MAX_TEXT:
        return text
    return redact(text[: 4 * MAX_TEXT])[:MAX_TEXT] + " ..."  # before it is cut: half a secret is not recognised


@lru_cache(maxsize=1)
def _pieces(hidden: tuple[str, ...]) -> tuple[str, ...]:
    """What to mask, the longest first: secrets, and their lines, for a key may be quoted without its line ends.

    Put together only where a key has come or gone since the last line.
    """
    parts = {part for secret in hidden for part in (secret, *secret.splitlines())}
    masked = [part for part in parts if len(part) >= _MIN_SECRET_CHARS and "-----" not in part]
    return tuple(sorted(masked, key=len, reverse=True))


def _fault(kind: type[BaseException], where: TracebackType | None) -> dict[str, object]:
    """What broke and where. The error's own text is left out: it may quote a payload or reviewed code."""
    frames = traceback.extract_tb(where)
    return {"error": kind.__name__, "where": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]}
