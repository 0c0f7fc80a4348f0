"""`reviewbot serve` in a process of its own, as its operator and its host see it: for `emulate_app.py`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from uuid import uuid4

from tests.emulate_github import must
from tests.webhooks import headers_of, signature

Json = Any

SECRET = "a-webhook-secret-of-the-emulator"

LIMIT_S = 300.0
"""For anything that is waited for."""


class Server:
    """`reviewbot serve`, as its operator and its host see it."""

    def __init__(self, folder: Path, port: int, environ: dict[str, str]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._log = folder / "serve.log"
        self._words = ["serve", "--host", "127.0.0.1", "--port", str(port)]
        self._environ = environ

    @contextmanager
    def running(self) -> Iterator[None]:
        """Started and ready; at the end stopped as an operator does."""
        command = [sys.executable, "-m", "reviewbot", *self._words]
        with self._log.open("wb") as log:
            process = subprocess.Popen(command, env=self._environ, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
            try:
                until("the server is ready", lambda: self.get("/readyz") == 200, self)
                yield
            finally:
                process.send_signal(signal.SIGTERM)
                code = process.wait(LIMIT_S)
        must(code == 0, f"the server ended with {code}: {self.tail()}")

    def get(self, path: str) -> int:
        """The status of a page; 0 where nobody answers."""
        return self._status(Request(self.url + path))

    def deliver(self, name: str, payload: Json, secret: str = SECRET) -> int:
        """An event as GitHub sends it; the status of the answer."""
        body = json.dumps(payload).encode()
        headers = headers_of(body, name, str(uuid4()), X_Hub_Signature_256=signature(body, secret))
        return self._status(Request(f"{self.url}/webhook", body, headers, method="POST"))

    def lines(self) -> list[Json]:
        """The log so far."""
        return [json.loads(line) for line in self._log.read_text("utf-8").splitlines() if line.endswith("}")]

    def told(self, what: str, event: str, reason: str = "") -> int:
        """How many deliveries of an event were accepted, ignored ..., for a reason."""
        found = [each for each in self.lines() if each["message"] == f"delivery {what}" and each["event"] == event]
        return sum(reason in each["reason"] for each in found)

    def tail(self) -> str:
        return self._log.read_text("utf-8")[-1_500:]

    def runs(self) -> list[Json]:
        """What `reviewbot runs` shows, newest first."""
        command = [sys.executable, "-m", "reviewbot", "runs", "--format", "json"]
        done = subprocess.run(command, env=self._environ, capture_output=True, text=True, check=False)
        found: list[Json] = json.loads(done.stdout) if done.returncode == 0 else []
        return found

    def run_of(self, repository: str, head: str) -> Json:
        """The run on a head; an empty one where there is none."""
        return next((each for each in self.runs() if (each["repository"], each["head"]) == (repository, head)), {})

    @staticmethod
    def _status(request: Request) -> int:
        try:
            with urlopen(request, timeout=60) as answer:
                return int(answer.status)
        except HTTPError as error:
            error.close()
            return error.code
        except OSError:
            return 0


def until(what: str, done: Callable[[], bool], server: Server) -> None:
    """Wait. Raises WrongError where it does not come."""
    limit = time.monotonic() + LIMIT_S
    while not done():
        must(time.monotonic() < limit, f"{what}: not within {LIMIT_S:.0f} s: {server.tail()}")
        time.sleep(0.2)
