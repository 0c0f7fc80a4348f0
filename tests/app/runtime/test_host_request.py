"""A code host that answers slowly."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

import pytest

from reviewbot.app.runtime.host_request import send_request
from reviewbot.domain.errors import HostError

WAIT_S = 0.3


def test_a_host_that_sends_its_answer_byte_by_byte_is_left_at_the_deadline() -> None:
    left = threading.Event()

    def drip() -> None:
        with listening.accept()[0] as connection, suppress(OSError):
            connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            while not left.wait(WAIT_S / 10):
                connection.sendall(b"x")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=drip)
        thread.start()
        try:
            with pytest.raises(HostError, match="there is no time left"):
                send_request("GET", f"http://127.0.0.1:{listening.getsockname()[1]}", "/user", {}, timeout_s=WAIT_S)
        finally:
            left.set()
            thread.join()
