"""The taint analysis: which values come from outside, and where they do harm."""

from reviewbot.analyzers.taint.check import check
