"""The steps of a composite action, carried out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

TOKEN = "ghs_" + "t" * 36
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
_MASK = "::add-mask::"
_BASH = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail")
"""As https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax has it for `shell: bash`."""

STEP_KEYS = {"name", "id", "uses", "with", "shell", "env", "run"}


def read_yaml(path: Path) -> Any:
    """A YAML file as plain values; a name that stands twice is an error."""
    return YAML(typ="safe", pure=True).load(path.read_text("utf-8"))


@dataclass
class Ran:
    """What came of a run."""

    code: int = 0
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    log: str = ""
    """As people see it: masked."""
    raw: str = ""
    """As the steps wrote it."""
    steps: list[str] = field(default_factory=list)

    def commands(self, level: str) -> list[str]:
        """The workflow commands of one level in the log, in order."""
        return [line for line in self.log.splitlines() if line.startswith(f"::{level} ")]


@dataclass
class ActionRunner:
    """Runs an action that lies in a folder, in a workspace."""

    action: Path
    temp: Path
    api_url: str = "http://127.0.0.1:1"
    repository: str = "acme/shop"
    token: str = TOKEN
    python: str = sys.executable
    given: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By id: steps that are not run, and their outputs."""
    job: Mapping[str, str] = field(default_factory=dict)
    """What the job's environment has beside the runner's own."""

    @property
    def workspace(self) -> Path:
        """Where the steps begin."""
        folder = self.temp / "work"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def run(self, event: str, payload: Any, inputs: Mapping[str, str] | None = None) -> Ran:
        """Carry out all steps, up to the first that fails. An input that the action does not have is an error."""
        metadata = read_yaml(self.action / "action.yml")
        assert metadata["runs"]["using"] == "composite"
        assert not set(inputs or {}) - set(metadata["inputs"])
        self.temp.mkdir(parents=True, exist_ok=True)
        event_file = self.temp / "event.json"
        event_file.write_bytes(payload if isinstance(payload, bytes) else json.dumps(payload).encode())
        known = {"github.token": self.token}
        for name, described in metadata["inputs"].items():
            known[f"inputs.{name}"] = (inputs or {}).get(name) or _filled(str(described.get("default", "")), known)
        ran = Ran()
        for step in metadata["runs"]["steps"]:
            assert set(step) <= STEP_KEYS, f"a key of a step that this runner does not know: {sorted(step)}"
            if ran.code:
                break
            self._step(step, event, event_file, known, ran)
        ran.outputs = {name: _filled(told["value"], known, missing="") for name, told in metadata["outputs"].items()}
        ran.log = _masked(ran.raw, [self.token])
        return ran

    def _step(self, step: Mapping[str, Any], event: str, event_file: Path, known: dict[str, str], ran: Ran) -> None:
        name = str(step.get("id") or step["name"])
        ran.steps.append(name)
        if name in self.given:
            outputs = dict(self.given[name])
        elif "uses" in step:
            assert str(step["uses"]).startswith("actions/setup-python@")
            assert step["with"]["update-environment"] is False
            outputs = {"python-path": self.python}
        else:
            outputs = self._script(step, event, event_file, known, ran)
        known |= {f"steps.{name}.outputs.{key}": value for key, value in outputs.items()}

    def _script(
        self, step: Mapping[str, Any], event: str, event_file: Path, known: Mapping[str, str], ran: Ran
    ) -> dict[str, str]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "an expression in a script is text that a shell runs"
        files = self._files(str(len(ran.steps)))
        script = self.temp / f"step{len(ran.steps)}.sh"
        script.write_text(step["run"])
        environment = self._environment(event, event_file) | {name: str(path) for name, path in files.items()}
        environment |= {name: _filled(str(value), known) for name, value in step.get("env", {}).items()}
        done = subprocess.run(
            [*_BASH, str(script)], cwd=self.workspace, env=environment, capture_output=True, text=True, check=False
        )
        ran.code = done.returncode
        ran.raw += done.stdout + done.stderr
        ran.summary += files["GITHUB_STEP_SUMMARY"].read_text("utf-8")
        assert not files["GITHUB_ENV"].read_text() + files["GITHUB_PATH"].read_text(), "the job keeps its environment"
        return outputs_in(files["GITHUB_OUTPUT"].read_text("utf-8"))

    def _files(self, number: str) -> dict[str, Path]:
        names = ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH")
        files = {name: self.temp / f"{name}-{number}" for name in names}
        for path in files.values():
            path.write_text("")
        return files

    def _environment(self, event: str, event_file: Path) -> dict[str, str]:
        temp = self.temp / "temp"
        temp.mkdir(exist_ok=True)
        # PIP_*: where this machine's packages come from, as an image of a self-hosted runner would say.
        own = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name == "PATH"}
        return {
            **own,
            "HOME": str(self.temp),
            **self.job,
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(self.action),
            "GITHUB_API_URL": self.api_url,
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(event_file),
            "GITHUB_REPOSITORY": self.repository,
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_RUN_ID": "1",
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(temp),
        }


def _filled(text: str, known: Mapping[str, str], missing: str | None = None) -> str:
    """A text with its expressions replaced by what they stand for, once: values are no expressions."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        assert name in known or missing is not None or name.startswith("steps."), f"an unknown expression: {name}"
        return known.get(name, missing or "")

    return _EXPRESSION.sub(value, text)


def outputs_in(text: str) -> dict[str, str]:
    """What a file of outputs sets."""
    return dict(_outputs(text))


def _outputs(text: str) -> Iterator[tuple[str, str]]:
    """The lines of GITHUB_OUTPUT: `name=value`, or `name<<END` and lines up to END."""
    lines = iter(text.split("\n")[:-1])
    for line in lines:
        name, mark, end = line.partition("<<")
        if not mark or "=" in name:
            name, mark, value = line.partition("=")
            assert mark, f"no line of an outputs file: {line!r}"
            yield name, value
            continue
        kept: list[str] = []
        for each in lines:
            if each == end:
                break
            kept.append(each)
        else:
            raise AssertionError(f"the value of {name} does not end")
        yield name, "\n".join(kept)


def _masked(raw: str, secrets: list[str]) -> str:
    """The log without what is to be hidden, as the runner shows it."""
    lines = raw.splitlines()
    hidden = [*secrets, *(line.removeprefix(_MASK) for line in lines if line.startswith(_MASK))]
    text = "\n".join(line for line in lines if not line.startswith(_MASK))
    for secret in hidden:
        text = text.replace(secret, "***")
    return text
