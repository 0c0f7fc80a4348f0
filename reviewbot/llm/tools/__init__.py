"""The tools with which a model reads the repository: read-only, confined to it, bounded, masked."""

from reviewbot.llm.tools.repository import RepositoryTools
