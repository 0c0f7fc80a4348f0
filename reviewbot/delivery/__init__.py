"""Prepare what leaves the process: a review, a plan or a trace, complete and masked. No entry point shows another."""

from __future__ import annotations

from reviewbot.delivery.deliver import Delivered, delivered, exit_code, told_again
from reviewbot.delivery.masking import masked_plan, masked_trace

__all__ = ["Delivered", "delivered", "exit_code", "masked_plan", "masked_trace", "told_again"]
