"""The drill of docs/operations.md: stop, back up, upgrade, restore; and each time reviews go on.

    python -m tests.upgrade_drill [--from COMMIT] [--only sqlite|postgres]

Workers of an older commit (the one before the tables last changed) take deliveries and are stopped with SIGTERM amid
reviews. Their databases are backed up as the page says, workers of this state go on with them and take more; then the
databases are destroyed, the backup is restored, and what is open is ordered again, as the catch-up does. Exits with 1
where a review is lost or was posted twice. `make drill`, not part of the gate; needs the history of this repository.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, nullcontext
from pathlib import Path

import psycopg

from tests.app_runs import facts
from tests.kill_jobs import Scene
from tests.postgres_server import postgres, program

ROOT = Path(__file__).resolve().parent.parent
FILES = ("inbox.sqlite", "app.sqlite", "runs.sqlite")
"""In the order in which they are backed up."""
SLOW = ("--silent", "3", "--beat", "0.4", "--stop", "1", "--call", "0.5", "1.5")
PUSHES, POSTED, SEED = 8, 3, 7


def fill(folder: Path, url: str | None) -> None:
    """Let workers begin reviews, some of which end; stop the workers amid the others. Runs in the older state."""
    dice, at = random.Random(SEED), Scene(folder, url, 1, SLOW)
    at.begin()
    for number in range(1, PUSHES + 1):
        at.push(number, dice)
    at.wait(lambda: len(at.around.posts) >= POSTED)
    for worker in at.workers:
        worker.terminate()
    print(json.dumps({"pushes": at.pushes, "ended": [worker.wait() for worker in at.workers]}))


def older_state(folder: Path, commit: str) -> Path:
    """The files of a commit in a folder of their own."""
    folder.mkdir()
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed, check=True)
    return folder


def fill_with(older: Path, folder: Path, url: str | None) -> dict[int, str]:
    """Run `fill` of this file with the product and the tests of the older state; gives what was pushed."""
    command = [sys.executable, "-P", __file__, "--fill", str(folder), *(["--url", url] if url else [])]
    environ = {**os.environ, "PYTHONPATH": str(older)}
    done = subprocess.run(command, cwd=older, env=environ, check=True, capture_output=True, text=True)
    said = json.loads(done.stdout.splitlines()[-1])
    if any(said["ended"]):
        sys.exit(f"stopped workers ended with {said['ended']}")
    return {int(number): head for number, head in said["pushes"].items()}


def back_up(folder: Path, url: str | None, backup: Path) -> None:
    """As the page says."""
    backup.mkdir()
    if url:
        subprocess.run([str(program("pg_dump")), "--format=custom", f"--file={backup / 'dump'}", url], check=True)
        return
    for name in FILES:
        with (
            closing(sqlite3.connect(folder / "state" / name)) as source,
            closing(sqlite3.connect(backup / name)) as copy,
        ):
            source.backup(copy)


def restore(folder: Path, url: str | None, backup: Path) -> None:
    """Destroy what is there, and put the backup in its place."""
    if url:
        with psycopg.connect(url.rpartition("/")[0] + "/postgres", autocommit=True) as connection:
            connection.execute("DROP DATABASE reviewbot WITH (FORCE)")
            connection.execute("CREATE DATABASE reviewbot")
        subprocess.run([str(program("pg_restore")), f"--dbname={url}", str(backup / "dump")], check=True)
        return
    for name in FILES:
        for path in (folder / "state").glob(f"{name}*"):
            path.unlink()
        (folder / "state" / name).write_bytes((backup / name).read_bytes())


def go_on(folder: Path, url: str | None, pushes: dict[int, str], more: range, *, again: bool) -> str:
    """Let workers of this state finish, then take further deliveries; `again`: also what was pushed before."""
    dice, at = random.Random(more.start), Scene(folder, url, 1)
    try:
        at.begin()
        if not again:
            at.wait(at.quiet)
        at.pushes = dict(pushes)
        before = time.monotonic()
        for number in [*(pushes if again else ()), *more]:
            head = pushes.get(number)
            if head is None:
                pushes[number] = at.push(number, dice)
            else:
                at.push_again(number, head)
        at.wait(at.quiet)
        found, counts = facts(at.around), at.counts()
        posts = {post["key"] for post in at.around.posts}
        lost = [number for number, head in pushes.items() if f"{1000 + number % 7}/{number}/{head}" not in posts]
        wrong = {"twice": found["twice"], "lost": lost, "failed": counts["failed"], "parked": counts["parked"]}
        wrong |= {} if again else {"asked again": found["again"]}
        if any(wrong.values()):
            sys.exit(f"wrong: {wrong}")
        paid, took = len(found["again"]), time.monotonic() - before
        return f"{len(posts)} reviews posted once, {paid} answers paid again, {took:.0f} s"
    finally:
        at.end()


def drill(older: Path, folder: Path, url: str | None) -> None:
    """All steps on one kind of database."""
    pushes = fill_with(older, folder / "app", url)
    back_up(folder / "app", url, folder / "backup")
    print(f"  stopped and backed up, with {PUSHES} pushes accepted")
    print("  upgraded:", go_on(folder / "app", url, pushes, range(20, 24), again=False))
    restore(folder / "app", url, folder / "backup")
    print("  restored:", go_on(folder / "app", url, pushes, range(30, 34), again=True))


def main() -> None:
    """Drill on SQLite and on a Postgres of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="commit")
    parser.add_argument("--only", choices=("sqlite", "postgres"))
    parser.add_argument("--fill", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.fill:
        return fill(arguments.fill, arguments.url)
    log = ["git", "log", "-1", "--format=%H~1", "--", "reviewbot/data/sql"]
    commit = (
        arguments.commit or subprocess.run(log, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    )
    with tempfile.TemporaryDirectory(prefix="reviewbot-drill-") as folder:
        older = older_state(Path(folder) / "older", commit)
        for kind in ("sqlite", "postgres"):
            if arguments.only in (None, kind):
                print(f"{kind}, from {commit}")
                with postgres() if kind == "postgres" else nullcontext() as url:
                    (Path(folder) / kind).mkdir()
                    drill(older, Path(folder) / kind, url)
    print("passed")
    return None


if __name__ == "__main__":
    main()
