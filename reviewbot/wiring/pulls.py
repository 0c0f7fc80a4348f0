"""A pull request as something to review: its change, what is around it, and the base branch that configures it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from reviewbot.config.load import FILE_NAME
from reviewbot.hosts.base import PullRequest
from reviewbot.hosts.github.change import read_change
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.files.snapshot import GithubSnapshot
from reviewbot.hosts.github.files.stores import Places
from reviewbot.wiring.change_sources import Subject


def from_pull(
    client: GithubClient,
    pull: PullRequest,
    closing: ExitStack,
    environ: Mapping[str, str] | None = None,
    checkout: Path | None = None,
) -> Subject:
    """A pull request at the head that `pull` names; nothing of it is checked out.

    `environ` says where files of the repository are kept on this machine, `checkout` is a folder whose git objects may
    save fetching some of them.

    Blocking: several requests, and later one for each file that is looked into. Raises HostError and its kinds, and
    InputError where the change is empty.
    """
    hosted = read_change(client, pull)
    places = Places(environ or {}, checkout, closing)
    place = partial(places.open, client.access.api_url, pull.repository_id)
    snapshot = GithubSnapshot(client, pull, merge_base=hosted.merge_base, change=hosted.change, place=place)
    notes = [*hosted.notes]
    if snapshot.base_file(FILE_NAME) is not None and snapshot.organisation_settings_used:
        notes.append(f"{FILE_NAME} is that of the owner's .github repository; this one has none")
    return Subject(hosted.change, hosted.digest, snapshot, snapshot, tuple(notes))
