"""Check our parser against unidiff, which reads each file that we read: both must have counted the same.

unidiff is given one file at a time in our own canonical form: placeholder names, headers of our own making, lines as a
list. So no text of the change meets its regular expressions for headers, two of which can be made slow by one line, and
no control character is taken for the end of a line. It reads markers and counts only; the texts are ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from reviewbot.domain.contracts import Hunk

_NAMES = ("--- a/f\n", "+++ b/f\n")


def disagreement(hunks: Sequence[Hunk], added: int, removed: int) -> str:
    """Say how unidiff's reading differs from ours; "" where it does not."""
    try:
        patch = PatchSet(chain(_NAMES, _lines(hunks)), metadata_only=True)
    except UnidiffParseError as error:
        return f"a second reader refuses it: {error}".splitlines()[0][:200]
    if len(patch) != 1 or len(patch[0]) != len(hunks):
        return "a second reader finds other hunks in it"
    if (patch[0].added, patch[0].removed) != (added, removed):
        return "a second reader counts other lines in it"
    return ""


def _lines(hunks: Sequence[Hunk]) -> Iterator[str]:
    for hunk in hunks:
        yield f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@\n"
        yield from hunk.body.split("\n")
