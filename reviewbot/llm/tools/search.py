"""Search in the text files of the head: a literal, or a regular expression in the syntax of RE2.

RE2 needs time linear in the text whatever the pattern is (https://github.com/google/re2): a pattern of a model, or
of a text that talked a model into it, cannot make a search run away.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import re2

from reviewbot.config.globs import matches_glob
from reviewbot.domain.repository_files import Expression, Searchable
from reviewbot.llm.tools.arguments import Arguments, EvidenceEntry, Refused, ToolResult
from reviewbot.llm.tools.view import NO_TREE, RepositoryView

_WHOLE_TEXT = re.compile(r"\\[AzZ]|\(\?(?!:|P)")
"""What may tell apart the ends of a text from those of a line: anchors, and groups that set flags."""

MAX_PROGRAM_BYTES = 8 * 2**20
"""Of a compiled expression and of its tables."""


BRACES = "; braces are no alternatives here: search once for each of them"

_TITLE = 500
"""Characters that are left for the title and for notes."""


class SearchPattern(NamedTuple):
    """What is searched for."""

    expression: Expression
    fault: str = ""
    """Why an expression is taken literally."""
    of_lines: bool = True
    """Whether it matches a line alike wherever that stands: it says nothing of the ends of the whole text."""
    of_ends: bool = False
    """Whether it may say something of the end of a line."""


def compile_pattern(text: str, *, literal: bool, ignore_case: bool) -> SearchPattern:
    """Compile a pattern; one that is no expression of RE2 is taken literally, as models often mean it."""
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.max_mem = MAX_PROGRAM_BYTES
    options.case_sensitive = not ignore_case
    fault = ""
    if not literal:
        try:
            expression = re2.compile(f"(?m){text}", options)
            return SearchPattern(expression, of_lines=not _WHOLE_TEXT.search(text), of_ends="$" in text or "\\" in text)
        except re2.error as error:
            reason = error.args[0] if error.args else ""
            reason = reason.replace(b"(?m)", b"", 1) if isinstance(reason, bytes) else reason
            fault = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        except UnicodeEncodeError:
            fault = "half of a character"
    options.literal = True
    try:
        return SearchPattern(re2.compile(text, options), fault)
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
        raise Refused(f"no file has a path like {scope}{BRACES if '{' in scope else ''}")
    found = _Found(view)
    notes = [f"[no expression of RE2 ({pattern.fault}): searched as it stands]"] if pattern.fault else []
    if stopped := _search(found, pattern, paths, clock):
        notes.append(f"[{stopped}]")
    title = f"{found.lines} lines in {len(found.parts)} of {len(paths)} files"
    parts = [title, *found.parts] if found.parts else [f"no line of {len(paths)} files matches"]
    return ToolResult("\n".join([*parts, *notes]), evidence=tuple(found.evidence))


def _in_scope(path: str, scope: str) -> bool:
    """Whether a path is the scope, lies below it as a folder, or has its form; a form without "/" is one of names."""
    scope = scope.removeprefix("./")
    if not scope or path == scope or path.startswith(scope.rstrip("/") + "/"):
        return True
    return matches_glob(scope, path) or ("/" not in scope and matches_glob(scope, path.rpartition("/")[2]))


class _Found:
    """What an answer shows."""

    def __init__(self, view: RepositoryView) -> None:
        self.view = view
        self._left = view.limits.matches
        self._chars = view.limits.chars - _TITLE
        self.parts: list[str] = []
        self.evidence: list[EvidenceEntry] = []
        self.lines = 0
        """That match, in the files that are shown."""

    def add(self, path: str, lines: Sequence[int]) -> bool:
        """Show some lines of a file; False where there is no room for it."""
        limits = self.view.limits
        entries = _entries(self.view, path, lines[: min(limits.matches_per_file, self._left)])
        more = len(lines) - sum(len(entry.lines) for entry in entries)
        rest = [f"       [{more} more here]"] if more else []
        part = "\n".join([path, *map(self.view.number_lines, entries), *rest])
        if not entries or len(part) > self._chars:
            return False
        self.parts.append(part)
        self.evidence += entries
        self.lines += len(lines)
        self._left -= len(lines) - more
        self._chars -= len(part) + 1
        return True


class Lines(NamedTuple):
    """Where lines match."""

    places: tuple[tuple[str, int], ...]
    note: str
    """Why there may be more; empty where there are none."""


def find_lines(view: RepositoryView, pattern: SearchPattern, paths: Sequence[str]) -> Lines:
    """The path and the number of each line that matches, as it is shown, up to `ToolLimits.uses`."""
    places: list[tuple[str, int]] = []
    end = time.monotonic() + view.limits.search_seconds
    for path, lines in _matching_files(view, pattern, paths):
        places += ((path, line) for line in lines)
        if len(places) >= view.limits.uses or time.monotonic() > end:
            return Lines(tuple(places), f"\n[there are more, behind {path}: search for them by path]")
    return Lines(tuple(places), "")


def _matching_files(
    view: RepositoryView, pattern: SearchPattern, paths: Sequence[str]
) -> Iterator[tuple[str, list[int]]]:
    """Yield the files with lines that match, and those lines."""
    for path, content in view.snapshot.contents(_candidates(view, pattern, paths)):
        yield path, _lines_of(view, pattern.expression, path, content)


def _candidates(view: RepositoryView, pattern: SearchPattern, paths: Sequence[str]) -> Iterable[str]:
    """The files that need be looked at."""
    if pattern.of_lines and isinstance(view.snapshot, Searchable):
        return view.snapshot.matching(pattern.expression, paths, crlf=pattern.of_ends)
    return paths


def _lines_of(view: RepositoryView, expression: Expression, path: str, content: bytes) -> list[int]:
    """The lines of a file that match, at most `ToolLimits.matches_counted`."""
    matching = _matching_lines(expression, content.replace(b"\r\n", b"\n"))
    lines = list(islice(matching, view.limits.matches_counted))
    # A line counts as it is shown: else a model could guess a masked secret, and learn when it is right.
    masked = view.lines(path) if lines else ()
    return [line for line in lines if expression.search(masked[line - 1].encode("utf-8"))]


def _search(found: _Found, pattern: SearchPattern, paths: Sequence[str], clock: Callable[[], float]) -> str:
    """Fill an answer; why it holds not all, or nothing."""
    view, limits = found.view, found.view.limits
    end, left = clock() + limits.search_seconds, limits.search_bytes
    for path, content in view.snapshot.contents(_candidates(view, pattern, paths)):
        lines = _lines_of(view, pattern.expression, path, content)
        if lines and not found.add(path, lines):
            return "there are more, in further files: narrow the pattern or the path"
        left -= len(content)
        if left < 0:
            return f"stopped after {limits.search_bytes >> 20} MiB behind {path}: narrow it by path"
        if clock() > end:
            return f"stopped after {limits.search_seconds:.0f} s behind {path}: narrow it by path"
    return ""


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


def _entries(view: RepositoryView, path: str, lines: Sequence[int]) -> list[EvidenceEntry]:
    """The lines as evidence; those that follow each other are one entry."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and runs[-1][-1] == line - 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    return [view.entry(path, "head", run[0], run[-1]) for run in runs]
