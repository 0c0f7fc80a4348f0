"""`python -m reviewbot`."""

from __future__ import annotations

import sys

from reviewbot.cli import main

if __name__ == "__main__":
    sys.exit(main())
