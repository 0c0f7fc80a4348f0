"""`reviewbot worker`: takes what the App accepted, reviews it, and posts. Any number of them on one Postgres."""

from __future__ import annotations

import argparse
import hashlib
import logging
import os
import signal
from collections.abc import Mapping
from threading import Event

from reviewbot.app.runtime.credentials import Credentials, WatchedCredentials
from reviewbot.app.runtime.environment import load_environment, make_state_dir
from reviewbot.app.runtime.logs import configure_logs
from reviewbot.app.runtime.supervise import follow_supervisor
from reviewbot.app.scheduling.catchup import CatchUp
from reviewbot.app.store.inbox.counters import Counters
from reviewbot.app.store.inbox.inbox import Inbox, open_inbox
from reviewbot.app.store.inbox.store import open_store
from reviewbot.app.worker.github_steps import App, github_steps
from reviewbot.app.worker.options import JobOptions
from reviewbot.app.worker.periodic_tasks import TIDY_S
from reviewbot.app.worker.worker import Chore, Parts, Worker
from reviewbot.domain.errors import ConfigError
from reviewbot.hosts.github.auth.app import AppKeys, AppTokens
from reviewbot.publish.marker import KEY_VARIABLE, Signer

DECIDE_S = 5.0
"""Between two looks into the human queue for decisions."""

_MARKER = b"reviewbot marker of the App\0"


def worker_command(_arguments: argparse.Namespace) -> int:
    """Work until stopped; the exit code. Raises ConfigError."""
    environ = os.environ
    options, place = JobOptions.of(environ), load_environment(environ)
    make_state_dir(place.state_dir)
    credentials = WatchedCredentials(environ, place.state_dir)
    configure_logs(hidden=credentials.secrets)
    known(credentials)
    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    follow_supervisor(environ)
    tokens = AppTokens(lambda: keys_of(known(credentials)), place.api_url)
    worker = Worker(options)
    inbox = open_inbox(place.inbox_url, durable=False)
    app = App(
        database=lambda: worker.database,
        tokens=tokens,
        signer=lambda: signer_of(known(credentials), environ),
        environ=environ,
        bot_id=lambda: known(credentials).bot_id,
        tallies=Counters(open_store(place.inbox_url, durable=False)),
    )
    catch_up = CatchUp(tokens)
    chores = (
        Chore("asking for failed deliveries", options.catch_up_s, catch_up.deliveries),
        Chore("looking for heads without a review", options.catch_up_s, catch_up.heads),
        Chore("carrying out decisions", DECIDE_S, lambda scheduler, _: scheduler.carry_out_decisions()),
        Chore("tidying up the inbox", TIDY_S, lambda *_: forget_deliveries(inbox, options.keep_s)),
    )
    return worker.run(stop, Parts(github_steps(app), inbox, chores))


def known(credentials: WatchedCredentials) -> Credentials:
    """The App's credentials as they are now. Raises ConfigError where there are none."""
    found = credentials()
    if found is None:
        raise ConfigError("there is no App yet: run `reviewbot serve` and open /setup, or see docs/operations.md")
    return found


def keys_of(credentials: Credentials) -> AppKeys:
    """The App's id and keys, with which it asks GitHub for tokens."""
    return AppKeys(credentials.app_id, credentials.private_keys)


def signer_of(credentials: Credentials, environ: Mapping[str, str]) -> Signer:
    """The signer of what is posted: by a key of the operator's own where there is one, else by the webhook secrets.

    Of two secrets the first signs, and both are believed, so that what was posted before an exchange is known after it.
    """
    derived = tuple(hashlib.sha256(_MARKER + secret).digest() for secret in credentials.webhook_secrets)
    if not environ.get(KEY_VARIABLE):
        return Signer(derived)
    return Signer((*Signer.from_environment(environ).keys, *derived))


def forget_deliveries(inbox: Inbox, keep_s: float) -> None:
    """Remove what the inbox has no more use for."""
    if count := inbox.forget(keep_s):
        logging.getLogger("reviewbot.app.worker").info("%d old deliveries were removed", count)
