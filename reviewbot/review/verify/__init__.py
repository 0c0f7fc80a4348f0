"""Verification of findings: the confidence that their evidence supports."""
