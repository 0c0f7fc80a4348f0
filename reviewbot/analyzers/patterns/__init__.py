"""Patterns: rules as data for languages other than Python, found by queries over tree-sitter's syntax trees.

One language is one table, `reviewbot/data/rules/patterns_NAME.toml`: what its syntax is called (`language`), and its
rules, each with a query. Nothing here knows a language. Why queries: docs/decisions/0025-patterns.md.
"""
