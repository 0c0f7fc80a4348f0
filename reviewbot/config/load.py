"""Load settings from their five sources, of which the last one wins.

Defaults, the base side of the reviewed repository, the user's own file, the environment, flags. The user's file stands
above the repository's: who runs the review decides about it, and what is reviewed may only suggest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, cast

from reviewbot.config.hints import nearest, quote, read_toml
from reviewbot.config.keys import FLAGS, KINDS, REPOSITORY_KEYS
from reviewbot.config.rules import RuleError, RuleSetting, merge_rules
from reviewbot.config.settings import DEFAULT_DEADLINE_S, Settings
from reviewbot.config.tiers import FORMER_KEYS, current_keys
from reviewbot.config.values import RULES, Value
from reviewbot.domain.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE_NAME = ".reviewbot.toml"
USER_FILE_NAME = "~/.config/reviewbot/config.toml"
PREFIX = "REVIEWBOT_"

PRIVATE = "private"

FLOOR_WORKER = "security"
"""The worker that a repository cannot switch off; the contracts' own name for it, which pydantic comes with."""

OTHER_VARIABLES = frozenset(
    PREFIX + name
    for name in (
        "APP_ID", "APP_SLUG", "BOT_ID", "CACHE_DIR", "CACHE_MIB", "CATCH_UP_SECONDS", "DATABASE_URL", "KEEP_DAYS",
        "LIFELINE", "MARKER_KEY", "METRICS_TOKEN", "PRIVATE_KEY", "PUBLIC_URL", "READY_MAX_AGE_S", "RUNS_AT_ONCE",
        "RUNS_IN_ALL", "RUNS_PER_INSTALLATION", "STATE_DIR", "STOP_SECONDS", "WEBHOOK_SECRET",
    )
)  # fmt: skip
"""Variables of ours that are no settings: secrets, places, and how the App runs. None is a slip in a setting's name."""

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
        ConfigError: one line that says where, which key, and what is expected.
    """
    values: dict[str, Any] = {}  # each value has been checked against the type of its key
    origin = dict.fromkeys(KINDS, "default")
    sources = (
        *_from_repository(repository_text),
        *_from_user(user_name, user_text),
        *_from_environment(environ),
        *_from_flags(flags),
    )
    for entry in sources:
        values[entry.key], origin[entry.key] = _merge(entry, values.get(entry.key), origin[entry.key])
    return replace(Settings(), origin=origin, **values)


def _merge(entry: _Entry, before: Any, origin: str) -> tuple[Any, str]:  # noqa: ANN401 - see `values` above
    """The value and the origin of a setting after one more source: the last one wins, of rules for each rule.

    What one source keeps private stays private, whatever another one says.
    """
    if entry.key == PRIVATE:
        kept = tuple(dict.fromkeys((*(before or ()), *cast("tuple[str, ...]", entry.value))))
        return kept, entry.origin if before is None else f"{origin}, {entry.origin}"
    if entry.key != RULES:
        return entry.value, entry.origin
    named = [each._replace(origin=entry.origin) for each in cast("tuple[RuleSetting, ...]", entry.value)]
    return merge_rules(before or (), named), entry.origin if before is None else f"{origin}, {entry.origin}"


@dataclass(frozen=True)
class _Entry:
    key: str
    value: Value
    origin: str


def variable_of(key: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + key.upper()


def flag_of(key: str) -> str:
    """The flag of a setting, for messages; its key where the command line has none."""
    return FLAGS.get(key, key)


def _from_repository(text: str | None) -> list[_Entry]:
    if text is None:
        return []
    table = current_keys(read_toml(FILE_NAME, text))
    for key in table:
        _check_repository_key(key)
    entries = _entries(FILE_NAME, table)
    for entry in entries:
        _check_floor(entry)
    return entries


def _from_user(name: str, text: str | None) -> list[_Entry]:
    """Every key is the user's to set."""
    if text is None:
        return []
    table = current_keys(read_toml(name, text))
    for key in table:
        if key not in KINDS:
            raise ConfigError(f"{name}: unknown key {quote(key)}; {nearest(key, KINDS)}")
    return _entries(name, table)


def _entries(name: str, table: Mapping[str, object]) -> list[_Entry]:
    return [_Entry(key, _check(f"{name}: {key}", key, value), name) for key, value in table.items()]


def _check_repository_key(key: str) -> None:
    if key in REPOSITORY_KEYS:
        return
    if key in KINDS:
        how = f"the operator sets {variable_of(key)}" + (f" or {FLAGS[key]}" if key in FLAGS else "")
        raise ConfigError(f"{FILE_NAME}: {key!r} cannot be set by a repository; {how}")
    raise ConfigError(f"{FILE_NAME}: unknown key {quote(key)}; {nearest(key, REPOSITORY_KEYS)}")


def _check_floor(entry: _Entry) -> None:
    """A repository may lower the operator's limits, and may not switch off the worker that looks for attacks."""
    if entry.key == "deadline_s" and isinstance(entry.value, int) and entry.value > DEFAULT_DEADLINE_S:
        raise ConfigError(
            f"{FILE_NAME}: deadline_s can only be lowered by a repository, to {DEFAULT_DEADLINE_S} or less"
        )
    if entry.key == "workers" and isinstance(entry.value, tuple) and entry.value and FLOOR_WORKER not in entry.value:
        raise ConfigError(f"{FILE_NAME}: workers must name {FLOOR_WORKER!r}; a repository cannot switch it off")


def _from_environment(environ: Mapping[str, str]) -> list[_Entry]:
    former = {variable_of(key): current for key, current in FORMER_KEYS.items()}
    by_variable = former | {variable_of(key): key for key in KINDS}
    entries = []
    # Former names first, so that a value under a current name replaces theirs.
    for name in sorted(environ, key=lambda name: (name not in former, name)):
        if not name.startswith(PREFIX) or environ[name] == "" or name in OTHER_VARIABLES:
            continue
        if key := by_variable.get(name):
            entries.append(_Entry(key, _parse(name, key, environ[name]), name))
        elif close := get_close_matches(name.removeprefix(PREFIX).lower(), KINDS, n=1, cutoff=_TYPO):
            raise ConfigError(f"unknown variable {quote(name)}; did you mean {variable_of(close[0])!r}?")
    return entries


def _from_flags(flags: Mapping[str, object]) -> list[_Entry]:
    entries = []
    for key, value in flags.items():
        if value is None:
            continue
        if key not in KINDS:
            raise ConfigError(f"unknown setting {quote(key)}; {nearest(key, KINDS)}")
        name = flag_of(key)
        read = _parse(name, key, value) if isinstance(value, str) else _check(name, key, value)
        entries.append(_Entry(key, read, name))
    return entries


def _check(where: str, key: str, value: object) -> Value:
    try:
        return KINDS[key].check(value)
    except RuleError as fault:
        raise ConfigError(f"{where}: {fault}") from None
    except ValueError:
        raise _wrong(where, key, value) from None


def _parse(where: str, key: str, text: str) -> Value:
    try:
        return KINDS[key].parse(text)
    except RuleError as fault:
        raise ConfigError(f"{where}: {fault}") from None
    except ValueError:
        raise _wrong(where, key, text) from None


def _wrong(where: str, key: str, value: object) -> ConfigError:
    return ConfigError(f"{where} must be {KINDS[key].expected}, not {quote(value)}")
