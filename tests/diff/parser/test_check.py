"""unidiff as the second reader: it must agree, and no text reaches its slow rules."""

from __future__ import annotations

import pytest

from reviewbot.diff.parser.build import disagreement
from reviewbot.domain.contracts import Hunk


def hunk(body: str, counts: tuple[int, int, int, int]) -> Hunk:
    old_start, old_count, new_start, new_count = counts
    return Hunk(
        old_start=old_start,
        old_count=old_count,
        new_start=new_start,
        new_count=new_count,
        heading="x" * 99,
        body=body,
    )


GOOD = hunk(" a\n-b\n+c\n+d", (1, 2, 1, 3))


def test_a_right_reading_finds_no_disagreement() -> None:
    assert disagreement([GOOD, hunk("+e\n\\ No newline at end of file", (9, 0, 10, 1))], 3, 1) == ""


@pytest.mark.parametrize(
    ("hunks", "added", "removed", "words"),
    [
        ([GOOD], 3, 1, "counts other lines"),
        ([GOOD], 2, 0, "counts other lines"),
        ([hunk(" a\n-b\n+c", (1, 3, 1, 3))], 1, 1, "refuses it: Hunk is shorter than expected"),
        ([hunk(" a\n-b\n+c\n*d", (1, 3, 1, 3))], 1, 1, "refuses it: Hunk diff line expected"),
        ([hunk("-b\n+c\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y", (1, 1, 1, 1))], 1, 1, "finds other hunks"),
    ],
)
def test_a_wrong_reading_is_told(hunks: list[Hunk], added: int, removed: int, words: str) -> None:
    assert words in disagreement(hunks, added, removed)


@pytest.mark.parametrize("odd", ["\r", "\x0c", "\x85", "\u2028", "\0", "diff --git ://" + "://" * 500 + " " * 500])
def test_odd_content_changes_no_count(odd: str) -> None:
    assert disagreement([hunk(f" {odd}\n-{odd}\n+{odd}\n+{odd}", (1, 2, 1, 3))], 2, 1) == ""
