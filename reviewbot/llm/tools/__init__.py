"""The tools with which a model reads the repository: read-only, confined to it, bounded, masked."""

from __future__ import annotations

from reviewbot.llm.tools.repository import RepositoryTools
from reviewbot.llm.tools.results import EvidenceEntry, ToolLimits, ToolResult
from reviewbot.llm.tools.withheld import withheld

__all__ = ["EvidenceEntry", "RepositoryTools", "ToolLimits", "ToolResult", "withheld"]
