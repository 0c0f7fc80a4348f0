"""Stage two of a fork's review: on `workflow_run`, with the token and the key, and without anything of the fork's.

Everything that it reviews comes from the API: the pull request, its diff, its files as blobs. The artifact of stage one
may be a stranger's work from its first byte to its last. It adds to what is withheld, and to the notes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from reviewbot.action.artifact import FILE_NAME, MAX_BYTES, Artifact, Identity, read_artifact
from reviewbot.action.artifact_adoption import adopted, refused
from reviewbot.action.artifact_check import check_identity, checked
from reviewbot.action.artifact_download import Api, download
from reviewbot.action.artifact_zip import unpacked
from reviewbot.action.fork_events import FinishedRun, finished_run
from reviewbot.action.fork_pull import Lists, find_pull
from reviewbot.action.fork_seam import Desk, Fetched
from reviewbot.action.outcome import UNKNOWN_POST, Ending, Reviewed
from reviewbot.action.run import failed
from reviewbot.action.stage_one import MOVED
from reviewbot.adapters.github.access import Access
from reviewbot.errors import (
    AlreadyPostedError,
    ArtifactError,
    ExitCode,
    HostError,
    HostMovedError,
    HostUnknownError,
    ReviewbotError,
)
from reviewbot.output.text import one_line

NOT_POSTED = "Nothing was posted."


class Client(Api, Lists, Protocol):
    """The host's client."""

    @property
    def access(self) -> Access:
        """Where it is, and the token."""


@dataclass(frozen=True)
class _Report:
    """What stage one handed over, or why it is not used."""

    artifact: Artifact | None
    why: str = ""


def review_fork(desk: Desk, client: Client) -> ExitCode:
    """Review the pull request of a finished run of stage one and post it. The result is how the step ends."""
    try:
        run = finished_run(desk.runner)
        found = find_pull(client, run)
        if found.identity is None:
            return desk.nothing(found.reason)
        fetched = desk.pulls.fetch(found.identity.number)
        if not _is_still(fetched, found.identity):
            return desk.nothing(MOVED)
        report = _report(client, run, found.identity)
        reviewed = _joined(fetched.review(), report, fetched)
    except HostMovedError:
        return desk.nothing(MOVED)
    except AlreadyPostedError as error:
        return desk.nothing(str(error), error.url)
    except ReviewbotError as error:
        failed(desk.voice, str(error))
        return error.exit_code
    return desk.tell(_posted(desk, fetched, reviewed))


def _is_still(fetched: Fetched, identity: Identity) -> bool:
    return (fetched.pull.repository_id, fetched.pull.head_sha) == (identity.repository_id, identity.head_sha)


def _report(client: Client, run: FinishedRun, identity: Identity) -> _Report:
    """The artifact, read and about this change. Whatever is wrong with it costs it alone, never the review."""
    try:
        artifact = read_artifact(unpacked(download(client, client.access, run), FILE_NAME, MAX_BYTES))
        check_identity(artifact, identity)
    except (ArtifactError, HostError) as error:
        return _Report(None, one_line(str(error)))
    return _Report(artifact)


def _joined(reviewed: Reviewed, report: _Report, fetched: Fetched) -> Reviewed:
    """The finished review with what the report adds to its lists. How the run ends was decided before."""
    review = reviewed.told.review
    if report.artifact is None:
        review = refused(review, report.why)
    else:
        review = adopted(review, checked(report.artifact, fetched.change))
    return replace(reviewed, told=reviewed.told._replace(review=review))


def _posted(desk: Desk, fetched: Fetched, reviewed: Reviewed) -> Ending:
    """Post it. What cannot be posted stands on the page of the run, and the gate counts all the same."""
    keyless = desk.inputs.keyless
    try:
        posted = fetched.post(reviewed)
    except HostError as error:
        known = UNKNOWN_POST if isinstance(error, HostUnknownError) else "nothing was posted"
        desk.voice.say("error", f"{known}: {one_line(str(error))}")
    else:
        if not posted.url:
            desk.voice.say("warning", "; ".join(posted.notes) or NOT_POSTED)
        return Ending(reviewed, reviewed.code, posted, keyless=keyless)
    worst = reviewed.code if reviewed.code == ExitCode.GATE else ExitCode.HOST
    return Ending(reviewed, worst, keyless=keyless)
