"""Secrets that a step was handed in its environment cannot be read out of its process by others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, subprocess, sys
from reviewbot.action.runner import disable_ptrace
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
done = disable_ptrace()
path = f"/proc/{os.getpid()}/environ"
other = subprocess.run(["/bin/cat", path], capture_output=True, env={})
own = subprocess.run(["/bin/cat", "/proc/self/environ"], capture_output=True, env={"A": "1"})
print(done, other.returncode != 0, b"CANARY" in other.stdout, own.stdout)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the switch")
def test_a_program_of_the_same_user_cannot_read_the_environment_of_the_step() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"CANARY": "secret", "PYTHONPATH": os.pathsep.join(sys.path), "PATH": "/usr/bin:/bin"},
        cwd=Path("/"),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.split() == ["True", "True", "False", "b'A=1\\x00'"], done.stderr
