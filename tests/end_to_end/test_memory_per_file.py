"""What a review keeps of each file that was looked at: little, since a change may have thousands of them."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc

import pytest

from reviewbot import wiring
from reviewbot.config import Settings
from reviewbot.review.trace import Event

MAX_KEPT = 30_000
"""Bytes of a file of four lines, its part of the plan and of the trace included."""

SECTION = """diff --git a/pkg/mod{0}.py b/pkg/mod{0}.py
new file mode 100644
--- /dev/null
+++ b/pkg/mod{0}.py
@@ -0,0 +1,4 @@
+import os
+
+def run(name):
+    return os.path.join("pkg", name)
"""


def held_at_the_last_task(files: int) -> int:
    """The bytes that a review of so many files holds when the last of its tasks has ended."""
    held, ended = [0], set()

    def listen(event: Event) -> None:
        if event["event"] == "task_finished":
            ended.add(event["task_id"].partition(":")[2])
            if len(ended) == files:
                gc.collect()
                held[0] = tracemalloc.get_traced_memory()[0]

    subject = wiring.from_diff("".join(SECTION.format(n) for n in range(files)).encode(), None)
    run = wiring.setup(subject, Settings(engine="analyzers", deadline_s=600), listener=listen)
    review = asyncio.run(run.review(subject.change))
    assert (review.coverage[0].state, len(review.coverage), review.gaps) == ("reviewed", files, ())
    return held[0]


@pytest.mark.slow
def test_a_review_keeps_little_of_each_further_file_that_was_looked_at() -> None:
    held_at_the_last_task(3)  # what is loaded once and kept
    tracemalloc.start()
    try:
        few, many = held_at_the_last_task(25), held_at_the_last_task(125)
    finally:
        tracemalloc.stop()

    assert (many - few) / 100 <= MAX_KEPT
