"""The lock of the Action fits what the product says that it needs, and nothing in it comes without a hash."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.action_runner import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = ("action", "release")


def locked(name: str) -> dict[str, tuple[Requirement, list[str]]]:
    """By canonical name: what is locked, and its hashes."""
    text = re.sub(r"^#.*\n", "", (ROOT / f"requirements/{name}.txt").read_text(), flags=re.MULTILINE)
    found: dict[str, tuple[Requirement, list[str]]] = {}
    for entry in re.split(r"\n(?=\S)", text.replace("\\\n", " ").strip()):
        what, *hashes = entry.split("--hash=")
        requirement = Requirement(what.strip())
        found[canonicalize_name(requirement.name)] = (requirement, [each.strip() for each in hashes])
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_each_package_is_locked_to_one_version_with_hashes(name: str) -> None:
    for requirement, hashes in locked(name).values():
        assert re.fullmatch(r"==[0-9A-Za-z.]+", str(requirement.specifier)), requirement
        assert requirement.url is None
        assert hashes
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in hashes)


def test_the_lock_satisfies_the_ranges_of_the_project() -> None:
    found = locked("action")
    for text in PROJECT["project"]["dependencies"]:
        wanted = Requirement(text)
        [pin] = found[canonicalize_name(wanted.name)][0].specifier
        assert wanted.specifier.contains(Version(pin.version)), text


def test_what_builds_a_release_satisfies_the_build_systems_range() -> None:
    [pin] = locked("release")["hatchling"][0].specifier

    assert Requirement(PROJECT["build-system"]["requires"][0]).specifier.contains(Version(pin.version))


@pytest.mark.parametrize("system", ["linux", "darwin"])
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_direct_dependencies_are_locked_for_every_supported_python_and_system(python: str, system: str) -> None:
    environment = {
        "python_full_version": f"{python}.0",
        "python_version": python,
        "sys_platform": system,
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
    }
    found = locked("action")
    for text in PROJECT["project"]["dependencies"]:
        marker = found[canonicalize_name(Requirement(text).name)][0].marker
        assert marker is None or marker.evaluate(environment), text


def test_nothing_of_the_server_or_of_development_is_locked() -> None:
    extras = {
        canonicalize_name(Requirement(text).name)
        for texts in PROJECT["project"]["optional-dependencies"].values()
        for text in texts
    }

    # The report for terminals needs markdown-it-py as well, and PyGithub cryptography.
    assert locked("action").keys() & extras <= {"cryptography", "markdown-it-py"}


def test_a_lock_is_sorted_so_that_its_changes_can_be_read() -> None:
    for name in LOCKS:
        assert all(one < other for one, other in pairwise(locked(name)))
