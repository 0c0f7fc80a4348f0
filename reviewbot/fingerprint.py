"""The identity of the running program: what it keeps on disk is found again by the same program alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

_PACKAGE = Path(__file__).parent
_SHIPPED = tuple(folder for kind in ("workers", "prompts") if (folder := _PACKAGE.parent / kind).is_dir())
"""Cards and prompts of a checkout, which stand beside the package."""
_INSTALLED = frozenset({"site-packages", "dist-packages"})


@cache
def program_fingerprint() -> str:
    """Changes with every file of this program, with Python's version, and when something is installed beside it."""
    files = sorted(line for folder in (_PACKAGE, *_SHIPPED) for line in _files(os.fspath(folder)))
    # pip names a package's version in its folder, so that another version touches the folder around it.
    beside = [f"{path} {os.stat(path).st_mtime_ns}" for path in sys.path if _holds_packages(path)]  # noqa: PTH116 - quicker
    return digest_of(sys.version, *beside, *files)


def digest_of(*parts: str) -> str:
    """SHA-256 of some texts, each behind its length."""
    found = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        found.update(len(data).to_bytes(8, "big") + data)
    return found.hexdigest()


def _files(folder: str) -> Iterator[str]:
    """Yield name, size and time of change of each file below a folder, but for byte code."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _files(entry.path)
            else:
                found = entry.stat(follow_symlinks=False)  # an editor may leave a link to nothing
                yield f"{entry.path} {found.st_size} {found.st_mtime_ns}"


def _holds_packages(path: str) -> bool:
    return os.path.basename(path) in _INSTALLED and os.path.isdir(path)  # noqa: PTH112, PTH119 - quicker
