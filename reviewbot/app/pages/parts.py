"""The dependencies of the pages, passed in by the caller, and the person who looks at them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from reviewbot.app.pages.github_sign_in import GithubSignIn, Repository
from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.durable.listing import VisibleInstallations
from reviewbot.app.triggers.values import Delivery
from reviewbot.config.settings import Settings


@dataclass(frozen=True)
class PagesParts:
    """The dependencies of the pages."""

    database: Database
    sign_in: Callable[[], GithubSignIn | None]
    """None where the App has no client secret. Raises ConfigError."""
    settings: Settings
    """The operator's."""
    web_url: str
    """Of the host, for links."""
    accept: Callable[[Delivery], object]
    """Put an order of a person into the inbox, durably. Raises InboxError."""
    token: str | None = field(default=None, repr=False)
    """Lets a reader in who has no account on the host; None: there is no such token."""
    proxies: int = 1
    """How many proxies of the operator's each add the address before them to `X-Forwarded-For`."""


@dataclass(frozen=True)
class Viewer:
    """A person who signed in."""

    login: str
    """Empty for the holder of the read-only token."""
    repositories: Mapping[int, Repository] | None
    """What they may read; None: everything, and nothing may be changed."""
    form_token: str
    """Stands in each form: a page of another site cannot read it."""

    @property
    def sees_anything(self) -> bool:
        """Whether there is a repository that they may read; others see nothing of the operator's either."""
        return self.repositories is None or bool(self.repositories)

    @property
    def readable(self) -> VisibleInstallations:
        """The repositories whose runs they may see."""
        return None if self.repositories is None else tuple(self.repositories)

    def may_read(self, repository: int) -> bool:
        """Whether they may see the runs of a repository."""
        return self.repositories is None or repository in self.repositories

    def may_write(self, repository: int) -> bool:
        """Whether they may decide anything in a repository."""
        found = (self.repositories or {}).get(repository)
        return found is not None and found.may_write
