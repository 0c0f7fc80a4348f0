"""Search in the text files of the head: a literal, or a regular expression in the syntax of RE2.

RE2 needs time linear in the text whatever the pattern is (https://github.com/google/re2): a pattern of a model, or
of a text that talked a model into it, cannot make a search run away.
"""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol

import re2

from reviewbot.config.globs import matches_glob
from reviewbot.llm.tools.results import EvidenceEntry, Refused, ToolResult
from reviewbot.llm.tools.view import NO_TREE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reviewbot.llm.tools.arguments import Arguments
    from reviewbot.llm.tools.view import RepositoryView

MAX_PROGRAM_BYTES = 8 * 2**20
"""Of a compiled expression and of its tables."""


class Match(Protocol):
    """Where an expression matches."""

    def start(self) -> int:
        """The first byte."""


class Expression(Protocol):
    """A compiled expression."""

    def search(self, content: bytes, at: int = 0) -> Match | None:
        """The first match from a byte on."""


class Pattern(NamedTuple):
    """What is searched for; `fault` says why an expression is taken literally."""

    expression: Expression
    fault: str = ""


class _Hit(NamedTuple):
    path: str
    lines: tuple[int, ...]
    """The first of them, as many as may be shown."""
    total: int


class _Found(NamedTuple):
    hits: Sequence[_Hit]
    stopped: str


def compile_pattern(text: str, *, literal: bool, ignore_case: bool) -> Pattern:
    """Compile a pattern; one that is no expression of RE2 is taken literally, as models often mean it."""
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.max_mem = MAX_PROGRAM_BYTES
    options.case_sensitive = not ignore_case
    fault = ""
    if not literal:
        try:
            return Pattern(re2.compile(f"(?m){text}", options))
        except re2.error as error:
            reason = error.args[0] if error.args else ""
            reason = reason.replace(b"(?m)", b"", 1) if isinstance(reason, bytes) else reason
            fault = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        except UnicodeEncodeError:
            fault = "half of a character"
    options.literal = True
    try:
        return Pattern(re2.compile(text, options), fault)
    except (re2.error, UnicodeEncodeError):
        raise Refused("pattern cannot be searched for") from None


def search(view: RepositoryView, given: Arguments, clock: Callable[[], float] = time.monotonic) -> ToolResult:
    """Lines that match, grouped by file, sources before tests. Raises Refused."""
    if view.files is None:
        raise Refused(f"nothing can be searched: {NO_TREE}")
    text, scope = given.text("pattern"), given.text("path")
    pattern = compile_pattern(text, literal=given.switch("literal"), ignore_case=given.switch("ignore_case"))
    paths = [path for path in view.files if _in_scope(path, scope)]
    if not paths:
        raise Refused(f"no file has a path like {scope}")
    found = _search(view, pattern.expression, paths, clock)
    notes = [f"[no expression of RE2 ({pattern.fault}): searched as it stands]"] if pattern.fault else []
    return _shown(view, found, [*notes, *([f"[{found.stopped}]"] if found.stopped else [])], len(paths))


def _in_scope(path: str, scope: str) -> bool:
    """Whether a path is the scope, lies below it as a folder, or has its form; a form without "/" is one of names."""
    scope = scope.removeprefix("./")
    if not scope or path == scope or path.startswith(scope.rstrip("/") + "/"):
        return True
    return matches_glob(scope, path) or ("/" not in scope and matches_glob(scope, path.rpartition("/")[2]))


def _search(view: RepositoryView, pattern: Expression, paths: Sequence[str], clock: Callable[[], float]) -> _Found:
    limits = view.limits
    end, left, counted = clock() + limits.search_seconds, limits.search_bytes, 0
    hits: list[_Hit] = []
    for path, content in view.snapshot.contents(paths):
        left -= len(content)
        if left < 0:
            return _Found(hits, f"stopped after {limits.search_bytes >> 20} MiB at {path}: narrow it by path")
        if clock() > end:
            return _Found(hits, f"stopped after {limits.search_seconds:.0f} s at {path}: narrow it by path")
        matching = _matching_lines(pattern, content.replace(b"\r\n", b"\n"))
        lines = list(islice(matching, limits.counted_matches - counted))
        counted += len(lines)
        # A line counts as it is shown: else a model could guess a masked secret, and be told when it is right.
        masked = view.lines(path) if lines else ()
        lines = [line for line in lines if pattern.search(masked[line - 1].encode("utf-8"))]
        if lines:
            hits.append(_Hit(path, tuple(lines[: limits.matches_per_file]), len(lines)))
        if counted >= limits.counted_matches:
            return _Found(hits, f"stopped after {limits.counted_matches} lines at {path}: narrow it")
    return _Found(hits, "")


def _matching_lines(pattern: Expression, content: bytes) -> Iterator[int]:
    """Yield the number of each line that matches, once."""
    line, counted, at = 1, 0, 0
    while at < len(content) and (match := pattern.search(content, at)):
        start = match.start()
        if start == len(content):
            return  # behind the last line end
        line += content.count(b"\n", counted, start)
        counted = start
        yield line
        after = content.find(b"\n", start)
        if after < 0:
            return
        at = after + 1


def _shown(view: RepositoryView, found: _Found, notes: Sequence[str], searched: int) -> ToolResult:
    total = sum(hit.total for hit in found.hits)
    title = f"{total} lines in {len(found.hits)} of {searched} files"
    if not total:
        return ToolResult("\n".join([f"no line of {searched} files matches", *notes]))
    parts, evidence, left, size = [title], list[EvidenceEntry](), view.limits.matches, 0
    for shown, hit in enumerate(found.hits):
        entries = _entries(view, hit.path, hit.lines[:left])
        more = hit.total - sum(len(entry.lines) for entry in entries)
        part = "\n".join([hit.path, *map(view.numbered, entries), *([f"       [{more} more here]"] if more else [])])
        size += len(part) + 1
        if left <= 0 or size > view.limits.chars:
            parts.append(f"[{len(found.hits) - shown} more files: narrow the pattern or the path]")
            break
        parts.append(part)
        evidence += entries
        left -= len(hit.lines)
    return ToolResult("\n".join([*parts, *notes]), evidence=tuple(evidence))


def _entries(view: RepositoryView, path: str, lines: Sequence[int]) -> list[EvidenceEntry]:
    """The lines as evidence; those that follow each other are one entry."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and runs[-1][-1] == line - 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    return [view.entry(path, "head", run[0], run[-1]) for run in runs]
