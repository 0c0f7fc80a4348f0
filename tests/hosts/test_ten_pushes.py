"""Ten pushes to one pull request, on each host, with a reviewer that words and places things differently each time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, replace
from typing import Any

import pytest

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


class Told(PreparedRun):
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
            told = Told(prepared.run, self.reviewer, prepared.subject.snapshot.head)
            made = await carry_out(office, replace(prepared, run=told))
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


@pytest.fixture
def pushing(case: HostCase) -> Pushing:
    case.repo.git("checkout", "--quiet", "main")
    case.repo.commit({"src/pay.py": None, "shop/cart.py": "def add(cart, item):\n    return cart\n"})
    case.repo.git("checkout", "--quiet", "-B", "feature")
    return Pushing(case)


@pytest.mark.slow
def test_ten_pushes_repeat_nothing_and_resolve_what_is_fixed(pushing: Pushing) -> None:
    case, heads = pushing.case, pushing.heads

    posted = pushing.push({"shop/pay.py": PAY, "shop/cart.py": CART})
    assert posted.inline == 4

    # Rows are inserted above, the reviewer misses one, and finds fault with code that it has read before.
    pushing.reviewer.silent, pushing.reviewer.extra = frozenset({"lock.release()"}), ("return fee",)
    posted = pushing.push({"shop/pay.py": "import threading\n\nlock = threading.Lock()\n\n\n" + PAY})
    assert (posted.inline, pushing.states()["race"]) == (0, "new")
    assert "convention" not in pushing.states()
    pushing.reviewer.silent = frozenset()

    # One is fixed.
    fixed = "import threading\n\nlock = threading.Lock()\n\n\n" + PAY.replace("total - order.fee", "total + order.fee")
    fixing = case.repo.commit({"shop/pay.py": fixed})
    case.repo.commit({"shop/more.py": "MORE = 1\n"})
    posted = pushing.push({"shop/more.py": None})
    thread = pushing.threads["wrong-value"]
    assert (posted.inline, thread.resolved, len(thread.comments)) == (0, True, 2)
    assert f"**Fixed by** `{fixing[:10]}`" in thread.comments[1].body
    assert [each.resolved for kind, each in pushing.threads.items() if kind != "wrong-value"] == [False] * 3

    # The file is renamed.
    posted = pushing.push({"shop/pay.py": None, "shop/money.py": fixed})
    assert (posted.inline, pushing.states()["missing-check"]) == (0, "open")
    assert {record.path for record in pushing.ledger.records if record.is_open} == {"shop/money.py", "shop/cart.py"}

    # A person replies to a thread, then fixes what it is about: that thread is left to people.
    case.answer(pushing.threads["race"].thread_id, "Is it really?")
    fixed = fixed.replace("    lock.release()\n", "")
    pushing.push({"shop/money.py": fixed})
    thread = pushing.threads["race"]
    assert (pushing.states()["race"], thread.resolved, len(thread.comments)) == ("fixed", False, 2)

    # Everything is one commit now, forced over the branch.
    posted = pushing.push(None, "reset --quiet --soft main", "commit --quiet -m squashed")
    assert (posted.inline, len(pushing.threads)) == (0, 4)

    # The base branch goes on and is merged.
    case.repo.git("checkout", "--quiet", "main")
    case.repo.commit({"README.md": "more\n"})
    posted = pushing.push(None, "checkout --quiet feature", "merge --quiet --no-edit main")
    assert (posted.inline, pushing.states()["missing-check"]) == (0, "open")

    # The fix is reverted: the thread says so, and there is no second comment.
    posted = pushing.push({"shop/money.py": fixed.replace("total + order.fee", "total - order.fee")})
    thread = pushing.threads["wrong-value"]
    assert (posted.inline, pushing.states()["wrong-value"], len(thread.comments)) == (0, "open", 3)
    assert thread.resolved is False
    assert heads[-1][:10] in thread.comments[2].body

    # The branch is rebased, and the cart left alone after all.
    case.repo.git("checkout", "--quiet", "main")
    case.repo.commit({"README.md": "still more\n"})
    posted = pushing.push(
        {"shop/cart.py": "def add(cart, item):\n    return cart\n"},
        "checkout --quiet feature",
        "rebase --quiet main",
    )
    thread = pushing.threads["unbounded-growth"]
    assert (posted.inline, thread.resolved, pushing.states()["unbounded-growth"]) == (0, True, "fixed")

    # New code has a new defect.
    posted = pushing.push({"shop/run.py": "import os\n\n\ndef run(command):\n    os.system(command)\n"})
    assert (posted.inline, pushing.states()["injection"]) == (1, "new")

    reviews = case.host.reviews(case.pull()).reviews()
    markers = [SIGNER.read_review(each.body, case.pull().repository_id, 1) for each in reviews]
    assert [marker.summary == 0 for marker in markers if marker] == [True, False]
    assert reviews[0].review_id == posted.review_id
    assert [head.head for head in pushing.ledger.heads] == heads
    assert len(pushing.threads) == 5
