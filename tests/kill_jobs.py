"""Kills workers of the App with SIGKILL at random points; nothing may be lost, posted twice, or paid twice.

    python -m tests.kill_jobs [--points 100] [--seed N] [--only sqlite|postgres]

For each database: deliveries keep coming, some of them pushes that supersede others, while workers (one on SQLite, two
on Postgres) are killed and started again. Then the special moments: right after the POST and before it is recorded; a
worker that is frozen, replaced, and goes on; ten pushes within a moment; a worker that stops in good order; and, with
the times of production, how long it takes until another worker takes over. Prints what it counted, and exits with 1
where something is wrong. Long: `make kill-app`, not part of the gate.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from reviewbot.app.store.durable.database import open_database
from reviewbot.app.store.durable.runs import Runs
from reviewbot.app.worker.options import JobOptions
from reviewbot.app.worker.work import ReviewRequest
from tests.app_runs import Around, TestInbox, facts
from tests.github_api import Pull
from tests.github_api.apps import APP_ID, AppGithub, a_key
from tests.postgres_server import postgres

ROOT = Path(__file__).resolve().parent.parent
QUICK = ("--silent", "3", "--beat", "0.4")
"""Signs of life, so that a test need not wait for half a minute each time."""

LONG_S = 400.0
"""In which all reviews of the whole program must be there: an intent outlasts whoever took it by a minute."""

END_S = 90.0
"""In which all that was accepted must have come to its end."""

WORK_S = 8.0
"""In which a worker has begun to work."""

MIN_S, MAX_S = 0.05, 1.8
"""Before each kill."""


@dataclass
class Scene:
    """One folder, one database, and the workers on it."""

    folder: Path
    url: str | None
    count: int
    options: tuple[str, ...] = QUICK
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    pushes: dict[int, str] = field(default_factory=dict)
    """The last head of each pull request."""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.around = Around(self.folder)
        self.inbox = TestInbox(self.folder / "state", self.url)

    def begin(self) -> None:
        """Have as many workers as there should be."""
        self.workers = [each for each in self.workers if each.poll() is None]
        while len(self.workers) < self.count:
            more = ["--database", self.url] if self.url else []
            command = [sys.executable, "-m", "tests.app_runs", str(self.folder), *more, *self.options]
            self.workers.append(subprocess.Popen(command, cwd=ROOT, start_new_session=True))

    def push(self, number: int, dice: random.Random) -> str:
        """A new head of a pull request: on the host first, then as a delivery."""
        head = f"{dice.getrandbits(160):040x}"
        self.push_again(number, head)
        return head

    def push_again(self, number: int, head: str) -> None:
        """A delivery of a head, also of one that was accepted before."""
        self.around.push(1000 + number % 7, number, head)
        self.inbox.put(ReviewRequest(1 + number % 3, "o/n", 1000 + number % 7, number, head))
        self.pushes[number] = head

    def quiet(self) -> bool:
        """Whether everything that was accepted has come to its end, and every check run that was begun."""
        counts = self.counts()
        return not self.inbox.left() and not counts["waiting"] and not counts["running"] and not self.around.spinning

    def counts(self) -> dict[str, int]:
        """Runs by state."""
        path = JobOptions(state=self.folder / "state", database_url=self.url).database
        database = open_database(path)
        try:
            return {str(state): count for state, count in Runs(database).counts().items()}
        finally:
            database.close()

    def wait(self, done: Callable[[], bool], limit_s: float = END_S) -> float:
        """Until then; how long it took."""
        before = time.monotonic()
        while not done():
            if time.monotonic() - before > limit_s:
                left = f"{self.inbox.left()} in the inbox, checks of {sorted(self.around.spinning)}"
                sys.exit(f"not done after {limit_s:.0f} s: {self.counts()}, {left}")
            self.begin()
            time.sleep(0.1)
        return time.monotonic() - before

    def moment(self, dice: random.Random) -> None:
        """Wait for a moment to kill at: two of three lie amid calls, the others anywhere, in the beginning too."""
        if dice.random() < 1 / 3:
            time.sleep(dice.uniform(MIN_S, MAX_S))
            return
        seen, limit = len(self.around.calls), time.monotonic() + WORK_S
        while len(self.around.calls) == seen and time.monotonic() < limit:
            time.sleep(0.005)
        time.sleep(dice.uniform(0.0, 0.5))

    @staticmethod
    def kill(worker: subprocess.Popen[bytes]) -> None:
        """End it at once, if it has not ended by itself."""
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def check(self) -> dict[str, int]:
        """Exit where something is lost, or was done twice."""
        found = facts(self.around)
        posts = {post["key"] for post in self.around.posts}
        lost = [n for n, head in self.pushes.items() if f"{1000 + n % 7}/{n}/{head}" not in posts]
        counts = self.counts()
        problems = {**found, "lost": lost, "failed": counts["failed"], "parked": counts["parked"]}
        problems["given up"] = self.inbox.mark_failed()
        if any(problems.values()):
            sys.exit(f"wrong: {problems}")
        calls = self.around.calls
        asked = [call["asked"] for call in calls if "asked" in call]
        return {
            "posts": len(posts), "superseded": counts["superseded"], "answers": len(set(asked)),
            "asked again, in flight at a kill": len(asked) - len(set(asked)),
        }  # fmt: skip

    def end(self) -> None:
        """End all processes of ours."""
        for worker in self.workers:
            self.kill(worker)


@contextmanager
def scene(url: str | None, count: int, options: tuple[str, ...] = QUICK) -> Iterator[Scene]:
    """A scene in a folder that is removed afterwards; a database of its own is `url`'s matter."""
    with tempfile.TemporaryDirectory(prefix="reviewbot-kill-") as folder:
        made = Scene(Path(folder) / "app", url, count, options)
        try:
            yield made
        finally:
            made.end()


def killed_at_random(url: str | None, count: int, points: int, dice: random.Random) -> dict[str, int]:
    """Deliveries and kills, then rest."""
    with scene(url, count) as at:
        at.begin()
        for point in range(points):
            for _ in range(dice.randrange(1, 5)):
                at.push(dice.randrange(1, 4 + 2 * point), dice)
            at.moment(dice)
            at.kill(dice.choice(at.workers))
            if count == 1 or dice.random() < 0.8:  # else the other one must do
                at.begin()
        at.wait(at.quiet)
        return at.check()


def killed_after_post(url: str | None, count: int, points: int, dice: random.Random) -> dict[str, int]:
    """The host has the review, and the worker that sent it is killed before it could write that down."""
    with scene(url, count) as at:
        at.begin()
        for number in range(1, points + 1):
            before = len(at.around.posts)
            at.push(number, dice)
            limit = time.monotonic() + END_S
            while len(at.around.posts) == before and time.monotonic() < limit:
                time.sleep(0.002)
            sender = at.around.posts[-1]["pid"]
            for worker in [each for each in at.workers if each.pid == sender]:
                at.kill(worker)
            at.begin()
        at.wait(at.quiet)
        return at.check()


def frozen(url: str, points: int, dice: random.Random) -> dict[str, int]:
    """A worker stands still, others take over, and it goes on as if nothing had been."""
    with scene(url, 2) as at:
        at.begin()
        for point in range(points):
            for _ in range(3):
                at.push(100 + point * 3 + dice.randrange(3), dice)
            time.sleep(dice.uniform(0.2, 1.2))
            victim = dice.choice(at.workers)
            os.killpg(victim.pid, signal.SIGSTOP)
            time.sleep(dice.uniform(3.5, 6.0))
            os.killpg(victim.pid, signal.SIGCONT)
            time.sleep(0.3)
            at.begin()
        at.wait(at.quiet)
        return at.check()


def superseded(url: str | None, count: int, dice: random.Random) -> dict[str, int]:
    """Ten pushes in a few seconds: one review, of the last head."""
    with scene(url, count, (*QUICK, "--call", "0.8", "1.2")) as at:
        at.begin()
        at.push(6, dice)  # another one, which tells that the workers are up
        at.wait(lambda: len(at.around.posts) == 1)
        for _ in range(10):
            at.push(5, dice)
            time.sleep(dice.uniform(0.1, 0.9))
        at.wait(at.quiet)
        if len(at.around.posts) != 2:  # that one, and one of the ten
            sys.exit(f"{len(at.around.posts) - 1} reviews of ten pushes")
        return at.check()


def stopped(url: str | None, count: int, points: int, dice: random.Random) -> dict[str, int]:
    """SIGTERM at random points, with a limit that some runs outlast."""
    with scene(url, count, (*QUICK, "--stop", "1", "--call", "0.1", "2.5")) as at:
        at.begin()
        for point in range(points):
            at.push(200 + point, dice)
            at.push(300 + point, dice)
            time.sleep(dice.uniform(0.8, 2.0))
            victim = dice.choice(at.workers)
            victim.terminate()
            if (code := victim.wait(timeout=60)) not in (0, -signal.SIGTERM):
                sys.exit(f"a stopped worker ended with {code}")
            at.begin()
        at.wait(at.quiet)
        return at.check()


def whole_program(url: str | None, count: int, points: int, dice: random.Random) -> dict[str, int]:
    """`reviewbot worker` itself, with the analyzers, the real publisher and our GitHub, killed while it is at work."""
    pem = a_key()
    with tempfile.TemporaryDirectory(prefix="reviewbot-kill-") as name, AppGithub(pem) as github:
        folder = Path(name)
        pulls = _pulls(github, folder / "shop", points)
        environ = {
            "PATH": os.environ["PATH"], "HOME": name, "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "REVIEWBOT_STATE_DIR": f"{name}/state", "REVIEWBOT_APP_ID": str(APP_ID), "REVIEWBOT_PRIVATE_KEY": pem,
            "REVIEWBOT_WEBHOOK_SECRET": "s" * 32, "REVIEWBOT_BOT_ID": str(github.own.account_id),
            "REVIEWBOT_ENGINE": "analyzers", "GITHUB_API_URL": github.url,
            **({"REVIEWBOT_DATABASE_URL": url} if url else {}),
        }  # fmt: skip
        inbox = TestInbox(folder / "state", url)
        command = [sys.executable, "-m", "reviewbot", "worker"]
        log = (folder / "log").open("wb")
        workers: list[subprocess.Popen[bytes]] = []

        def begin() -> None:
            workers[:] = [each for each in workers if each.poll() is None]
            while len(workers) < count:
                workers.append(subprocess.Popen(command, cwd=ROOT, env=environ, stderr=log, start_new_session=True))

        try:
            begin()
            for pull in pulls:
                number = pull.repository.repository_id
                inbox.put(ReviewRequest(1, "acme/shop", number, pull.number, pull.head_sha))
                _while_working(github, dice)
                Scene.kill(dice.choice(workers))
                begin()
            limit = time.monotonic() + LONG_S
            while not all(pull.reviews for pull in pulls):
                if time.monotonic() > limit:
                    sys.exit(f"lost: {[pull.number for pull in pulls if not pull.reviews]}")
                begin()
                time.sleep(0.2)
            time.sleep(5.0)  # a second review of one head would come now
        finally:
            for worker in workers:
                Scene.kill(worker)
            log.close()
        if twice := [pull.number for pull in pulls if len(pull.reviews) != 1]:
            sys.exit(f"posted twice: {twice}")
        return {"pull requests": len(pulls), "reviews": sum(len(pull.reviews) for pull in pulls)}


def _pulls(github: AppGithub, folder: Path, count: int) -> list[Pull]:
    """Pull requests of one branch with a defect."""
    folder.mkdir(parents=True)
    (folder / "pay.py").write_text("def pay(order):\n    if order is 3:\n        return None\n    return order\n")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    for command in (
        ["init", "--quiet", "--initial-branch=main"],
        ["commit", "--quiet", "--allow-empty", "--message", "base"],
        ["checkout", "--quiet", "-b", "feature"],
        ["add", "--all"],
        ["commit", "--quiet", "--message", "pay"],
    ):
        subprocess.run(["git", "-C", str(folder), *who, *command], check=True)
    github.add_repository("acme/shop", folder)
    github.install(1, "acme/shop")
    return [github.open_pull("acme/shop", "main", "feature") for _ in range(count)]


def _while_working(github: AppGithub, dice: random.Random) -> None:
    """Wait until GitHub is asked something new, and then a little: most kills lie between two requests of a run."""
    seen, limit = len(github.recorded), time.monotonic() + 4 * WORK_S
    while len(github.recorded) == seen and time.monotonic() < limit:
        time.sleep(0.01)
    time.sleep(dice.uniform(0.0, 4.0))


def takeover(url: str, dice: random.Random) -> float:
    """With the times of production: from the kill until another worker has posted all that the dead one was at."""
    with scene(url, 2, ("--call", "2.0", "3.0")) as at:
        at.begin()
        time.sleep(36)  # whoever has not been steady for so long takes over from nobody
        for number in range(8):
            at.push(number + 1, dice)
        time.sleep(2.0)
        at.count = 1
        at.kill(at.workers[0])
        seconds = at.wait(at.quiet)
        at.check()
        return seconds


def main() -> int:
    """All scenes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", choices=("sqlite", "postgres"))
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.randrange(10**6)
    dice, few = random.Random(seed), max(3, arguments.points // 10)
    print(f"seed {seed}", flush=True)
    for name, count in (("sqlite", 1), ("postgres", 2)):
        if arguments.only not in (None, name):
            continue
        scenes: tuple[tuple[str, Callable[[str | None, int], dict[str, int]]], ...] = (
            (f"{arguments.points} kills", lambda url, n: killed_at_random(url, n, arguments.points, dice)),
            (f"{few} kills after the POST", lambda url, n: killed_after_post(url, n, few, dice)),
            ("10 pushes", lambda url, n: superseded(url, n, dice)),
            (f"{few} stops", lambda url, n: stopped(url, n, few, dice)),
            (f"{few} kills of the whole program", lambda url, n: whole_program(url, n, few, dice)),
        )
        for title, act in scenes:
            with postgres() if name == "postgres" else nullcontext() as url:
                print(f"{name}: {title}: {act(url, count)}", flush=True)
    if arguments.only != "sqlite":
        with postgres() as url:
            print(f"postgres: frozen {few} times: {frozen(url, few, dice)}", flush=True)
        with postgres() as url:
            print(f"postgres: taken over and finished {takeover(url, dice):.0f} s after a kill", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
