"""What the registry asks of this host: how a pull request is named of a local repository: local:PATH#NUMBER."""

from __future__ import annotations

import re
from pathlib import Path

from reviewbot.hosts.pull_name import PullName

FORMS = "local:PATH#NUMBER for one in a repository on this machine"
SECRETS: tuple[str, ...] = ()

_NAME = re.compile(r"local:(?P<path>[^\x00-\x1f\x7f\ud800-\udfff]{1,4096})#(?P<number>[1-9][0-9]{0,9})")
_ODD = re.compile(r"[^A-Za-z0-9_-]+")
_NAME_CHARS = 80


def pull_name(text: str) -> PullName | None:
    """The pull request that a text names; None where it names none. `host` is the path, as it was given."""
    found = _NAME.fullmatch(text)
    if found is None:
        return None
    return PullName(repository_name(Path(found["path"])), int(found["number"]), found["path"])


def repository_name(path: Path) -> str:
    """What a repository is called in reports: "local/" and the name of its folder, in plain characters."""
    folder = Path.cwd() / path
    if folder.name == ".git":
        folder = folder.parent
    plain = _ODD.sub("-", folder.name.removesuffix(".git")).strip("-")[:_NAME_CHARS]
    return f"local/{plain or 'repository'}"
