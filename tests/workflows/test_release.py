"""The scripts of the release, run by bash with programs that record what they are asked."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reviewbot import __version__
from tests.action_runner import read_yaml

ROOT = Path(__file__).parents[2]
RECORDING = """#!/bin/sh
printf '%s' "$(basename "$0")" >> "$ASKED"; printf ' %s' "$@" >> "$ASKED"; printf '\\n' >> "$ASKED"
case "$*" in *--password-stdin*) cat > /dev/null;; esac
case "$*" in *"--method PATCH"*) exit "${PATCH_ENDS:-0}";; "inspect "*) echo "name@sha256:abc";; esac
"""


@pytest.fixture(scope="module")
def jobs() -> dict[str, Any]:
    jobs: dict[str, Any] = read_yaml(ROOT / ".github/workflows/release.yml")["jobs"]
    return jobs


def script(job: Any, name: str) -> str:
    [text] = [step["run"] for step in job["steps"] if step.get("name") == name]
    return str(text)


def run(text: str, folder: Path, **environ: str) -> tuple[int, list[str]]:
    """How a script ends, and what it asked `docker` and `gh`."""
    for name in ("docker", "gh"):
        (folder / name).write_text(RECORDING)
        (folder / name).chmod(0o755)
    asked = folder / "asked"
    asked.touch()
    known = {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "ASKED": str(asked),
        "TOKEN": "t0ken",
        "GITHUB_ACTOR": "ann",
        "GITHUB_REPOSITORY": "Acme/Reviewbot",
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_SHA": "c" * 40,
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
    }
    done = subprocess.run(["bash", "-eo", "pipefail", "-c", text], cwd=folder, env=known | environ, check=False)
    return done.returncode, asked.read_text().splitlines()


@pytest.mark.parametrize(("tag", "code"), [(f"v{__version__}", 0), (__version__, 0), ("v9.9.9", 1)])
def test_only_a_tag_that_names_the_version_is_released(
    tag: str, code: int, jobs: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "dist").mkdir()
    (tmp_path / f"dist/reviewbot-{__version__}-py3-none-any.whl").touch()

    assert run(script(jobs["build"], "The tag names the version"), tmp_path, TAG=tag)[0] == code


def test_the_image_is_tried_before_it_is_pushed_and_its_digest_is_handed_on(
    jobs: dict[str, Any], tmp_path: Path
) -> None:
    code, asked = run(script(jobs["image"], "Build, try and push"), tmp_path, TAG="v1.2.3")

    assert code == 0
    assert [line.split()[1] for line in asked] == ["build", "run", "login", "push", "inspect"]
    assert asked[3] == "docker push ghcr.io/acme/reviewbot:1.2.3"
    assert "t0ken" not in "".join(asked)
    assert (tmp_path / "output").read_text() == "name=ghcr.io/acme/reviewbot\ndigest=sha256:abc\n"


@pytest.mark.parametrize(("patch", "methods"), [("0", ["PATCH"]), ("1", ["PATCH", "POST"])])
def test_the_tag_of_the_major_version_is_moved_or_made(
    patch: str, methods: list[str], jobs: dict[str, Any], tmp_path: Path
) -> None:
    text = script(jobs["action"], "Move the tag of the major version")

    code, asked = run(text, tmp_path, TAG="v1.2.3", PATCH_ENDS=patch)

    assert code == 0
    assert [line.split()[4] for line in asked] == methods
    assert all("v1" in line and f"sha={'c' * 40}" in line for line in asked)
    assert (tmp_path / "summary").read_text() == f"uses: Acme/Reviewbot@{'c' * 40} # v1.2.3\n"


def test_a_tag_without_a_version_moves_nothing(jobs: dict[str, Any], tmp_path: Path) -> None:
    code, asked = run(script(jobs["action"], "Move the tag of the major version"), tmp_path, TAG="latest")

    assert (code, asked) == (1, [])


def test_who_publishes_is_known_by_the_workflow_and_each_job_has_the_rights_that_it_needs(jobs: dict[str, Any]) -> None:
    rights = {name: sorted(job["permissions"].items()) for name, job in jobs.items()}

    assert rights == {
        "build": [("contents", "read")],
        "publish": [("attestations", "write"), ("id-token", "write")],
        "image": [("attestations", "write"), ("contents", "read"), ("id-token", "write"), ("packages", "write")],
        "action": [("contents", "write")],
    }
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text()
