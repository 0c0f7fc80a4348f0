"""A pull request on a host of the tests that models review after each push."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from reviewbot.domain.contracts.ledger import Ledger
from reviewbot.memory.packing import unpack
from reviewbot.publish.marker import Signer
from reviewbot.pull_requests.fetch import fetch
from reviewbot.pull_requests.host_session import HostSession, RunOptions
from reviewbot.pull_requests.post import post
from reviewbot.pull_requests.review import Reviewed, carry_out, prepare
from reviewbot.wiring import RunInputs
from tests.host_cases import GithubCase, HostCase
from tests.messages_api import MessagesApi, Scripted, a_reading, answered, asks_judge, called, rulings_on
from tests.still_clock import StillClock

SIGNER = Signer.from_environment({})
Json = dict[str, Any]


def module(name: str, functions: int) -> str:
    """A module of functions that each do a little."""
    parts = [
        f"def {name}_{number}(orders, limit):\n"
        f'    """Sum what the {name} of some orders come to, up to a limit."""\n'
        f"    total = 0\n    for order in orders:\n        if order.{name} > limit:\n            continue\n"
        f"        total = total + order.{name} * {number + 2}\n    return total\n"
        for number in range(functions)
    ]
    return "\n\n".join(parts)


PRICES = '''\
def price_of(order):
    """The price of an order in cents."""
    return order.net + order.tax


def label_of(order):
    return f"{order.name}: {order.net}"
'''
PUSHED = PRICES.replace("return order.net + order.tax", "return (order.net + order.tax, order.currency)")
CALLER = '''\
from shop.prices import price_of


def invoice_total(orders):
    """What some orders cost together."""
    return sum(price_of(order) for order in orders)


''' + module("lines", 4)
WRONG = "    return (order.net + order.tax, order.currency)"
AREAS = ("freight", "refunds", "credit", "vouchers", "duties", "returns")
BASE = {
    "shop/__init__.py": "",
    "shop/invoices.py": CALLER,
    **{f"shop/{area}.py": module(area, 1) for area in AREAS},
    **{f"lib/part{number}.py": module(f"part{number}", 3) for number in range(70)},
}
CHANGE = {"shop/prices.py": PRICES, **{f"shop/{area}.py": module(area, 6) for area in AREAS}}
"""Some 250 changed lines in seven files."""


@dataclass
class Models:
    """Readers that look into the files of which they are shown a part, and find what their requests show; a judge."""

    asked: list[Json] = field(default_factory=list)
    claims: tuple[tuple[tuple[str, ...], Json], ...] = ()
    """A claim is made where each of some texts stands in the request."""
    looks: bool = True
    rulings: list[Json] = field(default_factory=list)
    """What the next requests to the judge are answered with."""

    def __call__(self, body: Json) -> Scripted:
        self.asked.append(body)
        if asks_judge(body):
            ruling = self.rulings.pop(0) if self.rulings else {}
            return answered(rulings_on(json.dumps(body["messages"]), **ruling))
        shown = texts_of(body)
        if self.looks and body.get("tools") and len(body["messages"]) == 1 and (paths := partly_shown(shown)):
            return called(*(("read", {"path": path}) for path in paths[:8]))
        return answered(a_reading(*(claim for texts, claim in self.claims if all(text in shown for text in texts))))


def texts_of(body: Json) -> str:
    """What the first message of a request shows."""
    return "\n".join(part["text"] for part in body["messages"][0]["content"])


def partly_shown(shown: str) -> list[str]:
    """The changed files that are not new: there is more of them than their hunks."""
    sections = re.findall(r"^### (\S+) \[\w+\]\n((?:(?!^###|^<<<).*\n)*)", shown, re.MULTILINE)
    return [path for path, rows in sections if re.search(r"^ *[0-9]+  ", rows, re.MULTILINE)]


class Pushing:
    """A pull request that models review after each push."""

    def __init__(self, case: HostCase, api: MessagesApi) -> None:
        self.case, self.api = case, api
        self.models = Models()
        api.otherwise = self.models

    def push(self, files: Mapping[str, str | None], **options: Any) -> Reviewed:
        self.commit(files)
        return asyncio.run(self._reviewed(options))

    def commit(self, files: Mapping[str, str | None]) -> None:
        """Move the head of the pull request on; it is not reviewed."""
        head = self.case.repo.commit(dict(files)) if files else self.case.repo.git("rev-parse", "HEAD")
        if isinstance(self.case, GithubCase):
            pull = self.case.api.state.repositories[self.case.repository].pulls[1]
            pull.base_sha = self.case.repo.git("rev-parse", "main")
            self.case.api.push(self.case.repository, 1, head)
        self.models.asked.clear()

    async def _reviewed(self, options: Json) -> Reviewed:
        session = HostSession(self.case.host, SIGNER, clock=StillClock())
        environ = {
            "ANTHROPIC_API_KEY": "sk-canary",
            "ANTHROPIC_BASE_URL": self.api.url,
            "REVIEWBOT_REQUESTS_PER_MINUTE": "60000",
        }
        ref = await fetch(session, self.case.repository, 1)
        with ExitStack() as closing:
            given = RunOptions(inputs=RunInputs(environ=environ), **options)
            prepared = await asyncio.to_thread(prepare, session, ref, given, closing)
            made = await carry_out(session, prepared)
        posted = await post(session, type(made.value).model_validate_json(made.value.model_dump_json()))
        assert posted.outcome == "posted", posted
        return made

    def shown(self) -> str:
        """What all readers were shown."""
        return "\n".join(texts_of(body) for body in self.models.asked)

    @property
    def summary(self) -> str:
        """The one that stands."""
        pull = self.case.pull()
        bodies = [each.body for each in self.case.host.reviews(pull).reviews()]
        [found] = [body for body in bodies if SIGNER.read_ledger(body, pull.repository_id, 1) is not None]
        return found

    @property
    def ledger(self) -> Ledger:
        """As the summary keeps it."""
        found = unpack(SIGNER.read_ledger(self.summary, self.case.pull().repository_id, 1) or "")
        assert found is not None
        return found


def on_a_branch(case: HostCase, messages_api: MessagesApi) -> Pushing:
    """The pull request, with nothing changed yet."""
    case.repo.git("checkout", "--quiet", "main")
    case.repo.commit({"src/pay.py": None, **BASE})
    case.repo.git("checkout", "--quiet", "-B", "feature")
    return Pushing(case, messages_api)
