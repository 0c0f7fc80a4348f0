"""Kills the App's web process with SIGKILL at random points; what it acknowledged is reviewed, and once.

    python -m tests.kill_web [--points 100] [--seed N] [--only sqlite|postgres]

For each database: `reviewbot serve --no-worker` as it is, one worker beside it on SQLite and two on Postgres. Clients
deliver all the time, as GitHub would, and note what was answered with 202; what was not, they deliver again, or
never. The web process is killed at any moment, while it starts too, and every third time as soon as a delivery is in
the inbox, which is before most of the answers. In the end each acknowledged delivery must stand there once, and each
head have one review, unless a newer one took its place. Prints what it counted, and exits with 1 where something is
wrong. Long: `make kill-app`.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from http import HTTPStatus
from pathlib import Path
from threading import Event, Lock, Thread
from typing import NamedTuple

from reviewbot.app.store.inbox.store import open_store
from tests.kill_jobs import ROOT, Scene, scene
from tests.ports import free_port
from tests.postgres_server import postgres
from tests.webhooks import APP_ID, BOT_ID, KEY, SECRET, body_of, event, headers_of, pull

CLIENTS = 6
PAUSE_S = 0.8
"""Between two deliveries of one client, at most."""

ANSWER_S = 15.0
"""GitHub waits for ten seconds. Nothing that was killed answers; a refused connection is known at once."""

START_S = 30.0
AWAY_S = 0.03
"""Between two tries of a client that met nobody."""

END_S = 240.0
"""In which all that was accepted must have come to its end."""

NEWS_S = 3.0
"""How long to wait for a new row, before it is killed anyway."""


class PullHead(NamedTuple):
    """A pull request and its head."""

    number: int
    head: str


class Web:
    """The web process, and where it writes."""

    def __init__(self, folder: Path, url: str | None) -> None:
        self.port = free_port()
        self._log = folder / "web.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._environ = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "REVIEWBOT_STATE_DIR": str(folder / "state"), "REVIEWBOT_APP_ID": str(APP_ID),
            "REVIEWBOT_PRIVATE_KEY": KEY, "REVIEWBOT_WEBHOOK_SECRET": SECRET, "REVIEWBOT_BOT_ID": str(BOT_ID),
            **({"REVIEWBOT_DATABASE_URL": url} if url else {}),
        }  # fmt: skip

    def begin(self) -> None:
        """Start it; it need not listen yet."""
        words = [sys.executable, "-m", "reviewbot", "serve", "--no-worker", "--port", str(self.port)]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(words, cwd=ROOT, env=self._environ, stderr=log, start_new_session=True)

    def listens(self) -> bool:
        """Whether somebody may connect."""
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1.0):
            return True
        if self._process is not None and (code := self._process.poll()) is not None:
            sys.exit(f"the web process ended with {code}: {self.tail()}")
        return False

    def up(self) -> None:
        """Wait until it listens."""
        limit = time.monotonic() + START_S
        while not self.listens():
            if time.monotonic() > limit:
                sys.exit(f"the web process does not listen: {self.tail()}")
            time.sleep(0.01)

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def tail(self) -> str:
        """The end of its log."""
        return self._log.read_text("utf-8", "replace")[-1_500:]


class Ledger:
    """What all clients know together."""

    def __init__(self, at: Scene, port: int) -> None:
        self.at = at
        self.port = port
        self.stop = Event()
        self.sent: set[PullHead] = set()
        self.acknowledged: set[PullHead] = set()
        self.unanswered = 0
        """In the inbox already when it was delivered again, though no client had been answered."""
        self.wrong: list[str] = []
        self._lock = Lock()
        self._next = 0

    def number(self) -> int:
        """Of a new pull request."""
        with self._lock:
            self._next += 1
            return self._next

    def push(self, pr: PullHead) -> None:
        """The branch stands there from now on."""
        with self._lock:
            self.at.around.push(1000 + pr.number % 7, *pr)

    def sends(self, pr: PullHead) -> None:
        """It is about to be delivered."""
        with self._lock:
            self.sent.add(pr)

    def answered(self, pr: PullHead, word: str) -> None:
        """It was acknowledged, and this was said of it."""
        with self._lock:
            again = pr in self.acknowledged
            self.acknowledged.add(pr)
            self.at.pushes[pr.number] = pr.head
            if again and word == "accepted":
                self.wrong.append(f"{pr} was accepted twice")
            self.unanswered += not again and word == "repeat"


class Client:
    """Tells of pull requests of its own, of each in its order."""

    def __init__(self, ledger: Ledger, seed: int) -> None:
        self._ledger = ledger
        self._dice = random.Random(seed)
        self._mine: list[PullHead] = []
        """Each pull request as it was sent last, and acknowledged."""
        self._connection = http.client.HTTPConnection("127.0.0.1", ledger.port, timeout=ANSWER_S)

    def run(self) -> None:
        """Until asked to stop; then everything that is to be acknowledged is."""
        while not self._ledger.stop.wait(self._dice.uniform(0.0, PAUSE_S)):
            self._dice.choice((self._opened, self._pushed, self._again))()
        self._connection.close()

    def _opened(self) -> None:
        """A new one. What nobody acknowledged GitHub does not always deliver again."""
        pr = PullHead(self._ledger.number(), self._head())
        sent = self._request("opened", pr)
        given_up = self._dice.random() < 1 / 3
        if self._sent(pr, *sent) or (not given_up and self._until_acknowledged(pr, sent)):
            self._mine.append(pr)

    def _pushed(self) -> None:
        if not self._mine:
            return
        index = self._dice.randrange(len(self._mine))
        pr = PullHead(self._mine[index].number, self._head())
        self._ledger.push(pr)
        self._until_acknowledged(pr, self._request("synchronize", pr))
        self._mine[index] = pr

    def _again(self) -> None:
        """What was acknowledged already, in other words: another body, with another id."""
        if self._mine:
            pr = self._dice.choice(self._mine)
            self._until_acknowledged(pr, self._request("reopened", pr))

    def _until_acknowledged(self, pr: PullHead, sent: tuple[bytes, dict[str, str]]) -> bool:
        while not self._sent(pr, *sent):
            time.sleep(AWAY_S)
        return True

    def _request(self, action: str, pr: PullHead) -> tuple[bytes, dict[str, str]]:
        number = pr.number
        side = {"sha": pr.head, "ref": "feature", "repo": None}
        place = {"id": 1000 + number % 7, "full_name": "o/n"}
        more = {"repository": place, "installation": {"id": 1 + number % 3}, "number": number}
        body = body_of(event(action, pull_request=pull(number=number, head=side), at=self._dice.random(), **more))
        return body, headers_of(body, delivery=f"{self._dice.getrandbits(128):032x}")

    def _sent(self, pr: PullHead, body: bytes, headers: dict[str, str]) -> bool:
        """Whether it was acknowledged."""
        self._ledger.sends(pr)
        word = ""
        try:
            self._connection.request("POST", "/webhook", body, headers)
            answer = self._connection.getresponse()
            if answer.status != HTTPStatus.ACCEPTED:
                self._ledger.wrong.append(f"{pr} was answered with {answer.status}")
                return True
            with suppress(http.client.HTTPException, OSError, ValueError):  # the status is there, and counts
                word = json.loads(answer.read())["status"]
        except (http.client.HTTPException, OSError):
            self._connection.close()
            return False
        self._ledger.answered(pr, word)
        return True

    def _head(self) -> str:
        return f"{self._dice.getrandbits(160):040x}"


@contextmanager
def delivering(ledger: Ledger, web: Web, dice: random.Random) -> Iterator[None]:
    """Clients at work; at the end, with the process up, all that they are to tell has been told."""
    clients = [Thread(target=Client(ledger, dice.getrandbits(32)).run, daemon=True) for _ in range(CLIENTS)]
    for each in clients:
        each.start()
    try:
        yield
        web.up()
    finally:
        ledger.stop.set()
    for each in clients:
        each.join(2 * ANSWER_S)
        if each.is_alive():
            sys.exit("a client is not done")


def web_killed(url: str | None, points: int, dice: random.Random) -> dict[str, int]:
    """Deliveries and kills, then rest."""
    with scene(url, 2 if url else 1) as at:
        web = Web(at.folder, url)
        ledger = Ledger(at, web.port)
        store = open_store(url or str(at.folder / "state" / "inbox.sqlite"), durable=False)

        def rows() -> int:
            return int(store.read("SELECT count(*) FROM reviewbot_inbox")[0][0])

        try:
            at.begin()
            web.begin()
            with delivering(ledger, web, dice):
                for point in range(points):
                    _moment(web, rows, dice, point)
                    web.kill()
                    web.begin()
                    at.begin()
            at.wait(at.quiet, END_S)
            entries = [json.loads(row[0]) for row in store.read("SELECT told FROM reviewbot_inbox")]
        finally:
            web.kill()
            store.close()
        return _checked(at, ledger, Counter(PullHead(each["number"], each["head_sha"]) for each in entries))


def _moment(web: Web, rows: Callable[[], int], dice: random.Random, point: int) -> None:
    """Wait for a moment to kill at: anywhere, amid deliveries, or right behind a commit."""
    if point % 3 == 0:
        time.sleep(dice.uniform(0.0, 2.0))
        return
    web.up()
    time.sleep(dice.uniform(0.0, 0.7))
    if point % 3 == 1:
        return
    before, limit = rows(), time.monotonic() + NEWS_S
    while rows() == before and time.monotonic() < limit:
        pass  # the answer follows within a millisecond


def _checked(at: Scene, ledger: Ledger, inbox: Counter[PullHead]) -> dict[str, int]:
    """Exit where something is lost, or was done twice; else what was counted."""
    posted = {post["key"] for post in at.around.posts}
    heads = {f"{1000 + number % 7}/{number}/{head}" for number, head in ledger.sent}
    problems = {
        "answers": ledger.wrong,
        "acknowledged, and not in the inbox": sorted(ledger.acknowledged - set(inbox)),
        "in the inbox twice": sorted(pr for pr, count in inbox.items() if count > 1),
        "never sent": sorted(set(inbox) - ledger.sent),
        "reviews of heads that nobody sent": sorted(posted - heads),
    }
    if any(problems.values()):
        sys.exit(f"wrong: {problems}")
    never = set(inbox) - ledger.acknowledged
    at.pushes.update({pr.number: pr.head for pr in never})  # accepted is accepted, whoever heard of it
    counted = {"sent": len(ledger.sent), "acknowledged": len(ledger.acknowledged), "in the inbox": len(inbox)}
    return {**counted, "killed between commit and answer": ledger.unanswered + len(never), **at.check()}


def main() -> int:
    """All scenes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", choices=("sqlite", "postgres"))
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.randrange(10**6)
    dice = random.Random(seed)
    print(f"seed {seed}", flush=True)
    for name in ("sqlite", "postgres"):
        if arguments.only in (None, name):
            with postgres() if name == "postgres" else nullcontext() as url:
                print(f"{name}: {arguments.points} kills of the web process: {web_killed(url, arguments.points, dice)}",
                      flush=True)  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
