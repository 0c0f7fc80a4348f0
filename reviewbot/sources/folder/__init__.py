"""A plain folder and the diff of a change to it: both sides of every file, whichever of them the folder holds."""

from __future__ import annotations

from reviewbot.sources.folder.snapshot import TreeSnapshot

__all__ = ["TreeSnapshot"]
