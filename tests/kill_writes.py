"""Kills a run with SIGKILL before and behind each write to the host, the ledger and the intents, then runs it again.

    python -m tests.kill_writes [--host local] [--host github] [--only N]

For each host, and for the first and a later push: a process of its own reviews the head and posts, and kills itself at
one point; another process does the same to its end. What stands on the host is then what an undisturbed run leaves: no
second comment, no state lost, no check run in progress. A third process changes nothing. Prints each point, and exits
with 1 where something is wrong. Long: `make kill-writes`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from reviewbot.hosts.base import CodeHost
from reviewbot.hosts.github.auth.access import GithubAccess
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.host import GithubHost
from reviewbot.hosts.local.host import LocalHost
from reviewbot.journal.sqlite import SqliteJournal
from reviewbot.memory.packing import unpack
from reviewbot.publish.intents import JournalIntents
from reviewbot.pull_requests.fetch import fetch
from reviewbot.pull_requests.host_session import HostSession, RunOptions
from reviewbot.pull_requests.post import find_posted, post
from reviewbot.pull_requests.review import carry_out, prepare
from reviewbot.sources.git.repository import GitRepository
from tests.git_repo import GitRepo
from tests.github_api.apps import AppGithub
from tests.host_cases import AFTER, BEFORE, GithubCase, HostCase, LocalCase
from tests.scripted_pushes import CART, PAY, SIGNER, Reviewer, ScriptedRun
from tests.still_clock import StillClock

WRITES = frozenset({
    *("post_review", "edit_review", "release_review", "reply", "say", "resolve", "react"),
    *("start_check", "finish_check", "finish_started", "request_people", "begin", "record_posted"),
})  # fmt: skip
"""Of the host, of its reviews and checks, and of the intents. The ledger is written with the summary."""

NEVER, MAX_WRITES, PATIENCE_S, BETWEEN_S = 0, 60, 120, 10.0
FIXED = {"shop/pay.py": "X = 1\n\n\n" + PAY.replace("total - order.fee", "total + order.fee"),
         "shop/run.py": "import os\n\n\ndef run(command):\n    os.system(command)\n"}  # fmt: skip
"""The later push: rows move, one finding is fixed, one is new, three stay."""


class Point(NamedTuple):
    """Before or behind the n-th write; 0: nowhere."""

    number: int = NEVER
    behind: bool = False


UNDISTURBED = Point()


@dataclass
class Killing:
    """Passes every call on, and kills this process at one of the writes."""

    inner: Any
    point: Point
    done: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        if name in ("reviews", "checks") and hasattr(self.inner, "pull_request"):
            return lambda *given: Killing(found(*given), self.point, self.done)
        return self._killing(name, found) if name in WRITES else found

    def _killing(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **named: Any) -> Any:
            self.done.append(name)
            here = len(self.done) == self.point.number
            if here and not self.point.behind:
                os.kill(os.getpid(), signal.SIGKILL)
            answer = call(*given, **named)
            if here:
                os.kill(os.getpid(), signal.SIGKILL)
            return answer

        return called


def run_once(host: CodeHost, repository: str, journal: Path, attempt: int, point: Point) -> list[str]:
    """Review pull request 1 and post the review, as the child process does; the writes that were made."""
    clock, killing = StillClock(), Killing(host, point)
    with closing(SqliteJournal(journal)) as kept:
        intents = JournalIntents(kept, lambda: 1_000_000.0 + attempt * BETWEEN_S + clock.monotonic())
        guarded: Any = Killing(intents, point, killing.done)
        session = HostSession(killing, SIGNER, guarded, clock)

        async def reviewed() -> None:
            ref = await fetch(session, repository, 1)
            with ExitStack() as closing:
                prepared = await asyncio.to_thread(prepare, session, ref, RunOptions(), closing)
                if await find_posted(session, prepared) is not None:
                    return
                reviewer = Reviewer(random.Random(attempt))
                scripted = ScriptedRun(prepared.run, reviewer, prepared.subject.snapshot.head)
                made = await carry_out(session, replace(prepared, run=scripted))
            await post(session, made.value)

        asyncio.run(reviewed())
    return killing.done


@contextmanager
def a_case(kind: str, folder: Path) -> Iterator[HostCase]:
    """Pull request 1 of a host of this kind, with its first push."""
    repo = GitRepo(folder / "shop")
    repo.commit({"README.md": "a shop\n", "src/pay.py": BEFORE})
    repo.git("checkout", "--quiet", "-b", "feature")
    repo.commit({"src/pay.py": None, "shop/pay.py": PAY, "shop/cart.py": CART, "shop/old.py": AFTER})
    if kind == "github":
        with AppGithub() as api, GithubClient(GithubAccess(api.token, api.url)) as client:
            yield GithubCase(repo, api, client)
        api.check()
    else:
        with GitRepository(repo.folder) as git:
            yield LocalCase(repo, git)


def push(case: HostCase) -> None:
    """Move the head on to the later push."""
    head = case.repo.commit(FIXED)
    if isinstance(case, GithubCase):
        case.api.push(case.repository, 1, head)


def run_process(case: HostCase, journal: Path, attempt: int, point: Point = UNDISTURBED) -> int:
    """Run a process of its own to its end; its exit code, the negative number of a signal where that ended it."""
    sys.stdout.flush()
    if (process := os.fork()) == 0:
        code = 1
        try:
            signal.alarm(PATIENCE_S)
            _run_child(case, journal, attempt, point)
            code = 0
        except Exception:  # noqa: BLE001 - the end of a process, which must not go on as its parent
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _run_child(case: HostCase, journal: Path, attempt: int, point: Point) -> None:
    rest = (case.repository, journal, attempt, point)
    if isinstance(case, GithubCase):
        with GithubClient(GithubAccess(case.api.token, case.api.url)) as client:
            run_once(GithubHost(client), *rest)
    else:
        with GitRepository(case.repo.folder) as git:
            run_once(LocalHost(case.repo.folder, git), *rest)


def what_stands(case: HostCase) -> dict[str, Any]:
    """What a reader of the pull request sees, without times, ids and words."""
    pull = case.pull()
    host, place = case.host.reviews(pull), (pull.repository_id, 1)
    reviews, threads = host.reviews(), host.threads()
    packed = [text for each in reviews if (text := SIGNER.read_ledger(each.body, *place))]
    ledgers = [ledger for text in packed if (ledger := unpack(text)) is not None]
    found = {
        "ledgers": [sorted((each.kind, each.state, each.settled) for each in ledger.records) for ledger in ledgers],
        "heads": [[each.head for each in ledger.heads] for ledger in ledgers],
        "threads": sorted(
            (SIGNER.read_finding(each.comments[0].body, *place), len(each.comments), bool(each.resolved))
            for each in threads
        ),
        "checks": sorted({(each.head_sha, each.conclusion) for each in case.checks()}, key=str),
        "reviews": len(reviews),
    }
    text = json.dumps(found)
    for number, head in enumerate(ledgers[-1].heads if ledgers else ()):
        text = text.replace(head.head, f"head {number}")  # commits differ from repository to repository
    result: dict[str, Any] = json.loads(text)
    return {**result, "checks": sorted(result["checks"])}


def try_point(
    kind: str, pushes: int, point: Point, expected: dict[str, Any] | None = None
) -> tuple[bool, dict[str, Any]]:
    """Kill at one point and run again; whether it was reached, and what stands then. Raises AssertionError."""
    with tempfile.TemporaryDirectory(prefix="kill-writes-") as folder, a_case(kind, Path(folder)) as case:
        journal = Path(folder) / "journal.sqlite"
        if pushes > 1:
            assert run_process(case, journal, 0) == 0
            push(case)
        code = run_process(case, journal, 1, point)
        assert code in (0, -signal.SIGKILL), f"the process ended with {code}"
        assert run_process(case, journal, 2) == 0
        found = what_stands(case)
        assert expected is None or found == expected, f"{json.dumps(found, indent=1)}\nis not\n{expected}"
        assert run_process(case, journal, 3) == 0
        assert what_stands(case) == found, "a further run changed something"
    return code != 0, found


def try_host(kind: str, only: int) -> int:
    """Try all points of one host; how many were reached."""
    reached = 0
    for pushes in (1, 2):
        _, expected = try_point(kind, pushes, UNDISTURBED)
        print(f"{kind}, push {pushes}, undisturbed: {json.dumps(expected['ledgers'])}")
        for number in [only] if only else range(1, MAX_WRITES):
            hit = [try_point(kind, pushes, Point(number, behind), expected)[0] for behind in (False, True)]
            reached += sum(hit)
            if not any(hit):
                break
            print(f"  write {number}: killed before and behind it, nothing doubled, nothing lost")
    return reached


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--host", action="append", choices=("local", "github"))
    parser.add_argument("--only", type=int, default=0, help="the number of one write")
    arguments = parser.parse_args()
    for kind in arguments.host or ("local", "github"):
        print(f"{kind}: {try_host(kind, arguments.only)} kills, 0 second comments, 0 lost states")
    return 0


if __name__ == "__main__":
    sys.exit(main())
