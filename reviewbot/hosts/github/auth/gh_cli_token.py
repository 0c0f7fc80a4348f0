"""Get the token that `gh` keeps for a host: from the program, else from its file."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

HOSTS_BYTES = 64 * 1024
"""Of gh's `hosts.yml`: a few lines for each host."""

GH_S = 10.0
"""Seconds for `gh` to print a token; a keyring may ask the person."""

_TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")
_ENTRY = re.compile(r"( +)oauth_token: *(?:\"([\x21\x23-\x7e]+)\"|'([\x21-\x26\x28-\x7e]+)'|([\x21-\x7e]+))\s*")


def read_token(host: str, environ: Mapping[str, str]) -> str | None:
    """The token; None where `gh` was never logged in to the host."""
    return _ask_gh(host, environ) or _in_its_file(host, environ)


def token_in(text: str, host: str) -> str | None:
    """The `oauth_token` that stands directly below a host in the text of a `hosts.yml`; None where there is none.

    The file is YAML, of which gh writes block mappings alone; whatever else stands there is passed over. Below `users`
    every account has a token of its own: the one in force is the one that is not nested.
    """
    inside, depth = False, 0
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line.startswith(" "):
            inside, depth = line.strip().strip("\"'").removesuffix(":").strip("\"'").lower() == host, 0
            continue
        depth = depth or len(line) - len(line.lstrip(" "))
        entry = _ENTRY.fullmatch(line) if inside else None
        if entry and len(entry[1]) == depth:
            return entry[2] or entry[3] or entry[4]
    return None


def _ask_gh(host: str, environ: Mapping[str, str]) -> str | None:
    """What the program has for a host, in a keyring or its file; None without the program."""
    program = shutil.which("gh", path=environ.get("PATH", os.defpath))
    # A name that is not absolute is looked up in the folder that we stand in, which may be the reviewed one.
    if program is None or not Path(program).is_absolute():
        return None
    try:
        done = subprocess.run(  # noqa: S603 - an argument list of our own, and the host was checked
            [program, "auth", "token", "--hostname", host],
            cwd="/",
            env={**environ, "GH_NO_UPDATE_NOTIFIER": "1", "GH_PROMPT_DISABLED": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GH_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    token = done.stdout.decode("ascii", "replace").strip()
    return token if done.returncode == 0 and _TOKEN.fullmatch(token) else None


def _in_its_file(host: str, environ: Mapping[str, str]) -> str | None:
    file = _file(environ)
    try:
        if file is None or not stat.S_ISREG(file.stat().st_mode):
            return None
        with file.open("rb") as stream:
            return token_in(stream.read(HOSTS_BYTES).decode("utf-8", "replace"), host)
    except (OSError, ValueError):  # a ValueError: the folder's name holds a NUL
        return None


def _file(environ: Mapping[str, str]) -> Path | None:
    """Where gh keeps what it knows of hosts: https://cli.github.com/manual/gh_help_environment."""
    places = (("GH_CONFIG_DIR", "hosts.yml"), ("XDG_CONFIG_HOME", "gh/hosts.yml"), ("HOME", ".config/gh/hosts.yml"))
    for name, below in places:
        if Path(environ.get(name, "")).is_absolute():
            return Path(environ[name]) / below
    return None
