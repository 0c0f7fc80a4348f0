"""Check runs on the commits of a local pull request."""

from __future__ import annotations

from dataclasses import asdict

from reviewbot.domain.errors import HostMissingError
from reviewbot.hosts.base import CheckDraft
from reviewbot.hosts.local.records import Activity, AnnotationRecord, CheckRecord
from reviewbot.hosts.local.store import PullFolder


class LocalChecks:
    """A `CheckHost`."""

    def __init__(self, folder: PullFolder, number: int, url: str) -> None:
        self._folder = folder
        self._number = number
        self._url = url

    def start_check(self, name: str, head_sha: str) -> int:
        """Start a check run; its id. One of this name that is in progress is taken up again."""
        with self._folder.editing(self._number) as activity:
            found = _newest(activity, name, head_sha)
            if found is None:
                found = CheckRecord(id=activity.next_id(), name=name, commit=head_sha)
                activity.checks.append(found)
            return found.id

    def finish_check(self, check_id: int, draft: CheckDraft) -> str:
        """Conclude it; its URL. One that was concluded before is concluded anew."""
        with self._folder.editing(self._number) as activity:
            found = next((each for each in activity.checks if each.id == check_id), None)
            if found is None:
                raise HostMissingError(f"there is no check run {check_id} on this pull request")
            found.conclusion = draft.conclusion
            found.title, found.summary, found.text = draft.title, draft.summary, draft.text
            found.annotations = [AnnotationRecord(**asdict(each)) for each in draft.annotations]
        return f"{self._url}#check-{check_id}"

    def finish_started(self, name: str, head_sha: str, draft: CheckDraft) -> None:
        """Conclude the one of this name on a commit that is in progress, if there is one."""
        if (found := self.in_progress(name, head_sha)) is not None:
            self.finish_check(found, draft)

    def in_progress(self, name: str, head_sha: str) -> int | None:
        """The one of this name on a commit that is in progress."""
        found = _newest(self._folder.activity(self._number), name, head_sha)
        return None if found is None else found.id


def _newest(activity: Activity, name: str, head_sha: str) -> CheckRecord | None:
    wanted = (name, head_sha, None)
    return next((e for e in reversed(activity.checks) if (e.name, e.commit, e.conclusion) == wanted), None)
