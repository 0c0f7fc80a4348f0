"""What is wrong with a dependency, judged by its own line and by the lock file."""

from __future__ import annotations

import asyncio

import pytest

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.dependencies.checks import (
    follows_a_branch,
    imitated,
    is_fetched_in_the_clear,
    is_one_edit,
    locked_as_before,
    unlocked_in,
)
from reviewbot.analyzers.dependencies.manifests import Dependency
from reviewbot.analyzers.dependencies.tool import AddedDependencies
from reviewbot.domain.contracts import Hunk
from reviewbot.domain.ports import ChangedFile
from tests.snapshots import InMemorySnapshot


@pytest.mark.parametrize(
    ("one", "other"), [("lodash", "lodsah"), ("lodash", "lodas"), ("lodash", "loadash"), ("a", "b")]
)
def test_one_edit_is_a_letter_more_less_or_other_or_two_swapped(one: str, other: str) -> None:
    assert is_one_edit(one, other)
    assert is_one_edit(other, one)


@pytest.mark.parametrize(
    ("one", "other"), [("lodash", "lodash"), ("lodash", "lodahs-x"), ("ab", "ba-"), ("lodash", "dolash")]
)
def test_what_is_the_same_or_further_away_is_no_edit(one: str, other: str) -> None:
    assert not is_one_edit(one, other)


def test_a_name_is_held_against_popular_ones_as_registries_spell_it() -> None:
    assert imitated("npm", "expresss") == "express"
    assert imitated("npm", "express") == ""
    assert imitated("npm", "preact") == "", "a package of its own"
    assert imitated("pypi", "Python_DateUtil") == ""
    assert imitated("go", "github.com/siruspen/logrus") == "github.com/sirupsen/logrus"


@pytest.mark.parametrize(
    "spec",
    ["git+https://x.org/a.git", "someone/else", "github:someone/else", "git+https://x.org/a@main", ', github: "a/b"'],
)
def test_what_comes_from_a_repository_without_a_commit_follows_a_branch(spec: str) -> None:
    assert follows_a_branch(Dependency("a", spec))


@pytest.mark.parametrize(
    "spec",
    ["^1.0", "someone/else#v1.2", "git+https://x.org/a@0a1b2c3d", ', github: "a/b", ref: "0a1b2c3"', ">=1,<2", "*"],
)
def test_what_is_pinned_or_comes_from_a_registry_does_not(spec: str) -> None:
    assert not follows_a_branch(Dependency("a", spec))


def test_only_what_leaves_this_machine_is_fetched_in_the_clear() -> None:
    assert is_fetched_in_the_clear(Dependency("a", "http://x.org/a.tgz"))
    assert not is_fetched_in_the_clear(Dependency("a", "http://localhost:4873/a.tgz"))


def unlocked(name: str, spec: str = "^1", known: str = "left-pad", path: str = "web/package.json") -> str:
    """The lock file that lacks a package, in a tree with two of them."""
    locks = {"web/yarn.lock": "left-pad@^1:\n", "yarn.lock": '"@x/ui@^1":\n'}

    def text_of(lock: str) -> str | None:
        return locks.get(lock)

    return unlocked_in("npm", Dependency(name, spec), [Dependency(known, "^1")], path, text_of)


def test_the_lock_file_beside_a_manifest_or_above_it_counts() -> None:
    assert unlocked("left-pad") == ""
    assert unlocked("@x/ui") == "", "of the workspace"
    assert unlocked("pad") == "web/yarn.lock", "a part of another name does not count"
    assert unlocked("pad", "workspace:*") == ""


def test_a_lock_file_that_lacks_a_package_which_was_there_before_is_that_of_another_manifest() -> None:
    assert unlocked("pad", known="right-pad") == ""
    assert unlocked("pad", path="package.json") == ""


NPM = '{\n  "packages": {\n    "": {\n      "dependencies": {\n        "pad": "^1.0.0"\n      }\n    },\n'
PNPM = "importers:\n\n  .:\n    dependencies:\n      '@a/pad':\n        specifier: ^1.0.0\n        version: 1.0.0\n"


@pytest.mark.parametrize(
    ("lock", "name", "old", "new", "is_behind"),
    [
        ({"package-lock.json": NPM}, "pad", "^1.0.0", "^2.0.0", True),
        ({"package-lock.json": NPM}, "pad", "^0.9.0", "^1.0.0", False),
        ({"package-lock.json": NPM.replace('"": {', '"node_modules/x": {')}, "pad", "^1.0.0", "^2.0.0", False),
        ({"package-lock.json": NPM, "yarn.lock": ""}, "pad", "^1.0.0", "^2.0.0", False),
        ({"pnpm-lock.yaml": PNPM}, "@a/pad", "^1.0.0", "^2.0.0", True),
        ({"pnpm-lock.yaml": PNPM}, "@a/pad", "^1.0.0", "workspace:*", False),
        ({"yarn.lock": '"pad@npm:^1.0.0, pad@npm:^2.0.0":\n'}, "pad", "^1.0.0", "^2.0.0", False),
        ({"yarn.lock": '"pad@npm:^1.0.0":\n'}, "pad", "^1.0.0", "^2.0.0", True),
        (
            {"yarn.lock": '"pad@^1.0.0, pad@workspace:^, pad@workspace:packages/pad":\n'},
            "pad",
            "^1.0.0",
            "^2.0.0",
            False,
        ),
        (
            {"pnpm-lock.yaml": PNPM.replace("version: 1.0.0", "version: link:../pad")},
            "@a/pad",
            "^1.0.0",
            "^2.0.0",
            False,
        ),
        ({"yarn.lock": '"big-pad@npm:^1.0.0":\n'}, "pad", "^1.0.0", "^2.0.0", False),
        ({}, "pad", "^1.0.0", "^2.0.0", False),
        ({"bun.lock": NPM}, "pad", "^1.0.0", "^2.0.0", False),
    ],
)
def test_a_lock_file_is_behind_where_it_asks_as_the_manifest_did_and_not_as_it_does(
    lock: dict[str, str], name: str, old: str, new: str, *, is_behind: bool
) -> None:
    found = locked_as_before("npm", Dependency(name, old), Dependency(name, new), "package.json", lock.get)

    assert found == (next(iter(lock)) if is_behind else "")


def test_of_a_lock_file_that_is_behind_one_dependency_is_named() -> None:
    base = '{\n"dependencies": {\n"left-pad": "^1.0.0",\n"right-pad": "^1.0.0"\n}\n}\n'
    head = base.replace("1.0.0", "2.0.0")
    removed, added = ([f"{sign}{line}" for line in text.split("\n")[2:4]] for sign, text in (("-", base), ("+", head)))
    body = "\n".join(["@@ -3,2 +3,2 @@", *removed, *added])
    hunk = Hunk(old_start=3, old_count=2, new_start=3, new_count=2, body=body)
    file = ChangedFile("package.json", "package.json", "json", (hunk,), head, base)
    snapshot = InMemorySnapshot({"package.json": head, "yarn.lock": "left-pad@^1.0.0:\n\nright-pad@^1.0.0:\n"})
    rules = packaged_rules("dependencies").of_tool("dependencies")

    report = asyncio.run(AddedDependencies(rules).run(file, snapshot))

    assert [each.rule for each in report.candidates] == ["lock-file-behind"]
