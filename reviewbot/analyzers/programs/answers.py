"""Read what the programs write; one function for each form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePath

from reviewbot.analyzers.programs.program import Said

UNSURE = "-unsure"
"""What the code of a rule ends with where zizmor itself is not sure."""

_DEPRECATED = "is deprecated in GitHub Actions"
_YAMLLINT = re.compile(
    r"(?P<path>[^:\n]{1,400}):(?P<row>\d{1,9}):\d{1,9}: \[\w{1,20}\] (?P<said>.*) \((?P<code>[\w-]{1,60})\)"
)


def actionlint(output: bytes) -> Iterator[Said]:
    """Read `-format '{{json .}}'`. What it says of a runtime's age is no defect of the change."""
    for item in json.loads(output or b"[]") or ():
        code = "deprecated-runtime" if _DEPRECATED in item["message"] else item["kind"]
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
    """Read `--format json-v1`, which counts rows from 0, on the place that it calls the primary one."""
    for item in json.loads(output):
        place = next(each for each in item["locations"] if each["symbolic"]["kind"] == "Primary")
        code = item["ident"] + ("" if item["determinations"]["confidence"] == "High" else UNSURE)
        span = place["concrete"]["location"]
        said = f"{item['desc']}: {place['symbolic']['annotation']}"
        name = place["symbolic"]["key"]["Local"]["verbatim_path"]
        yield _said(name, code, said, span["start_point"]["row"] + 1, span["end_point"]["row"] + 1)


def _said(file: object, code: object, message: object, first: object, last: object) -> Said:
    if not (isinstance(file, str) and isinstance(code, str) and isinstance(message, str)):
        raise TypeError("a diagnostic of another form")
    if not (isinstance(first, int) and isinstance(last, int)):
        raise TypeError("a diagnostic without its rows")
    return Said(PurePath(file).name, code, message, max(first, 1), max(first, last, 1))
