"""The code hosts that a pull request can be named on. A new host is one folder here and one line in `HOSTS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from typing import NamedTuple, cast

from reviewbot.config.messages import quote
from reviewbot.domain.errors import InputError
from reviewbot.hosts.base import CodeHost, PullName
from reviewbot.hosts.github import pull_names as github_names
from reviewbot.hosts.local import pull_names as local_names

Open = Callable[[PullName, Mapping[str, str]], AbstractContextManager[CodeHost]]


class _Host(NamedTuple):
    """One host."""

    forms: str
    """How a pull request is named there, for messages."""
    pull_name: Callable[[str], PullName | None]
    module: str
    """Has `open_host`, an `Open`; loaded when it is needed: the libraries of a host take time to load."""


HOSTS = (
    _Host(github_names.FORMS, github_names.pull_name, "reviewbot.hosts.github.host"),
    _Host(local_names.FORMS, local_names.pull_name, "reviewbot.hosts.local.host"),
)
"""In the order in which they are asked whether they know a name."""


class NamedPull(NamedTuple):
    """A pull request that a user named, and the module of its host."""

    name: PullName
    module: str

    def open_host(self, environ: Mapping[str, str]) -> AbstractContextManager[CodeHost]:
        """Open the host for one run. Raises InputError and HostAccessError, which say what to set."""
        return cast("Open", import_module(self.module).open_host)(self.name, environ)


def resolve_pull(text: str) -> NamedPull:
    """The pull request that a text names. Raises InputError."""
    for host in HOSTS:
        if (name := host.pull_name(text)) is not None:
            return NamedPull(name, host.module)
    raise InputError(f"{quote(text)} names no pull request; write {'; or '.join(host.forms for host in HOSTS)}")
