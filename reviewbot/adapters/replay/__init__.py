"""A finished review told again from its trace: nobody is asked, and the change itself is not needed.

What the workers brought is taken from the trace as it was judged there; planner and engine are not asked again. What is
made of it, merging, filtering, ranking and the verdict, is done anew by the very code that made the review.
"""

from __future__ import annotations

from reviewbot.adapters.replay.given import Given, joint_rows, record_given
from reviewbot.adapters.replay.model import Noted, NotedBooks, RecordedBooks, RecordedModel
from reviewbot.adapters.replay.run import Nobody, by_rules, recorded_review, replay

__all__ = [
    "Given",
    "Nobody",
    "Noted",
    "NotedBooks",
    "RecordedBooks",
    "RecordedModel",
    "by_rules",
    "joint_rows",
    "record_given",
    "recorded_review",
    "replay",
]
