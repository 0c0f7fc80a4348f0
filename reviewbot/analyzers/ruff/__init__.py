"""Ruff: how it is run, which rules of a repository count, and how far each report is believed."""
