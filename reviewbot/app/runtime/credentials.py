"""Load and store the App's id, keys and webhook secrets: from the environment or the file that setup wrote.

Two keys and two secrets may be valid at a time, so that each can be exchanged without a gap; the first is used. Where
the environment sets the id, a key or a webhook secret, the file is not read: the two could belong to different Apps.
`WatchedCredentials` reads the file again when it changes, so that keys are exchanged without a restart.
"""

from __future__ import annotations

import json
import logging
import os
import re
import stat
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import RLock

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from reviewbot.domain.errors import ConfigError

MIN_SECRET_BYTES = 16
"""Of a webhook secret: with fewer, an attacker who has one signed body can try them all."""

FILE_NAME = "credentials.json"
DEFAULT_SLUG = "reviewbot"

MAX_FILE_BYTES = 64 * 1024
_VERSION = 1
_MAX_ID = 2**63
_ID_DIGITS = 20
"""More than any such number has, and few enough to be read at once."""
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?")
_CLIENT_ID = re.compile(r"[A-Za-z0-9._-]{0,100}")
_PEM = re.compile(
    r"-----BEGIN (?:RSA )?PRIVATE KEY-----\n[A-Za-z0-9+/=\n]{64,20000}\n-----END (?:RSA )?PRIVATE KEY-----\n"
)
_HINT = "set REVIEWBOT_APP_ID, REVIEWBOT_PRIVATE_KEY (or _FILE) and REVIEWBOT_WEBHOOK_SECRET (or _FILE)"

logger = logging.getLogger("reviewbot.credentials")

_Mark = tuple[int, int, int]

LOOK_S = 1.0
"""Between two looks at whether the file is another one."""


@dataclass(frozen=True, repr=False, config=ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True))
class Credentials:
    """An App. Its `repr` shows no secret."""

    app_id: int
    slug: str
    """Its name in addresses and mentions."""
    private_keys: tuple[str, ...]
    """One or two PEM texts."""
    webhook_secrets: tuple[bytes, ...]
    """One or two."""
    bot_id: int | None = None
    """The account that its comments are written by; None where GitHub was not asked for it."""
    client_id: str = ""
    """With `client_secret`: for the sign-in of people to the pages; both empty where there is no such sign-in."""
    client_secret: str = ""

    def __post_init__(self) -> None:
        _check(self)

    def __repr__(self) -> str:
        return f"Credentials(app_id={self.app_id}, slug={self.slug!r})"

    def secrets(self) -> tuple[str, ...]:
        """The secrets that no log may show."""
        webhook = (secret.decode("utf-8", "replace") for secret in self.webhook_secrets)
        return (*self.private_keys, *webhook, *filter(None, (self.client_secret,)))


_CREDENTIALS = TypeAdapter(Credentials)


def credentials_from(environ: Mapping[str, str], state_dir: Path) -> Credentials | None:
    """The App's credentials; None where there are none.

    Raises ConfigError where they are incomplete or cannot be right; it never quotes one.
    """
    found = _from_environment(environ) or read_credentials(state_dir / FILE_NAME)
    client_id, client_secret = environ.get("REVIEWBOT_CLIENT_ID", ""), secret_value(environ, "REVIEWBOT_CLIENT_SECRET")
    if found is None or not (client_id or client_secret):
        return found
    return replace(found, client_id=client_id, client_secret=client_secret)


def read_credentials(path: Path) -> Credentials | None:
    """Read the credentials from a file that `store_credentials` wrote; None where there is none.

    Raises ConfigError where others could read the file, or it is not what was written.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({type(error).__name__})") from None
    if not stat.S_ISREG(mode) or mode & 0o077:
        raise ConfigError(f"{path}: others may read it; chmod 600 makes it yours, and the keys should be exchanged")
    try:
        stored = json.loads(data)
        if stored.pop("version") != _VERSION:
            raise ConfigError("the file of credentials comes from another version")
        return _CREDENTIALS.validate_json(json.dumps(stored))
    except (ValidationError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
        raise ConfigError(f"{path}: is no file of credentials; run the setup again") from None


def store_credentials(path: Path, credentials: Credentials) -> None:
    """Write the credentials atomically, readable by us alone. Raises ConfigError."""
    stored = {"version": _VERSION, **_CREDENTIALS.dump_python(credentials, mode="json")}
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(json.dumps(stored, indent=1).encode())
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written ({type(error).__name__})") from None
    finally:
        with suppress(OSError):
            beside.unlink()


def as_variables(credentials: Credentials) -> str:
    """The credentials as lines NAME="value" for a secret store; one line each, JSON's way of writing line ends."""
    pairs = {
        "REVIEWBOT_APP_ID": str(credentials.app_id),
        "REVIEWBOT_APP_SLUG": credentials.slug,
        "REVIEWBOT_PRIVATE_KEY": credentials.private_keys[0],
        "REVIEWBOT_WEBHOOK_SECRET": credentials.webhook_secrets[0].decode("utf-8"),
        "REVIEWBOT_CLIENT_ID": credentials.client_id,
        "REVIEWBOT_CLIENT_SECRET": credentials.client_secret,
    }
    return "".join(f"{name}={json.dumps(value)}\n" for name, value in pairs.items() if value)


def _from_environment(environ: Mapping[str, str]) -> Credentials | None:
    number = environ.get("REVIEWBOT_APP_ID", "")
    keys = tuple(_key(text) for name in ("", "_2") if (text := secret_value(environ, f"REVIEWBOT_PRIVATE_KEY{name}")))
    secrets = tuple(text for name in ("", "_2") if (text := secret_value(environ, f"REVIEWBOT_WEBHOOK_SECRET{name}")))
    if not number and not keys and not secrets:
        return None
    if not number or not keys or not secrets:
        raise ConfigError(f"the App's credentials are incomplete; {_HINT}")
    bot = environ.get("REVIEWBOT_BOT_ID", "")
    return Credentials(
        app_id=_number("REVIEWBOT_APP_ID", number),
        slug=environ.get("REVIEWBOT_APP_SLUG", "") or DEFAULT_SLUG,
        private_keys=keys,
        webhook_secrets=tuple(secret.encode() for secret in secrets),
        bot_id=_number("REVIEWBOT_BOT_ID", bot) if bot else None,
    )


def secret_value(environ: Mapping[str, str], name: str) -> str:
    """A variable, or what stands in the file that NAME_FILE names, without its last line end."""
    if text := environ.get(name, ""):
        return text
    place = environ.get(f"{name}_FILE", "")
    if not place:
        return ""
    try:
        with Path(place).open("rb") as file:
            return file.read(MAX_FILE_BYTES).decode("utf-8").rstrip("\r\n")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{name}_FILE: cannot be read ({type(error).__name__})") from None


def _key(text: str) -> str:
    """A PEM text as programs want it: many places can only keep it in one line."""
    return text.replace("\\n", "\n").replace("\r\n", "\n").strip() + "\n"


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > _ID_DIGITS or not 0 < int(text) < _MAX_ID:
        raise ConfigError(f"{name} must be a number, as the App's page shows it")
    return int(text)


def _check(given: Credentials) -> None:
    one_or_two = range(1, 3)  # the old one and the new one, while it is exchanged
    rules = (
        (not 0 < given.app_id < _MAX_ID, "the App's id must be a positive number"),
        (not _SLUG.fullmatch(given.slug), "the App's slug must be its name in addresses, such as my-reviewbot"),
        (
            len(given.private_keys) not in one_or_two or not all(map(_PEM.fullmatch, given.private_keys)),
            "each private key must be the text of the PEM file that GitHub gave",
        ),
        (
            len(given.webhook_secrets) not in one_or_two,
            "there must be one webhook secret, or two while one is exchanged",
        ),
        (
            any(len(secret) < MIN_SECRET_BYTES for secret in given.webhook_secrets),
            f"a webhook secret must have at least {MIN_SECRET_BYTES} bytes; `openssl rand -hex 32` makes one",
        ),
        (
            bool(given.client_id) != bool(given.client_secret) or not _CLIENT_ID.fullmatch(given.client_id),
            "sign-in needs both REVIEWBOT_CLIENT_ID and REVIEWBOT_CLIENT_SECRET, as the App's page shows them",
        ),
    )
    for is_wrong, message in rules:
        if is_wrong:
            raise ConfigError(message)


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
