"""Reviewers that misbehave in other processes, which must be able to import them."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reviewbot.evaluate.labels import Case


def names_its_process(case: Case) -> dict[str, Any]:
    """Answer with the process that it runs in."""
    return {"findings": [], "group": case.group, "process": os.getpid()}


def dies_on_deadly(case: Case) -> dict[str, Any]:
    """End like a process that the system has killed, on one group of cases."""
    if case.group == "deadly":
        os.kill(os.getpid(), signal.SIGKILL)
    return names_its_process(case)


def hangs_on_endless(case: Case) -> dict[str, Any]:
    """Never answer on one group of cases; all others wait until such a case has begun."""
    begun = case.folder.parent.parent / "begun"
    if case.group == "endless":
        begun.touch()
        threading.Event().wait()
    while not begun.exists():
        threading.Event().wait(0.05)
    return names_its_process(case)
