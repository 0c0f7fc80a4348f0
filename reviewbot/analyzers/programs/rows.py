"""The programs, as `data/programs.toml` has them."""

from __future__ import annotations

import re
from typing import Any, Final

from reviewbot.analyzers.programs import answers
from reviewbot.analyzers.programs.program import ProgramTool
from reviewbot.tables import packaged_table

_PATTERNS: Final = frozenset({"paths", "not_paths", "unless", "silencers"})
_SETS: Final = frozenset({"languages", "kept_suffixes", "unread", "statuses"})


def _row(row: dict[str, Any]) -> ProgramTool:
    fields = dict(row)
    for key, value in row.items():
        if key in _PATTERNS:
            fields[key] = re.compile(value)
        elif key in _SETS:
            fields[key] = frozenset(value)
    fields["arguments"] = tuple(row["arguments"])
    fields["skipped"] = row.get("skipped", "").encode()
    return ProgramTool(parse=getattr(answers, row["name"]), **fields)


PROGRAMS: Final = tuple(_row(row) for row in packaged_table("programs")["program"])
