"""`python -m reviewbot`, and the program `reviewbot`."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

from reviewbot.cli.main import main

COLLECT_EVERY = 100_000
"""Objects; the modules of a review are fewer. Python's own 700 make it look through everything a hundred times while
they are loaded."""


def run() -> NoReturn:
    """Run one command and end.

    A command has closed what it opened when it returns, so the process ends at once: to free the thousands of modules
    of a model's SDK one by one takes half a second, and a thread that was left behind would delay the exit.
    """
    gc.set_threshold(COLLECT_EVERY)
    # Pydantic would look through all that is installed for plugins of its own, and load whatever calls itself one.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # A parent that ignores this signal hands that on, and then the exit status of a child process is lost.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the reader has gone, and the command has dealt with it
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
