"""The setting `rules`: rules that are off or have another severity, everywhere or in some files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple, get_args

from reviewbot.config.globs import MAX_LENGTH, glob_fault, matches_glob
from reviewbot.config.messages import quote
from reviewbot.config.values import EntryError, SettingType, Value

Level = Literal["off", "on", "critical", "warning", "info"]

LEVELS: tuple[Level, ...] = get_args(Level)
MAX_ENTRIES = 100
_LEVEL_WORDS = f"{', '.join(LEVELS[:-1])} or {LEVELS[-1]}"
_NAME = re.compile(r"[A-Za-z0-9_.:/@-]{1,80}")
"""What a finding's rule or category may be called."""
_MAX_PATHS = 20
_LEVEL_KEY, _PATHS_KEY = "level", "paths"


class RuleSetting(NamedTuple):
    """What one source says of one rule."""

    rule: str
    """A rule, as reports name it, or a category of findings."""
    level: Level
    """`on`: the severity that the rule has by itself."""
    paths: tuple[str, ...] = ()
    """Globs of the files in which it holds; empty: all."""
    origin: str = ""
    """The file, variable or flag that says it."""

    def holds_in(self, path: str) -> bool:
        """Whether it is about this file."""
        return not self.paths or any(matches_glob(pattern, path) for pattern in self.paths)


class RuleLevels(SettingType):
    """A table of rules; in a text, `RULE=LEVEL` or `RULE=LEVEL:GLOB`, separated by commas."""

    def __init__(self) -> None:
        level: dict[str, object] = {"enum": list(LEVELS)}
        glob = {"type": "string", "minLength": 1, "maxLength": MAX_LENGTH, "pattern": r"^[^\u0000-\u001f\u007f]+$"}
        globs: dict[str, object] = {"type": "array", "minItems": 1, "maxItems": _MAX_PATHS, "items": glob}
        table: dict[str, object] = {
            "type": "object",
            "additionalProperties": False,
            "required": [_LEVEL_KEY],
            "properties": {_LEVEL_KEY: level, _PATHS_KEY: globs},
        }
        entry = {"anyOf": [level, table]}
        super().__init__(
            f"rules, each with {_LEVEL_WORDS}, such as S603=off or S101=off:tests/*",
            {
                "type": "object",
                "maxProperties": MAX_ENTRIES,
                "propertyNames": {"pattern": f"^{_NAME.pattern}$"},
                "additionalProperties": {
                    "anyOf": [level, table, {"type": "array", "minItems": 1, "maxItems": _MAX_PATHS, "items": entry}]
                },
            },
            lambda value: isinstance(value, Mapping) and len(value) <= MAX_ENTRIES,
            keep=lambda value: tuple(entry for rule, said in value.items() for entry in _entries(rule, said)),
        )

    def parse(self, text: str) -> Value:
        """As `check`, of the parts of a text."""
        table: dict[str, list[object]] = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            rule, _, said = part.partition("=")
            level, colon, pattern = said.partition(":")
            entry = {_LEVEL_KEY: level.strip(), **({_PATHS_KEY: [pattern.strip()]} if colon else {})}
            table.setdefault(rule.strip(), []).append(entry)
        return self.check(table)

    def write(self, value: Any) -> dict[str, Any]:  # noqa: ANN401 - as in `SettingType`
        """The table that a settings file would hold."""
        table: dict[str, list[object]] = {}
        for entry in value:
            said = {_LEVEL_KEY: entry.level, _PATHS_KEY: list(entry.paths)} if entry.paths else entry.level
            table.setdefault(entry.rule, []).append(said)
        return {rule: said[0] if len(said) == 1 else said for rule, said in table.items()}

    def lines(self, value: Any) -> list[tuple[str, Any, str]]:  # noqa: ANN401 - as in `SettingType`
        """Each rule with its source."""
        origins = {entry.rule: entry.origin for entry in value}
        return [(f'"{rule}"', said, origins[rule]) for rule, said in self.write(value).items()]


def merge_rules(
    before: Iterable[RuleSetting], later: Iterable[RuleSetting], origin_of: Callable[..., str]
) -> tuple[RuleSetting, ...]:
    """The entries of two sources; of a rule that both name, the later source alone counts."""
    later = [entry._replace(origin=origin_of(entry.rule)) for entry in later]
    named = {entry.rule for entry in later}
    return (*(entry for entry in before if entry.rule not in named), *later)


def setting_of(rules: Iterable[RuleSetting], names: Iterable[str], path: str) -> RuleSetting | None:
    """The entry that decides about a finding in a file; None where none does.

    `names` are what the finding goes by, the most specific first: the first of them with an entry for this file counts,
    and of its entries the first.
    """
    for name in names:
        for entry in rules:
            if entry.rule == name and entry.holds_in(path):
                return entry
    return None


def _entries(rule: object, said: object) -> list[RuleSetting]:
    if not isinstance(rule, str) or not _NAME.fullmatch(rule):
        raise ValueError(rule)
    items = said if isinstance(said, list) else [said]
    if not 1 <= len(items) <= _MAX_PATHS:
        raise ValueError(said)
    return [_entry(rule, item) for item in items]


def _entry(rule: str, said: object) -> RuleSetting:
    table: Mapping[object, object] = said if isinstance(said, Mapping) else {_LEVEL_KEY: said}
    level, paths = table.get(_LEVEL_KEY), table.get(_PATHS_KEY)
    if unknown := [key for key in table if key not in (_LEVEL_KEY, _PATHS_KEY)]:
        raise EntryError(f"{rule}: unknown key {quote(unknown[0])}; known: {_LEVEL_KEY}, {_PATHS_KEY}", rule)
    if _PATHS_KEY in table and not _are_globs(paths):
        raise EntryError(f"{rule}: {_PATHS_KEY} must be a list of 1 to {_MAX_PATHS} globs, not {quote(paths)}", rule)
    for known in LEVELS:
        if level == known:
            return RuleSetting(rule, known, tuple(str(path) for path in paths) if isinstance(paths, list) else ())
    given = f", not {quote(level)}" if level else ""
    raise EntryError(f"{rule} must be {_LEVEL_WORDS}{given}", rule)


def _are_globs(paths: object) -> bool:
    if not isinstance(paths, list) or not 1 <= len(paths) <= _MAX_PATHS:
        return False
    return all(isinstance(path, str) and glob_fault(path) is None for path in paths)
