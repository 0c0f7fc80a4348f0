"""Which lines of a pull request GitHub shows, read from the diff of the git folder and from nothing of ours."""

from __future__ import annotations

import re
from pathlib import Path

from tests.github_api import objects

_HUNK = re.compile(r"@@ -[0-9]+(?:,[0-9]+)? \+([0-9]+)(?:,([0-9]+))? @@")


def shown(folder: Path, base: str, head: str) -> dict[str, list[range]]:
    """By path: the lines of the new side of each hunk."""
    found: dict[str, list[range]] = {}
    for changed in objects.changed(folder, base, head):
        starts = _HUNK.finditer(changed.patch or "")
        found[changed.path] = [range(int(each[1]), int(each[1]) + int(each[2] or 1)) for each in starts]
    return found


def commits(folder: Path, base: str, head: str) -> list[str]:
    """The commits of a pull request."""
    return objects.git(folder, "rev-list", f"{base}..{head}").decode().split()
