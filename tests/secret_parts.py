"""Secrets that open nothing, and the scan for them.

They are put together at run time, so that no scanner takes the tests for a leak.
"""

from __future__ import annotations

import asyncio

from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.text.secrets import SecretScan
from reviewbot.domain.contracts import Candidate, FileChange
from reviewbot.domain.ports import Snapshot

TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3
GIVEN_OUT = "gh" + "p_" + "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ" + "0mLq17"
"""Its checksum is right, as in the tokens that GitHub gives out."""
HEADER = "-----BEGIN EC PRIVATE" + " KEY-----"
FOOTER = "-----END EC PRIVATE" + " KEY-----"
KEY_LINE = "MHcCAQEEIA1B2C3D4E5F6G7H8I9J0K1L2M3N4O5P6Q7R8S9T0U1V2W3X4Y5Z6a7b"


def scan(change: FileChange, snapshot: Snapshot) -> list[Candidate]:
    return list(asyncio.run(SecretScan().run(changed_file([change], snapshot), snapshot)).candidates)
