"""Worker cards and prompts as data: the shipped ones, and those that a reviewed repository adds from its base side.

A repository may add workers. It cannot replace, rename or weaken a shipped one: a card or prompt of a shipped name is
refused, and a card only chooses among the tools that the code offers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from pydantic import ValidationError

from reviewbot.config.globs import glob_fault
from reviewbot.config.messages import check_size, nearest, quote, read_toml
from reviewbot.domain.contracts import CardBudget, WorkerCard
from reviewbot.domain.errors import ConfigError, ReviewbotError
from reviewbot.domain.ports import WorkerSet

FIRST = ("security", "logic", "performance", "style")
"""The order in which reports name the shipped workers; others follow by name."""

KINDS = ("code", "config", "prose")
"""What a card may name as "@code", "@config", "@prose"."""

MAX_CARDS = 20
"""Of a worker set. Every card is a task per slice of every file that it applies to."""

RESERVED = frozenset({"planner", "reader", "judge", "synthesizer"})
"""Roles that ask models in a run besides workers: usage ledger, budgets and trace know them by these names."""

_ENDINGS = {"workers": ".toml", "prompts": ".md"}


def build_worker_set(shipped: Mapping[str, str], extra: Mapping[str, str], known_tools: Collection[str]) -> WorkerSet:
    """The shipped cards and prompts, and a repository's own.

    Args:
        shipped: the texts of the shipped files, by path, as `shipped_files` gives them.
        extra: texts by path below `.reviewbot/`, like "workers/license.toml" and "prompts/license.md".
        known_tools: the names of the analyzers that a card may choose from.
            Each stands on one shipped card; a repository's card may name it again, since what is found twice is
            merged.

    Raises:
        ConfigError: one line that names the file and says what is expected.
    """
    added = {path: text for path, text in sorted(extra.items()) if _is_ours(path)}
    if taken := sorted(added.keys() & shipped.keys()):
        raise ConfigError(f"{_shown(taken[0], taken)}: is the name of a shipped file; choose another one")
    texts = {**shipped, **added}
    if sum(path.startswith("workers/") for path in texts) > MAX_CARDS:
        raise ConfigError(f".reviewbot/workers: more than {MAX_CARDS} cards, those shipped included")
    cards = {
        path: _card(_shown(path, added), text, known_tools)
        for path, text in texts.items()
        if path.startswith("workers/")
    }
    _check_names(cards, added)
    _check_tools(cards, added)
    _check_dependencies({_shown(path, added): card for path, card in cards.items()})
    return WorkerSet(
        cards=tuple(sorted(cards.values(), key=_place)),
        prompts={card.name: _prompt(_shown(path, added), card, texts) for path, card in cards.items()},
        origin={card.name: "repository" if path in added else "package" for path, card in cards.items()},
    )


def shipped_files(package: Traversable | None = None, beside: Path | None = None) -> dict[str, str]:
    """The texts of the installed cards and prompts, by paths like "workers/style.toml".

    A wheel holds them inside the package; in a checkout, and so in an editable install, they stand beside it.
    """
    package = package or files("reviewbot")
    beside = beside or Path(__file__).parents[2]
    found: dict[str, str] = {}
    for kind, ending in _ENDINGS.items():
        folder = package / kind if (package / kind).is_dir() else beside / kind
        if not folder.is_dir():
            raise ReviewbotError(f"this installation is incomplete: the folder {kind!r} is missing; install again")
        for entry in folder.iterdir():
            if entry.name.endswith(ending):
                found[f"{kind}/{entry.name}"] = entry.read_text("utf-8")
    return dict(sorted(found.items()))


def _is_ours(path: str) -> bool:
    """Whether a file of `.reviewbot/` is a card or prompt; a file of another kind in their folders is a mistake."""
    folder, _, name = path.partition("/")
    if folder not in _ENDINGS or name.startswith("."):
        return False
    if not name.endswith(_ENDINGS[folder]) or "/" in name:
        raise ConfigError(f".reviewbot/{folder}/{quote(name)}: only files like NAME{_ENDINGS[folder]} belong there")
    return True


def _shown(path: str, added: Collection[str]) -> str:
    """A file's name for messages; one that is odd is escaped."""
    name = path if path.isprintable() else ascii(path)
    return f".reviewbot/{name}" if path in added else name


def _card(where: str, text: str, known_tools: Collection[str]) -> WorkerCard:
    table = {
        # TOML knows lists where the contract has tuples. An inner list stays one, and is refused.
        key: tuple(value) if isinstance(value, list) else value
        for key, value in read_toml(where, text).items()
    }
    try:
        card = WorkerCard.model_validate(table)
    except ValidationError as error:
        raise ConfigError(f"{where}: {_first_fault(error)}") from None
    for tool in card.tools:
        if tool not in known_tools:
            raise ConfigError(f"{where}: unknown tool {tool!r}; {nearest(tool, known_tools)}")
    for pattern in card.applies_to:
        _check_pattern(where, pattern)
    return card


def _first_fault(error: ValidationError) -> str:
    """The first thing that pydantic found wrong, in one line."""
    fault = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(part if isinstance(part, str) and part.isidentifier() else quote(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        fields = CardBudget.model_fields if len(fault["loc"]) > 1 else WorkerCard.model_fields
        return f"unknown key {quote(fault['loc'][-1])}; {nearest(str(fault['loc'][-1]), fields)}"
    if fault["type"] == "missing":
        return f"{place} is missing"
    expected = fault["msg"].replace("tuple", "list").replace("Tuple", "List")  # TOML's word
    return f"{place}: {expected}, not {quote(fault['input'])}"


def _check_pattern(where: str, pattern: str) -> None:
    if pattern.startswith("@") and pattern[1:] not in KINDS:
        kinds = [f"@{kind}" for kind in KINDS]
        raise ConfigError(f"{where}: unknown kind {quote(pattern)} in applies_to; {nearest(pattern, kinds)}")
    if fault := glob_fault(pattern):
        raise ConfigError(f"{where}: the glob {quote(pattern)} in applies_to {fault}")


def _check_names(cards: Mapping[str, WorkerCard], added: Collection[str]) -> None:
    """A card has the name of its file, so that two cards cannot share one and a shipped one cannot be taken."""
    for path, card in cards.items():
        if card.name in RESERVED:
            raise ConfigError(f"{_shown(path, added)}: {card.name!r} is no name for a worker; choose another one")
        if path != f"workers/{card.name}.toml":
            raise ConfigError(f"{_shown(path, added)}: its name is {card.name!r}; call the file {card.name}.toml")


def _check_tools(cards: Mapping[str, WorkerCard], added: Collection[str]) -> None:
    """A tool is on one card; only what merely finds again may be on a repository's card as well."""
    owners: dict[str, str] = {}
    for path, card in sorted(cards.items(), key=lambda item: (item[0] in added, item[0])):
        for tool in card.tools:
            owner = owners.setdefault(tool, card.name)
            if owner != card.name and path not in added:
                raise ConfigError(f"{_shown(path, added)}: the tool {tool!r} belongs to the worker {owner!r} alone")


def _check_dependencies(cards: Mapping[str, WorkerCard]) -> None:
    names = [card.name for card in cards.values()]
    for where, card in cards.items():
        for name in card.depends_on:
            if name not in names:
                raise ConfigError(f"{where}: depends_on names an unknown worker {name!r}; {nearest(name, names)}")
    try:
        TopologicalSorter({card.name: card.depends_on for card in cards.values()}).prepare()
    except CycleError as error:
        circle: Iterable[str] = error.args[1]
        where = next(where for where, card in cards.items() if card.name in circle)
        raise ConfigError(f"{where}: depends_on goes in a circle: {' -> '.join(circle)}") from None


def _prompt(where: str, card: WorkerCard, texts: Mapping[str, str]) -> str:
    path = f"prompts/{card.prompt}"
    if path not in texts:
        known = [name.removeprefix("prompts/") for name in texts if name.startswith("prompts/")]
        raise ConfigError(f"{where}: there is no prompt {path!r}; {nearest(card.prompt, known)}")
    check_size(path, texts[path])
    if not texts[path].strip():
        raise ConfigError(f"{where}: the prompt {path!r} is empty")
    return texts[path]


def _place(card: WorkerCard) -> tuple[int, str]:
    return (FIRST.index(card.name) if card.name in FIRST else len(FIRST), card.name)
