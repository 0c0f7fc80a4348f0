"""What a judge is shown beside the slices: where the finding stands, what it calls, who calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.contracts import Finding
from reviewbot.model.evidence import MAX_AROUND, MAX_CALLERS, MAX_DEFINITIONS, MAX_SEARCHED, evidence_of
from reviewbot.ports import Commit, Occurrence, WorkOrder

SLICE = " def pay(user, amount):\n+    charge(user, amount)\n+    log_it(user)"
PAY = '''def pay(user, amount):
    """Take money from a user."""
    check_in(user)
    charge(user, amount)
    log_it(user)
'''
BANK = (
    "LIMIT_OF = 10\n\n\ndef charge(user, amount):\n    user.balance -= amount\n\n\ndef log_it(user):\n    print(user)\n"
)
SHOP = "from pay import pay\n\n\ndef buy(user):\n    pay(user, 0)\n"
FILES = {"src/pay.py": PAY, "src/bank.py": BANK, "src/shop.py": SHOP}


class Files:
    """A snapshot of texts by path; it counts the searches."""

    def __init__(self, texts: Mapping[str, str], *, searchable: bool = True) -> None:
        self.texts = texts
        self.searchable = searchable
        self.searched: list[str] = []

    def head(self, path: str) -> str | None:
        return self.texts.get(path)

    def base(self, path: str) -> str | None:
        return self.texts.get(path)

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        self.searched.append(word)
        if not self.searchable:
            return None
        return tuple(
            Occurrence(path, number, line)
            for path, text in sorted(self.texts.items())
            for number, line in enumerate(text.split("\n"), 1)
            if re.search(rf"\b{word}\b", line)
        )[:limit]

    def history(self, path: str, first: int, last: int, limit: int) -> tuple[Commit, ...]:
        return ()


@pytest.fixture(name="see")
def _see(a_task: Any, a_payload: Any, an_order: Any, a_finding: Callable[..., Finding]) -> Callable[..., Any]:
    """The texts of the sections by their names."""

    def see(files: Files, code: str = SLICE, worker: str = "logic", **fields: Any) -> dict[str, str]:
        order: WorkOrder = an_order(a_task(f"{worker}:src/pay.py#1", payload=a_payload(code, path="src/pay.py")))
        known = {"path": "src/pay.py", "line": 4, "evidence": "    charge(user, amount)", "message": "no check"}
        finding = a_finding(**{**known, **fields})
        return {section.name: section.text for section in evidence_of(replace(order, snapshot=files), finding)}

    return see


def test_the_judge_sees_the_definition_what_it_calls_and_who_calls_it(see: Callable[..., dict[str, str]]) -> None:
    assert see(Files(FILES)) == {
        "The definition that holds it": f"src/pay.py, pay:\n{PAY.rstrip()}",
        "What it calls or speaks of": "src/bank.py:\ndef charge(user, amount):\n    user.balance -= amount\n\n"
        "src/bank.py:\ndef log_it(user):\n    print(user)",
        "Who calls it": "src/shop.py: pay(user, 0)",
    }


def test_what_the_slices_show_is_not_repeated(see: Callable[..., dict[str, str]]) -> None:
    whole = "\n".join(f"+{line}" for line in (*PAY.split("\n"), *BANK.split("\n"), *SHOP.split("\n")))

    assert see(Files(FILES), whole) == {}


def test_of_a_bare_diff_there_is_nothing(see: Callable[..., dict[str, str]]) -> None:
    assert see(Files({}, searchable=False)) == {}


def test_a_name_in_the_claim_comes_first_and_may_be_a_constant(see: Callable[..., dict[str, str]]) -> None:
    found = see(Files(FILES), message="`LIMIT_OF` is not looked at")["What it calls or speaks of"]

    assert found.startswith("src/bank.py:\nLIMIT_OF = 10\n\nsrc/bank.py:\ndef charge")


def test_code_outside_of_any_definition_has_no_callers(see: Callable[..., dict[str, str]]) -> None:
    files = Files({"src/pay.py": "import os\n\n\ncharge(1, 2)\n", "src/bank.py": BANK})

    assert list(see(files)) == ["What it calls or speaks of"]


def test_special_methods_have_no_callers_to_look_for(see: Callable[..., dict[str, str]]) -> None:
    text = "class Pay:\n    def __init__(self) -> None:\n        self.x = 1\n        self.y = 2\n        self.z = 3\n"
    files = Files({"src/pay.py": text})

    assert list(see(files, evidence="self.y = 2")) == ["The definition that holds it"]
    assert files.searched == []


def test_other_workers_judge_sees_the_rules_that_their_worker_saw(see: Callable[..., dict[str, str]]) -> None:
    found = see(Files({**FILES, "AGENTS.md": "Names end in `_it`.\n"}), worker="style")

    assert "Names end in `_it`." in "".join(found.values())


def test_nothing_of_it_depends_on_where_the_code_stands(see: Callable[..., dict[str, str]]) -> None:
    moved = {path: "# a comment above\n\n\n" + text for path, text in FILES.items()}

    assert see(Files(moved), line=7) == see(Files(FILES))


def test_everything_is_capped(see: Callable[..., dict[str, str]]) -> None:
    names = [f"step_{n}" for n in range(30)]
    body = "".join(f"    {name}('{'x' * 200}')\n" for name in names)
    steps = "".join(f"def {name}(text):\n" + f"    print('{'y' * 200}')\n" * 100 + "\n" for name in names)
    calls = "".join(f"def caller_{n}():\n    pay({n})\n" for n in range(40))
    files = Files({"src/pay.py": f"def pay(user):\n{body}", "src/bank.py": steps, "src/shop.py": calls})

    found = see(files)

    assert len(found["The definition that holds it"]) < MAX_AROUND + 100
    assert found["What it calls or speaks of"].count("src/bank.py:") == MAX_DEFINITIONS
    assert len(found["Who calls it"].split("\n")) == MAX_CALLERS
    assert sum(map(len, found.values())) < 16_000
    assert len(files.searched) <= MAX_SEARCHED + 1
