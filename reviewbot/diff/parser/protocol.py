"""Render a parsed diff as plain JSON for test tools: exact names, counts, and one word for the state of each file."""

from __future__ import annotations

from reviewbot.diff.parse import parse_diff, parse_fragment
from reviewbot.diff.parser import file_names
from reviewbot.domain.errors import DiffError

READ = "ok"
"""Every line was read: our "read"."""


def answer(data: bytes, patch_filename: str | None) -> dict[str, object]:
    """Give `{"files": [...], "error": text or None}`.

    Names are exact: bytes that are not UTF-8 are surrogate escapes, so print it as ASCII JSON. With `patch_filename`
    the data are the hunks of that one file. Never raises.
    """
    try:
        change = parse_diff(data) if patch_filename is None else parse_fragment(data, patch_filename)
    except DiffError as error:
        return {"files": [], "error": str(error)}
    files = [
        {
            "path": file_names.exact(file.path),
            "old_path": None if file.old_path is None else file_names.exact(file.old_path),
            "status": file.status,
            "added": file.added,
            "removed": file.removed,
            "state": READ if parsed.state == "read" else parsed.state,
            "reason": parsed.reason,
        }
        for file, parsed in zip(change.files, change.parsed, strict=True)
    ]
    return {"files": files, "error": None}
