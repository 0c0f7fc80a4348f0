"""Check runs of one repository on GitHub: begun, and concluded with all annotations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reviewbot.adapters.github.access import web_host_of
from reviewbot.adapters.github.client import JSON, GithubClient
from reviewbot.adapters.github.host import is_id
from reviewbot.adapters.github.pull import checked_repository, checked_sha
from reviewbot.errors import HostLimitError, HostUnknownError
from reviewbot.host import Annotation, CheckDraft

PER_CALL = 50
"""Annotations that one call takes: https://docs.github.com/en/rest/checks/runs#update-a-check-run. They add up."""

PAUSE_S = 60.0
"""Seconds to wait at a limit where GitHub does not say how long."""

MAX_TEXT = 65_535
"""Characters of a summary, and of a text."""

MARK = "reviewbot"
"""The `external_id` of our check runs: another program of the same account may name its own as we do."""


class GithubChecks:
    """A `CheckHost`. Blocking; raises HostError and its kinds alone. Only Apps and workflows may write checks."""

    def __init__(self, client: GithubClient, repository: str) -> None:
        self._client = client
        self._repository = f"/repos/{checked_repository(repository)}"
        scheme = client.access.api_url.partition("://")[0]
        self._url = f"{scheme}://{web_host_of(client.access.api_url)}/{repository}"

    def start_check(self, name: str, head_sha: str) -> int:
        """A check run in progress; its id. One of ours of this name that is in progress is taken up again.

        Without an answer GitHub is asked what stands there before anything is sent again.
        """
        if found := self._in_progress(name, checked_sha(head_sha)):
            return found
        body = {"name": name, "head_sha": head_sha, "status": "in_progress", "external_id": MARK}
        try:
            answer = self._write("POST", f"{self._repository}/check-runs", body)
        except HostUnknownError:
            if found := self._in_progress(name, head_sha):
                return found
            raise
        number = answer.get("id") if isinstance(answer, dict) else None
        if not is_id(number):
            raise HostUnknownError("GitHub began a check run and names no id for it")
        return int(str(number))

    def finish_check(self, check_id: int, draft: CheckDraft) -> str:
        """Conclude it; its URL. Annotations come first, in batches, so that it is never concluded without them.

        Those that an earlier try has added, before it was cut short, are not added again.
        """
        path = f"{self._repository}/check-runs/{int(check_id)}"
        output = {"title": draft.title, "summary": draft.summary[:MAX_TEXT], "text": draft.text[:MAX_TEXT]}
        first = self._annotated(path) if draft.annotations else 0
        for start in range(first, len(draft.annotations), PER_CALL):
            batch = draft.annotations[start : start + PER_CALL]
            self._annotate(path, {**output, "annotations": [_annotation(each) for each in batch]}, start)
        body = {"status": "completed", "conclusion": draft.conclusion, "output": output}
        self._client.request("PATCH", path, body=body, repeatable=True)
        return f"{self._url}/runs/{int(check_id)}"

    def _annotate(self, path: str, output: Mapping[str, object], before: int) -> None:
        """Add one batch. Without an answer their number tells whether it was carried out."""
        body = {"status": "in_progress", "output": output}
        try:
            self._write("PATCH", path, body)
        except HostUnknownError:
            if self._annotated(path) <= before:
                self._write("PATCH", path, body)

    def _write(self, method: str, path: str, body: Mapping[str, object]) -> JSON:
        """Send what must not be done twice; once more where GitHub has refused it for its limit, and for that alone."""
        try:
            return self._client.request(method, path, body=body, repeatable=False).data
        except HostLimitError as error:
            self._client.wait(PAUSE_S if error.retry_after_s is None else error.retry_after_s)
            return self._client.request(method, path, body=body, repeatable=False).data

    def _annotated(self, path: str) -> int:
        """How many annotations a check run has."""
        found = self._client.request("GET", path).data
        output = found.get("output") if isinstance(found, dict) else None
        count = output.get("annotations_count") if isinstance(output, dict) else None
        return count if isinstance(count, int) else 0

    def _in_progress(self, name: str, head_sha: str) -> int | None:
        """The newest of ours of this name on a commit that is in progress."""
        path = f"{self._repository}/commits/{head_sha}/check-runs"
        query = {"check_name": name, "status": "in_progress", "filter": "latest"}
        listed = self._client.items(path, query=query, key="check_runs")
        return max((each["id"] for each in listed if _is_ours(each, name)), default=None)


def _is_ours(found: Mapping[str, Any], name: str) -> bool:
    known = (found.get("external_id"), found.get("name"), found.get("status"))
    return is_id(found.get("id")) and known == (MARK, name, "in_progress")


def _annotation(mark: Annotation) -> dict[str, object]:
    return {
        "path": mark.path,
        "start_line": mark.start_line,
        "end_line": mark.end_line,
        "annotation_level": mark.level,
        "title": mark.title,
        "message": mark.message,
    }
