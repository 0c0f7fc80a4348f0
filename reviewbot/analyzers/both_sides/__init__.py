"""What a change takes away or alters that something else relies on: told by holding both sides against each other."""

from __future__ import annotations

from reviewbot.analyzers.both_sides.tool import DiffSemantics

__all__ = ["DiffSemantics"]
