"""Find the selected ruff rules that the repository's own files break; reports of these are trusted less.

A configuration may select whole families while nothing enforces them, or for some folders alone. A few other files of
the base side show it: where a rule is broken there, and no `noqa` stands beside it, the repository lives with that.
"""

from __future__ import annotations

from typing import NamedTuple

from reviewbot.analyzers.core.single_flight import SharedRuns
from reviewbot.analyzers.ruff.run import RuffRunner
from reviewbot.analyzers.ruff.selection import Selection
from reviewbot.diff.paths import is_test
from reviewbot.domain.ports import ChangedFile, RepositorySnapshot, Snapshot
from reviewbot.threads import in_thread

_SAMPLE = 24
"""Files of one kind that are looked at."""

_MAX_CHARS = 200_000
"""Of one of them."""

_GROUPS_HELD = 64
_LAX = 5
"""Different rules that are broken in a few files: the selection is not enforced at all."""

_OTHERS_NEEDED = 3
"""With fewer other files nothing shows whether a rule is kept."""


class Kept(NamedTuple):
    """What was seen of the rules of one kind of file."""

    broken: frozenset[str]
    """Rules that are broken without being suppressed."""
    shown: bool
    """There were other files, enough to show which rules are kept."""


class KeptRules:
    """What the other files of a base side break, looked at once for each kind of file."""

    def __init__(self) -> None:
        self._groups: SharedRuns[Kept] = SharedRuns(_GROUPS_HELD)

    async def broken(self, runner: RuffRunner, selection: Selection, file: ChangedFile, snapshot: Snapshot) -> Kept:
        """The rules that the old side of a file, or files like it, break. Raises ProgramError."""
        read = file.base is not None and len(file.base) <= _MAX_CHARS
        own = (await runner.unsuppressed([file.base or ""]))[0] if read else frozenset[str]()
        top = file.path.removeprefix(selection.folder).partition("/")[0]
        key = f"{selection.label}\0{top}\0{is_test(file.path)}"
        others = await self._groups.get(key, lambda: self._of_others(runner, selection, file.path, snapshot))
        return Kept(own | others.broken, others.shown)

    async def _of_others(self, runner: RuffRunner, selection: Selection, path: str, snapshot: Snapshot) -> Kept:
        texts = await in_thread(lambda: _others(selection.folder, path, snapshot))
        if not texts:
            return Kept(frozenset(), shown=False)
        found = await runner.unsuppressed([*texts.values()])
        held = (codes & selection.codes_for(name) for name, codes in zip(texts, found, strict=True))
        broken = frozenset[str]().union(*held)
        # Who breaks so many is stopped by nothing, and breaks others elsewhere.
        return Kept(selection.codes if len(broken) >= _LAX else broken, shown=len(texts) >= _OTHERS_NEEDED)


def _others(folder: str, path: str, snapshot: Snapshot) -> dict[str, str]:
    """Some files of the base side that are like one: of its folder below the configuration, and tests as it is one."""
    names = snapshot.files() if isinstance(snapshot, RepositorySnapshot) else None
    top = path.removeprefix(folder).partition("/")
    beginning = folder + (f"{top[0]}/" if top[1] else "")
    like = [
        name
        for name in names or ()
        if name.endswith(".py") and name.startswith(beginning) and name != path and is_test(name) == is_test(path)
    ]
    step = max(1, len(like) // _SAMPLE)
    read = ((name, snapshot.base(name)) for name in like[::step][:_SAMPLE])
    return {name: text for name, text in read if text and len(text) <= _MAX_CHARS}
