"""Results of other programs, handed in as SARIF: read with tolerance, placed in the change, given to their workers."""

from reviewbot.analyzers.sarif.tools import ForeignFindings, foreign_tools

__all__ = ["ForeignFindings", "foreign_tools"]
