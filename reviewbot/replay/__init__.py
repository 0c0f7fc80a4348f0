"""Make a finished review again from its trace: no model or host is asked, and the change itself is not needed.

What the workers brought is taken from the trace as it was judged there; planner and engine are not asked again. What is
made of it, merging, filtering, ranking and the verdict, is done anew by the very code that made the review.
"""

from __future__ import annotations

from reviewbot.replay.model import RecordedBooks, RecordedModel, RecordingLedger, RecordingModel
from reviewbot.replay.recorded_inputs import RecordedInputs, joint_rows, record_given
from reviewbot.replay.replay_review import Nobody, by_rules, recorded_review, replay

__all__ = [
    "Nobody",
    "RecordedBooks",
    "RecordedInputs",
    "RecordedModel",
    "RecordingLedger",
    "RecordingModel",
    "by_rules",
    "joint_rows",
    "record_given",
    "recorded_review",
    "replay",
]
