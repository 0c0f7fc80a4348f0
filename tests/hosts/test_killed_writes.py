"""One point of `make kill-writes` on each host: behind the comments of a later push, before its summary."""

from __future__ import annotations

import pytest

from tests.kill_writes import UNDISTURBED, Point, try_point


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["local", "github"])
def test_a_run_that_is_killed_behind_its_comments_is_completed_by_the_next_one(kind: str) -> None:
    _, expected = try_point(kind, 2, UNDISTURBED)
    killed, _ = try_point(kind, 2, Point(4, behind=True), expected)

    assert killed
