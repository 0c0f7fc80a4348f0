"""A run of a later head that is killed between any two calls of the host, and what the next one makes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from reviewbot.delivery import DeliveredReview
from reviewbot.domain.contracts.ledger import HeadEntry, Ledger, Record
from reviewbot.memory.fingerprints import of_review
from reviewbot.memory.packing import unpack
from reviewbot.publish.options import PublishContext, PublishRequest
from reviewbot.publish.post import publish
from reviewbot.publish.rebuild_ledger import rebuild
from tests.make import MakeFinding
from tests.publishing import HEAD, OPTIONS, OWN, SIGNER, RecordingHost, a_pull, a_review, an_order

FIRST = "d" * 40
CALLS = ("head_sha", "reviews", "threads", "post_review", "edit_review", "reply", "resolve")


class KilledError(BaseException):
    """The process is gone."""


def order_of(make: MakeFinding, head: str, states: dict[str, str]) -> PublishRequest:
    """The review of a head that has a finding of each category that is new or open; all of them are in its ledger."""
    lines = {category: 3 + 2 * number for number, category in enumerate(states)}
    every = {category: make(line=line, end_line=line, category=category) for category, line in lines.items()}
    names = of_review(a_review(*every.values()))
    records = tuple(
        Record.model_validate(
            {"names": (names[finding],), "path": finding.path, "line": finding.line, "state": states[category],
             "reason": "a reason", "who": "reviewbot", "at": "", "head": head, "since": FIRST}
        )
        for category, finding in every.items()
    )  # fmt: skip
    ledger = Ledger(records=records, heads=(HeadEntry(head=head, outcome="reviewed", at=""),))
    review = a_review(*(each for category, each in every.items() if states[category] in ("new", "open")))
    order = an_order(review, pull=a_pull(head_sha=head))
    return replace(order, delivered=DeliveredReview(review, names, ledger))


@pytest.mark.parametrize("carried_out", [True, False])
@pytest.mark.parametrize("call", range(1, 19))
def test_a_run_that_is_killed_at_any_call_leaves_no_second_comment_and_no_lost_state(
    a_finding: MakeFinding, context: PublishContext, host: RecordingHost, call: int, *, carried_out: bool
) -> None:
    host.head = FIRST
    asyncio.run(publish(order_of(a_finding, FIRST, {"one": "new", "two": "new"}), OPTIONS, context))
    host.head = HEAD
    order = order_of(a_finding, HEAD, {"one": "fixed", "two": "open", "three": "new"})
    plain = {name: getattr(host, name) for name in CALLS}
    count = 0

    def killing(name: str) -> Callable[..., object]:
        def called(*given: object, **named: object) -> object:
            nonlocal count
            count += 1
            if count == call and not carried_out:
                raise KilledError
            answer: object = plain[name](*given, **named)
            if count == call:
                raise KilledError
            return answer

        return called

    for name in CALLS:
        setattr(host, name, killing(name))
    killed = False
    try:
        asyncio.run(publish(order, OPTIONS, context))
    except KilledError:
        killed = True
    for name in CALLS:
        setattr(host, name, plain[name])
    asyncio.run(publish(order, OPTIONS, replace(context, holder="the next run")))

    assert killed == (count >= call)
    assert [len(draft.comments) for draft in host.drafts] == [2, 1]
    assert [(len(each.comments), bool(each.resolved)) for each in host.at_lines] == [(2, True), (1, False), (1, False)]
    found = rebuild(a_pull(), SIGNER, OWN, host.posted, host.at_lines)
    told = order.delivered.ledger
    assert told is not None
    records = (told.records[0].model_copy(update={"settled": True}), *told.records[1:])
    assert found.ledger == told.model_copy(update={"records": records})
    packed = [SIGNER.read_ledger(each.body, 4242, 7) for each in host.posted]
    assert [unpack(text) for text in packed if text] == [found.ledger]


def test_the_calls_of_a_whole_run_are_all_tried(
    a_finding: MakeFinding, context: PublishContext, host: RecordingHost
) -> None:
    host.head = FIRST
    asyncio.run(publish(order_of(a_finding, FIRST, {"one": "new", "two": "new"}), OPTIONS, context))
    host.head, host.calls = HEAD, []
    order = order_of(a_finding, HEAD, {"one": "fixed", "two": "open", "three": "new"})
    asyncio.run(publish(order, OPTIONS, context))

    assert 10 <= len(host.calls) <= 18
