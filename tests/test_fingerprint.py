"""The identity of the program: the same from run to run, and another one when anything of it changes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import reviewbot
from reviewbot.fingerprint import digest_of

PROGRAM = "from reviewbot.fingerprint import program_fingerprint; print(program_fingerprint())"


@pytest.fixture(name="place")
def _place(tmp_path: Path) -> Path:
    """A program of a few files, as it is installed, with another package beside it and cards of a checkout."""
    place = tmp_path / "site-packages"
    own = Path(reviewbot.__file__).parent
    (place / "reviewbot/tools/__pycache__").mkdir(parents=True)
    for name in ("__init__.py", "fingerprint.py"):
        shutil.copy(own / name, place / "reviewbot" / name)
    (place / "reviewbot/tools/check.py").write_text("x = 1\n")
    (place / "workers").mkdir()
    (place / "workers/logic.toml").write_text("name = 'logic'\n")
    (place / "ruff-1.dist-info").mkdir()
    return place


def fingerprint(place: Path) -> str:
    environment = {"PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-P", "-c", PROGRAM]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def edit_a_module(place: Path) -> None:
    (place / "reviewbot/tools/check.py").write_text("x = 20\n")


def touch_a_module(place: Path) -> None:
    os.utime(place / "reviewbot/tools/check.py", ns=(1, 1))


def add_a_table(place: Path) -> None:
    (place / "reviewbot/tools/rules.toml").write_text("")


def edit_a_card(place: Path) -> None:
    (place / "workers/logic.toml").write_text("name = 'style'\n")


def update_a_package(place: Path) -> None:
    (place / "ruff-1.dist-info").rename(place / "ruff-2.dist-info")


@pytest.mark.parametrize("alter", [edit_a_module, touch_a_module, add_a_table, edit_a_card, update_a_package])
def test_the_fingerprint_changes_with_each_file_and_with_what_is_installed(
    place: Path, alter: Callable[[Path], None]
) -> None:
    before = fingerprint(place)
    alter(place)

    assert fingerprint(place) != before


def test_the_fingerprint_stays_with_byte_code_and_survives_a_link_to_nothing(place: Path) -> None:
    (place / "reviewbot/.#check.py").symlink_to("somebody@machine:1")
    before = fingerprint(place)
    (place / "reviewbot/tools/__pycache__/check.pyc").write_bytes(b"1")

    assert len(before) == 64
    assert fingerprint(place) == before


def test_a_digest_tells_apart_where_texts_are_cut() -> None:
    assert len({digest_of("ab", "c"), digest_of("a", "bc"), digest_of("abc"), digest_of("abc", "")}) == 4
