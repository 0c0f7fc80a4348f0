"""What a change cannot bring into its own review: cards, prompts and settings that the base side did not hold."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from reviewbot.analyzers.ruff.config import find_config
from reviewbot.config.source import repository_settings, repository_workers
from reviewbot.diff.parse import parse_diff
from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.errors import InputError
from reviewbot.sources.folder.snapshot import TreeSnapshot
from reviewbot.wiring import Subject, from_diff, from_range
from tests.planting import PLANTS, start, submodule, worker

OWN = {f"{kind}/own.{ending}" for kind, ending in (("workers", "toml"), ("prompts", "md"))}


def workers_of(subject: Subject) -> set[str]:
    assert subject.base is not None
    return set(repository_workers(subject.base))


def settings_of(subject: Subject) -> str | None:
    assert subject.base is not None
    return repository_settings(subject.base)


def diff_of(repo: Any, *options: str) -> bytes:
    """As a person makes it, who does not ask git to name everything."""
    found: bytes = repo.output("diff", *options, "HEAD~1", "HEAD")
    return found


def read_in_each_way(repo: Any) -> list[tuple[set[str], str | None]]:
    """The base side of the last commit: of a folder at its head, with a plain diff and with copies; of the commits."""
    with ExitStack() as closing:
        subjects = (
            from_diff(diff_of(repo), repo.folder),
            from_diff(diff_of(repo, "-C", "--find-copies-harder"), repo.folder),
            from_range(repo.folder, "HEAD~1..HEAD", closing),
        )
        return [(workers_of(subject), settings_of(subject)) for subject in subjects]


@pytest.mark.parametrize("plant", PLANTS)
def test_a_change_brings_no_cards_and_settings_into_its_own_review(plant: str, repo: Any) -> None:
    start(repo)
    PLANTS[plant](repo)
    repo.commit({"new.py": "y = 2\n"})

    assert read_in_each_way(repo) == [(set(), None)] * 3


@pytest.mark.parametrize("plant", ["submodule", "link_to_a_folder", "links_to_files", "copied_folder"])
def test_what_the_base_had_in_its_place_still_counts(plant: str, repo: Any) -> None:
    start(repo, **worker(".reviewbot", "own"))
    repo.git("rm", "--quiet", "-r", ".reviewbot")
    shutil.rmtree(repo.folder / ".reviewbot", ignore_errors=True)
    PLANTS[plant](repo)
    repo.commit({"new.py": "y = 2\n"})

    assert read_in_each_way(repo) == [(OWN, None)] * 3


def test_a_submodule_of_the_base_counts_in_neither(repo: Any) -> None:
    start(repo)
    submodule(repo)
    repo.commit()
    repo.commit({"new.py": "y = 2\n"})

    assert read_in_each_way(repo) == [(set(), None)] * 3


def test_what_a_diff_shows_inside_of_a_submodule_is_no_base_side(repo: Any) -> None:
    start(repo)
    submodule(repo)
    repo.commit()
    inner = ["-C", str(repo.folder / ".reviewbot")]
    (repo.folder / ".reviewbot/workers/planted.toml").write_text("another\n")
    repo.git(*inner, "commit", "--quiet", "--all", "--message", "another")
    repo.commit()
    diff = diff_of(repo, "--submodule=diff")

    assert b"+another" in diff
    assert workers_of(from_diff(diff, repo.folder)) == set()


COPIED_FOLDER = (
    "diff --git a/vendor/kit b/.reviewbot\nsimilarity index 100%\ncopy from vendor/kit\ncopy to .reviewbot\n"
)
NEW = "diff --git a/n.py b/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+n = 1\n"
LOGGED = "Submodule .reviewbot 0000000...1111111 (new submodule)\n"


def planted(folder: Path) -> Path:
    """A folder at a head that holds a planted worker."""
    for name, text in worker(".reviewbot", "planted").items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text)
    return folder


def test_a_submodule_whose_commits_are_listed_holds_nothing_of_the_base(tmp_path: Path) -> None:
    assert workers_of(from_diff((LOGGED + NEW).encode(), planted(tmp_path))) == set()


@pytest.mark.parametrize(
    "named",
    [COPIED_FOLDER, COPIED_FOLDER.replace("copy ", "rename "), "Only in b: .reviewbot\n" + NEW[NEW.index("---") :]],
)
def test_a_whole_folder_of_which_the_diff_shows_no_file_is_refused(named: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.reviewbot is not there|does not show what \.reviewbot was before"):
        from_diff((named + NEW).encode(), planted(tmp_path))


def changed(*sections: str) -> ChangeSet:
    return parse_diff("".join(sections).encode())


def test_a_file_that_the_change_spells_otherwise_is_not_the_base_s(tmp_path: Path) -> None:
    """A second name for one file is what a file system shows that ignores case."""
    (tmp_path / ".Reviewbot.toml").write_text("n = 1\n")
    (tmp_path / "Ruff.toml").write_text("n = 1\n")
    os.link(tmp_path / ".Reviewbot.toml", tmp_path / ".reviewbot.toml")
    os.link(tmp_path / "Ruff.toml", tmp_path / "ruff.toml")
    (tmp_path / ".ruff.toml").write_text("line-length = 5\n")
    snapshot = TreeSnapshot.open(
        tmp_path, changed(*(NEW.replace("n.py", name) for name in (".Reviewbot.toml", "Ruff.toml")))
    )

    with pytest.raises(InputError, match=r"names \.reviewbot\.toml by another spelling"):
        repository_settings(snapshot)
    assert snapshot.base("ruff.toml") is None
    assert snapshot.base(".ruff.toml") == "line-length = 5\n"


def test_settings_of_analyzers_are_read_as_strictly_as_our_own(tmp_path: Path) -> None:
    (tmp_path / "pkg/.git").mkdir(parents=True)
    (tmp_path / "pkg/ruff.toml").write_text("line-length = 5\n")

    assert find_config(TreeSnapshot.open(tmp_path, changed(NEW)), "pkg/app.py") is None


def test_the_text_of_a_link_that_goes_is_no_file_s(repo: Any) -> None:
    repo.write("all.toml", "x = 1\n")
    (repo.folder / ".reviewbot.toml").symlink_to("all.toml")
    repo.commit()
    (repo.folder / ".reviewbot.toml").unlink()
    repo.commit({"new.py": "y = 2\n"})

    assert settings_of(from_diff(diff_of(repo), repo.folder)) is None
