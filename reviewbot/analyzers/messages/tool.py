"""The tool: keys of messages that are gone from all locales while a line that the change leaves alone asks for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, takewhile

from reviewbot.analyzers.core.changed_lines import ChangedLine
from reviewbot.analyzers.core.reports import RepositoryScan, rule_candidate
from reviewbot.analyzers.messages.keys import is_catalog, is_message_file, message_keys, source_files
from reviewbot.analyzers.messages.relative_keys import MAX_LINE, relative_uses
from reviewbot.diff.paths import is_example, is_test
from reviewbot.diff.rows import hunk_rows
from reviewbot.domain.contracts import Candidate
from reviewbot.domain.ports import ChangedFile, Occurrence, RepositorySnapshot, Snapshot
from reviewbot.tables import packaged_table

NAME = "message-keys"

MAX_KEYS = 40
"""Keys that one file has lost; of more of them the messages were laid out anew."""

MAX_FOUND = 200
"""Lines with a word of a key; more of them are about other things."""

MAX_FILES = 40
"""Other files of messages that may have a key."""

MAX_SOURCES = 5
"""Files of gettext in which what all of them have lost may be reported."""

MIN_TEXT_KEY = 4
MAX_TEXT_KEY = 60
"""Characters of a text that is a key: gettext writes a longer one in several lines."""

SHOWN = 3
"""Places that a message names."""


class MessageKeys(RepositoryScan):
    """The tool `message-keys`."""

    name = NAME

    def find_candidates(self, file: ChangedFile, snapshot: Snapshot) -> Iterator[Candidate]:
        """As `RepositoryScan.find_candidates`."""
        rule = self._rules["removed-message-key"]
        removed = {row.old: row for hunk in file.hunks for row in hunk_rows(hunk) if row.kind == "-"}
        for key, number in _lost(file, snapshot):
            row = removed.get(number)
            places = _uses(key, file, snapshot) if row is not None else []
            if row is not None and places:
                more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
                message = rule.message.format(key=key, places=", ".join(places[:SHOWN]) + more)
                line = ChangedLine(number, row.text, added=False)
                found = rule_candidate(rule, file.path, line, message)
                yield found.model_copy(update={"side": "old", "line": None, "end_line": None, "near": number})


def _lost(file: ChangedFile, snapshot: Snapshot) -> Iterator[tuple[str, int]]:
    """Yield the keys that a file has lost, with what is below them, and their lines on the old side."""
    if not is_message_file(file.path) or is_test(file.path) or is_example(file.path):
        return
    before, after = message_keys(file.before, file.base), message_keys(file.path, file.head)
    if before is None or after is None:
        return
    # What all languages have lost is reported in one of them.
    sources = [path for path in dict.fromkeys(source_files(file.path)) if path != file.path]
    if is_catalog(file.path):
        sources += islice(takewhile(lambda each: each != file.path, _catalogs(file.path, snapshot)), MAX_SOURCES)
    reported = {key for path in sources for key in message_keys(file.path, snapshot.base(path)) or ()}
    lost = {key: number for key, number in before.items() if key not in after and key not in reported}
    skipped = re.compile(packaged_table("messages")["supplied"])
    if len(lost) <= MAX_KEYS:
        kept = ((key, number) for key, number in lost.items() if _is_distinct(key, file.path))
        yield from ((key, number) for key, number in kept if not skipped.match(key))


def _catalogs(path: str, snapshot: Snapshot) -> Iterator[str]:
    """Yield the files that have the texts of one file of gettext, in an order that is the same for all of them."""
    files = snapshot.files() if isinstance(snapshot, RepositorySnapshot) else None
    folder, _, name = path.rpartition("/")
    yield from (each for each in files or () if each.endswith(".pot"))
    yield from (each for each in files or () if each.endswith(f"/{name}") or each.rpartition("/")[0] == folder)


def _is_distinct(key: str, path: str) -> bool:
    """Whether a text of this form is a key and no word of a language; of gettext, one on a line of its own."""
    if is_catalog(path):
        return MIN_TEXT_KEY <= len(key) <= MAX_TEXT_KEY and re.search(r"\w{3}", key) is not None and "\\" not in key
    return re.fullmatch(r"[\w.-]+", key) is not None and re.search(r"\w[._-]\w|[a-z][A-Z]", key) is not None


def _uses(key: str, file: ChangedFile, snapshot: Snapshot) -> list[str]:
    """The places that ask for a key that no file of messages has, as `path:line`."""
    lines = [*_whole_uses(key, file, snapshot), *relative_uses(key, file.path, snapshot)]
    # What the change itself wrote is no former form.
    return [f"{each.path}:{each.line}" for each in lines if each.text in (snapshot.base(each.path) or "")]


def _whole_uses(key: str, file: ChangedFile, snapshot: Snapshot) -> list[Occurrence]:
    word = max(re.findall(r"\w+", key), key=len)
    found = snapshot.search(word, MAX_FOUND)
    if not found or len(found) >= MAX_FOUND:
        return []
    asked = packaged_table("messages")["asks_catalog" if is_catalog(file.path) else "asks"]
    asks = re.compile(asked.replace("KEY", re.escape(key)))
    lines = [each for each in found if key in each.text and len(each.text) <= MAX_LINE and _is_code(each)]
    kept = [each for each in lines if asks.search(each.text)]
    forms = (snapshot.search(word + ending, MAX_FOUND) or () for ending in ("_one", "_other", "_plural") if kept)
    if not kept or _is_elsewhere(key, file, (*found, *(line for each in forms for line in each)), snapshot):
        return []
    return kept


def _is_code(each: Occurrence) -> bool:
    aside = is_message_file(each.path) or is_test(each.path) or is_example(each.path)
    return not aside and re.match(r"\s*(?://|#(?!\{)|\*|--|<!--|\{/\*)", each.text) is None


def _is_elsewhere(key: str, file: ChangedFile, found: tuple[Occurrence, ...], snapshot: Snapshot) -> bool:
    """Whether another file may have the key: of messages, by a part of it, or as a form for a number or a case."""
    others = dict.fromkeys(each.path for each in found if not _is_code(each))
    texts = [(path, snapshot.head(path)) for path in [file.path, *others][:MAX_FILES]]
    forms = re.compile(rf"(?:.*[.:])?{re.escape(key)}(?:[._]\w.*)?")
    read = [message_keys(path, text) for path, text in texts if is_message_file(path)]
    return len(others) >= MAX_FILES or any(
        keys is None or any(forms.fullmatch(each) or key.endswith(f".{each}") for each in keys) for keys in read
    )
