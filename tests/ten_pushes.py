"""Ten pushes to one pull request that models read, with readers that word and rate things differently each time."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from reviewbot.hosts.base import Thread
from tests.host_cases import HostCase
from tests.messages_api import MessagesApi, Scripted, a_claim, a_reading, answered, asks_judge, rulings_on
from tests.model_pushes import SIGNER, Json, Pushing, texts_of
from tests.scripted_pushes import CART, DEFECTS, WORDS
from tests.scripted_pushes import PAY as PAY_WITHOUT_LOCK

PAY = f"import threading\n\nlock = threading.Lock()\n\n\n{PAY_WITHOUT_LOCK}"
TOP = '"""Payments."""\n\n'
SHOWN = re.compile(r" *[0-9]+ [ +]")
"""A row of the head's side."""


@dataclass
class Reviewer:
    """Finds each defect that a hunk shows, in other words, under another category and quoted with the
    row below or without it each time; a judge agrees."""

    asked: list[Json] = field(default_factory=list)
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    late: dict[str, str] = field(default_factory=dict)
    """Code that it finds fault with only now, and the cause."""
    claimed: set[str] = field(default_factory=set)
    """The causes of all claims so far."""

    def __call__(self, body: Json) -> Scripted:
        self.asked.append(body)
        if asks_judge(body):
            return answered(rulings_on(json.dumps(body["messages"])))
        change, causes = texts_of(body).partition("<<<change ")[2], DEFECTS | self.late
        found: list[Json] = []
        path = ""
        rows = change.split("\n")
        for row, below in zip(rows, [*rows[1:], ""], strict=True):
            path = row[4:].partition(" ")[0] if row.startswith("### ") else path
            cause = next((cause for code, cause in causes.items() if code in row), "")
            if cause and SHOWN.match(row):
                self.claimed.add(cause)
                two = self.chance.random() < 0.5 and SHOWN.match(below) and below[7:].strip()
                found.append(self._claim(len(found), path, f"{row[7:]}\n{below[7:]}" if two else row[7:], cause))
        return answered(a_reading(*found))

    def _claim(self, number: int, path: str, quote: str, cause: str) -> Json:
        words = " ".join(self.chance.sample(WORDS, 3))
        category = self.chance.choice(["logic", "state", "value"])
        named = {"id": f"f{number + 1}", "title": words[:40], "cause": cause, "category": category}
        return a_claim(path, quote, words, confidence=self.chance.randint(80, 99), **named)


class PushReport(NamedTuple):
    """What the report of a push says."""

    paths: tuple[str, ...]
    """The file of each finding."""
    notes: tuple[str, ...]

    @property
    def scope(self) -> str:
        """What was read: "first", "pushed", or why it was the whole change."""
        notes = [each for each in self.notes if each.startswith(("Models read", "The whole change"))]
        whole = [each.partition(": ")[2] for each in notes if each.startswith("The whole")]
        return whole[0] if whole else "pushed" if notes else "first"


class TenPushes(Pushing):
    """The same with this reviewer, and with what stands on the host."""

    def __init__(self, case: HostCase, api: MessagesApi) -> None:
        super().__init__(case, api)
        case.repo.git("checkout", "--quiet", "main")
        case.repo.commit({"src/pay.py": None, "shop/cart.py": "def add(cart, item):\n    return cart\n"})
        case.repo.git("checkout", "--quiet", "-B", "feature")
        self.reviewer = Reviewer(self.models.asked)
        api.otherwise = self.reviewer
        self.seen = 0

    def tell(self, files: Mapping[str, str | None]) -> PushReport:
        """Push, have the head reviewed and the review posted."""
        review = self.push(files).delivered.review
        return PushReport(tuple(each.path for each in review.findings), review.notes)

    def git(self, *commands: str) -> None:
        for command in commands:
            self.case.repo.git(*command.split(" "))

    @property
    def threads(self) -> dict[str, Thread]:
        """Our threads by the cause of what they are about."""
        found = {}
        for thread in self.case.host.reviews(self.case.pull()).threads():
            name = SIGNER.read_finding(thread.comments[0].body, self.case.pull().repository_id, 1)
            record = self.ledger.find(name or "")
            assert record is not None
            found[record.kind] = thread
        return found

    def new_threads(self) -> int:
        """How many threads came since this was asked last."""
        before, self.seen = self.seen, len(self.case.host.reviews(self.case.pull()).threads())
        return self.seen - before

    def states(self) -> dict[str, str]:
        return {record.kind: record.state for record in self.ledger.records}


def repeat_nothing_and_forget_nothing(pushes: TenPushes) -> None:
    """Ten pushes, and what stands on the host after each."""
    case, scopes = pushes.case, []

    def push(files: dict[str, str | None], *commands: str) -> PushReport:
        pushes.git(*commands)
        report = pushes.tell(files)
        scopes.append(report.scope)
        return report

    push({"shop/pay.py": PAY, "shop/cart.py": CART})
    assert pushes.new_threads() == 4

    # Rows are inserted above; what was not pushed stands.
    report = push({"shop/pay.py": TOP + PAY})
    assert (pushes.new_threads(), len(report.paths)) == (0, 4)

    # One is fixed in the first of two commits.
    fixed = TOP + PAY.replace("total - order.fee", "total + order.fee")
    fixing = case.repo.commit({"shop/pay.py": fixed})
    report = push({"shop/more.py": "MORE = 1\n"})
    thread = pushes.threads["wrong-value"]
    assert (pushes.new_threads(), thread.resolved, len(report.paths)) == (0, True, 3)
    assert f"**Fixed by** `{fixing[:10]}`" in thread.comments[1].body

    # The file is renamed: it is read again.
    report = push({"shop/pay.py": None, "shop/money.py": fixed})
    assert (pushes.new_threads(), {*report.paths}) == (0, {"shop/money.py", "shop/cart.py"})

    # A person replies, then fixes what the thread is about: it is left to people.
    case.answer(pushes.threads["race"].thread_id, "Is it really?")
    fixed = fixed.replace("    lock.release()\n", "")
    push({"shop/money.py": fixed})
    thread = pushes.threads["race"]
    assert (pushes.states()["race"], thread.resolved, len(thread.comments)) == ("fixed", False, 2)

    # Everything is one commit now, forced over the branch, and a reviewer who reads it all finds fault with what was
    # read before; then the base goes on and is merged.
    pushes.reviewer.late["order.open = False"] = "convention"
    report = push({}, "reset --quiet --soft main", "commit --quiet -m squashed")
    assert (pushes.new_threads(), {*report.paths}) == (0, {"shop/money.py", "shop/cart.py"})
    assert "convention" in pushes.reviewer.claimed
    assert "convention" not in pushes.states()
    case.repo.git("checkout", "--quiet", "main")
    case.repo.commit({"README.md": "more\n"})
    report = push({}, "checkout --quiet feature", "merge --quiet --no-edit main")
    assert (pushes.new_threads(), {*report.paths}) == (0, {"shop/money.py", "shop/cart.py"})

    # The fix is reverted: its thread says so.
    push({"shop/money.py": fixed.replace("total + order.fee", "total - order.fee")})
    thread = pushes.threads["wrong-value"]
    assert (pushes.new_threads(), pushes.states()["wrong-value"], thread.resolved) == (0, "open", False)

    # The branch is rebased, and the cart left alone after all.
    case.repo.git("checkout", "--quiet", "main")
    case.repo.commit({"README.md": "still more\n"})
    pushes.git("checkout --quiet feature", "rebase --quiet main")
    push({"shop/cart.py": "def add(cart, item):\n    return cart\n"})
    assert (pushes.new_threads(), pushes.threads["unbounded-growth"].resolved) == (0, True)

    # New code has a new defect; the others are in the report as well.
    report = push({"shop/run.py": "import os\n\n\ndef run(command):\n    os.system(command)\n"})
    assert (pushes.new_threads(), pushes.states()["injection"]) == (1, "new")
    assert {*report.paths} >= {"shop/money.py", "shop/run.py"}

    heads = [entry.head for entry in pushes.ledger.heads]
    assert scopes == [
        "first", "pushed", "pushed", "pushed", "pushed",
        f"{heads[4][:10]}, which was reviewed, is not in the history of this head (a forced push)",
        f"the base moved: the change starts at {pushes.ledger.heads[6].base[:10]} now",
        "pushed",
        f"the base moved: the change starts at {pushes.ledger.heads[8].base[:10]} now",
        "pushed",
    ]  # fmt: skip
    reviews = case.host.reviews(case.pull()).reviews()
    markers = [SIGNER.read_review(each.body, case.pull().repository_id, 1) for each in reviews]
    assert sum(marker.summary == 0 for marker in markers if marker) == 1
    assert len(pushes.threads) == 5
