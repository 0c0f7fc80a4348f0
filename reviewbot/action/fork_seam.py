"""What both stages need of a pull request, so that either can be run against something else than GitHub."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from reviewbot.action.inputs import Inputs, read_inputs
from reviewbot.action.outcome import Ending, Posted, Reviewed, no_outputs, outputs_of
from reviewbot.action.runner import Runner, Voice
from reviewbot.action.summary import summary_of, summary_of_nothing
from reviewbot.contracts import ChangeSet
from reviewbot.contracts.pulls import PullRef
from reviewbot.errors import ExitCode
from reviewbot.output.annotations import render_annotations


class Fetched(Protocol):
    """One pull request as the API tells of it now: no checkout, nothing of an event, nothing of an artifact."""

    @property
    def pull(self) -> PullRef:
        """Which it is, and at which commits."""

    @property
    def change(self) -> ChangeSet:
        """What it changes."""

    def review(self) -> Reviewed:
        """Review it, from the API's own data alone. Raises ReviewbotError."""

    def post(self, reviewed: Reviewed) -> Posted:
        """Post a review of it, once, and only where its head has not moved. Raises HostError."""


class Pulls(Protocol):
    """The pull requests of one repository."""

    def fetch(self, number: int) -> Fetched:
        """Read one. Raises HostError and its kinds, InputError and ConfigError."""


@dataclass(frozen=True)
class Desk:
    """What a stage works with."""

    runner: Runner
    inputs: Inputs
    voice: Voice
    pulls: Pulls

    def nothing(self, why: str, url: str = "") -> ExitCode:
        """Say that there is no review here, and why that is no failure; `url`: where one stands already."""
        self.voice.say("notice", f"no review here: {why}")
        self.voice.outputs({**no_outputs("nothing_to_review"), "review-url": url})
        self.voice.summary(summary_of_nothing(why))
        return ExitCode.REVIEWED

    def tell(self, ending: Ending) -> ExitCode:
        """Say in every place of the run what came of it."""
        if not ending.posted.marks:
            self.voice.commands(render_annotations(ending.reviewed.told.review))
        # A SARIF log would be filed under the commit that the workflow runs at, which is not the reviewed one.
        self.voice.outputs(outputs_of(ending, Path()) | {"sarif": ""})
        self.voice.summary(summary_of(ending))
        return ending.code


def inputs_of(environ: Mapping[str, str]) -> Inputs:
    """The Action's inputs. The mode is what chose the stage, and says nothing more. Raises ConfigError."""
    return read_inputs({**environ, "INPUT_MODE": ""})
