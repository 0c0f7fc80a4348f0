"""A checkout for runs of the Action."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.action_runner.composite import ActionRunner

ROOT = Path(__file__).parents[2]
BEFORE = "def greet(name):\n    return name\n"
DEFECT = "import subprocess\n\n\ndef run(request):\n    subprocess.run(request.args['c'], shell=True)\n"

MakeRunner = Callable[..., ActionRunner]


class Checkout:
    """A git repository that tests commit to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        fixed = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        command = ["git", "-C", str(self.folder), *fixed, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, files: Mapping[str, str], message: str = "a commit") -> str:
        """Write files and commit everything; the commit's hash."""
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")
