"""The tools with which a model reads the repository: read-only, confined to it, bounded, masked."""

from __future__ import annotations

from reviewbot.llm.tools.repository import RepositoryTools
