"""Decide which file names are reviewed at all.

A name is a label here and is never opened. One that would leave the tree or reach into git's own folder on any common
file system is refused all the same, because others may open it.
"""

from __future__ import annotations

import re
import unicodedata

MAX_NAME_BYTES = 4096
"""PATH_MAX of Linux: no file system that git works on opens a longer name."""

_DRIVE = re.compile(r"[A-Za-z]:")
_SHORT_GIT = re.compile(r"git~[0-9]+")
"""What NTFS makes of ".git" where short names are on."""
_IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f\U000e0000-\U000e0fff]")
"""Code points that show nothing and are not of category Cf; HFS+ and look-alike tricks hide them in names."""


def refusal(name: str) -> str | None:
    """Say why a name is refused, in a few plain words; None where it may be reviewed.

    Args:
        name: the exact name, with surrogate escapes for bytes that are not UTF-8 (see `names.exact`).
    """
    if not name:
        return "the name is empty"
    parts = name.replace("\\", "/").split("/")
    found = {
        "the name holds a NUL byte": "\0" in name,
        f"the name is longer than {MAX_NAME_BYTES} bytes": len(name.encode("utf-8", "surrogateescape"))
        > MAX_NAME_BYTES,
        "the name is absolute": not parts[0],
        "the name begins with a drive letter": _DRIVE.match(name) is not None,
        "the name leads out of the repository": ".." in parts,
        "the name lies in git's own folder": any(_is_git_folder(part) for part in parts),
    }
    return next((reason for reason, holds in found.items() if holds), None)


def _is_git_folder(part: str) -> bool:
    """Whether some file system takes this part of a name for ".git".

    HFS+ drops ignorable code points. NTFS drops trailing dots and blanks and knows short names and streams
    (".git::$INDEX_ALLOCATION"). Both ignore case.
    """
    if "g" not in part.lower() and part.isascii():
        return False
    plain = unicodedata.normalize("NFKC", part).casefold()
    plain = "".join(c for c in _IGNORABLE.sub("", plain) if unicodedata.category(c) != "Cf")
    plain = plain.split(":", 1)[0].rstrip(". ")
    return plain == ".git" or _SHORT_GIT.fullmatch(plain) is not None
