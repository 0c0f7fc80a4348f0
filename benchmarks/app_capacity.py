#!/usr/bin/env python3
"""Reviews an hour of the App's workers: two on one Postgres against one, with models that take two seconds a call.

    python -m benchmarks.app_capacity [--reviews 48] [--call 2.0] [--concurrency 4] [--rounds 3]

The queue, the database, the journal, the intents and the workers are the real ones; the host and the models are files
(`tests/app_runs.py`), so that what is measured is the durable engine and not the analyzers, which take the processors
that there are. Prints a line a round, then the median ratio; exits with 1 where it is below 1.7, or where an
installation had more runs at once than it may.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.app_runs import Around
from tests.kill_jobs import Scene
from tests.postgres_server import postgres

MIN_RATIO = 1.7
PER_INSTALLATION = 2
INSTALLATIONS = 3
"""As many as `Scene.push` spreads its orders over."""


def measured(workers: int, arguments: argparse.Namespace) -> tuple[float, int]:
    """Seconds for all reviews once the workers are up, and the most runs of one installation at once."""
    call = str(arguments.call)
    options = ("--call", call, call, "--concurrency", str(arguments.concurrency), "--installation", str(arguments.cap))
    with postgres() as url, tempfile.TemporaryDirectory() as folder:
        at = Scene(Path(folder) / "app", url, workers, options)
        try:
            at.begin()
            dice = random.Random(7)  # noqa: S311 - names of commits, and no secrets
            at.push(1_000, dice)  # the first one tells that they are up
            at.wait(lambda: len(at.around.posts) == 1)
            time.sleep(2.0)
            before = time.monotonic()
            for number in range(arguments.reviews):
                at.push(number + 1, dice)
            at.wait(lambda: len(at.around.posts) == arguments.reviews + 1, 600.0)
            seconds = time.monotonic() - before
            at.check()
        finally:
            at.end()
        return seconds, at_once(at.around)


def at_once(around: Around) -> int:
    """The most runs of one installation that had calls under way at the same time."""
    under_way: dict[str, set[str]] = {}
    most = 0
    for call in around.calls:
        name = str(call.get("asked") or call.get("recorded"))
        run = name.rpartition("/")[0]
        installation = str(1 + int(run.split("/")[1]) % INSTALLATIONS)
        runs = under_way.setdefault(installation, set())
        if "asked" in call:
            runs.add(run)
            most = max(most, len(runs))
        else:
            runs.discard(run)
    return most


def main() -> int:
    """Rounds of one and of two workers, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reviews", type=int, default=48)
    parser.add_argument("--call", type=float, default=2.0)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--cap", type=int, default=16, help="runs of one installation at once")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    ratios = []
    for number in range(1, arguments.rounds + 1):
        (one, _), (two, most) = measured(1, arguments), measured(2, arguments)
        ratios.append(one / two)
        hourly = [round(arguments.reviews * 3600 / each) for each in (one, two)]
        print(f"round {number}: one worker {hourly[0]:,} reviews an hour, two {hourly[1]:,}: {one / two:.2f} times")
    capped = argparse.Namespace(**{**vars(arguments), "cap": PER_INSTALLATION, "reviews": arguments.reviews // 2})
    _, most = measured(2, capped)
    ratio = statistics.median(ratios)
    print(
        f"{ratio:.2f} times, median; with a cap of {PER_INSTALLATION}, at most {most} runs of an installation at once"
    )
    return 0 if ratio >= MIN_RATIO and most <= PER_INSTALLATION else 1


if __name__ == "__main__":
    sys.exit(main())
