"""Read a workflow run's event file: which change it is about. All of it is data of the user who caused the event.

Only ids, hashes and names of a strict form are taken; no title, no branch and no address. The event of a fork's trigger
workflow has an empty `pull_requests` (https://github.com/actions/runner/issues/3444), so that `find_number` looks for
its head in the host's list of open pull requests.
"""

from __future__ import annotations

import json
from typing import Annotated, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reviewbot.domain.contracts.base import first_fault
from reviewbot.domain.errors import EmptyChangeError, InputError
from reviewbot.hosts.base import CodeHost
from reviewbot.strict_json import mend_surrogates, strictly

MAX_EVENT_BYTES = 32 * 1024 * 1024
"""GitHub caps a payload at 25 MB: https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap"""

PULL_ACTIONS = ("opened", "synchronize", "reopened", "ready_for_review")
"""What brings a new head, or a head that people now want reviewed."""

EVENTS = ("pull_request", "push", "workflow_dispatch")

_OBJECT = r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$"
_FULL_NAME = r"^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$"
_RANGE = r"^[A-Za-z0-9_][A-Za-z0-9_./@{}^~+-]{0,249}$"
"""A range of commits as people write one; git is asked what it means. No name begins like an option."""
_NUMBER = r"^[1-9][0-9]{0,9}$"
_LISTED = 2_048
"""The commits that GitHub lists of one push: https://docs.github.com/en/webhooks/webhook-events-and-payloads#push"""
_MAX_COMMITS = 2 * _LISTED

MOVED = "the head has moved on since; the run on the newer head reviews it"


class PullEvent(NamedTuple):
    """A pull request of the repository that the workflow runs in. All else about it is the API's to say."""

    number: int
    from_fork: bool = False
    """Whether its run has a token that can only read, which decides nothing but what is said of it."""


class RangeEvent(NamedTuple):
    """Commits of the checkout."""

    text: str
    """As `GitRepository.range_diff` takes it."""


class NothingEvent(NamedTuple):
    """An event that brought no commit."""

    why: str


Event = PullEvent | RangeEvent | NothingEvent


class ForkRun(NamedTuple):
    """A finished run of the workflow that a fork triggers. Its event does not say which pull request that was for."""

    repository: str
    """As "owner/name"."""
    repository_id: int
    head_sha: str
    head_repository_id: int
    head_owner: str
    head_branch: str


class _Part(BaseModel):
    """Foreign JSON: strict in what we read, and blind to what we do not."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


Sha = Annotated[str, Field(pattern=_OBJECT)]
Id = Annotated[int, Field(ge=1, lt=2**53)]
"""Larger numbers are not the same to every reader of JSON; GitHub's ids are far below."""
_Login = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$")]
_Branch = Annotated[str, Field(pattern=r"^[^\x00-\x20\x7f~^:?*\[\\]{1,255}$")]
"""As git lets a branch be called: https://git-scm.com/docs/git-check-ref-format"""


class _Repository(_Part):
    full_name: Annotated[str, Field(pattern=_FULL_NAME)]


class _Payload(_Part):
    repository: _Repository


class _Side(_Part):
    repo: _Repository | None = None


class _Pull(_Part):
    # The top-level `number` of the payload says the same, and is missing where GitHub is stood in for.
    number: Id
    head: _Side


class _PullPayload(_Payload):
    action: Annotated[str, Field(pattern=r"^[a-z_]{1,40}$")]
    pull_request: _Pull


class _Commit(_Part):
    id: Sha


class _PushPayload(_Payload):
    ref: str = ""
    before: Sha
    after: Sha
    deleted: bool
    forced: bool
    commits: Annotated[tuple[_Commit, ...], Field(max_length=_MAX_COMMITS)]


class _DispatchInputs(_Part):
    range: Annotated[str, Field(pattern=_RANGE)] | None = None
    number: Annotated[str, Field(pattern=_NUMBER)] | Id | None = None


class _DispatchPayload(_Payload):
    inputs: _DispatchInputs | None = None


class _Owner(_Part):
    login: _Login


class _HeadRepository(_Part):
    id: Id
    owner: _Owner


class _Run(_Part):
    event: Literal["pull_request"]
    head_sha: Sha
    head_branch: _Branch
    head_repository: _HeadRepository


class _OwnRepository(_Repository):
    id: Id


class _RunPayload(_Payload):
    action: Literal["completed"]
    repository: _OwnRepository
    workflow_run: _Run


_Shape = TypeVar("_Shape", bound=_Payload)


def read_event(name: str, data: bytes, repository: str) -> Event:
    """What the event called `name` (`GITHUB_EVENT_NAME`) asks to be reviewed.

    Raises InputError in one line for an event that is not ours to answer, for a payload of another form than GitHub
    documents, and for one of another repository than the workflow's.
    """
    if name == "pull_request":
        return _pull(_parse(_PullPayload, name, data, repository))
    if name == "push":
        return _push(_parse(_PushPayload, name, data, repository))
    if name == "workflow_dispatch":
        return _dispatch(_parse(_DispatchPayload, name, data, repository))
    if name == "pull_request_target":
        raise InputError(
            "pull_request_target gives secrets to a run about strangers' code: use pull_request, "
            "and for forks the two stages of docs/forks.md"
        )
    raise InputError(f"there is no review for the event {ascii(name)[:60]}; it takes {', '.join(EVENTS)}")


def read_fork_run(name: str, data: bytes, repository: str) -> ForkRun:
    """The run that the event `workflow_run` names. Raises InputError as `read_event` does."""
    if name != "workflow_run":
        raise InputError("the mode fork-review is for the event workflow_run alone; see docs/forks.md")
    payload = _parse(_RunPayload, name, data, repository)
    run = payload.workflow_run
    return ForkRun(
        repository=payload.repository.full_name,
        repository_id=payload.repository.id,
        head_sha=run.head_sha,
        head_repository_id=run.head_repository.id,
        head_owner=run.head_repository.owner.login,
        head_branch=run.head_branch,
    )


def event_value(data: bytes) -> object:
    """The value of JSON that an event file holds, with whole characters alone. Raises InputError."""
    if len(data) > MAX_EVENT_BYTES:
        raise InputError(f"the event file is larger than {MAX_EVENT_BYTES >> 20} MiB")
    try:
        return mend_surrogates(strictly(data))
    except ValueError:
        raise InputError("the event file is no JSON that can be read") from None


def _pull(payload: _PullPayload) -> Event:
    if payload.action not in PULL_ACTIONS:
        raise InputError(
            f"nothing to review when a pull request is {payload.action!a}; "
            f"let the workflow run on the types {', '.join(PULL_ACTIONS)}"
        )
    head = payload.pull_request.head.repo
    return PullEvent(payload.pull_request.number, head is None or head.full_name != payload.repository.full_name)


def _push(payload: _PushPayload) -> Event:
    if payload.deleted:
        return NothingEvent("the branch or tag was deleted")
    is_new = set(payload.before) == {"0"}
    if not (is_new or payload.forced or payload.ref.startswith("refs/tags/")):
        return RangeEvent(f"{payload.before}..{payload.after}")
    # What a name stood for until it was moved is in no checkout any more, and no change to review: only the commits
    # that it has brought count, the oldest of which comes first.
    if not payload.commits:
        how = "a new branch or tag at" if is_new else "a branch or tag was moved to"
        return NothingEvent(f"{how} a commit that was there before")
    if len(payload.commits) >= _LISTED:
        raise InputError(
            f"GitHub lists no more than {_LISTED:,} commits of a push, and this one may have more: "
            "review them by hand, as a range"
        )
    return RangeEvent(f"{payload.commits[0].id}^..{payload.after}")


def _dispatch(payload: _DispatchPayload) -> Event:
    given = payload.inputs or _DispatchInputs()
    if (given.range is None) == (given.number is None):
        raise InputError(
            "a manual run says what to review by one of its inputs: `range`, such as A..B, or the `number` of a "
            "pull request"
        )
    return RangeEvent(given.range) if given.range is not None else PullEvent(int(given.number or 0))


def _parse(shape: type[_Shape], name: str, data: bytes, repository: str) -> _Shape:
    try:
        payload = shape.model_validate_json(_without_blanks(data))
    except ValidationError as error:
        where, _ = first_fault(error, "its start")
        raise InputError(f"the event file is no {name} event that can be read (at {where})") from None
    if payload.repository.full_name.lower() != repository.lower():
        raise InputError(f"the event file is about another repository than {repository}")
    return payload


def _without_blanks(data: bytes) -> str:
    """The payload without empty inputs of a manual run: GitHub sends "" for what was not filled in."""
    value = event_value(data)
    if isinstance(value, dict) and isinstance(value.get("inputs"), dict):
        value["inputs"] = {key: each for key, each in value["inputs"].items() if each not in ("", None)}
    return json.dumps(value)


def find_number(host: CodeHost, run: ForkRun) -> int:
    """The number of the only open pull request with this head.

    Raises EmptyChangeError, with the reason, where there is none or several; and HostError.
    """
    listed = host.open_pulls(run.repository, run.head_sha, f"{run.head_owner}:{run.head_branch}")
    sides = (run.repository_id, run.head_repository_id)
    own = [pull for pull in listed if (pull.repository_id, pull.head_repository_id) == sides]
    same = sorted(pull.number for pull in own if pull.head_sha == run.head_sha)
    if not same:
        raise EmptyChangeError(MOVED if own else "no open pull request has this head any more")
    if len(same) > 1:
        numbers = ", ".join(f"#{number}" for number in same)
        raise EmptyChangeError(f"several open pull requests have this head: {numbers}")
    return same[0]
