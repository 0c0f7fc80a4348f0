"""The code hosts that a pull request can be named on: one folder each beside this module, found by listing them.

A host's `registration.py` has the forms of its names (`FORMS`), the variables that hold its tokens (`SECRETS`) and
`pull_name`; its `host.py` has `open_host`, and its `links.py`, where it has one, `links_of`. On the start-up path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from reviewbot import hosts
from reviewbot.config.messages import quote
from reviewbot.domain.errors import InputError
from reviewbot.hosts.pull_name import PullName

if TYPE_CHECKING:
    # The contracts take longer to load than all of `--help`.
    from reviewbot.domain.contracts.pulls import PullRef
    from reviewbot.hosts.base import CodeHost
    from reviewbot.report.findings.links import SourceLinks

    Open = Callable[[PullName, Mapping[str, str]], AbstractContextManager[CodeHost]]
    LinksOf = Callable[[str, str, str], SourceLinks | None]


class Registration(Protocol):
    """The module `registration` of a host."""

    FORMS: str
    """How a pull request is named there, for help and messages."""
    SECRETS: tuple[str, ...]
    """Variables of which no value may ever be in a report."""

    def pull_name(self, text: str) -> PullName | None:
        """The pull request that a text names; None where it names none."""


def registrations() -> Iterator[tuple[str, Registration]]:
    """The package of each host with its registration, by name: in the order in which they are asked for a name."""
    for found in sorted(iter_modules(hosts.__path__, f"{hosts.__name__}."), key=lambda found: found.name):
        if found.ispkg:
            yield found.name, cast("Registration", import_module(f"{found.name}.registration"))


def name_forms() -> str:
    """The forms of names of pull requests, of all hosts."""
    return "; or ".join(host.FORMS for _, host in registrations())


class NamedPull(NamedTuple):
    """A pull request that a user named, and the package of its host."""

    name: PullName
    package: str

    def open_host(self, environ: Mapping[str, str]) -> AbstractContextManager[CodeHost]:
        """Open the host for one run. Raises InputError and HostAccessError, which say what to set."""
        # Only now: the libraries of a host take time to load.
        return cast("Open", import_module(f"{self.package}.host").open_host)(self.name, environ)


def resolve_pull(text: str) -> NamedPull:
    """The pull request that a text names. Raises InputError."""
    for package, host in registrations():
        if (name := host.pull_name(text)) is not None:
            return NamedPull(name, package)
    raise InputError(f"{quote(text)} names no pull request; write {name_forms()}")


def links_of(pull_url: str, head_sha: str, base_sha: str) -> SourceLinks | None:
    """The links of a pull request; None where no host has addresses of this form, or a commit has no hash."""
    packages = (f"{package}.links" for package, _ in registrations())
    known = (cast("LinksOf", import_module(links).links_of) for links in packages if find_spec(links))
    found = (of(pull_url, head_sha, base_sha) for of in known)
    return next((links for links in found if links is not None), None)


def posted_links(review_url: str, pull: PullRef) -> SourceLinks | None:
    """The links of a pull request, from the address of a review that was posted on it."""
    return links_of(review_url.partition("#")[0], pull.head_sha, pull.base_sha)
