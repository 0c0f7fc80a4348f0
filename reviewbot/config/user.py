"""The user's own settings file: where it lies, and its text."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from reviewbot.config.messages import MAX_FILE_BYTES
from reviewbot.domain.errors import ConfigError

_BELOW = Path("reviewbot", "config.toml")


class UserFile(NamedTuple):
    """A settings file that was found."""

    name: str
    """As messages and reports call it: one printable line, with "~" for the user's home."""
    text: str


def user_file_path(environ: Mapping[str, str]) -> Path | None:
    """Where the file is looked for; None where the environment names no place. XDG: a relative folder counts not."""
    for folder, below in ((environ.get("XDG_CONFIG_HOME", ""), _BELOW), (environ.get("HOME", ""), ".config" / _BELOW)):
        if Path(folder).is_absolute():
            return Path(folder) / below
    return None


def read_user_file(environ: Mapping[str, str]) -> UserFile | None:
    """The user's file; None where there is none.

    Raises ConfigError where there is one that cannot be read, or that every user of the machine can write: it could
    open the gate of this user's reviews. A group may write it, since on many systems each user is a group alone.
    """
    path = user_file_path(environ)
    if path is None:
        return None
    name = display_name(path, environ.get("HOME", ""))
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise ConfigError(f"{name}: is no regular file")
        if found.st_mode & stat.S_IWOTH:
            raise ConfigError(f"{name}: every user of this machine can write it; chmod o-w makes it yours")
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        return UserFile(name, data.decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError:
        raise ConfigError(f"{name}: is not UTF-8") from None
    except (OSError, ValueError) as error:  # a ValueError: the folder's name holds a NUL
        raise ConfigError(f"{name}: cannot be read ({type(error).__name__})") from None


def display_name(path: Path, home: str) -> str:
    """A path for one line of a terminal."""
    shown = f"~/{path.relative_to(home)}" if Path(home).is_absolute() and path.is_relative_to(home) else str(path)
    return "".join(character if character.isprintable() else "?" for character in shown)
