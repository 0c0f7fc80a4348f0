"""Read the Action's inputs from the environment of its steps, and make the settings from them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from reviewbot.config import Settings, load_settings
from reviewbot.config.hints import quote
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

_OF_VARIABLES = {"ANTHROPIC_API_KEY": "the input anthropic-api-key", "ANTHROPIC_BASE_URL": "the input base-url"}

MARKER_KEY = "REVIEWBOT_MARKER_KEY"
"""The one variable of ours that the job may set."""

BEDROCK_KEY = "AWS_BEARER_TOKEN_BEDROCK"

LOGINS = ("AWS_REGION", "AWS_DEFAULT_REGION", BEDROCK_KEY)
"""What the job's environment may say of a provider with a login of its own. No address is among them.

Other logins, and Google Cloud, take libraries that the Action does not install.
"""

_PATH = re.compile(r"(?!/)(?!.*(?:^|/)\.\.?(?:/|$))[^\x00-\x1f\x7f\\]{1,250}")
_LIST_ENDS = re.compile(r"[\r\n]+")


@dataclass(frozen=True)
class Inputs:
    """What the workflow said. `values` are settings by key; what was left empty is not among them."""

    key: str = field(repr=False)
    """Of the model API; empty: the analyzers review."""
    token: str = field(repr=False)
    """Of GitHub's API."""
    marker_key: str = field(repr=False)
    """Signs what is posted, so that a later run knows it again; empty: the account that it stands under must do."""
    base_url: str = field(repr=False)
    """Of the model API; it may hold a password."""
    mode: Mode
    config: str
    """A settings file of the repository, read from the base side; empty: none."""
    values: Mapping[str, Value]

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be shown."""
        return tuple(text for text in (self.key, self.token, self.marker_key, self.base_url) if text)

    @property
    def keyless(self) -> bool:
        """Whether no key for a model was given."""
        return not self.key

    @property
    def posts(self) -> bool:
        """Whether the review is posted on the pull request."""
        return self.mode in ("review", "fork-review")

    def environment(self, job: Mapping[str, str]) -> dict[str, str]:
        """What a review may know of the environment: the key and address that the workflow named, and logins.

        A base URL of the job is not taken: an earlier step may have set it, and the key would go there.
        """
        known = {name: job[name] for name in LOGINS if job.get(name)}
        given = {"ANTHROPIC_API_KEY": self.key, "ANTHROPIC_BASE_URL": self.base_url}
        return known | {name: value for name, value in given.items() if value}


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
    return Inputs(
        key=of("anthropic-api-key"),
        token=of("github-token"),
        marker_key=environ.get(MARKER_KEY, ""),
        base_url=of("base-url"),
        mode=mode,
        config=config,
        values={name.replace("-", "_"): _value(name, of(name)) for name in SETTINGS if of(name)},
    )


def by_input(message: str) -> str:
    """A message with the inputs in place of the variables that elsewhere stand for them."""
    for variable, name in _OF_VARIABLES.items():
        message = message.replace(variable, name)
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
