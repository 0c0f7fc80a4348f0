"""Find who asks for a message of Rails by the end of its key: `t(".title")` in the view or action that it begins with.

https://guides.rubyonrails.org/i18n.html#lazy-lookup
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache

from reviewbot.analyzers.messages.keys import message_keys
from reviewbot.domain.ports import Occurrence, RepositorySnapshot, Snapshot
from reviewbot.tables import packaged_table

MAX_PARTS = 8
"""Of a key."""

MAX_USERS = 10
"""Files that one beginning of a key may name: a view in several formats."""

MAX_LINE = 1_000
"""Characters of a line that is looked at; a longer one is generated."""

_LOCALES = re.compile(r"(?:^|/)config/locales/.{0,300}\.ya?ml$")
_LANGUAGE = re.compile(r"(?<=[./])([a-z]{2,3}(?:[-_][A-Za-z]{2,4}){0,2})(?=\.ya?ml$|/)")
_VIEW = re.compile(r"(?:^|/)app/views/((?:[\w-]{1,100}/){1,6})_?(\w{1,100})\.[\w.+]{1,60}$")
_CLASS = re.compile(r"(?:^|/)app/(?:controllers|mailers)/((?:\w{1,100}/){0,5}\w{1,100}?)(?:_controller)?\.rb$")
_METHOD = re.compile(r"\s*def (\w+)")


def relative_uses(key: str, path: str, snapshot: Snapshot) -> list[Occurrence]:
    """The lines that ask for a lost key of a file by its end.

    None where another file has it in the same language, and where the tree is not at hand. Blocks.
    """
    if not isinstance(snapshot, RepositorySnapshot) or (files := snapshot.files()) is None:
        return []
    parts = key.split(".")
    if not _LOCALES.search(path) or len(parts) > MAX_PARTS:
        return []
    found = [
        each
        for at in range(1, len(parts))
        for user, is_class in _users(files).get(".".join(parts[:at]), ())
        for each in _asks_in(user, parts[at:], snapshot, is_class=is_class)
    ]
    return [] if found and _has_another(key, path, files, snapshot) else found


@lru_cache(maxsize=2)
def _users(files: tuple[str, ...]) -> Mapping[str, list[tuple[str, bool]]]:
    """The views and classes by the beginning of the keys that they may leave out; in a class an action follows it."""
    found: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for path in files:
        view, owner = _VIEW.search(path), _CLASS.search(path)
        if view is not None:
            found[f"{view[1]}{view[2]}".replace("/", ".")].append((path, False))
        elif owner is not None:
            found[owner[1].replace("/", ".")].append((path, True))
    return {name: users for name, users in found.items() if len(users) <= MAX_USERS}


def _asks_in(path: str, parts: list[str], snapshot: Snapshot, *, is_class: bool) -> Iterator[Occurrence]:
    rest = ".".join(parts[is_class:])
    asks = re.compile(packaged_table("messages")["asks_relative"].replace("KEY", re.escape(f".{rest}")))
    method = ""
    for number, line in enumerate((snapshot.head(path) or "").split("\n") if rest else (), 1):
        begun = _METHOD.match(line)
        method = begun[1] if begun is not None else method
        if len(line) <= MAX_LINE and asks.search(line) and (not is_class or method == parts[0]):
            yield Occurrence(path, number, line)


def _has_another(key: str, path: str, files: tuple[str, ...], snapshot: RepositorySnapshot) -> bool:
    """Whether a file of messages, but for those of other languages, may have a key."""
    own, forms = _language(path), re.compile(rf"{re.escape(key)}(?:[._]\w.*)?")
    last = key.rpartition(".")[2].encode()
    near = [each for each in files if _LOCALES.search(each) and _language(each) in {own, ""}]
    for other, content in snapshot.contents(near):
        keys = message_keys(other, content.decode("utf-8", "replace")) if last in content else {}
        if keys is None or any(map(forms.fullmatch, keys)):
            return True
    return False


def _language(path: str) -> str:
    return next(reversed(_LANGUAGE.findall(path.rpartition("config/locales")[2])), "")
