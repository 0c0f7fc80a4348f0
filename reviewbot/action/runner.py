"""Read the variables of GitHub's runner, and write a step's log, outputs and summary.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands. `disable_ptrace` keeps other
programs of the same user out of this process, which holds secrets in its environment.
"""

from __future__ import annotations

import ctypes
import secrets
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from reviewbot.action.event import MAX_EVENT_BYTES
from reviewbot.domain.errors import InputError
from reviewbot.report.text import escape_command_property, escape_command_text, escape_runner_commands, md, one_line

SUMMARY_BYTES = 1024 * 1024
"""Of one step; GitHub shows nothing of a longer one."""

CUT = "\n\n(cut off: a summary holds at most 1 MiB)\n"

HIDDEN = "***"
"""What stands for a secret, as in the runner's own log."""

_MIN_SECRET_CHARS = 8
"""Characters. What is shorter is no secret, and hiding it would garble words."""

_PR_SET_DUMPABLE = 4
"""https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html"""


@dataclass(frozen=True)
class JobRunner:
    """Folders, repository and names of one step of a workflow."""

    event_name: str
    event_path: Path
    repository: str
    workspace: Path
    """Where the workflow has put a checkout, if it has."""
    temp: Path
    output: Path | None
    summary: Path | None
    api_url: str

    def event(self) -> bytes:
        """The event file. Raises InputError."""
        try:
            with self.event_path.open("rb") as file:
                return file.read(MAX_EVENT_BYTES + 1)
        except OSError as error:
            raise InputError(f"cannot read the event file GITHUB_EVENT_PATH: {error.strerror}") from None

    def place(self, name: str) -> Path:
        """A file in a new folder of the job's own, which other steps can read and other users cannot."""
        try:
            return Path(tempfile.mkdtemp(prefix="reviewbot-", dir=self.temp)) / name
        except OSError as error:
            raise InputError(f"cannot write into RUNNER_TEMP: {error.strerror}") from None


def runner_of(environ: Mapping[str, str]) -> JobRunner:
    """The runner's variables. Raises InputError where this is no step of a workflow."""

    def of(name: str) -> str:
        if not environ.get(name):
            raise InputError(f"{name} is not set: `reviewbot action` runs as a step of a workflow; see docs/action.md")
        return environ[name]

    def optional(name: str) -> Path | None:
        return Path(environ[name]) if environ.get(name) else None

    return JobRunner(
        event_name=of("GITHUB_EVENT_NAME"),
        event_path=Path(of("GITHUB_EVENT_PATH")),
        repository=of("GITHUB_REPOSITORY"),
        workspace=Path(of("GITHUB_WORKSPACE")),
        temp=Path(of("RUNNER_TEMP")),
        output=optional("GITHUB_OUTPUT"),
        summary=optional("GITHUB_STEP_SUMMARY"),
        api_url=of("GITHUB_API_URL"),
    )


@dataclass(frozen=True)
class StepOutput:
    """Writes a step's output, without the secrets that it knows."""

    runner: JobRunner
    log: TextIO
    secrets: tuple[str, ...] = ()

    def commands(self, text: str) -> None:
        """Workflow commands that are escaped already, one a line."""
        self.log.write(self.mask(text))

    def say(self, level: str, message: str) -> None:
        """One mark at the run: "error", "warning" or "notice". The message may be anything."""
        self.log.write(f"::{level} title=reviewbot::{escape_command_text(self.mask(message))}\n")

    def line(self, text: str) -> None:
        """One line of the log that is no command, whatever is in it."""
        self.log.write(escape_runner_commands(f"reviewbot: {one_line(self.mask(text))}\n"))

    def outputs(self, values: Mapping[str, str]) -> None:
        """Set outputs of the step. A value's end marker is random, so that none can go on as another output."""
        end = f"reviewbot_{secrets.token_hex(16)}"
        text = "".join(f"{name}<<{end}\n{self.mask(value)}\n{end}\n" for name, value in values.items())
        _append(self.runner.output, text, "GITHUB_OUTPUT")

    def summary(self, text: str) -> None:
        """Add Markdown to the page of the run; what GitHub would not take is cut off, and said to be."""
        path = self.runner.summary
        left = SUMMARY_BYTES - (path.stat().st_size if path is not None and path.exists() else 0)
        data = self.mask(text).encode("utf-8", "replace")
        if len(data) > left:
            data = data[: max(0, left - len(CUT.encode()))].rpartition(b"\n")[0] + CUT.encode()
        _append(path, data.decode("utf-8", "ignore") if len(data) <= left else "", "GITHUB_STEP_SUMMARY")

    def mask(self, text: str) -> str:
        """The text without the secrets, also as they stand where it was escaped already."""
        for secret in self.secrets:
            if len(secret) >= _MIN_SECRET_CHARS:
                for form in (secret, escape_command_property(secret), escape_command_text(secret), md(secret)):
                    text = text.replace(form, HIDDEN)
        return text


def _append(path: Path | None, text: str, name: str) -> None:
    if path is None:
        return
    try:
        # A path may hold bytes that are no text.
        with path.open("a", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"cannot write to {name}: {error.strerror}") from None


def disable_ptrace() -> bool:
    """Make `/proc/PID/environ` and the memory of this process readable for the superuser alone, where Linux does that.

    Programs that it starts are as they always are. False where the system has no such switch.
    """
    if sys.platform != "linux":
        return False
    library = ctypes.CDLL(None, use_errno=True)
    return int(library.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)) == 0
