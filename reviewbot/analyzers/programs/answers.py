"""Read what the programs write; one function for each form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from reviewbot.analyzers.programs.program import Said

UNSURE = "-unsure"
"""What the code of a rule ends with where zizmor itself is not sure."""

_INJECTION = "template-injection"
_EMPTY_FILTER = re.compile(r'"(?:branches|tags|paths)(?:-ignore)?" section should not be empty')
"""GitHub takes such a workflow."""

_DEPRECATED = "is deprecated in GitHub Actions"
_FROM_OUTSIDE = re.compile(
    r"github\.(?:head_ref|event\.(?:issue|pull_request|comment|review|review_comment|discussion|discussion_comment|head_commit|commits"
    r"|pages|workflow_run)\b[\w.*\[\]]{0,120}\.(?:title|body|ref|label|name|email|message|page_name|head_branch|default_branch|display_title))\b"
)
"""Texts of an event that an account without rights in the repository can choose."""

NO_CODE = "unread"
"""The code of what oxlint reports without one: it could not read the file."""

_OXLINT_CODE = re.compile(r"[\w-]{1,40}\(([\w-]{1,80})\)")
_YAMLLINT = re.compile(
    r"(?P<path>[^:\n]{1,400}):(?P<row>\d{1,9}):\d{1,9}: \[\w{1,20}\] (?P<said>.*) \((?P<code>[\w-]{1,60})\)"
)


def actionlint(output: bytes) -> Iterator[Said]:
    """Read `-format '{{json .}}'`. A runtime's age is no defect of the change, nor is an empty list of branches."""
    for item in json.loads(output or b"[]") or ():
        code = "deprecated-runtime" if _DEPRECATED in item["message"] else item["kind"]
        code = "empty-filter" if _EMPTY_FILTER.match(item["message"]) else code
        code = "untrusted-input" if "potentially untrusted" in item["message"] else code
        yield _said(item["filepath"], code, item["message"], item["line"], item["line"])


def hadolint(output: bytes) -> Iterator[Said]:
    """Read `-f json`."""
    for item in json.loads(output):
        yield _said(item["file"], item["code"], item["message"], item["line"], item["line"])


def shellcheck(output: bytes) -> Iterator[Said]:
    """Read `-f json1`."""
    for item in json.loads(output)["comments"]:
        yield _said(item["file"], f"SC{item['code']}", item["message"], item["line"], item["endLine"])


def oxlint(output: bytes) -> Iterator[Said]:
    """Read `--format json`. Of several places the last one is wrong: the others are what it repeats or contradicts."""
    for item in json.loads(output)["diagnostics"]:
        found = _OXLINT_CODE.fullmatch(item.get("code") or "")
        code = found[1] if found else NO_CODE
        code = "then-without-callback" if code == "valid-params" and ".then()" in item["message"] else code
        code = "compared-with-new-object" if "newly constructed object" in item["message"] else code
        row = item["labels"][-1]["span"]["line"] if item["labels"] else 1
        yield _said(item["filename"], code, item["message"], row, row)


def squawk(output: bytes) -> Iterator[Said]:
    """Read `--reporter json`, which counts rows from 0."""
    for item in json.loads(output):
        yield _said(item["file"], item["rule_name"], item["message"], item["line"] + 1, item["line_end"] + 1)


def yamllint(output: bytes) -> Iterator[Said]:
    """Read `-f parsable`."""
    for line in output.decode("utf-8", "replace").splitlines():
        found = _YAMLLINT.fullmatch(line)
        if found is None:
            if not line.strip():
                continue
            raise ValueError("a line of another form")
        yield _said(found["path"], found["code"], found["said"], int(found["row"]), int(found["row"]))


def zizmor(output: bytes) -> Iterator[Said]:
    """Read `--format json-v1`, which counts rows from 0, on the place that it calls the primary one.

    It is as sure of an injection by an input of the workflow, or by a variable, as of one by the title of an issue.
    """
    for item in json.loads(output):
        place = next(each for each in item["locations"] if each["symbolic"]["kind"] == "Primary")
        sure = item["determinations"]["confidence"] == "High" and (
            item["ident"] != _INJECTION or _FROM_OUTSIDE.search(_expression(place)) is not None
        )
        code = item["ident"] + ("" if sure else UNSURE)
        span = place["concrete"]["location"]
        said = f"{item['desc']}: {place['symbolic']['annotation']}"
        name = place["symbolic"]["key"]["Local"]["verbatim_path"]
        yield _said(name, code, said, span["start_point"]["row"] + 1, span["end_point"]["row"] + 1)


def _expression(place: Mapping[str, Any]) -> str:
    """The part of the place that zizmor means; the whole of it where it does not say."""
    kind = place["symbolic"]["feature_kind"]
    fragment = kind.get("Subfeature", {}).get("fragment", {}) if isinstance(kind, dict) else {}
    return str(fragment.get("Raw") or place["concrete"]["feature"])


def _said(file: object, code: object, message: object, first: object, last: object) -> Said:
    if not (isinstance(file, str) and isinstance(code, str) and isinstance(message, str)):
        raise TypeError("a diagnostic of another form")
    if not (isinstance(first, int) and isinstance(last, int)):
        raise TypeError("a diagnostic without its rows")
    return Said(PurePath(file).name, code, message, max(first, 1), max(first, last, 1))
