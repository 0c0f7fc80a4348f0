"""Read ruff's configuration, and the version of ruff, from the base side of the reviewed repository. As data only.

Ruff itself never reads that configuration. Nothing that it names is opened, and what is not understood is left out. A
rule that was added after the pinned version is not reported, even where the configuration selects its family; of the
pin only numbers leave this module.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from reviewbot.domain.ports import Snapshot
from reviewbot.strict_json import a_dict

_NAMES = (".ruff.toml", "ruff.toml", "pyproject.toml")
"""In the order in which ruff takes them, in each folder from the file's own up to the top."""

_MAX_CHARS = 64 * 1024
"""Characters. A configuration for people is far shorter."""

_MAX_DOTS = 300
"""On one line. Python's TOML reader needs half a minute for a key of thirty thousand parts."""

_MAX_DEPTH = 40
"""Folders."""

Version = tuple[int, ...]


@dataclass(frozen=True)
class RuffConfig:
    """One configuration."""

    label: str
    """Its path, for messages."""
    folder: str
    """The folder that it is for, with a "/" at its end; empty for the top."""
    text: str
    values: dict[str, Any]
    """Ruff's own table. Anything may stand in it."""
    requires_python: str = ""
    """The versions that the project says it is for; ruff asks this where its own table says nothing."""


def find_config(
    snapshot: Snapshot, path: str, parse: Callable[[str], dict[str, Any] | None] | None = None
) -> RuffConfig | None:
    """The configuration that ruff would take for a file of the base side; None where there is none of use.

    `parse` is `parse_config`, or one that remembers.
    """
    folders = path.split("/")[:-1]
    for depth in range(min(len(folders), _MAX_DEPTH), -1, -1):
        folder = "".join(f"{name}/" for name in folders[:depth])
        for name in _NAMES:
            text = snapshot.base(folder + name)
            if text is None:
                continue
            values = (parse or parse_config)(text)
            config = _config(folder, name, text, {} if values is None else values)
            # Beside a pyproject.toml of other programs ruff goes on searching; a broken file ends the search.
            if config is not None or values is None:
                return config
    return None


def parse_config(text: str) -> dict[str, Any] | None:
    """Parse a TOML document; None where it is not TOML, or has a size or keys that no hand-written one has."""
    if len(text) > _MAX_CHARS or any(line.count(".") > _MAX_DOTS for line in text.split("\n")):
        return None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):  # also a number with more digits than Python converts
        return None


def inner(values: dict[str, Any], key: str) -> dict[str, Any]:
    """A table in a table; empty where there is something else."""
    return a_dict(values.get(key))


def _config(folder: str, name: str, text: str, values: dict[str, Any]) -> RuffConfig | None:
    """A configuration of ruff; None for a file that has none."""
    if name != "pyproject.toml":
        return RuffConfig(folder + name, folder, text, values) if values else None
    table = inner(inner(values, "tool"), "ruff")
    requires = inner(values, "project").get("requires-python")
    return (
        RuffConfig(folder + name, folder, text, table, requires if isinstance(requires, str) else "") if table else None
    )


class Pin(NamedTuple):
    """A version that a repository asks for."""

    version: Version
    """The oldest that is allowed."""
    capped: bool
    """Versions of a newer minor are not."""

    def is_before(self, since: Version) -> bool:
        """Whether every version that is allowed came before another one."""
        return self.capped and self.version < since[: len(self.version)]

    def is_like(self, other: Version) -> bool:
        """Whether the versions that are allowed have the minor of another one."""
        return self.version[:_MINOR] == other[:_MINOR]


_MINOR = 2
"""Numbers of a version up to the minor, with which rules of ruff come and change."""

_MAX_LOCK_CHARS = 4_000_000
"""Of a lock file. Longer ones are not read."""

_NUMBER = r"v?(\d{1,4}(?:\.\d{1,4}){1,3})"
_LOCKED = re.compile(rf'^name = "ruff"\nversion = "{_NUMBER}"', re.MULTILINE)
_HOOK = re.compile(rf"ruff-pre-commit[\"']?[ \t]*(?:#[^\n]*)?\n(?:[ \t]*#[^\n]*\n)?[ \t]*rev:[ \t]*[\"']?{_NUMBER}")
_REQUIRED = re.compile(
    rf"""(?:^|[\s"'\[,])ruff["']?[ \t]*(?:=[ \t]*(?:\{{[ \t]*version[ \t]*=[ \t]*)?["'])?[ \t]*\(?[ \t]*"""
    rf"(===?|~=|>=|\^|~|=)[ \t]*{_NUMBER}(?:\.\*)?([ \t]*,[ \t]*<=?[ \t]*0\.\d)?",
    re.MULTILINE,
)
"""`ruff==0.5.1`, `"ruff~=0.16.1"`, `ruff = "^0.7.0"`, `ruff >= 0.11, < 0.12`."""

_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock")
_HOOKS = (".pre-commit-config.yaml", ".pre-commit-config.yml")
_REQUIREMENTS = (
    *("pyproject.toml", "requirements-dev.txt", "requirements-lint.txt", "dev-requirements.txt", "requirements.txt"),
    *("requirements/dev.txt", "requirements/lint.txt", "requirements/development.txt", "requirements/local.txt"),
    *("requirements/dev.in", "requirements/lint.in", "requirements_dev.txt", "setup.cfg", "tox.ini", "Pipfile"),
)


def find_pin(snapshot: Snapshot, config: RuffConfig) -> Pin | None:
    """Find the pin of ruff for a configuration: in itself, a lock file, a hook, or a requirement. May block."""
    required = config.values.get("required-version")
    if isinstance(required, str) and (found := _of_requirement(f"ruff{required}")) is not None and found.capped:
        return found
    for text, pattern in _texts(snapshot, config.folder, (_LOCKS, _LOCKED), (_HOOKS, _HOOK)):
        if (match := pattern.search(text)) is not None:
            return Pin(version_of(match[1]), capped=True)
    for text, _ in _texts(snapshot, config.folder, (_REQUIREMENTS, _REQUIRED)):
        if (found := _of_requirement(text)) is not None:
            return found
    return None


def version_of(text: str) -> Version:
    """A version as numbers: "v0.0.277" -> (0, 0, 277)."""
    return tuple(int(part) for part in text.removeprefix("v").split("."))


def _texts(
    snapshot: Snapshot, folder: str, *kinds: tuple[tuple[str, ...], re.Pattern[str]]
) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The files of the base side that may pin something, each with the pattern for it."""
    for names, pattern in kinds:
        for name in dict.fromkeys((*(folder + name for name in names), *names)):
            text = snapshot.base(name)
            if text is not None and "ruff" in text[:_MAX_LOCK_CHARS]:
                yield text[:_MAX_LOCK_CHARS].replace("\r\n", "\n"), pattern


def _of_requirement(text: str) -> Pin | None:
    match = _REQUIRED.search(text)
    return None if match is None else Pin(version_of(match[2]), capped=match[1] != ">=" or match[3] is not None)
