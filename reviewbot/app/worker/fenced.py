"""A client of the host that writes only while its run is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reviewbot.app.worker.work import UnwantedError
from reviewbot.hosts.github.auth.access import Access
from reviewbot.hosts.github.client import Answer, GithubClient
from reviewbot.hosts.github.rate_limits import DEADLINE_S

READING = frozenset({"GET", "HEAD"})


class FencedClient(GithubClient):
    """Asks right before every write. What is superseded, or was taken over by another worker, writes nothing any more.

    A worker that was frozen and goes on cannot know how long: it asks the database, and not its own clock.
    """

    def __init__(self, access: Access, wanted: Callable[[], bool], deadline_s: float = DEADLINE_S) -> None:
        super().__init__(access, deadline_s=deadline_s)
        self._wanted = wanted

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: Any = None,  # noqa: ANN401 - what a JSON text holds
        accept: str | None = None,
        repeatable: bool | None = None,
    ) -> Answer:
        """As `GithubClient.request`. Raises UnwantedError as well."""
        if method not in READING:
            self._check()
        return super().request(method, path, query=query, body=body, accept=accept, repeatable=repeatable)

    def graphql(self, document: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """As `GithubClient.graphql`. Raises UnwantedError as well."""
        if document.lstrip().startswith("mutation"):
            self._check()
        return super().graphql(document, variables)

    def _check(self) -> None:
        if not self._wanted():
            raise UnwantedError("the run is superseded, or was taken over by another worker; nothing more is written")
