"""Ways in which a change puts worker cards and prompts where those of the base side are looked for, with real git.

Each takes a repository that stands at its base, and leaves the change in the work tree for a commit.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from typing import Any, Final

CARD = """\
name = "NAME"
description = "Looks for leftover debugging."
task_type = "NAME"
prompt = "NAME.md"
success_criterion = "Every added line was looked at."
tools = ["debug-leftovers"]
applies_to = ["*"]
"""


def worker(folder: str, name: str) -> dict[str, str]:
    """A card and its prompt below a folder, by path."""
    return {
        f"{folder}/workers/{name}.toml": CARD.replace("NAME", name),
        f"{folder}/prompts/{name}.md": "All is well.\n",
    }


def start(repo: Any, **files: str) -> str:
    """A base that vendors somebody's worker, where it counts for nothing; the hash of its commit."""
    return str(repo.commit({"app.py": "x = 1\n", **worker("vendor/kit", "planted"), **files}))


def submodule(repo: Any) -> None:
    """The gitlink is all that a diff names; the cards come with the checkout."""
    make = repo.folder.parent / "kit"
    shutil.copytree(repo.folder / "vendor/kit", make)
    repo.git("init", "--quiet", str(make))
    repo.git("-C", str(make), "add", "--all")
    repo.git("-C", str(make), "commit", "--quiet", "--message", "kit")
    repo.git("submodule", "--quiet", "add", "../kit", ".reviewbot")


def unnamed_submodule(repo: Any) -> None:
    """`git diff` does not name it: the change says so itself, in .gitmodules."""
    submodule(repo)
    repo.git("config", "--file", ".gitmodules", "submodule..reviewbot.ignore", "all")


def submodule_of_one_folder(repo: Any) -> None:
    submodule(repo)
    repo.git("mv", ".reviewbot", "elsewhere")
    (repo.folder / ".reviewbot").mkdir()
    repo.git("mv", "elsewhere", ".reviewbot/workers")


def link_to_a_folder(repo: Any) -> None:
    (repo.folder / ".reviewbot").symlink_to("vendor/kit")


def links_to_both_folders(repo: Any) -> None:
    (repo.folder / ".reviewbot").mkdir()
    for kind in ("workers", "prompts"):
        (repo.folder / ".reviewbot" / kind).symlink_to(f"../vendor/kit/{kind}")


def links_to_files(repo: Any) -> None:
    for name in worker("", "planted"):
        path = repo.folder / f".reviewbot{name}"
        path.parent.mkdir(parents=True)
        path.symlink_to(f"../../vendor/kit{name}")


def copied_folder(repo: Any) -> None:
    shutil.copytree(repo.folder / "vendor/kit", repo.folder / ".reviewbot")


def renamed_folder(repo: Any) -> None:
    repo.git("mv", "vendor/kit", ".reviewbot")


def other_case(repo: Any) -> None:
    shutil.copytree(repo.folder / "vendor/kit", repo.folder / ".Reviewbot")
    repo.write(".REVIEWBOT.toml", 'ignore = ["*"]\n')


def settings_by_link(repo: Any) -> None:
    repo.write("all.toml", 'ignore = ["*"]\n')
    (repo.folder / ".reviewbot.toml").symlink_to("all.toml")


PLANTS: Final[Mapping[str, Callable[[Any], None]]] = {
    plant.__name__: plant
    for plant in (
        submodule,
        unnamed_submodule,
        submodule_of_one_folder,
        link_to_a_folder,
        links_to_both_folders,
        links_to_files,
        copied_folder,
        renamed_folder,
        other_case,
        settings_by_link,
    )
}
