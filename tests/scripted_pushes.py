"""Pushes to one pull request of a host, reviewed by a script that words and places things differently each time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from typing import Any

from reviewbot.domain.contracts import ChangeSet, FileCoverage, Finding, Review
from reviewbot.domain.contracts.ledger import Ledger
from reviewbot.domain.contracts.pulls import PullPosted
from reviewbot.hosts.base import Thread
from reviewbot.memory.packing import unpack
from reviewbot.publish.marker import Signer
from reviewbot.pull_requests.fetch import fetch
from reviewbot.pull_requests.host_session import HostSession, RunOptions
from reviewbot.pull_requests.post import post
from reviewbot.pull_requests.review import carry_out, prepare
from reviewbot.wiring.assembly import PreparedRun
from tests.host_cases import GithubCase, HostCase
from tests.report.conftest import a_finding, a_review
from tests.still_clock import StillClock

SIGNER = Signer.from_environment({})

PAY = """def pay(order):
    fee = order.total - order.fee
    return fee


def refund(order):
    order.paid = order.paid - order.total
    return order


def close(order):
    lock.release()
    order.open = False
"""
CART = "def add(cart, item):\n    cart.items = cart.items + item.parts\n    return cart\n"
DEFECTS = {
    "order.total - order.fee": "wrong-value",
    "order.paid - order.total": "missing-check",
    "lock.release()": "race",
    "cart.items + item.parts": "unbounded-growth",
    "os.system(command)": "injection",
}
"""The code of each defect, and the cause that the reviewer names."""

WORDS = ("It breaks when", "A caller that", "Nobody expects", "Under load", "With an empty order", "For two users")


class ScriptedRun(PreparedRun):
    """A run in which a script takes the place of all workers."""

    def __init__(self, run: PreparedRun, reviewer: Reviewer, texts: Any) -> None:
        super().__init__(**{each.name: getattr(run, each.name) for each in fields(run)})
        object.__setattr__(self, "reviewer", reviewer)
        object.__setattr__(self, "texts", texts)

    async def review(self, change: ChangeSet) -> Review:
        review: Review = self.reviewer.read(change, self.texts)  # type: ignore[attr-defined]
        await self.close()
        return review


@dataclass
class Reviewer:
    """Finds each defect that the head has, in other words, at other rows, with other weights each time."""

    chance: random.Random = field(default_factory=lambda: random.Random(7))
    silent: frozenset[str] = frozenset()
    """Code that it does not notice the next time."""
    extra: tuple[str, ...] = ()
    """Code that it finds fault with for the first time, a warning."""

    def read(self, change: ChangeSet, texts: Any) -> Review:
        found = []
        for file in change.files:
            rows = (texts(file.path) or "").split("\n")
            for code, cause in {**DEFECTS, **dict.fromkeys(self.extra, "convention")}.items():
                line = next((number for number, row in enumerate(rows, 1) if code in row), 0)
                if line and code not in self.silent:
                    found.append(self._finding(file.path, rows, line, cause))
        coverage = tuple(FileCoverage(path=file.path, state="reviewed") for file in change.files)
        words = f"{len(found)} issues found; all files reviewed"
        return a_review(findings=tuple(found), coverage=coverage, headline=words, verdict="issues")

    def _finding(self, path: str, rows: list[str], line: int, cause: str) -> Finding:
        text = " ".join(self.chance.sample(WORDS, 3))
        return a_finding(
            path=path, line=line, end_line=line, evidence=rows[line - 1], title=text[:40], message=text,
            severity="critical" if cause == "injection" else "warning", confidence=self.chance.randint(80, 99),
            category=self.chance.choice(["logic", "state", "value"]), cause=cause, rule="", cwe=None,
            sources=("model:x",), type="logic", suggestion="",
        )  # fmt: skip


class Pushing:
    """The pull request of a case over its pushes."""

    def __init__(self, case: HostCase) -> None:
        self.case = case
        self.reviewer = Reviewer()
        self.heads: list[str] = []

    def push(self, files: Mapping[str, str | None] | None = None, *commands: str) -> PullPosted:
        """Run git commands, commit files, move the head there, review it and post the review."""
        for command in commands:
            self.case.repo.git(*command.split(" "))
        head = self.case.repo.commit(dict(files)) if files else self.case.repo.git("rev-parse", "HEAD")
        if isinstance(self.case, GithubCase):
            pull = self.case.api.state.repositories[self.case.repository].pulls[1]
            pull.base_sha = self.case.repo.git("rev-parse", "main")
            self.case.api.push(self.case.repository, 1, head)
        self.heads.append(head)
        return asyncio.run(self._reviewed())

    async def _reviewed(self) -> PullPosted:
        office = HostSession(self.case.host, SIGNER, clock=StillClock())
        ref = await fetch(office, self.case.repository, 1)
        with ExitStack() as closing:
            prepared = await asyncio.to_thread(prepare, office, ref, RunOptions(), closing)
            scripted = ScriptedRun(prepared.run, self.reviewer, prepared.subject.snapshot.head)
            made = await carry_out(office, replace(prepared, run=scripted))
        # What stands between the steps is stored as JSON.
        return await post(office, type(made.value).model_validate_json(made.value.model_dump_json()))

    @property
    def threads(self) -> dict[str, Thread]:
        """Our threads, by the code of the defect in the row that they began at."""
        return dict(zip(self._codes(), self.case.host.reviews(self.case.pull()).threads(), strict=True))

    def _codes(self) -> list[str]:
        found = []
        for thread in self.case.host.reviews(self.case.pull()).threads():
            name = SIGNER.read_finding(thread.comments[0].body, self.case.pull().repository_id, 1)
            record = self.ledger.find(name or "")
            assert record is not None
            found.append(record.kind)
        return found

    @property
    def ledger(self) -> Ledger:
        """As the only summary keeps it."""
        pull = self.case.pull()
        bodies = [each.body for each in self.case.host.reviews(pull).reviews()]
        packed = [text for body in bodies if (text := SIGNER.read_ledger(body, pull.repository_id, 1)) is not None]
        assert len(packed) == 1
        found = unpack(packed[0])
        assert found is not None
        return found

    def states(self) -> dict[str, str]:
        """The state of each finding, by its cause."""
        return {record.kind: record.state for record in self.ledger.records}


def on_a_branch(case: HostCase) -> Pushing:
    """The pull request of a case without the change that it comes with."""
    case.repo.git("checkout", "--quiet", "main")
    case.repo.commit({"src/pay.py": None, "shop/cart.py": "def add(cart, item):\n    return cart\n"})
    case.repo.git("checkout", "--quiet", "-B", "feature")
    return Pushing(case)
