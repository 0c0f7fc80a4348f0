"""A run of another program that failed must not look like one that found nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.imported import imported_tools
from reviewbot.domain.contracts import FileChange
from reviewbot.domain.ports import Snapshot

Log = dict[str, Any]
UNSUCCESSFUL = {"invocations": [{"executionSuccessful": True}, {"executionSuccessful": False}]}


@pytest.mark.parametrize("fields", [UNSUCCESSFUL, {"results": None}, {"results": 3}])
def test_a_failed_run_is_a_gap_of_security_and_a_note(
    run_of: Callable[..., Log],
    log_of: Callable[..., bytes],
    file_of: Callable[..., FileChange],
    no_snapshot: Snapshot,
    fields: Log,
) -> None:
    change = file_of("+a")
    tools, notes = imported_tools([("x", log_of(run_of(**fields)))], [change.path, "b.md"])

    gaps = [asyncio.run(tool.run(changed_file([change], no_snapshot), no_snapshot)).gap for tool in tools]

    assert [gap and (gap.reason, gap.tool, gap.path, gap.message) for gap in gaps] == [
        ("crashed", "imported-security", change.path, "the run failed of checker (x)"),
        None,
        None,
        None,
    ]
    assert [tool.languages for tool in tools] == [None] + [frozenset()] * 3
    assert tools[0].paths == {change.path, "b.md"}
    assert "its run failed" in notes[0]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"invocations": [{"executionSuccessful": True}]},
        {"invocations": [{"executionSuccessful": "false"}, 3]},
        {"invocations": None},
    ],
)
def test_a_run_that_found_nothing_is_no_gap(
    run_of: Callable[..., Log], log_of: Callable[..., bytes], fields: Log
) -> None:
    tools, notes = imported_tools([("x", log_of(run_of(**fields)))], ["a.py"])

    assert [tool.languages for tool in tools] == [frozenset()] * 4
    assert "failed" not in notes[0]


def test_many_failed_runs_are_named_in_one_gap(
    run_of: Callable[..., Log], log_of: Callable[..., bytes], file_of: Callable[..., FileChange], no_snapshot: Snapshot
) -> None:
    tools, _ = imported_tools([("x", log_of(*[run_of(**UNSUCCESSFUL)] * 7))], ["a.py"])
    file = changed_file([file_of("+a")], no_snapshot)
    gap = asyncio.run(tools[0].run(file, no_snapshot)).gap

    assert gap is not None
    assert gap.message.endswith(" and 2 more")
