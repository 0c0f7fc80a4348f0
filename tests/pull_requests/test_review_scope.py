"""What of a change is read after a push of which not everything is known."""

from __future__ import annotations

from typing import Any, cast

import pytest

from reviewbot.diff.parse import parse_diff
from reviewbot.domain.contracts import ReadBefore
from reviewbot.domain.contracts.ledger import HeadEntry, Ledger
from reviewbot.domain.ports import Snapshot
from reviewbot.hosts.base import CodeHost, PullRequest, Push
from reviewbot.memory.incremental import Scope
from reviewbot.pull_requests.review_scope import Known, read_before

SECTION = "diff --git a/{0} b/{0}\nindex 1111111..2222222 100644\n--- a/{0}\n+++ b/{0}\n{1}"
FIRST = "@@ -1,2 +1,2 @@\n-a = 1\n+a = 2\n b = 1\n"
SECOND = "@@ -91,2 +91,2 @@\n-x = 1\n+x = eval(b)\n y = 1\n"
WHOLE = SECTION.format("pay.py", FIRST + SECOND)


class _Host:
    """Knows one push."""

    def __init__(self, diff: str) -> None:
        self._push = Push((), parse_diff(diff.encode()))

    def push(self, pull: PullRequest, earlier: str) -> Push:
        del pull, earlier
        return self._push


class _Snapshot:
    def head(self, path: str) -> str:
        del path
        return "b = 1\n" * 200

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


def read(pushed: str) -> ReadBefore:
    entry = HeadEntry(head="a" * 40, at="2026-01-02T03:04:05Z", base="b" * 40, outcome="reviewed")
    known = Known(Ledger(heads=(entry,)), parse_diff(WHOLE.encode()), cast("Snapshot", _Snapshot()), lambda _: True)
    found = read_before(cast("CodeHost", _Host(pushed)), cast("PullRequest", None), Scope(entry), known)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "pushed",
    [
        pytest.param(WHOLE[:-1].removesuffix(" y = 1"), id="cut in its last hunk"),
        pytest.param(SECTION.format("pay.py", FIRST) + "+x = eval(b)\n", id="a line outside of a hunk"),
        pytest.param(WHOLE + SECTION.format("other.py", ""), id="a file of which no line is shown"),
    ],
)
def test_after_a_push_that_could_not_be_read_whole_everything_is_read(pushed: str) -> None:
    found = read(pushed)

    assert (found.files, found.head) == ((), "")
    assert found.note == "The whole change was in scope: a part of what was pushed since aaaaaaaaaa could not be read"


def test_after_a_push_that_is_known_only_its_lines_are_read() -> None:
    [file] = read(SECTION.format("pay.py", FIRST)).files

    assert file.again == ((1, 3),)
