"""Stage one of a fork's review: on `pull_request`, with a token that can only read and without any secret.

It reads the change through the API and runs the analyzers. Nothing of the head is checked out, run or obeyed. What it
says goes to the page of its own run, and as an artifact to stage two, which believes none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reviewbot.action.artifact import FILE_NAME, Identity, write_artifact
from reviewbot.action.artifact_make import artifact_of
from reviewbot.action.fork_events import opened_pull
from reviewbot.action.fork_seam import Desk
from reviewbot.action.outcome import Ending, Reviewed
from reviewbot.action.run import failed
from reviewbot.contracts.pulls import PullRef
from reviewbot.errors import ExitCode, HostMovedError, InputError, ReviewbotError

SECRETS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_SECRET_ACCESS_KEY",
    "INPUT_ANTHROPIC_API_KEY",
    "REVIEWBOT_MARKER_KEY",
)
"""Variables that hold what stage two alone may have. A stranger writes the workflow file that this stage runs."""

NOT_A_FORK = "the pull request is not from a fork: the workflow of docs/action.md reviews it in one stage"
MOVED = "the head has moved on since; the run on the newer head reviews it"


def check_no_secret(environ: Mapping[str, str]) -> None:
    """Refuse to run where a key is. Raises InputError that names the variable and not its value."""
    for name in SECRETS:
        if environ.get(name, "").strip():
            raise InputError(f"{name} is set, and stage one of a fork's review must have no secret; see docs/forks.md")


def analyze(desk: Desk) -> ExitCode:
    """Review with the analyzers, write the artifact, and tell the run. The result is how the step ends."""
    try:
        opened = opened_pull(desk.runner)
        if not opened.from_fork:
            return desk.nothing(NOT_A_FORK)
        fetched = desk.pulls.fetch(opened.number)
        if fetched.pull.repository_id != opened.repository_id:
            raise InputError("the API has another repository under this name than the event")
        if fetched.pull.head_sha != opened.head_sha:
            return desk.nothing(MOVED)
        reviewed = fetched.review()
        _hand_over(desk.runner.temp / FILE_NAME, fetched.pull, reviewed)
    except HostMovedError:
        return desk.nothing(MOVED)
    except ReviewbotError as error:
        failed(desk.voice, str(error))
        return error.exit_code
    return desk.tell(Ending(reviewed, reviewed.code, keyless=True))


def _hand_over(place: Path, pull: PullRef, reviewed: Reviewed) -> None:
    identity = Identity(
        repository_id=pull.repository_id, number=pull.number, head_sha=pull.head_sha, base_sha=pull.base_sha
    )
    try:
        place.write_bytes(write_artifact(artifact_of(identity, reviewed.told.review)))
    except OSError as error:
        raise InputError(f"cannot write {FILE_NAME} into RUNNER_TEMP: {error.strerror}") from None
