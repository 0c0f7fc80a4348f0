"""Read a file of results by its content: SARIF, rdjson, rdjsonl, checkstyle, a problem matcher, a plain log."""

from __future__ import annotations

import json
from collections.abc import Sequence

from reviewbot.analyzers.imported.checkstyle import read_checkstyle
from reviewbot.analyzers.imported.diagnostics import read_diagnostics, read_rdjson
from reviewbot.analyzers.imported.matchers import MAX_MATCHERS, Matcher, read_matchers, read_plain_log
from reviewbot.analyzers.imported.results import MAX_BYTES, MAX_RUNS, ProgramRun
from reviewbot.analyzers.imported.sarif import HOW, read_log
from reviewbot.domain.errors import InputError

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read_results(files: Sequence[tuple[str, bytes]]) -> list[tuple[str, ProgramRun]]:
    """The runs of all files, each with the name of its file.

    A file of problem matchers has no results: it reads the plain logs among the others.

    Raises:
        InputError: A file is too large, or of no known format. One line that names the file and says what to do.
    """
    parsed = [(name, _parse(name, data)) for name, data in files]
    matchers: list[Matcher] = []
    for name, value in parsed:
        if isinstance(value, dict) and "problemMatcher" in value:
            matchers += read_matchers(name, value["problemMatcher"])
    if len(matchers) > MAX_MATCHERS:
        raise InputError(f"there are more than {MAX_MATCHERS} problem matchers; give those that the logs need")
    found: list[tuple[str, ProgramRun]] = []
    for name, value in parsed:
        runs = _runs(name, value, matchers)
        if len(runs) > MAX_RUNS:
            raise InputError(f"{name!r} has more than {MAX_RUNS} runs; give logs of fewer runs, or of fewer programs")
        found += ((name, run) for run in runs)
    return found


def _parse(name: str, data: bytes) -> object:
    """JSON as its value, several lines of JSON as a list, a plain log as its text, XML as bytes."""
    if len(data) > MAX_BYTES:
        raise InputError(f"{name!r} is larger than {MAX_BYTES >> 20} MiB; give fewer results")
    start = data.removeprefix(_BOM).lstrip()[:1]
    if start == b"<":
        return data
    if start not in {b"{", b"["} and not data.startswith(_UTF16):
        return data.decode("utf-8", "replace")
    try:
        return json.loads(data)
    except RecursionError:
        raise InputError(f"{name!r} is nested too deeply; {HOW}") from None
    except ValueError:
        return _parse_lines(name, data)


def _parse_lines(name: str, data: bytes) -> object:
    """One value of JSON a line; a text where the first lines are not JSON, as logs may begin with a bracket."""
    lines = [line for line in data.splitlines() if line.strip()]
    try:
        return [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        if data.lstrip()[:1] == b"[":
            return data.decode("utf-8", "replace")
        raise InputError(f"{name!r} is no JSON; {HOW}") from None


def _runs(name: str, value: object, matchers: Sequence[Matcher]) -> list[ProgramRun]:
    if isinstance(value, bytes):
        return read_checkstyle(name, value)
    if isinstance(value, str):
        runs = read_plain_log(name, value, matchers)
        if not runs and not matchers:
            raise InputError(f"{name!r} is a plain log without workflow commands; {HOW}")
        return runs
    if isinstance(value, list) and value and all(isinstance(each, dict) and "location" in each for each in value):
        return read_diagnostics(value)
    if not isinstance(value, dict):
        raise InputError(f"{name!r} is JSON of another format; {HOW}")
    if "problemMatcher" in value:
        return []
    if "diagnostics" in value and "runs" not in value:
        return read_rdjson(value)
    if "location" in value and "runs" not in value:
        return read_diagnostics([value])
    return read_log(name, value)
