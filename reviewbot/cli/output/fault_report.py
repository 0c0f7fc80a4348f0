"""Write a report of an unexpected error to a file that can be pasted into an issue."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

from reviewbot import __version__

GIT_VERSION_S = 5.0
"""Seconds that `git --version` may take."""


def write_fault_report(command: str) -> str:
    """Write down the current exception; the result says where, for the end of a message.

    The file is Markdown: versions, then the traceback without the error's own text, which may quote reviewed code.
    """
    kind, _, where = sys.exc_info()
    trace = "".join([*traceback.format_tb(where), getattr(kind, "__name__", "")])
    versions = {
        "reviewbot": __version__,
        "command": command,
        "Python": sys.version.replace("\n", " "),
        "platform": platform.platform(),
        "git": _git_version(),
    }
    lines = "\n".join(f"{name}: {value}" for name, value in versions.items())
    text = f"### Versions\n\n```\n{lines}\n```\n\n### Traceback\n\n```\n{trace}\n```\n"
    try:
        given = Path(os.environ.get("XDG_CACHE_HOME", ""))
        # A relative folder is to be ignored, by the XDG rules: it would lie in what is reviewed.
        path = (given if given.is_absolute() else Path.home() / ".cache") / "reviewbot" / "fault.log"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A new file each time: what stands there may be a link, a pipe, or a second name of another file.
        path.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as log:
            log.write(text)
    except (OSError, RuntimeError):  # a RuntimeError: nothing says where the user's home is
        return "and its log file could not be written"
    return f"please report it with {path}"


def _git_version() -> str:
    git = shutil.which("git")
    if git is None or not Path(git).is_absolute():  # a relative folder of PATH may be that of reviewed code
        return "not found"
    try:
        done = subprocess.run([git, "--version"], capture_output=True, timeout=GIT_VERSION_S, check=True)  # noqa: S603 - an absolute path
    except (OSError, subprocess.SubprocessError):
        return "not found"
    return done.stdout.decode("utf-8", "replace").strip()
