"""Prove replacements before a review offers them as suggestions."""
