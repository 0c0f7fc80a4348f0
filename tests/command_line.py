"""How one run of the command line in this process ended, and git for repositories that tests make."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.git_repo import ENVIRONMENT


class Ended(NamedTuple):
    """How one run of the command line ended."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> Any:
        """What was printed, as JSON."""
        return json.loads(self.out)


Run = Callable[..., Ended]


def git(folder: Path, *words: str) -> str:
    """Run git in a folder, without the configuration of the person who runs the tests."""
    done = subprocess.run(["git", *words], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True, text=True)
    return done.stdout.strip()
