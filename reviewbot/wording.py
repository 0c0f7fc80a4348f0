"""Words that several modules write in the same form."""

from __future__ import annotations


def with_count(number: int, noun: str) -> str:
    """Write a number with its noun, as in "1 file" and "2,000 files"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def install_command(extra: str) -> str:
    """The command that adds an extra, in a clone: a name in a registry might be another project's."""
    return f"pip install '.[{extra}]' (with pipx: pipx install --force '.[{extra}]')"
