"""`reviewbot serve`: the App on one machine. It supervises a process that answers the host and one that reviews.

With `--no-worker` it is the first of the two alone, for as many workers on other machines as one likes.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from importlib.util import find_spec

from reviewbot.app.runtime.credentials import WatchedCredentials
from reviewbot.app.runtime.environment import load_environment, make_state_dir
from reviewbot.app.runtime.logs import configure_logs
from reviewbot.app.runtime.supervise import Child, supervise
from reviewbot.domain.errors import ConfigError

OURSELVES = (sys.executable, "-P", "-m", "reviewbot")
"""-P: no module is imported from the current folder."""


def serve_command(arguments: argparse.Namespace) -> int:
    """Serve until stopped; the exit code. Raises ConfigError."""
    if arguments.no_worker:
        from reviewbot.cli.serving import serve_web  # noqa: PLC0415 - the supervisor needs no web server

        return serve_web(arguments, os.environ)
    if find_spec("flask") is None:
        # Found out here in one line; the processes that need it would each log that they cannot start.
        raise ModuleNotFoundError(name="flask")
    place = load_environment(os.environ)
    make_state_dir(place.state_dir)
    credentials = WatchedCredentials(os.environ, place.state_dir)
    configure_logs(hidden=credentials.secrets)
    address = ("--host", arguments.host, "--port", str(arguments.port))
    printing = ("--print-credentials",) if arguments.print_credentials else ()
    return asyncio.run(
        supervise(
            [
                Child("web", (*OURSELVES, "serve", "--no-worker", *address, *printing)),
                Child("worker", (*OURSELVES, "worker"), lambda: _are_there(credentials), vital=False),
            ]
        )
    )


def _are_there(credentials: WatchedCredentials) -> bool:
    """Whether there is an App to work for. The web process says what is wrong with a file of credentials."""
    try:
        return credentials() is not None
    except ConfigError:
        return False
