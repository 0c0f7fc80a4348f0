"""Find the pull request of a finished run of a fork's trigger workflow. The event of a fork does not name it.

The event's `pull_requests` is empty for a head in another repository: https://github.com/actions/runner/issues/3444.
The API's list of open pull requests is asked for that head instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from reviewbot.action.event import ForkRun, Id, Sha
from reviewbot.domain.errors import EmptyChangeError, HostError

MAX_PULLS = 300
"""Pull requests of one branch that are looked at; more come only from an answer to another question."""

MOVED = "the head has moved on since; the run on the newer head reviews it"


class Lists(Protocol):
    """The part of the host's client that is needed here. HostError and its kinds are all that is raised."""

    def items(self, path: str, *, query: Mapping[str, str | int] | None = None) -> Iterator[object]:
        """The entries of a list, of all of its pages."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class _Known(_Part):
    id: Id


class _Side(_Part):
    sha: Sha
    repo: _Known | None


class _Pull(_Part):
    number: Id
    head: _Side
    base: _Side


def find_number(api: Lists, run: ForkRun) -> int:
    """The number of the only open pull request with this head.

    Raises EmptyChangeError, with the reason, where there is none or several; and HostError.
    """
    query = {"state": "open", "head": f"{run.head_owner}:{run.head_branch}"}
    listed = [_pull(entry) for entry in islice(api.items(f"/repos/{run.repository}/pulls", query=query), MAX_PULLS)]
    own = [pull for pull in listed if _is(pull.base, run.repository_id) and _is(pull.head, run.head_repository_id)]
    same = sorted(pull.number for pull in own if pull.head.sha == run.head_sha)
    if not same:
        raise EmptyChangeError(MOVED if own else "no open pull request has this head any more")
    if len(same) > 1:
        numbers = ", ".join(f"#{number}" for number in same)
        raise EmptyChangeError(f"several open pull requests have this head: {numbers}")
    return same[0]


def _is(side: _Side, repository_id: int) -> bool:
    return side.repo is not None and side.repo.id == repository_id


def _pull(entry: object) -> _Pull:
    try:
        return _Pull.model_validate(entry)
    except ValidationError:
        raise HostError("GitHub's list of pull requests cannot be read") from None
