"""Collect the texts that all readers of a part of a change are shown. Deterministic; asks no model; may block."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from reviewbot.context.conventions import conventions
from reviewbot.context.dependents import numbered_lines
from reviewbot.diff.rows import SEPARATOR, hunk_rows
from reviewbot.domain.contracts import FileChange, ReadBefore
from reviewbot.domain.ports import WorkOrder
from reviewbot.llm.prompts.change_view import change_view, hunk_views, new_lines
from reviewbot.llm.prompts.reader_prompt import ReaderContext
from reviewbot.llm.prompts.repository_map import RepositoryMap, repository_map
from reviewbot.llm.tools.view import RepositoryView
from reviewbot.review.plan.name_uses import definitions_of_hunk

MAX_CONVENTIONS = 16_000
"""Characters of all rules of the house: about 4,000 tokens."""
MAX_DELETED = 12_000
"""Characters of all deleted files together: what they did may now be done nowhere."""
MAX_OTHERS = 300
"""Other files of the change that are named."""
MAX_DEFINED = 12
"""Names of one of them."""
MAX_PURPOSE = 250
"""Characters of the description, after a small push: it says what the whole change is for."""
_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")


@dataclass(frozen=True)
class ReaderContextBuilder:
    """Collects the context for a reader's tasks."""

    view: RepositoryView
    files: Sequence[FileChange]
    """Of the whole change."""
    mask: Callable[[str], str] = lambda text: text
    """A text with masked secrets and as many lines as before."""

    def __call__(self, orders: Sequence[WorkOrder]) -> ReaderContext:
        """The context of these tasks' reader."""
        slices = tuple(dict.fromkeys(payload for order in orders for payload in order.task.slices))
        paths = tuple(dict.fromkeys(payload.file_path for payload in slices))
        in_change: dict[str, list[range]] = {path: [] for path in paths}
        for payload in slices:
            in_change[payload.file_path] += [new_lines(rows) for rows in hunk_views(payload)]
        # Of a change that was read before, a reader is shown what is new: the rest of the repository it can look up.
        before, small = orders[0].task.read_before, orders[0].task.small_push
        again, before = before is not None, before or ReadBefore()
        uses_shown = small and before.uses_shown
        # Without tools no file of it can be read.
        repository = RepositoryMap("")
        if not uses_shown:
            repository = repository_map(self.view, {} if small else in_change, may_be_whole=not again)
        description = self.mask(orders[0].description)
        pushed = {each.path: each.pushed for each in before.files if each.pushed}
        return ReaderContext(
            title=self.mask(orders[0].title),
            description=first_sentences(description) if small else description,
            change=self.mask(change_view(slices, self.view.lines_or_none, pushed, whole_files=repository.whole)),
            deleted=self.mask(self._deleted()),
            other_parts=self._others(paths, {*dict(numbered_lines(before.dependents))} if again else None),
            dependents=self.mask(before.dependents),
            said=self.mask(before.claims),
            conventions=self.mask(_rules(orders[0], paths)),
            repository=repository.text,
            is_whole=repository.whole,
            is_push=again,
            uses_shown=uses_shown,
        )

    def _deleted(self) -> str:
        """The removed lines of deleted files that a model may see, whole files first come first served."""
        texts: list[str] = []
        left = MAX_DELETED
        for file in self.files:
            if file.status != "deleted" or self.view.is_withheld(file.path):
                continue
            removed = "\n".join(row.text for hunk in file.hunks for row in hunk_rows(hunk) if row.kind == "-")
            left -= len(removed)
            texts.append(f"### {file.path}\n{removed if left >= 0 else '[too long to be shown]'}")
        return "\n\n".join(texts)

    def _others(self, paths: Sequence[str], in_sight: Collection[str] | None) -> str:
        """The map of what is not shown: files, and where their hunks were read before, what these define.

        `in_sight`: files of a change that was read before of which some lines are shown; they are not named.
        """
        hidden = {*paths, *(in_sight or ())}
        others = [file for file in self.files if file.path not in hidden and file.status != "deleted"]
        named = [
            f"{file.path} ({file.status}, +{file.added} -{file.removed})"
            if in_sight is None
            else f"{file.path}{_defines(file)}"
            for file in others[:MAX_OTHERS]
        ]
        more = [f"and {len(others) - MAX_OTHERS} more"] if len(others) > MAX_OTHERS else []
        return "\n".join([*named, *more])


def first_sentences(text: str) -> str:
    """The beginning of a text, as far as sentences or lines end within `MAX_PURPOSE`; else as far as words do."""
    short = text.strip()[:MAX_PURPOSE]
    if len(short) == len(text.strip()):
        return short
    ends = [match.end() for match in _SENTENCE_END.finditer(short)]
    return short[: ends[-1]].rstrip() if ends else f"{short.rpartition(' ')[0] or short} ..."


def _defines(file: FileChange) -> str:
    hunks = (f"{SEPARATOR} {hunk.heading}\n{hunk.body}" for hunk in file.hunks)
    names = dict.fromkeys(name for text in hunks for name, changed in definitions_of_hunk(text) if changed)
    return f": {', '.join(list(names)[:MAX_DEFINED])}" if names else ""


def _rules(order: WorkOrder, paths: Sequence[str]) -> str:
    """The convention files that apply to some path, each once, the most general first."""
    found = {text.path: text.text for path in paths for text in conventions(order.snapshot, path).files}
    texts: list[str] = []
    left = MAX_CONVENTIONS
    for path in sorted(found, key=lambda name: (name.count("/"), name)):
        text = found[path].strip()[:left]
        left -= len(text)
        texts += [f"### {path}\n{text}"] if text else []
    return "\n\n".join(texts)
