"""Which version of ruff a repository asks for."""

from __future__ import annotations

import pytest

from reviewbot.analyzers.ruff.config import Pin, RuffConfig, find_pin
from tests.snapshots import InMemorySnapshot

HOOK = """
repos:
  - repo: https://github.com/astral-sh/ruff-pre-commit
    # Ruff version.
    rev: v0.16.1
    hooks:
      - id: ruff
"""
LOCK = """
[[package]]
name = "rich"
version = "14.0.0"

[[package]]
name = "ruff"
version = "0.12.3"
"""


def pin(files: dict[str, str], values: dict[str, object] | None = None, folder: str = "") -> Pin | None:
    """The pin of a repository with some files of the base side."""
    return find_pin(InMemorySnapshot(base=files), RuffConfig(f"{folder}ruff.toml", folder, "", values or {}))


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        ("ruff==0.5.1", Pin((0, 5, 1), capped=True)),
        ("mypy\nruff == 0.5.1  # linter", Pin((0, 5, 1), capped=True)),
        ('dev = ["mypy", "ruff~=0.16.1"]', Pin((0, 16, 1), capped=True)),
        ('ruff = "^0.7.0"', Pin((0, 7, 0), capped=True)),
        ('ruff = { version = "^0.7.0" }', Pin((0, 7, 0), capped=True)),
        ("ruff (==0.9.*)", Pin((0, 9), capped=True)),
        ("ruff>=0.11,<0.12", Pin((0, 11), capped=True)),
        ("ruff >= 0.11.2", Pin((0, 11, 2), capped=False)),
        ("ruff>=0.11,<1.0", Pin((0, 11), capped=False)),
        ("ruff", None),
        ("ruff-lsp==0.5.1", None),
        ("flake8-ruff==0.5.1", None),
    ],
)
def test_a_requirement_pins(requirement: str, expected: Pin | None) -> None:
    assert pin({"requirements-dev.txt": requirement}) == expected


def test_a_lock_file_goes_before_a_hook_and_a_hook_before_a_requirement() -> None:
    files = {"uv.lock": LOCK, ".pre-commit-config.yaml": HOOK, "pyproject.toml": '["ruff==0.5.1"]'}

    found = []
    while files:
        found.append(pin(files))
        del files[next(iter(files))]

    assert found == [Pin((0, 12, 3), capped=True), Pin((0, 16, 1), capped=True), Pin((0, 5, 1), capped=True)]


def test_a_hook_in_the_lines_of_windows_pins() -> None:
    assert pin({".pre-commit-config.yaml": HOOK.replace("\n", "\r\n")}) == Pin((0, 16, 1), capped=True)


def test_what_the_configuration_requires_goes_first_where_it_is_one_version() -> None:
    assert pin({"uv.lock": LOCK}, {"required-version": "==0.4.2"}) == Pin((0, 4, 2), capped=True)
    assert pin({"uv.lock": LOCK}, {"required-version": ">=0.4.2"}) == Pin((0, 12, 3), capped=True)
    assert pin({"uv.lock": LOCK}, {"required-version": 5}) == Pin((0, 12, 3), capped=True)


def test_the_folder_of_the_configuration_goes_before_the_top() -> None:
    files = {"back/uv.lock": LOCK.replace("0.12.3", "0.9.1"), "uv.lock": LOCK}

    assert pin(files, folder="back/") == Pin((0, 9, 1), capped=True)
    assert pin(files, folder="front/") == Pin((0, 12, 3), capped=True)


def test_a_pin_says_which_rules_came_later() -> None:
    assert Pin((0, 12, 3), capped=True).is_before((0, 13, 0))
    assert not Pin((0, 12, 3), capped=True).is_before((0, 12, 0))
    assert not Pin((0, 9), capped=True).is_before((0, 9, 4))
    assert not Pin((0, 9), capped=False).is_before((0, 13, 0))
    assert Pin((0, 17, 1), capped=True).is_like((0, 17, 0))
    assert not Pin((0, 16, 1), capped=True).is_like((0, 17, 0))
