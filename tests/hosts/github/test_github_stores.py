"""Where files of repositories are kept on this machine, as the environment says."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from reviewbot.domain.errors import ConfigError
from reviewbot.hosts.base import Workspace
from reviewbot.hosts.github.files.stores import store_opener
from reviewbot.sources.blobs.segment import hash_of

CONTENT = b"Hello, World!\n"
SHA = hash_of(CONTENT, ["0" * 40])


def keep(environ: dict[str, str]) -> bytes | None:
    """Keep a file in one run; what the next run has of it."""
    found = None
    for _ in range(2):
        with ExitStack() as closing:
            store = store_opener(Workspace(environ, None, closing), "https://host.example", 7)().store
            found = store.read(SHA)
            if found is None and store.missing([SHA]):
                with store.adding([SHA], 5.0) as addition:
                    addition.keep(CONTENT)
    return found


@pytest.mark.parametrize(
    ("variable", "below"),
    [
        ("REVIEWBOT_CACHE_DIR", "."),
        ("REVIEWBOT_STATE_DIR", "trees"),
        ("XDG_CACHE_HOME", "reviewbot/trees"),
        ("HOME", ".cache/reviewbot/trees"),
    ],
)
def test_files_are_kept_where_the_environment_says(tmp_path: Path, variable: str, below: str) -> None:
    assert keep({variable: str(tmp_path)}) == CONTENT
    assert list((tmp_path / below).iterdir())


def test_without_a_folder_they_are_kept_for_one_run(tmp_path: Path) -> None:
    assert keep({}) is None
    assert keep({"HOME": str(tmp_path / "gone"), "XDG_CACHE_HOME": "relative"}) is None


def test_a_folder_that_cannot_be_used_is_no_reason_not_to_keep_them_for_one_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert keep({"REVIEWBOT_CACHE_DIR": str(tmp_path / "file" / "below")}) is None


@pytest.mark.parametrize("size", ["0", "-1", "1.5", "1_000", "\u0663", "1000001", "9" * 30, "much"])
def test_a_size_that_is_none_is_refused(size: str) -> None:
    with ExitStack() as closing, pytest.raises(ConfigError, match="REVIEWBOT_CACHE_MIB must be a whole number"):
        store_opener(Workspace({"REVIEWBOT_CACHE_MIB": size}, None, closing), 7)


def test_a_size_holds(tmp_path: Path) -> None:
    assert keep({"REVIEWBOT_CACHE_DIR": str(tmp_path), "REVIEWBOT_CACHE_MIB": "1"}) == CONTENT
