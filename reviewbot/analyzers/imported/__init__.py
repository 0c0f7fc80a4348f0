"""Results of other programs, handed in as files: read with tolerance, placed in the change, given to their workers."""

from reviewbot.analyzers.imported.tools import ImportedFindings, imported_tools
