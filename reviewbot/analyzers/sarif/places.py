"""Map the names in a log to files of the change. A name that fits none, or only by a guess, is left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from reviewbot.diff.parser.names import to_bytes

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{1,30}):")
"""At least two letters: one letter is a drive."""
_DRIVE = re.compile(rb"/{0,3}[A-Za-z]:[/\\]")
_DEEPEST = 200


class _Name(NamedTuple):
    parts: tuple[bytes, ...]
    absolute: bool


def placed(uris: Iterable[str], paths: Iterable[str]) -> dict[str, str]:
    """The path of the change for each name of one run that has one.

    A relative name counts from the root of the repository. An absolute one ends with a path of the change; the rest is
    the folder that the program ran in. That is one folder for the whole run: the one under which most names fit, and of
    several such the outermost. Names that would need another folder are of other files.
    """
    known = {to_bytes(path): path for path in paths}
    found: dict[str, str] = {}
    fits: dict[str, dict[tuple[bytes, ...], str]] = {}
    for uri in dict.fromkeys(uris):
        for name in _readings(uri):
            if name.absolute:
                fits.setdefault(uri, {}).update(_fits(name, known))
            elif path := known.get(b"/".join(name.parts)):
                found.setdefault(uri, path)
    votes = Counter(root for each in fits.values() for root in each)
    if votes:
        root = min(votes, key=lambda each: (-votes[each], len(each), each))
        found |= {uri: each[root] for uri, each in fits.items() if root in each}
    return found


def _fits(name: _Name, known: Mapping[bytes, str]) -> dict[tuple[bytes, ...], str]:
    """Each folder that the name may count from, with the path that it then means."""
    ends = ((name.parts[:at], b"/".join(name.parts[at:])) for at in range(len(name.parts)))
    return {root: known[end] for root, end in ends if end in known}


def _readings(uri: str) -> list[_Name]:
    """What the name may be: programs should write it percent-encoded, and not all do."""
    scheme = _SCHEME.match(uri)
    if scheme is not None and scheme[1].lower() != "file":
        return []
    rest = uri[scheme.end() :] if scheme else uri
    if scheme and rest.startswith("//"):
        rest = "/" + rest[2:].partition("/")[2]  # between the slashes stands a host
    names = map(_name, dict.fromkeys((unquote_to_bytes(rest), to_bytes(rest))))
    return [name for name in names if name is not None]


def _name(text: bytes) -> _Name | None:
    """The parts of a name without "." and "..", or None where it leads out of its root."""
    drive = _DRIVE.match(text) is not None
    if drive or b"/" not in text:
        text = text.replace(b"\\", b"/")
    parts: list[bytes] = []
    for part in text.split(b"/"):
        if part == b"..":
            if not parts:
                return None
            parts.pop()
        elif part not in {b"", b"."}:
            parts.append(part)
    if len(parts) > _DEEPEST:
        return None
    return _Name(tuple(parts), drive or text.startswith(b"/"))
