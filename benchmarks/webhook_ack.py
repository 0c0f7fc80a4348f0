#!/usr/bin/env python3
"""How quickly deliveries are acknowledged, against a bare handler that does the same check and one such insert.

Run it in an environment with `reviewbot[server]`: `python benchmarks/webhook_ack.py`. Both servers run on waitress in a
process of their own, make the same insert into the same table of a SQLite file and wait for the disk; beside each runs
the same busy worker, which takes up a processor and drains the table. The bare handler opens the file for each request,
as Flask's documentation has it (https://flask.palletsprojects.com/en/stable/patterns/sqlite3/); with `--keep` each of
its threads keeps its connection. 16 clients send 2,000 signed deliveries; five runs each, taken in turn.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import http.client
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

SECRET = b"benchmark-secret-not-real"
CLIENTS, DELIVERIES, RUNS = 16, 2_000, 5
THREADS = 8
"""Of each server."""
PADDING = 24_000
"""Bytes that make a payload as large as GitHub's usually are."""
P50_BOUND, P99_BOUND = 2.5, 4.0
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{'A' * 64}\n-----END RSA PRIVATE KEY-----\n"


INBOX = "inbox.sqlite"
INSERT = """
    INSERT INTO reviewbot_inbox (delivery, event, body, place, key, told, received, state, tries)
    VALUES (?, ?, ?, ?, ?, ?, ?, 'waiting', 0)
"""
"""What ours comes down to where nothing is a repeat."""

TOLD = json.dumps(
    {
        "kind": "head",
        "installation_id": 42,
        "repository_id": 1,
        "repository": "octo/repo",
        "number": 1,
        "head_sha": "0" * 40,
        "reason": "synchronize",
        "delivery_id": "72d3162e-cc78-11e3-81ab-000000000000",
    }
)
"""As long as ours, and such that the worker can read it."""


class Sample(NamedTuple):
    """One run: milliseconds, and what was not answered with 202."""

    p50: float
    p99: float
    errors: int
    seconds: float


def main() -> int:
    """Measure; 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--deliveries", type=int, default=DELIVERIES)
    parser.add_argument("--keep", action="store_true", help="the bare handler's threads keep their connections")
    parser.add_argument("--serve", choices=("bare", "busy"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve == "bare":
        return bare_server(arguments.folder, keep=arguments.keep)
    if arguments.serve == "busy":
        return busy_worker(arguments.folder)
    found: dict[str, list[Sample]] = {"bare": [], "reviewbot": []}
    for _ in range(arguments.runs):
        for kind, samples in found.items():
            with tempfile.TemporaryDirectory() as folder, running(kind, Path(folder), keep=arguments.keep) as port:
                samples.append(load(port, arguments.deliveries))
    return report(found, arguments.deliveries)


def report(found: dict[str, list[Sample]], count: int) -> int:
    """Print all of it."""
    print("| server | p50 ms | p99 ms | errors | deliveries/s | p99 of each run |\n|---|---|---|---|---|---|")
    middle: dict[str, tuple[float, float]] = {}
    for kind, samples in found.items():
        p50, p99 = (statistics.median(getattr(sample, name) for sample in samples) for name in ("p50", "p99"))
        middle[kind] = p50, p99
        rate = count / statistics.median(sample.seconds for sample in samples)
        each = ", ".join(f"{sample.p99:.0f}" for sample in samples)
        errors = sum(sample.errors for sample in samples)
        print(f"| {kind} | {p50:.1f} | {p99:.1f} | {errors} | {rate:.0f} | {each} |")
    ratios = [middle["reviewbot"][index] / middle["bare"][index] for index in (0, 1)]
    held = ratios[0] <= P50_BOUND and ratios[1] <= P99_BOUND and not any(s.errors for s in found["reviewbot"])
    print(f"\np50 {ratios[0]:.2f} times (at most {P50_BOUND}), p99 {ratios[1]:.2f} times (at most {P99_BOUND})")
    print("held" if held else "MISSED")
    return 0 if held else 1


def load(port: int, deliveries: int) -> Sample:
    """All deliveries from all clients."""
    bodies = [payload(number) for number in range(deliveries)]
    lock, times, errors = threading.Lock(), list[float](), list[int]()

    def client(number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        mine, wrong = [], []
        for index in range(number, deliveries, CLIENTS):
            began = time.perf_counter()
            connection.request("POST", "/webhook", bodies[index][0], bodies[index][1])
            answer = connection.getresponse()
            answer.read()
            mine.append(1_000 * (time.perf_counter() - began))
            if answer.status != http.HTTPStatus.ACCEPTED:
                wrong.append(answer.status)
        with lock:
            times.extend(mine)
            errors.extend(wrong)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    missing = deliveries - len(times)
    cuts = statistics.quantiles(times, n=100)
    return Sample(cuts[49], cuts[98], len(errors) + missing, time.perf_counter() - began)


def payload(number: int) -> tuple[bytes, dict[str, str]]:
    """A push to a pull request of its own, signed."""
    side = {"sha": f"{number:040x}", "ref": "feature", "repo": None}
    urls = {f"url_{index}": f"https://api.github.com/repos/octo/repo/{index}" for index in range(PADDING // 60)}
    body = json.dumps(
        {
            "action": "synchronize",
            "number": number + 1,
            "pull_request": {"number": number + 1, "state": "open", "head": side, "base": side, "links": urls},
            "repository": {"id": 1, "full_name": "octo/repo"},
            "installation": {"id": 42},
            "sender": {"login": "dev", "type": "User"},
        }
    ).encode()
    return body, {
        "Content-Type": "application/json",
        "X-GitHub-Event": "pull_request",
        "X-GitHub-Delivery": f"72d3162e-cc78-11e3-81ab-{number:012x}",
        "X-Hub-Signature-256": "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest(),
    }


@contextmanager
def running(kind: str, folder: Path, *, keep: bool) -> Iterator[int]:
    """A server and the worker beside it; the server's port."""
    port = free_port()
    environ = {
        **os.environ,
        "REVIEWBOT_STATE_DIR": str(folder),
        "REVIEWBOT_APP_ID": "7",
        "REVIEWBOT_PRIVATE_KEY": KEY,
        "REVIEWBOT_WEBHOOK_SECRET": SECRET.decode(),
        "BENCHMARK_PORT": str(port),
    }
    ours = [sys.executable, "-m", "reviewbot", "serve", "--no-worker", "--port", str(port)]
    bare = [sys.executable, __file__, "--serve", "bare", "--folder", str(folder), *(["--keep"] if keep else [])]
    busy = [sys.executable, __file__, "--serve", "busy", "--folder", str(folder)]
    quiet: dict[str, Any] = {"env": environ, "stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    with subprocess.Popen(bare if kind == "bare" else ours, **quiet) as server:
        try:
            wait_for(port)
            with subprocess.Popen(busy, **quiet) as worker:
                try:
                    time.sleep(1)
                    yield port
                finally:
                    worker.kill()
        finally:
            server.kill()


def bare_server(folder: Path, *, keep: bool) -> int:
    """The check and the insert, and nothing else."""
    from flask import Flask, g, request  # noqa: PLC0415 - the clients need none
    from waitress import serve  # noqa: PLC0415 - the same

    from reviewbot.app.store.inbox.store import open_store  # noqa: PLC0415 - the same; for the table alone

    app = Flask("bare")
    local = threading.local()
    open_store(str(folder / INBOX)).close()

    @app.post("/webhook")
    def webhook() -> tuple[str, int]:
        body = request.get_data()
        given = request.headers.get("X-Hub-Signature-256", "").encode()
        digest = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(b"sha256=" + digest.encode(), given):
            return "", 401
        place: Any = local if keep else g
        if not hasattr(place, "connection"):
            place.connection = connect(folder)
        delivery, event = request.headers["X-GitHub-Delivery"], request.headers["X-GitHub-Event"]
        place.connection.execute(INSERT, (delivery, event, digest, delivery, digest, TOLD, time.time()))
        return "", 202

    @app.teardown_appcontext
    def close(_error: BaseException | None) -> None:
        if (connection := g.pop("connection", None)) is not None:
            connection.close()

    serve(app, host="127.0.0.1", port=int(os.environ["BENCHMARK_PORT"]), threads=THREADS)
    return 0


def busy_worker(folder: Path) -> int:
    """Take up a processor as a review does, and take deliveries out of the table five times a second, as ours do."""
    from reviewbot.app.store.inbox.inbox import open_inbox  # noqa: PLC0415 - the clients need none

    inbox = open_inbox(str(folder / INBOX), durable=False)
    while True:
        until = time.monotonic() + 0.2
        while time.monotonic() < until:
            json.loads(json.dumps({"lines": [{"number": each, "text": "x = 1"} for each in range(2_000)]}))
        for delivery in inbox.claim(16, 60.0, "benchmark"):
            inbox.mark_done(delivery.id)


def connect(folder: Path) -> sqlite3.Connection:
    """As a careful handler would."""
    connection = sqlite3.connect(folder / INBOX, timeout=30, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def free_port() -> int:
    """A port that nobody listens on."""
    import socket  # noqa: PLC0415 - nobody else here needs it

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(port: int) -> None:
    """Until somebody listens."""
    for _ in range(300):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
        try:
            connection.request("GET", "/healthz")
            connection.getresponse().read()
        except OSError:
            time.sleep(0.1)
        else:
            return
        finally:
            connection.close()
    raise SystemExit("the server did not start")


if __name__ == "__main__":
    raise SystemExit(main())
