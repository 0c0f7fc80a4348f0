"""What a worker is told beside its slices: what stands around them, as far as its job needs it and its room goes.

Nothing here depends on where in a file the code stands, on the run or on a commit's name, so that equal code makes
equal requests. All of it is data that others wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING

from reviewbot.context.comments import comments
from reviewbot.context.service import Context
from reviewbot.diff.rows import payload_rows
from reviewbot.model.around import CUT, Place, declared, fitted, joined, places, shares, words
from reviewbot.ports import Remembering

if TYPE_CHECKING:
    from reviewbot.contracts import Payload
    from reviewbot.ports import WorkOrder

MAX_CHARS = 24_000
"""Of all sections of one task: some six thousand tokens."""

MIN_CHARS = 2_000
"""Of room, however short the slices are. Beyond it the room grows with them, so that all that the workers read stays a
small multiple of the diff."""

ROOM = {"logic": 1.0}
"""Characters for each one of the slices, by type of task: logic is where a reader needs most of what stands around."""

ROOM_OF_OTHERS = 0.5

MIN_DEFINITION = 200
"""Characters. Where there is less room for each definition, only the first ones are told."""

MAX_SYMBOLS = 3
"""Names of one task whose uses are looked for. Each is a search of the whole tree."""

MAX_USES = 8
"""Lines of one name that are told."""

MAX_RANGES = 3
"""Hunks of one task whose history is asked for. Each is a question that takes git as long as the file is old."""

MAX_COMMITS = 5

MAX_EARLIER = 6
"""Comments on one file."""

EARLIER = "what reviewers wrote of earlier changes to these files"
"""The section's name. It is no rule: a comment was about another change, and its author may have been wrong."""

MIN_NAME = 3
"""Characters of a name that is looked for; shorter ones stand everywhere."""

MAX_READ = 1_000
"""Lines of a definition whose comments are looked for; nobody finds their way in a longer one by its docstring."""

_COMMENT = ("#", "//", "/*", "*", "--", ";;", "<!--")
_IMPORTING = frozenset({"import", "from", "as", "require", "use", "using", "include", "const", "let", "var", "type"})


@dataclass(frozen=True)
class Section:
    """One thing that a worker is told. `name` is ours; `text` is data under review."""

    name: str
    text: str


@dataclass(frozen=True)
class _Part:
    """A slice with its file, where that is known, and the definitions that it touches."""

    payload: Payload
    text: str | None
    places: tuple[Place, ...]


@dataclass(frozen=True)
class _Scene:
    """All that the sections of one task are made from."""

    order: WorkOrder
    context: Context
    parts: tuple[_Part, ...]

    @property
    def places(self) -> tuple[Place, ...]:
        """The definitions, each once, also where two slices touch it."""
        return tuple(
            {(place.path, place.first, place.name): place for part in self.parts for place in part.places}.values()
        )

    @property
    def code(self) -> str:
        """All that the slices show."""
        return "\n".join(part.payload.code for part in self.parts)


_Teller = Callable[[_Scene, int], str]


def told(order: WorkOrder) -> tuple[Section, ...]:
    """The sections for a task's worker, the most useful first. Blocks; of a bare diff there is little or nothing."""
    slices = order.task.slices
    size = sum(len(payload.code) for payload in slices) * ROOM.get(order.task.type, ROOM_OF_OTHERS)
    room = whole = min(MAX_CHARS, max(MIN_CHARS, round(size)))
    scene = _Scene(order, Context(order.snapshot), tuple(_part(order, payload) for payload in slices))
    sections: list[Section] = []
    for name, share, teller in _TOLD.get(order.task.type, _OTHERS):
        text = fitted(teller(scene, min(room, round(share * whole))), room)
        if text:
            sections.append(Section(name, text))
            room -= len(text)
    return tuple(sections)


def _part(order: WorkOrder, payload: Payload) -> _Part:
    text = order.snapshot.head(payload.file_path)
    return _Part(payload, text, () if text is None else places(text, payload))


def _definitions(scene: _Scene, room: int) -> str:
    """The definitions that the slices touch and do not show, each with its share of the room."""
    every = [place for place in scene.places if not place.in_slice]
    hidden = every[: max(1, room // MIN_DEFINITION)]
    room -= sum(len(place.title) + 3 for place in hidden)
    given = shares([sum(len(line) + 1 for line in place.lines) for place in hidden], room)
    shown = [(place.title, place.shown(size)) for place, size in zip(hidden, given, strict=True)]
    texts = [f"{title}\n{text}" for title, text in shown if text]
    return "\n\n".join([*texts, CUT] if len(texts) < len(every) else texts)


def _imports(scene: _Scene, room: int) -> str:
    """What the files import of the names that the slices use. An import that they do not use would only alter them."""
    return joined(((f"{path}:", "\n".join(found)) for path, found in _imported(scene).items()), room)


def _imported(scene: _Scene) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for part in scene.parts:
        path, used = part.payload.file_path, words(part.payload.code) - _IMPORTING
        known = scene.context.imports(path)
        for statement in known.statements if known else ():
            bound = words(statement.rpartition(" import ")[2])
            if (bound & used or statement.endswith("*")) and statement not in part.payload.code:
                found.setdefault(path, []).append(statement)
    return {path: list(dict.fromkeys(statements)) for path, statements in found.items()}


def _callers(scene: _Scene, room: int) -> str:
    """Who else names what the slices no longer define so, then what they change the inside of, then what is new."""
    inside = [place.name for place in scene.places]
    names = dict.fromkeys(_looked_for([*declared(scene.code, "-"), *inside, *declared(scene.code, "+")]))
    return joined(_uses(scene, list(names)[:MAX_SYMBOLS]), room)


def _callers_of_places(scene: _Scene, room: int) -> str:
    """Who calls the definitions that the slices touch: what makes a path hot."""
    names = dict.fromkeys(_looked_for(place.name for place in scene.places))
    return joined(_uses(scene, list(names)[:MAX_SYMBOLS]), room)


def _looked_for(names: Iterable[str]) -> Iterator[str]:
    """Yield the words to search for; a class stands for its `__init__`, other special methods have none."""
    for name in names:
        parts = [part for part in name.split(".") if not part.startswith("__")]
        if name.endswith("__") and not name.endswith("__init__"):
            continue
        if parts and len(parts[-1]) >= MIN_NAME and parts[-1].isidentifier():
            yield parts[-1]


def _uses(scene: _Scene, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each name with the lines that use it outside of the slices, without their numbers."""
    ours = {
        (part.payload.file_path, row.new) for part in scene.parts for _, row in payload_rows(part.payload) if row.new
    }
    for name in names:
        symbol = scene.context.symbol(name, near=scene.order.task.payload.file_path)
        if not symbol.searched:
            continue
        found = [*symbol.of("call"), *symbol.of("mention"), *symbol.of("import")]
        if name.startswith("_"):  # the same name in another file is another thing
            found = [use for use in found if use.path in scene.order.task.paths]
        lines = list(dict.fromkeys(f"  {use.path}: {use.text}" for use in found if (use.path, use.line) not in ours))
        more = [f"  {CUT}"] if len(lines) > MAX_USES or symbol.truncated else []
        yield f"{name}:", "\n".join([*lines[:MAX_USES], *more]) or "  no line outside of the slice names it"


def _comments(scene: _Scene, room: int) -> str:
    """What is written of the definitions and is not shown yet: comments above them, and long docstrings."""
    shown = scene.code + _definitions(scene, room=MAX_CHARS)
    found: dict[str, str] = {}
    for part in scene.parts:
        for place in part.places:
            hidden = [each for each in _written(part, place) if each.split("\n")[0].strip() not in shown]
            if hidden:
                found[place.title] = "\n".join(hidden)
    return joined(found.items(), room)


def _written(part: _Part, place: Place) -> list[str]:
    """The comments and docstrings of a definition, read from it and the comment above it alone: files may be huge."""
    lines = (part.text or "").split("\n")
    top, end = place.first, place.first + len(place.lines)
    if end - top > MAX_READ:
        return []
    while 1 < top > place.first - MAX_READ and lines[top - 2].lstrip().startswith(_COMMENT):
        top -= 1
    text = dedent("\n".join(lines[top - 1 : end - 1]))
    found = comments(text, part.payload.language, place.rows[0] - top + 1, place.rows[-1] - top + 1)
    return [comment.text for comment in found.comments]


def _history(scene: _Scene, room: int) -> str:
    """The subjects of the commits behind the changed rows. Their authors may have written anything in them."""
    commits = {}
    ranges = [(part.payload, rows) for part in scene.parts for rows in _old_rows(part.payload)]
    for payload, (first, last) in ranges[:MAX_RANGES]:
        for commit in scene.context.history(payload.old_path or payload.file_path, first, last).commits:
            commits[commit.sha] = f"{commit.date} {commit.subject}"
    return fitted("\n".join(list(commits.values())[:MAX_COMMITS]), room)


def _old_rows(payload: Payload) -> Iterator[tuple[int, int]]:
    """Yield the old rows that each hunk removes, or all of those that it shows where it only adds."""
    for index in range(len(payload.starts)):
        rows = [row for at, row in payload_rows(payload) if at == index and row.old]
        old = [row.old or 0 for row in rows if row.kind == "-"] or [row.old or 0 for row in rows]
        if old:
            yield old[0], old[-1]


def _conventions(scene: _Scene, room: int) -> str:
    """The repository's own rules, the nearest to the files first."""
    files = {
        file.path: file.text
        for path in scene.order.task.paths
        for file in reversed(scene.context.conventions(path).files)
    }
    return joined(((f"{path}:", text) for path, text in files.items()), room)


def _earlier(scene: _Scene, room: int) -> str:
    """What people who may write to the repository said of these files before, where the snapshot knows it."""
    snapshot = scene.order.snapshot
    if not isinstance(snapshot, Remembering) or room < MIN_DEFINITION:
        return ""
    names = {payload.file_path: payload.old_path or payload.file_path for payload in scene.order.task.slices}
    found = ((path, snapshot.earlier(old, MAX_EARLIER)) for path, old in names.items())
    return joined(((f"{path}:", "\n".join(f"  {line}" for line in lines)) for path, lines in found if lines), room)


_TOLD: dict[str, tuple[tuple[str, float, _Teller], ...]] = {
    "logic": (
        ("definitions", 0.55, _definitions),
        ("callers", 0.3, _callers),
        ("comments", 0.2, _comments),
        ("imports", 0.2, _imports),
        ("history", 0.2, _history),
        (EARLIER, 0.2, _earlier),
    ),
    "security": (("definitions", 0.8, _definitions), ("imports", 0.4, _imports)),
    "performance": (
        ("definitions", 0.6, _definitions),
        ("callers", 0.4, _callers_of_places),
        ("imports", 0.2, _imports),
    ),
    "style": (("conventions", 1.0, _conventions), (EARLIER, 0.3, _earlier)),
}
"""By type of task: what is told, the most useful first, and the share of the room that each may take."""

_OTHERS = (("definitions", 0.7, _definitions), ("imports", 0.3, _imports))
