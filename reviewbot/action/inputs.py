"""Read the Action's inputs from the environment of its steps, and make the settings from them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from reviewbot.config import Settings, load_settings
from reviewbot.config.messages import quote
from reviewbot.config.providers import PROVIDERS
from reviewbot.config.settings import KEYS
from reviewbot.config.source import BaseSide, repository_settings
from reviewbot.config.values import Value
from reviewbot.domain.errors import ConfigError

Mode = Literal["review", "annotate", "report", "fork-review"]

MODES: tuple[Mode, ...] = get_args(Mode)
"""Where the review is reported: on the pull request, in the log of the run with marks at lines, or only in the summary
and the outputs. The last one is `review` for the event `workflow_run`, which a fork's pull request has caused."""

PREFIX = "INPUT_"

SETTINGS = ("engine", "fail-on", "min-confidence", "paths", "max-cost")
"""Inputs that are settings, by the keys with "_" in place of "-". They count above every file."""

_OF_VARIABLES = {variable: name for each in PROVIDERS.values() for variable, name in each.action.items()}
"""The inputs that stand for variables of providers."""

MARKER_KEY = "REVIEWBOT_MARKER_KEY"
"""The one variable `REVIEWBOT_...` that the job may set."""

LOGINS = tuple(name for each in PROVIDERS.values() for name in each.logins)
"""What the job's environment may say of a provider with a login of its own. No address is among them.

Other logins, and Google Cloud, take libraries that the Action does not install.
"""

_PATH = re.compile(r"(?!/)(?!.*(?:^|/)\.\.?(?:/|$))[^\x00-\x1f\x7f\\]{1,250}")
_LIST_ENDS = re.compile(r"[\r\n]+")


@dataclass(frozen=True)
class Inputs:
    """What the workflow said. `values` are settings by key; what was left empty is not among them."""

    models: Mapping[str, str] = field(repr=False)
    """Keys and addresses of model APIs, by the variables that they stand for; an address may hold a password."""
    token: str = field(repr=False)
    """Of GitHub's API."""
    marker_key: str = field(repr=False)
    """Signs what is posted, so that a later run knows it again; empty: the account that it stands under must do."""
    mode: Mode
    config: str
    """A settings file of the repository, read from the base side; empty: none."""
    values: Mapping[str, Value]
    results: tuple[str, ...] = ()
    """Globs of files in which earlier steps have put the results of other programs."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that no output may show."""
        return tuple(text for text in (*self.models.values(), self.token, self.marker_key) if text)

    @property
    def keyless(self) -> bool:
        """Whether no key for a model was given."""
        return not any(provider.has_key(self.models) for provider in PROVIDERS.values())

    @property
    def posts(self) -> bool:
        """Whether the review is posted on the pull request."""
        return self.mode in ("review", "fork-review")

    def environment(self, job: Mapping[str, str]) -> dict[str, str]:
        """The environment of a review: the key and address that the workflow named, and logins.

        A base URL of the job is not taken: an earlier step may have set it, and the key would go there.
        """
        known = {name: job[name] for name in LOGINS if job.get(name)}
        return {**known, **self.models}


def read_inputs(environ: Mapping[str, str]) -> Inputs:
    """The inputs. Raises ConfigError that names the one that is wrong."""

    def of(name: str) -> str:
        return environ.get(PREFIX + name.upper().replace("-", "_"), "").strip()

    mode = next((each for each in MODES if each == (of("mode") or MODES[0])), None)
    if mode is None:
        raise ConfigError(f"the input mode must be one of {', '.join(MODES)}, not {quote(of('mode'))}")
    config = of("config").removeprefix("./")
    if config and not _PATH.fullmatch(config):
        raise ConfigError(f"the input config must be a path inside the repository, not {quote(config)}")
    results = tuple(line.strip() for line in _LIST_ENDS.split(of("results")) if line.strip())
    if results and mode == "fork-review":
        raise ConfigError("the input results does not go with mode fork-review: no file of the fork's job is read")
    return Inputs(
        models={variable: value for variable, name in _OF_VARIABLES.items() if (value := of(name))},
        token=of("github-token"),
        marker_key=environ.get(MARKER_KEY, ""),
        mode=mode,
        config=config,
        values={name.replace("-", "_"): _value(name, of(name)) for name in SETTINGS if of(name)},
        results=results,
    )


def by_input(message: str) -> str:
    """A message with the inputs in place of the variables that elsewhere stand for them."""
    for variable, name in _OF_VARIABLES.items():
        message = message.replace(variable, f"the input {name}")
    return message


def settings_by(inputs: Inputs, base: BaseSide | None) -> Settings:
    """The settings of a run: defaults, the base side's own file, the one that `config` names, the other inputs.

    Nothing of the machine counts: neither a user's file nor a variable, which an earlier step may have set.
    Raises ConfigError.
    """
    text = None
    if inputs.config:
        text = None if base is None else base.base_file(inputs.config)
        if text is None:
            raise ConfigError(
                f"the input config names {quote(inputs.config)}, and the base side of this change has no such file; "
                "it counts from the change on that follows the one which adds it"
            )
    repository = None if base is None else repository_settings(base)
    return load_settings(repository, {}, dict(inputs.values), user_text=text, user_name=inputs.config)


def _value(name: str, text: str) -> Value:
    """A list may stand on several lines, as YAML likes it. The word "none" stays: without it a file would count."""
    key = name.replace("-", "_")
    try:
        value = KEYS[key].kind.parse(_LIST_ENDS.sub(",", text) if key == "paths" else text)
    except ValueError:
        raise ConfigError(f"the input {name} must be {KEYS[key].kind.expected}, not {quote(text)}") from None
    return text if value is None else value
