"""What a change takes away or alters that something else relies on: told by holding both sides against each other."""

from __future__ import annotations

from reviewbot.tools.diff_semantics.tool import DiffSemantics

__all__ = ["DiffSemantics"]
