"""Shared code of all analyzers: running them once for a file, programs and their confinement, rules, reports."""
