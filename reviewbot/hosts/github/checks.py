"""Start check runs of one repository on GitHub, and finish them with all annotations."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from reviewbot.domain.errors import HostAccessError, HostLimitError, HostMissingError, HostUnknownError
from reviewbot.hosts.base import Annotation, CheckDraft
from reviewbot.hosts.github.auth.access import web_host_of
from reviewbot.hosts.github.client import JSON, GithubClient
from reviewbot.hosts.github.pull import check_repository, check_sha
from reviewbot.hosts.github.reviews import is_id
from reviewbot.strict_json import a_dict

PER_CALL = 50
"""Annotations that one call takes: https://docs.github.com/en/rest/checks/runs#update-a-check-run. They add up."""

PAUSE_S = 60.0
"""Seconds to wait at a limit where GitHub does not say how long."""

MAX_TEXT = 65_535
"""Characters of a summary, and of a text."""

MAX_LOOKED_AT = 20
"""Check runs of one commit with our name and mark: a crash leaves one."""

MARK = "reviewbot"
"""How the `external_id` of our check runs begins: another program of the same account may name its own as we do.

Behind it stands whose annotations were added last, and how many were there before: "reviewbot:DIGEST:COUNT".
"""

_ADDED = re.compile(rf"{MARK}:([0-9a-f]{{16}}):([0-9]{{1,9}})")


class GithubChecks:
    """A `CheckHost`. Blocking; raises HostError and its kinds alone. Only Apps and workflows may write checks."""

    def __init__(self, client: GithubClient, repository: str) -> None:
        self._client = client
        self._repository = f"/repos/{check_repository(repository)}"
        scheme = client.access.api_url.partition("://")[0]
        self._url = f"{scheme}://{web_host_of(client.access.api_url)}/{repository}"

    def start_check(self, name: str, head_sha: str) -> int:
        """Start a check run; its id. An own check run of this name that is in progress is taken up again.

        Without an answer GitHub is asked what stands there before anything is sent again.
        """
        if found := self.in_progress(name, head_sha):
            return found
        body = {"name": name, "head_sha": head_sha, "status": "in_progress", "external_id": MARK}
        try:
            answer = self._write("POST", f"{self._repository}/check-runs", body)
        except HostUnknownError:
            if found := self.in_progress(name, head_sha):
                return found
            raise
        number = a_dict(answer).get("id")
        if not is_id(number):
            raise HostUnknownError("GitHub began a check run and names no id for it")
        return number

    def finish_check(self, check_id: int, draft: CheckDraft) -> str:
        """Conclude it; its URL. Annotations come first, in batches, so that it is never concluded without them.

        Those that an earlier try has added, before it was cut short, are not added again. Those of other reviews
        that had this check run before stay, and count for nothing.
        """
        path = f"{self._repository}/check-runs/{int(check_id)}"
        output = {"title": draft.title, "summary": draft.summary[:MAX_TEXT], "text": draft.text[:MAX_TEXT]}
        self._annotate(path, output, [_annotation(each) for each in draft.annotations])
        body = {"status": "completed", "conclusion": draft.conclusion, "output": output}
        self._client.request("PATCH", path, body=body, repeatable=True)
        return f"{self._url}/runs/{int(check_id)}"

    def finish_started(self, name: str, head_sha: str, draft: CheckDraft) -> None:
        """Conclude the newest own check run of this name on a commit that is in progress, with one write; or none."""
        for check_id in self._candidates(name, head_sha):
            with suppress(HostAccessError, HostMissingError):  # it is not ours
                self.finish_check(check_id, draft)
                return

    def _annotate(self, path: str, output: Mapping[str, object], marks: Sequence[Mapping[str, object]]) -> None:
        """Add them in batches. Without an answer their number tells whether a batch was carried out."""
        if not marks:
            return
        digest = hashlib.sha256(json.dumps(marks, sort_keys=True).encode()).hexdigest()[:16]
        first, before = self._added(path, digest)
        for start in range(first, len(marks), PER_CALL):
            body = {
                "status": "in_progress",
                "external_id": f"{MARK}:{digest}:{before}",
                "output": {**output, "annotations": marks[start : start + PER_CALL]},
            }
            try:
                self._write("PATCH", path, body)
            except HostUnknownError:
                if self._added(path, digest)[0] <= start:
                    self._write("PATCH", path, body)

    def _write(self, method: str, path: str, body: Mapping[str, object]) -> JSON:
        """Send what must not be done twice; once more where GitHub has refused it for its limit, and for that alone."""
        try:
            return self._client.request(method, path, body=body, repeatable=False).data
        except HostLimitError as error:
            self._client.wait(PAUSE_S if error.retry_after_s is None else error.retry_after_s)
            return self._client.request(method, path, body=body, repeatable=False).data

    def _added(self, path: str, digest: str) -> tuple[int, int]:
        """How many of these annotations a check run has, and how many it had before them."""
        check = a_dict(self._client.request("GET", path).data)
        number = a_dict(check.get("output")).get("annotations_count")
        count = number if isinstance(number, int) else 0
        last = _ADDED.fullmatch(str(check.get("external_id")))
        if last is None or last[1] != digest or int(last[2]) > count:
            return 0, count
        return count - int(last[2]), int(last[2])

    def in_progress(self, name: str, head_sha: str) -> int | None:
        """The newest own check run of this name on a commit that is in progress, which GitHub lets us write to."""
        return next((each for each in self._candidates(name, head_sha) if self._may_write(each)), None)

    def _candidates(self, name: str, head_sha: str) -> list[int]:
        """Check runs of this name on a commit that are in progress and have our mark, the newest first.

        Another App, or a workflow of the change's author, can give its check run our name and mark: one that GitHub
        does not let us write to was not started by this account.
        """
        path = f"{self._repository}/commits/{check_sha(head_sha)}/check-runs"
        query = {"check_name": name, "status": "in_progress", "filter": "latest"}
        listed = self._client.items(path, query=query, key="check_runs")
        found = sorted((each["id"] for each in listed if _is_marked(each, name)), reverse=True)
        return found[:MAX_LOOKED_AT]

    def _may_write(self, check_id: int) -> bool:
        path = f"{self._repository}/check-runs/{int(check_id)}"
        try:
            self._client.request("PATCH", path, body={"status": "in_progress"}, repeatable=True)
        except (HostAccessError, HostMissingError):
            return False
        return True


def _is_marked(found: Mapping[str, Any], name: str) -> bool:
    mark = str(found.get("external_id"))
    known = (mark == MARK or bool(_ADDED.fullmatch(mark)), found.get("name"), found.get("status"))
    return is_id(found.get("id")) and known == (True, name, "in_progress")


def _annotation(mark: Annotation) -> dict[str, object]:
    return {
        "path": mark.path,
        "start_line": mark.start_line,
        "end_line": mark.end_line,
        "annotation_level": mark.level,
        "title": mark.title,
        "message": mark.message,
    }
