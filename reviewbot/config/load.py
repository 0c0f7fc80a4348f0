"""Load settings from their five sources, of which the last one wins.

Defaults, the base side of the reviewed repository, the user's own file, the environment, flags. The user's file stands
above the repository's: who runs the review decides about it, and what is reviewed may only suggest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from typing import Any

from reviewbot.config.messages import find_key_lines, nearest, quote, read_toml
from reviewbot.config.settings import KEYS, PREFIX, RepositoryRule, Settings
from reviewbot.config.values import EntryError, Value
from reviewbot.domain.errors import ConfigError

FILE_NAME = ".reviewbot.toml"
USER_FILE_NAME = "~/.config/reviewbot/config.toml"

OTHER_VARIABLES = frozenset(
    PREFIX + name
    for name in (
        "APP_ID", "APP_SLUG", "BOT_ID", "CACHE_DIR", "CACHE_MIB", "CATCH_UP_SECONDS", "CLIENT_ID", "CLIENT_SECRET",
        "DATABASE_URL", "KEEP_DAYS", "LIFELINE", "MARKER_KEY", "METRICS_TOKEN", "PAGES_TOKEN", "PRIVATE_KEY",
        "PROXIES", "PUBLIC_URL", "READY_MAX_AGE_S", "RUNS_AT_ONCE", "RUNS_IN_ALL", "RUNS_PER_INSTALLATION",
        "STATE_DIR", "STOP_SECONDS", "WEBHOOK_SECRET",
    )
)  # fmt: skip
"""Variables `REVIEWBOT_...` that are not settings: secrets, places, how the App runs. None is a misspelt setting."""

MAX_MISTAKES = 5
"""Of one file, so many are named in one message; the rest is counted."""

_TYPO = 0.75
"""How alike an unknown variable must be to a known one to count as a slip. Foreign `REVIEWBOT_*` variables exist:
Kubernetes hands every program REVIEWBOT_PORT and more where a service of that name runs."""


def load_settings(
    repository_text: str | None,
    environ: Mapping[str, str],
    flags: Mapping[str, object],
    *,
    user_text: str | None = None,
    user_name: str = USER_FILE_NAME,
) -> Settings:
    """Build the settings of a run.

    Args:
        repository_text: `.reviewbot.toml` as it stands on the base side; None where there is none.
        environ: the environment; only `REVIEWBOT_*` is looked at, and an empty variable counts as not set.
        flags: by key of `Settings`; None means not given; texts are read like variables.
        user_text: the user's own settings file; None where there is none.
        user_name: what that file is called in messages and in `Settings.origin`.

    Raises:
        ConfigError: one line that says where, which key, and what is expected; of a file, of each of its keys.
    """
    values: dict[str, Any] = {}  # each value has been checked against the type of its key
    origin = dict.fromkeys(KEYS, "default")
    sources = (
        _from_repository(repository_text),
        _from_file(user_name, user_text),
        _from_environment(environ),
        _from_flags(flags),
    )
    for source in sources:
        # Limits of single workers last: what the same source says of all workers does not undo them.
        for entry in sorted(source, key=lambda entry: entry.key == "worker"):
            key, before = KEYS[entry.key], values.get(entry.key)
            values[key.name] = entry.value
            joins = key.merge is not None and before is not None
            origin[key.name] = f"{origin[key.name]}, {entry.origin_of()}" if joins else entry.origin_of()
            if key.merge is not None:
                values[key.name] = key.merge(before or (), entry.value, entry.origin_of)
            if key.overrides and "worker" in values:
                values["worker"] = tuple(limit for limit in values["worker"] if limit.key != key.overrides)
    return replace(Settings(), origin=origin, **values)


@dataclass(frozen=True)
class _Entry:
    """The value of one setting from one source; `origin_of` names the source of an entry of it by its path."""

    key: str
    value: Value
    origin_of: Callable[..., str]


def _from_repository(text: str | None) -> list[_Entry]:
    entries = _from_file(FILE_NAME, text, _check_repository_key)
    for entry in entries:
        rule = KEYS[entry.key].repository
        if isinstance(rule, RepositoryRule) and not rule.allows(entry.value):
            raise ConfigError(f"{entry.origin_of()}: {entry.key} {rule.words}")
    return entries


def _from_file(name: str, text: str | None, check: Callable[[str, str], None] | None = None) -> list[_Entry]:
    """The settings of a file. `check` refuses keys, by the place and the key; None: every known one is allowed."""
    if text is None:
        return []
    lines = find_key_lines(text)

    def origin_of(*path: str) -> str:
        found = (lines.get(path[:length]) for length in range(len(path), 0, -1))
        line = next((line for line in found if line is not None), None)
        return name if line is None else f"{name}:{line}"

    entries, mistakes = [], []
    for key, value in read_toml(name, text).items():
        at = partial(origin_of, key)
        try:
            (check or _check_key)(at(), key)
            entries.append(_Entry(key, _read(at, f": {key}", key, KEYS[key].kind.check, value), at))
        except ConfigError as error:
            mistakes.append(str(error))
    if mistakes:
        more = f"; and {len(mistakes) - MAX_MISTAKES} more" if len(mistakes) > MAX_MISTAKES else ""
        raise ConfigError("; then ".join(mistakes[:MAX_MISTAKES]) + more)
    return entries


def _check_key(where: str, key: str) -> None:
    if key not in KEYS:
        raise ConfigError(f"{where}: unknown key {quote(key)}; {nearest(key, KEYS)}")


def _check_repository_key(where: str, key: str) -> None:
    allowed = [name for name, known in KEYS.items() if known.repository]
    if key not in KEYS:
        raise ConfigError(f"{where}: unknown key {quote(key)}; {nearest(key, allowed)}")
    if key not in allowed:
        known = KEYS[key]
        how = known.variable if known.flag is None else f"{known.variable} or {known.flag.name}"
        raise ConfigError(f"{where}: {key!r} cannot be set by a repository; the operator sets {how}")


def _from_environment(environ: Mapping[str, str]) -> list[_Entry]:
    by_variable = {key.variable: key.name for key in KEYS.values()}
    entries = []
    for name in sorted(environ):
        if not name.startswith(PREFIX) or environ[name] == "" or name in OTHER_VARIABLES:
            continue
        if key := by_variable.get(name):
            entries.append(_named_entry(name, key, environ[name]))
        elif close := get_close_matches(name.removeprefix(PREFIX).lower(), KEYS, n=1, cutoff=_TYPO):
            raise ConfigError(f"unknown variable {quote(name)}; did you mean {KEYS[close[0]].variable!r}?")
    return entries


def _from_flags(flags: Mapping[str, object]) -> Iterable[_Entry]:
    for key, value in flags.items():
        if value is not None:
            if key not in KEYS:
                raise ConfigError(f"unknown setting {quote(key)}; {nearest(key, KEYS)}")
            flag = KEYS[key].flag
            yield _named_entry(key if flag is None else flag.name, key, value)


def _named_entry(name: str, key: str, value: object) -> _Entry:
    """A setting from a variable or a flag. A text is parsed; other values are those of code."""
    kind = KEYS[key].kind
    read: Callable[[Any], Value] = kind.parse if isinstance(value, str) else kind.check

    def origin_of(*_path: str) -> str:
        return name

    return _Entry(key, _read(origin_of, "", key, read, value), origin_of)


def _read(origin_of: Callable[..., str], end: str, key: str, read: Callable[[Any], Value], value: object) -> Value:
    """The value of a setting. An error begins with the place and `end`."""
    try:
        return read(value)
    except EntryError as fault:
        raise ConfigError(f"{origin_of(*fault.path)}{end}: {fault}") from None
    except ValueError:
        expected = KEYS[key].kind.expected
        raise ConfigError(f"{origin_of()}{end} must be {expected}, not {quote(value)}") from None
