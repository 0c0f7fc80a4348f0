"""Assemble and run the web process."""

from __future__ import annotations

import argparse
import logging
import secrets
import sys
from collections.abc import Callable, Mapping
from functools import partial

from reviewbot.app.pages.github_sign_in import GithubSignIn
from reviewbot.app.pages.parts import PagesParts
from reviewbot.app.runtime.conversion import convert_code
from reviewbot.app.runtime.credentials import (
    FILE_NAME,
    Credentials,
    WatchedCredentials,
    as_variables,
    secret_value,
    store_credentials,
)
from reviewbot.app.runtime.environment import Environment, load_environment, make_state_dir
from reviewbot.app.runtime.logs import configure_logs
from reviewbot.app.runtime.supervise import follow_supervisor
from reviewbot.app.store.durable.database import Database, open_database
from reviewbot.app.store.durable.runs import Runs
from reviewbot.app.store.durable.workers import Workers
from reviewbot.app.store.inbox.counters import Counters
from reviewbot.app.store.inbox.inbox import Inbox
from reviewbot.app.store.inbox.store import open_store
from reviewbot.app.web.app import create_app
from reviewbot.app.web.parts import SetupParts, WebParts
from reviewbot.app.web.server import serve_app
from reviewbot.app.worker.options import JobOptions
from reviewbot.config.source import settings_of
from reviewbot.domain.errors import ConfigError, ExitCode

logger = logging.getLogger("reviewbot.app.web")

EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - it is compared, and nothing listens by it
"""What is no address that a browser could open."""
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})

MIN_TOKEN_CHARS = 16
"""Characters of REVIEWBOT_METRICS_TOKEN and REVIEWBOT_PAGES_TOKEN."""


def serve_web(arguments: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Answer the host until stopped; the exit code. Raises ConfigError."""
    place = load_environment(environ)
    make_state_dir(place.state_dir)
    credentials = WatchedCredentials(environ, place.state_dir)
    configure_logs(hidden=credentials.secrets)
    keep = _print if arguments.print_credentials else partial(_store, place)
    setup = _setup(place, keep) if credentials() is None else None
    store = open_store(place.inbox_url)
    inbox = Inbox(store)
    options = JobOptions.of(environ)
    runs = open_database(options.database)
    try:
        parts = WebParts(
            inbox=inbox,
            credentials=credentials,
            settings=settings_of(None, environ, {}),
            tallies=Counters(store).read,
            states=Runs(runs).counts,
            workers=partial(Workers(runs).alive, options.silent_s),
            metrics_token=_token(environ, "REVIEWBOT_METRICS_TOKEN"),
            ready_max_age_s=_number(environ, "REVIEWBOT_READY_MAX_AGE_S", "seconds"),
            setup=setup,
            pages=_pages(environ, place, credentials, runs, inbox),
        )
        follow_supervisor(environ)
        serve_app(create_app(parts), arguments.host, arguments.port, partial(_began, arguments.host, place, setup))
    finally:
        store.close()
        runs.close()
    logger.info("stopped")
    return ExitCode.REVIEWED


def _pages(
    environ: Mapping[str, str],
    place: Environment,
    credentials: Callable[[], Credentials | None],
    runs: Database,
    inbox: Inbox,
) -> PagesParts:
    def sign_in() -> GithubSignIn | None:
        found = credentials()
        if found is None or not found.client_id:
            return None
        return GithubSignIn(found, place.web_url, place.api_url, place.public_url)

    return PagesParts(
        database=runs,
        sign_in=sign_in,
        settings=settings_of(None, environ, {}),
        web_url=place.web_url,
        accept=inbox.put,
        token=_token(environ, "REVIEWBOT_PAGES_TOKEN"),
        proxies=_number(environ, "REVIEWBOT_PROXIES", "proxies", 1) or 0,
    )


def _setup(place: Environment, keep: Callable[[Credentials], str]) -> SetupParts:
    return SetupParts(
        convert=lambda code: convert_code(code, place.api_url),
        keep=keep,
        token=secrets.token_urlsafe(32),
        web_url=place.web_url,
        public_url=place.public_url,
    )


def _store(place: Environment, credentials: Credentials) -> str:
    path = place.state_dir / FILE_NAME
    store_credentials(path, credentials)
    return f"stored in {path}, for this user alone to read"


def _print(credentials: Credentials) -> str:
    """For a secret store: on standard output, where no log goes."""
    sys.stdout.write(as_variables(credentials))
    sys.stdout.flush()
    return "printed where the server was started; put them into its environment and start it again"


def _began(host: str, place: Environment, setup: SetupParts | None, port: int) -> None:
    logger.info("listening on %s port %d", host, port)
    if setup is None:
        return
    # For a person, and on standard output: the token is good once, and no log need keep it.
    name = "THIS-SERVER" if host in EVERYWHERE else host
    page = f"/setup?token={setup.token}"
    elsewhere = f"or from elsewhere\n  {place.public_url or f'http://{name}:{port}'}{page}\n"
    if place.public_url is None and host in _LOOPBACK:
        elsewhere = (
            "GitHub cannot reach it yet: set REVIEWBOT_PUBLIC_URL to the HTTPS address of the proxy in front of it\n"
        )
    sys.stdout.write(
        "No App is set up yet. Open this address to make one; it is good once. On this machine\n"
        f"  http://localhost:{port}{page}\n{elsewhere}"
    )
    sys.stdout.flush()


def _token(environ: Mapping[str, str], name: str) -> str | None:
    token = secret_value(environ, name)
    if token and len(token) < MIN_TOKEN_CHARS:
        raise ConfigError(f"{name} must have at least {MIN_TOKEN_CHARS} characters")
    return token or None


def _number(environ: Mapping[str, str], name: str, what: str, default: int | None = None) -> int | None:
    text = environ.get(name, "")
    if text and not (text.isascii() and text.isdigit() and len(text) <= 6):  # noqa: PLR2004 - some days
        raise ConfigError(f"{name} must be a whole number of {what}")
    return int(text) if text else default
