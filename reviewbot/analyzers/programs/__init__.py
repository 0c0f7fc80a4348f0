"""Linters of other languages as tools: one adapter (`tool.py`), and one row for each program (`data/programs.toml`)."""
