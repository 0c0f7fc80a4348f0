"""The two events that start the stages, read strictly: ids, shas and names that are checked, and nothing else of them.

The runner writes the event to a file. GitHub made it, but what is in it (branch names above all) may be a stranger's.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reviewbot.action.artifact import Id, Sha
from reviewbot.action.event import event_value
from reviewbot.action.runner import Runner
from reviewbot.errors import InputError

_FullName = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}/[A-Za-z0-9_.-]{0,50}[A-Za-z0-9_-][A-Za-z0-9_.-]{0,50}$")
]
"""The name of a repository is not made of dots alone."""
_Login = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$")]
_Branch = Annotated[str, Field(pattern=r"^[^\x00-\x20\x7f~^:?*\[\\]{1,255}$")]
"""As git lets a branch be called: https://git-scm.com/docs/git-check-ref-format"""


class OpenedPull(NamedTuple):
    """What stage one was started for."""

    repository: str
    """As "owner/name"."""
    repository_id: int
    number: int
    head_sha: str
    from_fork: bool


class FinishedRun(NamedTuple):
    """A run of stage one that has ended, which starts stage two. Its pull request is not in the event of a fork."""

    repository: str
    repository_id: int
    run_id: int
    attempt: int
    head_sha: str
    head_repository_id: int
    head_owner: str
    head_branch: str


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class _Repository(_Part):
    id: Id
    full_name: _FullName


class _Known(_Part):
    id: Id


class _Head(_Part):
    sha: Sha
    repo: _Known | None


class _Pull(_Part):
    number: Id
    head: _Head


class _PullEvent(_Part):
    repository: _Repository
    pull_request: _Pull


class _Owner(_Part):
    login: _Login


class _HeadRepository(_Part):
    id: Id
    owner: _Owner


class _Run(_Part):
    id: Id
    run_attempt: Id
    event: Literal["pull_request"]
    head_sha: Sha
    head_branch: _Branch
    head_repository: _HeadRepository


class _RunEvent(_Part):
    action: Literal["completed"]
    repository: _Repository
    workflow_run: _Run


_Shape = TypeVar("_Shape", bound=BaseModel)


def opened_pull(runner: Runner) -> OpenedPull:
    """The pull request of the event `pull_request`. Raises InputError."""
    event = _event(runner, "pull_request", _PullEvent)
    pull, repository = event.pull_request, event.repository
    _check_repository(runner, repository)
    return OpenedPull(
        repository=repository.full_name,
        repository_id=repository.id,
        number=pull.number,
        head_sha=pull.head.sha,
        from_fork=pull.head.repo is None or pull.head.repo.id != repository.id,
    )


def finished_run(runner: Runner) -> FinishedRun:
    """The run of the event `workflow_run`. Raises InputError."""
    event = _event(runner, "workflow_run", _RunEvent)
    run, repository = event.workflow_run, event.repository
    _check_repository(runner, repository)
    return FinishedRun(
        repository=repository.full_name,
        repository_id=repository.id,
        run_id=run.id,
        attempt=run.run_attempt,
        head_sha=run.head_sha,
        head_repository_id=run.head_repository.id,
        head_owner=run.head_repository.owner.login,
        head_branch=run.head_branch,
    )


def _event(runner: Runner, name: str, shape: type[_Shape]) -> _Shape:
    if runner.event_name != name:
        raise InputError(f"this stage of a fork's review is for the event {name} alone; see docs/forks.md")
    try:
        return shape.model_validate_json(json.dumps(event_value(runner.event())))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "its top"
        raise InputError(f"the event {name} is not as GitHub writes it, at {where}") from None


def _check_repository(runner: Runner, repository: _Repository) -> None:
    """The runner says where it runs, and no payload decides which repository is written to."""
    if runner.repository.lower() != repository.full_name.lower():
        raise InputError("the event is of another repository than GITHUB_REPOSITORY names")
