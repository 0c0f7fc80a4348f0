"""A Postgres of our own on loopback, for as long as a test needs it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from tests.ports import free_port

PLACES = ("/usr/bin", "/usr/local/bin", *(str(each) for each in sorted(Path("/usr/lib/postgresql").glob("*/bin"))))

READY_S = 120.0


def program(name: str) -> str | None:
    """Where one of Postgres' programs is."""
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), *PLACES]))


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of an empty database. Raises FileNotFoundError where Postgres is not installed."""
    initdb, server = program("initdb"), program("postgres")
    if initdb is None or server is None:
        raise FileNotFoundError("initdb and postgres are needed")
    # It refuses to run as root, who can be anybody else.
    other = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="reviewbot-pg-") as folder:
        if other:
            shutil.chown(folder, "postgres", "postgres")
        data = f"{folder}/data"
        made = [*other, initdb, "-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8"]
        subprocess.run(made, check=True, capture_output=True, cwd=folder)
        port = free_port()
        begun = [*other, server, "-D", data, "-p", str(port), "-k", folder, "-c", "listen_addresses=127.0.0.1",
                 "-c", "max_connections=200", "-c", "fsync=on"]  # fmt: skip
        process = subprocess.Popen(begun, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        try:
            yield _database(port)
        finally:
            process.send_signal(signal.SIGINT)  # whoever is still connected is not waited for
            process.wait(timeout=READY_S)


def _database(port: int) -> str:
    until = time.monotonic() + READY_S
    while True:
        with suppress(psycopg.OperationalError):
            with psycopg.connect(f"postgresql://postgres@127.0.0.1:{port}/postgres", autocommit=True) as connection:
                connection.execute("CREATE DATABASE reviewbot")
            return f"postgresql://postgres@127.0.0.1:{port}/reviewbot"
        if time.monotonic() > until:
            raise TimeoutError("Postgres did not begin")
        time.sleep(0.1)
