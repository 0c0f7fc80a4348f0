"""Ports for programs that have to be told one before they listen."""

from __future__ import annotations

import random
import socket
from contextlib import suppress

BELOW_EPHEMERAL = range(20_000, 32_000)
"""Linux gives a connection, and who asks for any port, one from 32,768 on: none of these is taken in the meantime."""


def free_port() -> int:
    """A port on which nothing listens on 127.0.0.1. Raises OSError where there is none."""
    for port in random.sample(BELOW_EPHEMERAL, 100):
        with suppress(OSError), socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(("127.0.0.1", port))
            return port
    raise OSError("no port is free")
