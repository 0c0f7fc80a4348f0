"""Read and check the App's configuration from the environment: its folder, database and addresses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from reviewbot.app.store.sql import PREFIXES
from reviewbot.domain.errors import ConfigError

API_URL = "https://api.github.com"
WEB_URL = "https://github.com"
INBOX = "inbox.sqlite"
"""Beside the jobs' own file: a delivery shall not wait while a worker writes."""

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9a-fA-F:]{2,45}\]")
_PATH = re.compile(r"(?:/[A-Za-z0-9._~-]{1,100}){0,5}")


@dataclass(frozen=True)
class Environment:
    """One installation of the App. `database_url` may hold a password and is not shown."""

    state_dir: Path
    """Ours alone (0700): credentials, and the databases where they are files."""
    database_url: str | None = field(default=None, repr=False)
    """Of Postgres, "postgresql://..."; None: files in `state_dir`, which one machine alone may use."""
    api_url: str = API_URL
    web_url: str = WEB_URL
    public_url: str | None = None
    """Where the host reaches us; None where it is not set."""

    @property
    def inbox_url(self) -> str:
        """What `open_inbox` takes: the server's address, or the path of a file."""
        return self.database_url or str(self.state_dir / INBOX)


def load_environment(environ: Mapping[str, str]) -> Environment:
    """Read REVIEWBOT_STATE_DIR, REVIEWBOT_DATABASE_URL, REVIEWBOT_PUBLIC_URL, GITHUB_API_URL and GITHUB_SERVER_URL.

    Raises ConfigError; it never quotes the database's URL.
    """
    public = environ.get("REVIEWBOT_PUBLIC_URL", "")
    return Environment(
        state_dir=_state_dir(environ),
        database_url=_database(environ.get("REVIEWBOT_DATABASE_URL", "")),
        api_url=check_url("GITHUB_API_URL", environ.get("GITHUB_API_URL", "") or API_URL),
        web_url=check_url("GITHUB_SERVER_URL", environ.get("GITHUB_SERVER_URL", "") or WEB_URL),
        public_url=check_url("REVIEWBOT_PUBLIC_URL", public) if public else None,
    )


def check_url(name: str, text: str) -> str:
    """An address of scheme, host, port and a plain path, without a last slash. Raises ConfigError."""
    try:
        parts = urlsplit(text if text.isprintable() else "")  # it would drop line ends in silence
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = parts.netloc.rpartition(":")[0] if port is not None else parts.netloc
    path = parts.path.rstrip("/")
    plain = not parts.query and not parts.fragment and _PATH.fullmatch(path) and ".." not in path
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(host) or not plain:
        raise ConfigError(f"{name} must be an address such as https://reviews.example.org")
    return f"{parts.scheme}://{parts.netloc}{path}"


def make_state_dir(path: Path) -> None:
    """Make the folder, for us alone. Raises ConfigError."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
    except OSError as error:
        raise ConfigError(f"REVIEWBOT_STATE_DIR: {path} cannot be used ({type(error).__name__})") from None


def _state_dir(environ: Mapping[str, str]) -> Path:
    if given := environ.get("REVIEWBOT_STATE_DIR", ""):
        return Path(given).absolute()
    for folder, below in ((environ.get("XDG_STATE_HOME", ""), "."), (environ.get("HOME", ""), ".local/state")):
        if Path(folder).is_absolute():
            return Path(folder) / below / "reviewbot"
    raise ConfigError("set REVIEWBOT_STATE_DIR to a folder for the App's state")


def _database(url: str) -> str | None:
    if url and not url.startswith(PREFIXES):
        raise ConfigError("REVIEWBOT_DATABASE_URL must begin with postgresql://; without it, files are used")
    return url or None
