"""Critical findings of models that a later review leaves out, though it read the whole change again."""

from __future__ import annotations

import pytest

from reviewbot.memory.recall import MAX_RECORDS
from tests.make import one_fast
from tests.memory.pushes import Pushes, Said

PATH = "app/pay.py"
CODE = "def pay(order):\n    total = order.total / order.count\n    return total\n"
CRITICAL = Said(PATH, "order.total / order.count", {"severity": "critical"})


def pushed(said: Said = CRITICAL) -> Pushes:
    pushes = Pushes({})
    pushes.push({PATH: CODE}, said)
    return pushes


def test_a_critical_finding_that_a_full_review_leaves_out_stands_as_long_as_its_code() -> None:
    pushes = pushed()
    _, made = pushes.push({PATH: "import os\n" + CODE})

    [carried] = made.carried
    assert (carried.finding.severity, carried.finding.path, carried.finding.line) == ("critical", PATH, 3)
    assert carried.finding.message.endswith("; its code stands)")
    assert (carried.name, pushes.record.state) == (pushes.record.name, "open")

    _, made = pushes.push({PATH: CODE.replace("/ order.count", "/ 2")})
    assert (made.carried, pushes.record.state) == ((), "fixed")


@pytest.mark.parametrize("line_count", one_fast([None, 70_000]))
def test_it_stands_where_its_file_can_be_read_no_more(line_count: int | None) -> None:
    pushes = pushed()
    unread = {} if line_count is None else {PATH: "#\n" * line_count + CODE}
    _, made = pushes.push({**unread, "app/other.py": "x = 1\n"}, listing=lambda: (PATH,))

    [carried] = made.carried
    assert carried.finding.message.endswith("; its code could not be looked for)")
    assert carried.finding.line == 2


def test_what_is_not_critical_or_was_refuted_is_not_said_again() -> None:
    warned = pushed(CRITICAL._replace(fields={"severity": "warning"}))
    assert warned.push({PATH: CODE + "\n"})[1].carried == ()

    doubted = pushed()
    doubt = CRITICAL._replace(fields={"severity": "critical", "confidence": 40, "judgement": "It holds."})
    _, made = doubted.push({PATH: CODE + "\n"}, withheld=((doubt, "below_threshold"),))
    assert (made.carried, doubted.record.state) == ((), "refuted")


def test_a_critical_finding_is_remembered_behind_as_many_others_as_a_ledger_holds() -> None:
    pushes = pushed(CRITICAL._replace(code="return total", fields={"severity": "warning"}))
    other = pushes.record.model_copy(update={"path": "app/other.py", "kind": "other", "code": "", "row_codes": ()})
    many = tuple(other.model_copy(update={"names": (f"{number:032x}",)}) for number in range(MAX_RECORDS))
    pushes.ledger = pushes.ledger.model_copy(update={"records": many})
    pushes.push({PATH: CODE}, CRITICAL._replace(fields={"severity": "critical", "judgement": "It holds."}))

    assert len(pushes.ledger.records) == MAX_RECORDS
    assert pushes.ledger.records[-1].severity == "critical"
