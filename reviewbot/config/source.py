"""The files that settings come from.

What a reviewed repository brings along is read from the base side of the change and from nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from reviewbot.config.load import FILE_NAME, load_settings
from reviewbot.config.settings import Settings
from reviewbot.config.user import read_user_file

FOLDER = ".reviewbot"
_KINDS = ("workers", "prompts")

OWN_FOLDERS = (FOLDER, *(f"{FOLDER}/{kind}" for kind in _KINDS))
"""The folders with which a repository configures us, beside its settings file."""


class BaseSide(Protocol):
    """The repository as it stood before the change. `GitSnapshot` and `TreeSnapshot` are both one."""

    def base_file(self, path: str) -> str | None:
        """A file's text; None where the base has no such regular text file."""

    def base_listing(self, folder: str) -> tuple[str, ...]:
        """The paths of the regular files directly in a folder, sorted; links are not followed."""


def repository_settings(side: BaseSide) -> str | None:
    """The text of the repository's own settings file, for `load_settings`."""
    return side.base_file(FILE_NAME)


def settings_of(base: BaseSide | None, environ: Mapping[str, str], flags: Mapping[str, object]) -> Settings:
    """The settings of a run from all of their sources. Raises ConfigError."""
    user = read_user_file(environ)
    return load_settings(
        None if base is None else repository_settings(base),
        environ,
        flags,
        user_text=None if user is None else user.text,
        user_name="" if user is None else user.name,
    )


def repository_workers(side: BaseSide) -> dict[str, str]:
    """The repository's own cards and prompts, by their path below `.reviewbot/`, for `build_worker_set`."""
    found = {}
    for kind in _KINDS:
        for path in side.base_listing(f"{FOLDER}/{kind}"):
            text = side.base_file(path)
            if text is not None:
                found[path.removeprefix(FOLDER + "/")] = text
    return found
