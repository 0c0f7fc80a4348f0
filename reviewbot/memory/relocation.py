"""Follow findings to another file, where a push moved their code and the diff against the base names no rename.

A file that the change adds has no former name in the diff: renamed by a later push, it is another added file. A
definition that moves to another file leaves no trace in the diff either.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from reviewbot.diff.language import language_of
from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.contracts.ledger import Record
from reviewbot.memory.standing_code import Text, code_places

MAX_FILES = 60
"""Changed files in which the code of a finding is looked for."""


def relocate(records: Sequence[Record], change: ChangeSet, text: Text) -> tuple[Record, ...]:
    """The records, those whose code stands in another file now with that file's path. Pure but for `text`."""
    there = [file for file in change.files if file.status != "deleted"]
    named = {file.path for file in there} | {file.old_path for file in there if file.old_path}
    files = [file.path for file in there][:MAX_FILES]
    renamed = {file.old_path for file in change.files if file.status == "renamed"}
    search = _Search(files, {each.rows for each in records if each.code}, text)
    places: dict[str, str] = {}
    for record in records:
        is_followed = record.code and record.path not in renamed and not search.stands(record.code, record.path)
        if is_followed and (new := search.elsewhere(record, is_missing=record.path not in named)):
            places[record.name] = new
    moved = _moved_files(records, places, files)
    path_now = {each.name: places.get(each.name) or moved.get(each.path, each.path) for each in records}
    return tuple(
        each if path_now[each.name] == each.path else each.model_copy(update={"path": path_now[each.name]})
        for each in records
    )


def _moved_files(records: Iterable[Record], places: Mapping[str, str], files: Sequence[str]) -> dict[str, str]:
    """New names of files that are gone, by where most of their findings stand: what was fixed there moved along."""
    votes: dict[str, Counter[str]] = {}
    for record in records:
        if record.name in places and record.path not in files:
            votes.setdefault(record.path, Counter())[places[record.name]] += 1
    return {path: counts.most_common(1)[0][0] for path, counts in votes.items()}


class _Search:
    """Looks for code in the changed files; each file is read once."""

    def __init__(self, files: Sequence[str], heights: set[int], text: Text) -> None:
        self._files = files
        self._heights = heights
        self._text = text
        self._known: dict[str, tuple[str | None, Mapping[str, Sequence[int]]]] = {}

    def stands(self, code: str, path: str) -> bool:
        """Whether code stands in a file of the head."""
        return code in self._read(path)[1]

    def elsewhere(self, record: Record, *, is_missing: bool) -> str:
        """Another changed file in which the code of a record stands; empty where there is none.

        Where its own file is still there, its definition has to be the one that moved: gone here, and there now.
        """
        content = self._read(record.path)[0]
        name = record.symbol.rpartition(".")[2]
        word = re.compile(rf"\b{re.escape(name)}\b") if name else None
        if content is None and not is_missing:
            return ""
        if content is not None and (word is None or word.search(content)):
            return ""
        for path in self._alike(record.path, any_language=content is None):
            found, codes = self._read(path)
            if record.code in codes and (word is None or (found is not None and word.search(found))):
                return path
        return ""

    def _alike(self, path: str, *, any_language: bool) -> Iterator[str]:
        """The changed files of the same language, those of the same name first; then the others where they count."""
        base, language = path.rpartition("/")[2], language_of(path)
        others = [each for each in self._files if each != path and (any_language or language_of(each) == language)]
        yield from sorted(others, key=lambda each: (language_of(each) != language, each.rpartition("/")[2] != base))

    def _read(self, path: str) -> tuple[str | None, Mapping[str, Sequence[int]]]:
        if path not in self._known:
            content = self._text(path)
            self._known[path] = (content, {} if content is None else code_places(content, path, self._heights) or {})
        return self._known[path]
