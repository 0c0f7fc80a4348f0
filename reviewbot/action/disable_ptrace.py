"""Keep other programs of the same user out of this process, which holds secrets in its environment."""

from __future__ import annotations

import ctypes
import sys

_PR_SET_DUMPABLE = 4
"""https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html"""


def disable_ptrace() -> bool:
    """Make `/proc/PID/environ` and the memory of this process readable for the superuser alone, where Linux does that.

    Programs that it starts are as they always are. False where the system has no such switch.
    """
    if sys.platform != "linux":
        return False
    library = ctypes.CDLL(None, use_errno=True)
    return int(library.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)) == 0
