"""action.yml, our workflows and those that the documentation shows: linted, pinned, with least permissions."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.action_runner import read_yaml

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent

PINS = {
    "actions/checkout": ("3d3c42e5aac5ba805825da76410c181273ba90b1", "v7.0.1"),
    "actions/setup-python": ("5fda3b95a4ea91299a34e894583c3862153e4b97", "v7.0.0"),
    "actions/upload-artifact": ("bbbca2ddaa5d8feaa63e36b76fdaad77386f024f", "v7.0.0"),
    "actions/download-artifact": ("3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c", "v8.0.1"),
    "actions/cache": ("27d5ce7f107fe9357f9df03efb73ab90386fccae", "v5.0.5"),
    "actions/attest-build-provenance": ("a2bbfa25375fe432b6a289bc6b6cd05ecd0c4c32", "v4.1.0"),
    "github/codeql-action/upload-sarif": ("8aad20d150bbac5944a9f9d289da16a4b0d87c1e", "v4.36.2"),
    "pypa/gh-action-pypi-publish": ("81e9d935c883d0b210363ab89cf05f3894778450", "v1.8.14"),
    "OWNER/reviewbot": ("0" * 40, "the release that you take"),
}
"""Commits that were read from the repositories' own tags. Ours stands for whatever release a reader takes."""

_USES = re.compile(r"^\s*(?:- )?uses:\s*(\S+?)(?:@(\S+))?(?:\s+# (.*))?$", re.MULTILINE)
_BLOCK = re.compile(r"^```ya?ml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FROM_THE_EVENT = re.compile(r"\$\{\{[^}]*(?:github\.event|github\.head_ref|inputs\.|steps\.)[^}]*\}\}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """action.yml and all workflows, as a repository of their own, since the linters look at the layout."""
    root = tmp_path_factory.mktemp("linted")
    workflows = root / ".github/workflows"
    workflows.mkdir(parents=True)
    (root / "action.yml").write_text((ROOT / "action.yml").read_text())
    for path in (*sorted((ROOT / ".github/workflows").glob("*.yml")), *sorted((ROOT / "examples").rglob("*.yml"))):
        (workflows / path.name).write_text(path.read_text())
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for number, text in enumerate(_shown(path), 1):
            (workflows / f"shown-{path.stem}-{number}.yml").write_text(text)
    return root


def _shown(page: Path) -> list[str]:
    """The workflows on a page."""
    return [text for text in _BLOCK.findall(page.read_text("utf-8")) if re.search(r"^jobs:", text, re.MULTILINE)]


def _workflows(folder: Path) -> list[Path]:
    return sorted((folder / ".github/workflows").glob("*.yml"))


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]], cwd=folder, capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_the_documentation_shows_one_workflow_for_each_way_to_use_it_and_a_short_one_to_begin_with() -> None:
    [short] = _shown(ROOT / "README.md")

    assert len(short.splitlines()) <= 11
    assert len(_shown(ROOT / "docs/action.md")) == 3


def test_zizmor_finds_nothing(folder: Path) -> None:
    assert not _run(folder, "zizmor", "--offline", "--quiet", "--no-progress", "--persona", "pedantic", ".")


def test_actionlint_finds_nothing(folder: Path) -> None:
    assert not _run(folder, "actionlint", *(str(path) for path in _workflows(folder)))


@pytest.mark.slow
def test_every_file_fits_its_schema(folder: Path) -> None:
    workflows = [str(path) for path in _workflows(folder)]

    assert not _run(folder, "check-jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml")
    assert not _run(folder, "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)


def test_every_action_is_pinned_to_a_commit_that_is_known(folder: Path) -> None:
    used = [match for path in (folder / "action.yml", *_workflows(folder)) for match in _USES.findall(path.read_text())]

    assert len(used) > 10
    for name, commit, comment in used:
        assert name == "./" or PINS.get(name) == (commit, comment), name


def test_no_workflow_may_write_but_in_the_job_that_needs_it(folder: Path) -> None:
    for path in _workflows(folder):
        permissions = read_yaml(path)["permissions"]
        assert permissions == {} or set(permissions.values()) <= {"read", "none"}, path.name


def test_no_workflow_runs_for_strangers_with_our_rights(folder: Path) -> None:
    assert not [path.name for path in _workflows(folder) if "pull_request_target" in path.read_text()]


def _scripts(value: Any) -> Iterator[str]:
    """Everything that a shell gets, wherever it stands."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "run" and isinstance(inner, str):
                yield inner
            yield from _scripts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _scripts(inner)


def test_no_script_holds_text_of_an_event_or_of_another_step(folder: Path) -> None:
    scripts = [text for path in (folder / "action.yml", *_workflows(folder)) for text in _scripts(read_yaml(path))]

    assert len(scripts) > 5
    assert not [text for text in scripts if _FROM_THE_EVENT.search(text)]


def test_the_runs_on_pull_requests_cancel_those_that_are_superseded(folder: Path) -> None:
    for path in _workflows(folder):
        workflow = read_yaml(path)
        if "pull_request" in workflow["on"]:
            assert workflow["concurrency"]["cancel-in-progress"] is True, path.name
