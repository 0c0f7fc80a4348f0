"""Find names that a file of JavaScript, TypeScript or Go no longer defines, and that another file still takes from it.

Certain alone: the name is nowhere on the new side of the file, no other file can stand for it, and the user names it in
an import of that very file, or of that very package. In doubt nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewbot.analyzers.both_sides.sides import SideFinding
from reviewbot.context.symbols.imports import stands_for
from reviewbot.context.symbols.languages import LANGUAGES
from reviewbot.context.symbols.model import FileSymbols, Symbol
from reviewbot.context.symbols.parsing import MAX_FILE_BYTES, parse_file
from reviewbot.diff.language import language_of
from reviewbot.domain.ports import ChangedFile, Snapshot

MAX_NAMES = 20
"""Names of one file that are looked for; with more of them the file was written anew."""

MAX_FOUND = 200
"""Lines with one name; a name with more of them is shared by unrelated things."""

MAX_USERS = 20
"""Files that are parsed for one name."""

SHOWN = 3
"""Places that a message names."""

_SCRIPTS = frozenset({"javascript", "jsx", "typescript", "tsx"})
_ENDINGS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts", ".vue", ".svelte", ".json",
            "/index.ts", "/index.tsx", "/index.js", "/index.jsx")  # fmt: skip
_ALL_OF = re.compile(r"export\s*\*|module\.exports\s*=\s*(?!\{)|\.\.\.")


def stale_users(file: ChangedFile, snapshot: Snapshot) -> Iterator[SideFinding]:
    """Yield names that are gone from a file while another file still takes them from it. Blocks."""
    if file.base is None or file.head is None or not (file.language in _SCRIPTS or file.language == "go"):
        return
    if max(len(file.base), len(file.head)) > MAX_FILE_BYTES or file.path != file.before:
        return
    now = {(each.container, each.name) for each in _parsed(file.path, file.head).symbols}
    before = [each for each in _parsed(file.path, file.base).symbols if (each.container, each.name) not in now]
    gone = [each for each in before if _is_gone(file, each)]
    for symbol in gone if len(gone) <= MAX_NAMES else ():
        places = list(_uses(file, symbol, snapshot))
        if places:
            more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
            named = ", ".join(places[:SHOWN]) + more
            message = f"`{symbol.qualified}` is gone from here, and still taken from here at {named}"
            yield SideFinding("removed-symbol", message, (symbol.line, symbol.last))


def _parsed(path: str, text: str) -> FileSymbols:
    return parse_file(LANGUAGES[language_of(path)], text.encode("utf-8", "replace"))


def _is_gone(file: ChangedFile, symbol: Symbol) -> bool:
    """Whether a name was offered to other files, and is on no line of the new side any more."""
    name, head, base = re.escape(symbol.name), file.head or "", file.base or ""
    if symbol.container:
        enum = re.compile(rf"\bexport\s[^\n]{{0,30}}\benum\s+{re.escape(symbol.container)}\b")
        return enum.search(base) is not None and enum.search(head) is not None
    if re.search(rf"(?<![\w$]){name}(?![\w$])", head) is not None:
        return False
    if file.language == "go":
        return symbol.name[:1].isupper()
    offered = (
        rf"export\b[^\n;]{{0,80}}[\s{{*,]{name}\b|exports\.{name}\b|export\s*(?:type\s*)?\{{[^}}]*\b{name}\b"
        rf"|module\.exports\s*=\s*\{{[^}}]*\b{name}\b"
    )
    return _ALL_OF.search(head) is None and re.search(offered, base) is not None


def _uses(file: ChangedFile, symbol: Symbol, snapshot: Snapshot) -> Iterator[str]:
    """Yield the places where other files of the new side take a name from a file, as `path:line`."""
    name = symbol.name
    lines = snapshot.search(name, MAX_FOUND)
    if not lines or len(lines) == MAX_FOUND:
        return
    if file.language == "go":
        if any(
            _defines_in_go(file, name, each.path, snapshot)
            for each in lines
            if _folder(each.path) == _folder(file.path)
        ):
            return
    elif _has_a_double(file.path, snapshot):
        return
    for path in list(dict.fromkeys(each.path for each in lines if each.path != file.path))[:MAX_USERS]:
        language = language_of(path)
        text = snapshot.head(path) if language == "go" or language in _SCRIPTS else None
        if text is None or (language == "go") != (file.language == "go"):
            continue
        wanted = _wanted(file, symbol, path, text)
        if wanted is not None:
            numbers = (n for n, line in enumerate(text.split("\n"), 1) if re.search(wanted, line))
            yield from (f"{path}:{n}" for n in list(numbers)[:1])


def _wanted(file: ChangedFile, symbol: Symbol, path: str, text: str) -> str | None:
    """What a line that uses a name looks like, in a file that takes it from the changed one; None for other files."""
    language, name = language_of(path), re.escape(symbol.name)
    imports = [
        each for each in _parsed(path, text).imports if stands_for(each.module, file.path, path, language) == _EXACTLY
    ]
    if language == "go":
        local = next((each.local for each in imports if each.local != "*"), None)
        return rf"^(?!\s*//).*(?<![\w.\"]){re.escape(local)}\.{name}\b" if local else None
    taken = symbol.container or symbol.name
    local = next((each.local for each in imports if each.name == taken and each.module.startswith(".")), None)
    if local is None:
        return None
    return rf"(?<![\w$.]){re.escape(local)}\.{name}\b" if symbol.container else rf"(?<![\w$.]){name}(?![\w$])"


_EXACTLY = 2
"""That a file is the very one that a module stands for."""


def _has_a_double(path: str, snapshot: Snapshot) -> bool:
    """Whether an import of this file may mean another one: of another ending, or a folder of that name."""
    stem = re.sub(r"(?:/index)?(?:\.d)?\.\w+$", "", path)
    return any(f"{stem}{ending}" != path and snapshot.head(f"{stem}{ending}") is not None for ending in _ENDINGS)


def _defines_in_go(file: ChangedFile, name: str, path: str, snapshot: Snapshot) -> bool:
    """Whether another file of the package defines a name."""
    text = snapshot.head(path) if path != file.path and path.endswith(".go") else None
    return text is not None and any(each.name == name and not each.container for each in _parsed(path, text).symbols)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
