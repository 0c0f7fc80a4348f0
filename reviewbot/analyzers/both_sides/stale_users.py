"""Find what other code still takes from a file of JavaScript, TypeScript, Go or Java as it was: names, and parameters.

Certain alone: the name is nowhere on the new side of the file, or its parameters changed; no other file can stand for
it, and the user names it in an import of that very file, or of that very package. In doubt nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from reviewbot.analyzers.both_sides.sides import SideFinding
from reviewbot.analyzers.both_sides.syntax_side import new_names, old_names
from reviewbot.analyzers.patterns.trees import MAX_CHARS
from reviewbot.context.symbols.aliases import alias_target
from reviewbot.context.symbols.call_sites import Call, Mentions, Signature, mentions
from reviewbot.context.symbols.imports import stands_for
from reviewbot.context.symbols.java import may_inherit
from reviewbot.context.symbols.languages import LANGUAGES
from reviewbot.context.symbols.model import FileSymbols, Import, Symbol
from reviewbot.context.symbols.parsing import parse, parse_file
from reviewbot.context.word_search import is_word
from reviewbot.diff.language import language_of
from reviewbot.domain.ports import ChangedFile, RepositorySnapshot, Snapshot
from reviewbot.tables import packaged_table

MAX_NAMES = 20
"""Names of one file that are looked for; with more of them the file was written anew."""

MAX_FOUND = 200
"""Places with one name; a name with more of them is shared by unrelated things."""

MAX_USERS = 20
"""Files that are parsed for one name."""

SHOWN = 3
"""Places that a message names."""

_SCRIPTS = frozenset({"javascript", "jsx", "typescript", "tsx"})
ENDINGS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts", ".vue", ".svelte", ".json",
            "/index.ts", "/index.tsx", "/index.js", "/index.jsx")  # fmt: skip
_PACKAGED = frozenset({"go", "java"})
_UNTYPED = frozenset({"javascript", "jsx"})
_WORD = re.compile(r"\w+")
_ALL_OF = re.compile(r"export\s*\*|module\.exports\s*=\s*(?!\{)|\.\.\.")


def stale_users(file: ChangedFile, snapshot: Snapshot) -> Iterator[SideFinding]:
    """Yield names that are gone from a file while another file still takes them from it. Blocks."""
    if file.base is None or file.head is None or not is_comparable(file):
        return
    if "enum" not in file.base and not set(_WORD.findall(file.base)) - set(_WORD.findall(file.head)):
        return  # what is gone is on no line any more, but for a member of an enum: nothing has to be parsed
    now = {(each.container, each.name) for each in new_names(file).symbols.symbols}
    before = [each for each in old_names(file).symbols.symbols if (each.container, each.name) not in now]
    gone = [each for each in before if _is_gone(file, each, snapshot)]
    for symbol in gone if len(gone) <= MAX_NAMES else ():
        places = list(_uses(file, symbol, snapshot))
        if places:
            message = f"`{symbol.qualified}` is gone from here, and still taken from here at {named(places)}"
            yield SideFinding("removed-symbol", message, (symbol.line, symbol.last))


def is_comparable(file: ChangedFile) -> bool:
    """Whether both sides of a file may be held against each other: under one name, in a language that is known here."""
    known = file.language in _SCRIPTS or file.language in _PACKAGED
    return known and max(len(file.base or ""), len(file.head or "")) <= MAX_CHARS and file.path == file.before


def named(places: Sequence[str]) -> str:
    """Places as a message names them."""
    more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    return ", ".join(places[:SHOWN]) + more


@lru_cache(maxsize=32)
def symbols_of(path: str, text: str) -> FileSymbols:
    """The names that a text defines and imports, in a language of the symbol index."""
    return parse_file(LANGUAGES[language_of(path)], text.encode("utf-8", "replace"))


def _is_gone(file: ChangedFile, symbol: Symbol, snapshot: Snapshot) -> bool:
    """Whether a name was offered to other files, and is on no line of the new side any more."""
    name, head, base = re.escape(symbol.name), file.head or "", file.base or ""
    if symbol.container and file.language == "java":
        return _is_gone_from_class(file, symbol, snapshot)
    if symbol.container:
        enum = re.compile(rf"\bexport\s[^\n]{{0,30}}\benum\s+{re.escape(symbol.container)}\b")
        return enum.search(base) is not None and enum.search(head) is not None
    if re.search(rf"(?<![\w$]){name}(?![\w$])", head) is not None:
        return False
    if file.language in _PACKAGED:
        return file.language == "go" and symbol.name[:1].isupper()
    offered = (
        rf"export\b[^\n;]{{0,80}}[\s{{*,]{name}\b|exports\.{name}\b|export\s*(?:type\s*)?\{{[^}}]*\b{name}\b"
        rf"|module\.exports\s*=\s*\{{[^}}]*\b{name}\b"
    )
    return _ALL_OF.search(head) is None and re.search(offered, base) is not None


def _is_gone_from_class(file: ChangedFile, symbol: Symbol, snapshot: Snapshot) -> bool:
    """Of Java: whether the class of the file is still there without a member, and nothing else can give it."""
    head = file.head or ""
    now = [each for each in new_names(file).symbols.symbols if each.name == symbol.container and not each.container]
    if symbol.container != stem_of(file.path) or not now or re.search(r"\blombok\b|@Generated|@AutoValue", head):
        return False
    if re.search(rf"(?<![\w$]){re.escape(symbol.name)}(?![\w$])", head) is not None:
        return False
    return not may_inherit([(file.path, head, base) for base in now[0].bases], symbol.name, snapshot)


def _uses(file: ChangedFile, symbol: Symbol, snapshot: Snapshot) -> Iterator[str]:
    """Yield the places where other files of the new side take a name from a file, as `path:line`."""
    for path, text in other_files(file, symbol.name, snapshot):
        wanted = _wanted(file, symbol, path, text, snapshot)
        if wanted is not None:
            numbers = (n for n, line in enumerate(text.split("\n"), 1) if re.search(wanted, line))
            yield from (f"{path}:{n}" for n in list(numbers)[:1])


def other_files(file: ChangedFile, name: str, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """Yield the files of the language that have a name, where no other file can stand for the changed one."""
    paths = _paths_with(file, name, snapshot)
    if not paths:
        return
    if file.language == "go":
        near = [each for each in paths if _folder(each) == _folder(file.path)]
        if any(_defines_in_go(file, name, path, snapshot) for path in near):
            return
    elif _has_a_double(file.path, snapshot) if file.language in _SCRIPTS else _has_a_namesake(file.path, paths):
        return
    for path in [each for each in paths if each != file.path][:MAX_USERS]:
        text = snapshot.head(path) if language_of(path) in _family(file) else None
        if text is not None and _may_know(file, path, text):
            yield path, text


def _paths_with(file: ChangedFile, name: str, snapshot: Snapshot) -> list[str]:
    """The files that have a name; none where too many places have it, or where not all files can be looked at.

    Where the tree is at hand its files are read once for all names of a change: a search reads them for each name.
    """
    tree = snapshot if isinstance(snapshot, RepositorySnapshot) and is_word(name) else None
    files = tree.files() if tree is not None else None
    if tree is None or files is None:
        lines = snapshot.search(name, MAX_FOUND)
        return list(dict.fromkeys(each.path for each in lines)) if lines and len(lines) < MAX_FOUND else []
    word, found, count = name.encode(), [], 0
    asked = _in_languages(files, _family(file))
    unread = {each for each in asked if _may_stand_for(file, each)}
    for path, content in tree.contents(asked):
        unread.discard(path)
        here = len(re.findall(rb"(?<!\w)%b(?!\w)" % word, content)) if word in content else 0
        count += here
        if count >= MAX_FOUND:
            return []
        found += [path] if here else []
    return [] if unread else found


def _may_stand_for(file: ChangedFile, path: str) -> bool:
    """Whether another file may define what the changed one does, so that it has to be looked at."""
    here, there = file.path.rpartition("/"), path.rpartition("/")
    return here[0] == there[0] if file.language == "go" else file.language == "java" and here[2] == there[2]


@lru_cache(maxsize=8)
def _in_languages(files: tuple[str, ...], languages: frozenset[str]) -> tuple[str, ...]:
    return tuple(each for each in files if language_of(each) in languages)


def _family(file: ChangedFile) -> frozenset[str]:
    """The languages whose files can use what a file defines."""
    return _SCRIPTS if file.language in _SCRIPTS else frozenset({file.language})


def _may_know(file: ChangedFile, path: str, text: str) -> bool:
    """Whether a file may import the changed one, or need not: what cannot is not parsed."""
    folder, stem = _folder(file.path), stem_of(file.path)
    if file.language in _SCRIPTS:
        return stem == "index" or stem in text
    return folder == _folder(path) or (folder.rpartition("/")[2] if file.language == "go" else stem) in text


def _wanted(file: ChangedFile, symbol: Symbol, path: str, text: str, snapshot: Snapshot) -> str | None:
    """What a line that uses a name looks like, in a file that takes it from the changed one; None for other files."""
    language, name = language_of(path), re.escape(symbol.name)
    if language == "java":
        own = set(_callees(file, (symbol.container, symbol.qualified), path, text, snapshot))
        said = "|".join(re.escape(each) for each in sorted(own) if " " not in each)
        return rf"^(?!\s*(?:\*|//|/\*|import\b)).*(?<![\w.\"])(?:{said})\b" if said else None
    imports = _imports(file, path, text, snapshot)
    if language == "go":
        local = next((each.local for each in imports if each.local != "*"), None)
        return rf"^(?!\s*//).*(?<![\w.\"]){re.escape(local)}\.{name}\b" if local else None
    taken = symbol.container or symbol.name
    local = next((each.local for each in imports if each.name == taken), None)
    if local is None:
        return None
    return rf"(?<![\w$.]){re.escape(local)}\.{name}\b" if symbol.container else rf"(?<![\w$.]){name}(?![\w$])"


def _imports(file: ChangedFile, path: str, text: str, snapshot: Snapshot) -> list[Import]:
    """What another file takes from the changed one, or from its package, and names it so."""
    language, stem = language_of(path), stem_of(file.path)
    found: list[Import] = []
    for each in symbols_of(path, text).imports:
        module = each.module
        if language in _SCRIPTS and not module.startswith("."):
            # An alias is looked up where it may end at the changed file.
            may_be = stem == "index" or module.rpartition("/")[2].partition(".")[0] == stem
            module = alias_target(module, path, snapshot.base) if may_be else ""
        if module and stands_for(module, file.path, path, language) == EXACTLY:
            found.append(each)
    return found


EXACTLY = 2
"""That a file is the very one that a module stands for."""


def _has_a_double(path: str, snapshot: Snapshot) -> bool:
    """Whether an import of this file may mean another one: of another ending, or a folder of that name."""
    stem = re.sub(r"(?:/index)?(?:\.d)?\.\w+$", "", path)
    return any(f"{stem}{ending}" != path and snapshot.head(f"{stem}{ending}") is not None for ending in ENDINGS)


def _has_a_namesake(path: str, others: Sequence[str]) -> bool:
    """Of Java: whether another file may define the same class."""
    return any(each != path and each.rpartition("/")[2] == path.rpartition("/")[2] for each in others)


def _defines_in_go(file: ChangedFile, name: str, path: str, snapshot: Snapshot) -> bool:
    """Whether another file of the package defines a name."""
    text = snapshot.head(path) if path != file.path and path.endswith(".go") else None
    return text is not None and any(each.name == name and not each.container for each in symbols_of(path, text).symbols)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


# --- calls that no longer fit -----------------------------------------------------------------------------------------


def stale_calls(file: ChangedFile, snapshot: Snapshot) -> Iterator[SideFinding]:
    """Yield functions whose parameters changed while a call of them has the old form. Blocks."""
    if file.base is None or file.head is None or not is_comparable(file):
        return
    before, after = old_names(file).signatures, new_names(file).signatures
    changed = [name for name, each in before.items() if name in after and each[0] != after[name][0]]
    for name in changed if len(changed) <= MAX_NAMES else ():
        old, new = before[name], after[name]
        found: dict[str, list[str]] = {}
        for path, call in call_sites(file, name, snapshot):
            typed = not {file.language, language_of(path)} & _UNTYPED
            rule, why = _misfit(call, old[0], new[0], typed=typed)
            if rule == "argument-missing" and _may_be_missing(new[0].names[len(call.arguments)], file.head):
                continue
            if rule and (rule != "parameters-swapped" or call.text in _before(file, path, snapshot)):
                found.setdefault(rule, []).append(f"{path}:{call.line} ({why})")
        for rule, places in found.items():
            message = f"{_MESSAGES[rule].format(name=name)} {named(places)}"
            yield SideFinding(rule, message, (old[1], old[2]), (new[1], new[2]))


_MESSAGES = {
    "signature-changed": "`{name}` no longer takes what is handed to it at",
    "argument-missing": "`{name}` takes more than what is handed to it at",
    "parameters-swapped": "`{name}` takes its arguments in another order now, and not so at",
}


def _misfit(call: Call, old: Signature, new: Signature, *, typed: bool) -> tuple[str, str]:
    """The rule that a call breaks, and how, where it fitted before; empty texts where it fits, or may."""
    count = len(call.arguments)
    if not old.fits(count):
        return "", ""
    if typed and not new.fits(count):
        if count < new.required:
            return "signature-changed", f"`{new.names[count]}` is missing"
        return "signature-changed", f"it takes {len(new.names)} by position and gets {count}"
    if count < new.required:
        return ("argument-missing", f"`{new.names[count]}` is missing") if count == len(old.names) else ("", "")
    for given, was, now in zip(call.arguments, old.names, new.names, strict=False):
        if was != now and was in new.names and now not in given:
            return "parameters-swapped", f"`{given[:60]}` was `{was}` and is now taken as `{now}`"
    return "", ""


def _may_be_missing(parameter: str, text: str) -> bool:
    """Of JavaScript: whether code of the file asks for a value of that name, or gives it one."""
    name = re.escape(parameter)
    asked = rf"\b{name}\s*(?:\|\||&&|\?|=(?!=)|[!=]==?\s*(?:undefined|null))|typeof {name}\b|!{name}\b"
    return re.search(rf"\(\s*{name}\s*[)&|]|{asked}", text) is not None


def _before(file: ChangedFile, path: str, snapshot: Snapshot) -> str:
    return (file.base if path == file.path else snapshot.base(path)) or ""


def call_sites(file: ChangedFile, qualified: str, snapshot: Snapshot) -> Iterator[tuple[str, Call]]:
    """Yield the calls on the new side that are certainly calls of a function of the changed file, with their files."""
    container, _, name = qualified.rpartition(".")
    root = container.partition(".")[0] or name
    searched = container if name in {"constructor", container} else name
    head = file.head or ""
    if not _is_alone(file, container, name, snapshot) or _mentions(file, root).bindings > 1:
        return
    inside = {f"this {qualified}", *_spellings(file.language, head, qualified, root)}
    yield from ((file.path, call) for call in _mentions(file, searched).calls if call.callee in inside)
    for path, text in other_files(file, searched, snapshot):
        callees = set(_callees(file, (root, qualified), path, text, snapshot))
        if not callees:
            continue
        content = text.encode("utf-8", "replace")
        found = mentions(parse(LANGUAGES[language_of(path)], content), content, searched)
        shadowed = found.bindings and any(each.removeprefix("new ") == searched for each in callees)
        yield from ((path, call) for call in found.calls if call.callee in callees and not shadowed)


def _mentions(file: ChangedFile, name: str) -> Mentions:
    root = new_names(file).root
    return mentions(root, (file.head or "").encode("utf-8", "replace"), name) if root is not None else Mentions((), 0)


def _is_alone(file: ChangedFile, container: str, name: str, snapshot: Snapshot) -> bool:
    """Whether no class above may have another method of that name: of Java, which knows methods by their parameters."""
    if file.language != "java" or name == container:
        return True
    symbols = new_names(file).symbols.symbols
    line = next((each.line for each in symbols if (each.container, each.name) == (container, name)), 1)
    head = file.head or ""
    if re.search(r"\b(?:private|static)\b", head.split("\n")[line - 1]):
        return True
    above = [(file.path, head, base) for each in symbols if each.name == container for base in each.bases]
    return not may_inherit(above, name, snapshot)


def _callees(file: ChangedFile, names: tuple[str, str], path: str, text: str, snapshot: Snapshot) -> Iterator[str]:
    """Yield how another file calls a function of the changed one, by what it imports."""
    root, qualified = names
    if file.language in _PACKAGED and symbols_of(path, text).package == new_names(file).symbols.package:
        if file.language == "java" and root == stem_of(file.path):
            yield from _spellings(file.language, text, qualified, root)
        elif _folder(path) == _folder(file.path):
            yield from (f"this {qualified}", *_spellings(file.language, text, qualified, root))
    for each in _imports(file, path, text, snapshot):
        local = f"{each.local}.{root}" if not each.name else each.local if each.name != "*" else root
        if each.name in {"", root, "*"} or (each.name == "default" and _is_default(root, file.head or "")):
            yield from _spellings(file.language, text, f"{local}{qualified[len(root) :]}", local)


def _spellings(language: str, text: str, qualified: str, root: str) -> Iterator[str]:
    """Yield how a function may be called where its name, or that of its class, stands for it: `root` in `qualified`."""
    name = qualified[len(root) + 1 :]
    if name in {"constructor", root}:
        yield f"new {root}"
        return
    yield qualified
    for variable in _variables(language, text, root) if name else ():
        yield f"{variable}.{name}"
        yield f"this.{variable}.{name}"


def _variables(language: str, text: str, type_: str) -> Iterator[str]:
    """Yield the variables and fields that a file declares with a type, and nowhere in another way."""
    declared = packaged_table("names/symbols")["declared"].get(language)
    for name in set(re.findall(declared[0].replace("TYPE", re.escape(type_)), text)) if declared else ():
        others = re.finditer(declared[1].replace("NAME", re.escape(name)), text)
        if all(re.match(rf"\*?{re.escape(type_)}\b", each[1]) for each in others):
            yield name


def _is_default(name: str, text: str) -> bool:
    """Whether a name is what a file exports without one."""
    function = r"(?:(?:abstract\s+)?class|(?:async\s+)?function\s*\*?)\s*"
    return re.search(rf"\bexport\s+default\s+(?:{function})?{re.escape(name)}\b", text) is not None


def stem_of(path: str) -> str:
    """The name of a file up to its first dot."""
    return path.rpartition("/")[2].partition(".")[0]
