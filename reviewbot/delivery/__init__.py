"""Prepare what leaves the process: a review, a plan or a trace, complete and masked. No entry point shows another."""

from reviewbot.delivery.deliver import (
    DeliveredReview,
    deliver,
    exit_code,
    mask_plan,
    mask_trace,
    recorded_delivery,
    replay_delivery,
)
