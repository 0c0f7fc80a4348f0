"""Analyzers of plain lines, in every language: secrets, hidden characters, leftovers, text that steers a review."""
