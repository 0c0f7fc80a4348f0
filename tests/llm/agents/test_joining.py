"""Claims at two places that are one defect, and those that only look like it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.domain.contracts import Finding, Proof
from reviewbot.llm.agents.rulings import join_by_proof
from tests.make import MakeFinding


@pytest.fixture
def defect(a_finding: MakeFinding) -> Callable[..., Finding]:
    """A claim of a model, proven by one line of `src/api.py`."""

    def make(line: int, **fields: Any) -> Finding:
        proof = (
            Proof(path="src/api.py", line=fields.pop("proof", 7), end_line=fields.pop("end", 7), quote="def get():"),
        )
        known = {"sources": ("model:x",), "type": "logic", "cause": "contract-change", "line": line, "proof": proof}
        return a_finding(**{**known, "message": f"caller {line} breaks", **fields})

    return make


def test_two_callers_of_what_changed_are_one_defect_that_names_both_places(defect: Callable[..., Finding]) -> None:
    worse = defect(3, severity="critical", path="src/a.py")

    [left] = join_by_proof([defect(9, path="src/b.py"), defect(40, path="src/a.py"), worse]).defects

    assert (left.severity, left.line, left.also) == ("critical", 3, (40,))
    assert left.message == "caller 3 breaks The same at src/b.py:9."


@pytest.mark.parametrize(
    "other",
    [{"proof": 8, "end": 9}, {"cause": "race"}, {"sources": ("taint",)}, {"cause": "other"}, {"cause": None}],
    ids=["another line", "another cause", "an analyzer's", "no cause in the list", "none"],
)
def test_what_differs_in_proof_cause_or_origin_stays_apart(
    other: dict[str, Any], defect: Callable[..., Finding]
) -> None:
    both = [defect(1, **{key: value for key, value in other.items() if key == "cause"}), defect(30, **other)]
    if other.get("cause") == "race":
        both[0] = defect(1)

    found = join_by_proof(both)

    assert (found.defects, found.pairs) == (both, [])


def test_two_defects_that_share_one_line_of_several_stay_apart(defect: Callable[..., Finding]) -> None:
    both = [defect(1), defect(30, message="another thing altogether")]
    promise = Proof(path="README.md", line=3, end_line=3, quote="Whatever is changed is seen at once.")
    for at, each in enumerate(both):
        own = Proof(path="src/api.py", line=40 + 9 * at, end_line=40 + 9 * at, quote="self.cache = {}")
        both[at] = each.model_copy(update={"proof": (promise, own)})

    assert join_by_proof(both).defects == both


def test_joins_do_not_chain(defect: Callable[..., Finding]) -> None:
    first, second = defect(1, proof=1, end=5, severity="critical"), defect(20, proof=4, end=9)
    third = defect(40, proof=8, end=12)

    found = join_by_proof([first, second, third])

    assert [each.line for each in found.defects] == [1, 40]
    assert [(speaker.line, other.line) for speaker, other in found.pairs] == [(1, 20)]
