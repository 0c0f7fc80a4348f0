"""Run one git command: a scrubbed environment, bounded time, bounded output."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer

from reviewbot.domain.errors import InputError
from reviewbot.tables import packaged_table

TIMEOUT_S = 120.0
"""Of one command. A merge base in a very large history takes some ten seconds."""

MAX_ERROR_BYTES = 2_000

FIXED: tuple[str, ...] = tuple(packaged_table("names/git")["fixed"])
"""Before every subcommand. They matter where the real git directory is used; elsewhere they are a second lock."""


KNOWN_PHRASES: tuple[str, ...] = tuple(packaged_table("names/git")["known_phrases"])
"""What git may be quoted with."""


@dataclass(frozen=True)
class Git:
    """How to call git on one git directory, from an empty folder that is also its work tree."""

    program: str
    path_variable: str
    git_dir: Path
    empty: Path
    index: Path
    """The index file; it need not exist."""

    def command(self, *arguments: str) -> list[str]:
        """The argument list; there is never a shell."""
        return [self.program, *FIXED, *arguments]

    def environment(self) -> dict[str, str]:
        """All that the child sees. No HOME, no token, no `GIT_*` of the caller."""
        return {
            "PATH": self.path_variable,
            "LC_ALL": "C",
            "GIT_DIR": str(self.git_dir),
            "GIT_WORK_TREE": str(self.empty),
            "GIT_INDEX_FILE": str(self.index),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            # Beats every protocol.*.allow of a configuration; an older git knows no other way to stop a lazy fetch.
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_LFS_SKIP_SMUDGE": "1",
        }

    def run(
        self, *arguments: str, limit: int = MAX_ERROR_BYTES, seconds: float = TIMEOUT_S, cut: bool = False
    ) -> GitResult:
        """Run one command. Raises InputError where it prints over `limit` bytes or takes over `seconds`.

        With `cut` the first `limit` bytes of a longer output are the answer, and the command is ended there.
        """
        with (
            TemporaryFile() as errors,
            subprocess.Popen(  # noqa: S603 - an argument list of our own; revisions are resolved to hashes first
                self.command(*arguments),
                cwd=self.empty,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            ) as process,
        ):
            timer = Timer(seconds, process.kill)
            timer.start()
            output = process.stdout.read(limit + 1) if process.stdout else b""
            if len(output) > limit:
                process.kill()
            code = process.wait()
            timer.cancel()
            errors.seek(0)
            message = errors.read(MAX_ERROR_BYTES).decode("utf-8", "replace")
        if len(output) > limit and cut:
            return GitResult(code, output[:limit], message, cut=True)
        if len(output) > limit:
            raise InputError(f"git {arguments[0]} printed more than {limit // 2**20} MiB; review a smaller range")
        if code == -signal.SIGKILL:
            raise InputError(f"git {arguments[0]} took longer than {seconds:.0f} s; review a smaller range")
        return GitResult(code, output, message)


@dataclass(frozen=True)
class GitResult:
    """What a command answered."""

    code: int
    output: bytes
    errors: str
    cut: bool = False
    """It printed more than it was asked for."""

    @property
    def line(self) -> str:
        """The only line of its output."""
        return self.output.decode("utf-8", "replace").strip()

    @property
    def why(self) -> str:
        """What git says of a failure, in known words alone: its messages repeat lines of the files that it read."""
        said = ", ".join(phrase for phrase in KNOWN_PHRASES if phrase in self.errors)
        return said or f"git ended with {self.code}"


def find_program(path_variable: str) -> tuple[str, str]:
    """Git's absolute path, and the search path to hand on. A relative entry could lead into the reviewed files."""
    absolute = os.pathsep.join(entry for entry in path_variable.split(os.pathsep) if os.path.isabs(entry))  # noqa: PTH117 - a text
    program = shutil.which("git", path=absolute) if absolute else None
    if program is None:
        raise InputError("git is not installed or not on PATH; install it, or hand in a diff")
    return program, absolute
