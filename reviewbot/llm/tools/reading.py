"""Lines of a file, the outline of a folder, and the last commits of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from reviewbot.llm.tools.arguments import Arguments, Refused, ToolResult
from reviewbot.llm.tools.view import NO_TREE, RepositoryView


def read(view: RepositoryView, given: Arguments) -> ToolResult:
    """Numbered lines of a file, at most `ToolLimits.read_lines`. Raises Refused."""
    path, side = given.text("path"), given.side
    total = len(view.lines(path, side))
    first = given.number("first", 1)
    last = given.number("last", first + view.limits.read_lines - 1)
    if last < first:
        raise Refused(f"last must not be before first: {last} < {first}")
    if first > total:
        raise Refused(f"{path} has {total} lines on the {side} side; there is no line {first}")
    entry = view.fitting(view.entry(path, side, first, min(last, first + view.limits.read_lines - 1)))
    title = f"{path} ({side} side), lines {entry.first} to {entry.last} of {total}"
    return ToolResult(f"{title}\n{view.number_lines(entry)}", evidence=(entry,))


def list_folder(view: RepositoryView, given: Arguments) -> ToolResult:
    """An outline of a folder, deeper as long as it fits into `ToolLimits.listed` entries. Raises Refused."""
    if view.files is None:
        raise Refused(NO_TREE)
    folder = given.text("path")
    prefix = f"{folder}/" if folder else ""
    inside = sorted(path.removeprefix(prefix) for path in view.files if path.startswith(prefix))
    if not inside:
        raise Refused(f"{folder or 'the repository'} is no folder with files")
    rows = _outline(inside, view.limits.listed)
    return ToolResult(f"{folder or 'top'}: {len(inside)} files\n" + "\n".join(rows))


def _outline(paths: Sequence[str], most: int) -> list[str]:
    """The paths, with whole folders as one row each from the depth on at which they would be too many."""
    rows = _rows(paths, 1)
    depth = 2
    while len(rows) <= most and any(row.endswith(")") for row in rows):
        deeper = _rows(paths, depth)
        if len(deeper) > most:
            break
        rows, depth = deeper, depth + 1
    more = [f"[{len(rows) - most} more]"] if len(rows) > most else []
    return rows[:most] + more


def _rows(paths: Sequence[str], depth: int) -> list[str]:
    counts: Counter[str] = Counter()
    for path in paths:
        parts = path.split("/", depth)
        counts["/".join(parts[:depth]) + "/" if len(parts) > depth else path] += 1
    return [f"{name} ({count} files)" if name.endswith("/") else name for name, count in counts.items()]


def history(view: RepositoryView, given: Arguments) -> ToolResult:
    """The last commits that changed a file, up to the base side, the newest first. Raises Refused."""
    path = given.text("path")
    view.lines(path, "base")  # the name of a file that is not there, or is withheld, is refused here
    commits = view.snapshot.history(path, view.limits.commits)
    if not commits:
        return ToolResult(f"no history of {path} is at hand")
    title = f"{path} (base side), last changed by"
    return ToolResult("\n".join([title, *(f"{each.sha[:12]} {each.date} {each.subject}" for each in commits)]))
