"""Compare both sides of a change to find what it removes or alters that other code relies on."""

from reviewbot.analyzers.both_sides.tool import DiffSemantics
