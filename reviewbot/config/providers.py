"""The providers of models: one row each, from reviewbot/data/providers.toml, where the columns are explained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reviewbot.tables import packaged_table

TIERS = ("small", "medium", "large")
"""The tiers, as the contracts have them, which pydantic comes with."""


@dataclass(frozen=True)
class Provider:
    """One provider. `reviewbot.llm.providers` has the folder that speaks its API."""

    name: str
    folder: str
    title: str
    keys: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    variables: str = ""
    action: Mapping[str, str] = field(default_factory=dict)
    logins: tuple[str, ...] = ()
    loggers: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    """The id of each tier's model; empty: they must be configured."""

    def has_key(self, environ: Mapping[str, str]) -> bool:
        """Whether the environment holds a key of it."""
        return any(environ.get(name) for name in self.keys)

    def can_ask(self, environ: Mapping[str, str]) -> bool:
        """Whether there is a key for it, or it logs in by itself."""
        return not self.keys or self.has_key(environ)


def _provider(name: str, row: Mapping[str, Any]) -> Provider:
    models = {tier: row[tier] for tier in TIERS if tier in row}
    known = {key: value for key, value in row.items() if key not in {*models, "date", "source"}}
    lists = {key: tuple(value) for key, value in known.items() if isinstance(value, list)}
    return Provider(name, models=models, **(known | lists))


PROVIDERS: Mapping[str, Provider] = {name: _provider(name, row) for name, row in packaged_table("providers").items()}
DEFAULT_PROVIDER = next(iter(PROVIDERS.values()))
"""Who serves models where no setting names a provider."""
EXAMPLE_KEY = DEFAULT_PROVIDER.keys[0]
"""For messages about a key that is missing."""
KEY_HINT = f"{EXAMPLE_KEY}; in the Action the input {DEFAULT_PROVIDER.action[EXAMPLE_KEY]}"
"""The same for reviews, whose readers may know the workflow alone."""
SECRET_VARIABLES = tuple(name for each in PROVIDERS.values() for name in (*each.keys, *each.secrets))
"""Variables of which no value may ever be in a report."""
SDK_LOGGERS = tuple(name for each in PROVIDERS.values() for name in each.loggers)
"""The loggers of SDKs, whose lines the App leaves out below warnings."""
SDK_PREFIXES = tuple(each.variables for each in PROVIDERS.values() if each.variables)
"""How the variables begin that SDKs read by themselves."""
