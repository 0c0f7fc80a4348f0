"""Both sides of a pull request by blobs, and the base branch that configures its review."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from reviewbot.config.source import repository_settings, repository_workers
from reviewbot.domain.errors import HostError, HostLimitError
from reviewbot.hosts.base import PullRequest, Workspace
from reviewbot.hosts.github.change import read_change
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.files.snapshot import GithubSnapshot
from reviewbot.hosts.github.files.trees import decode_text
from reviewbot.hosts.github.host import GithubHost
from reviewbot.hosts.github.pull import read_pull
from reviewbot.wiring.assembly import settings_for
from reviewbot.wiring.change_sources import Subject, notes_on
from tests.github_api import FakeGitHub, Reply
from tests.github_api.refusals import missing_permission, secondary_limit, server_error
from tests.make import MakePullRequest
from tests.planting import PLANTS, start


@pytest.fixture
def branch(shop: Any, like: Callable[..., None]) -> Any:
    like(shop, "both-sides", lambda: both_sides(shop))
    return shop


def both_sides(shop: Any) -> None:
    """Settings and files of many sorts, and a branch that changes them."""
    shop.commit(**{".reviewbot.toml": "max_findings = 7\n", ".reviewbot/workers/own.toml": "base\n"})
    shop.git("checkout", "--quiet", "-b", "feature")
    shop.write("latin.txt", b"caf\xe9\r\n")
    shop.write("bin", b"a\0b")
    shop.write("large.txt", b"x" * (2 * 2**20 + 1))
    (shop.folder / "link").symlink_to("app.py")
    (shop.folder / "folder").symlink_to("pkg")
    shop.write("pkg/mod.py", "x = 1\n")
    shop.commit(
        app_py="changed\n",
        **{".reviewbot.toml": "max_findings = 1\n", ".reviewbot/workers/evil.toml": "head\n"},
    )


@pytest.fixture
def snapshot(branch: Any, client: GithubClient, opened: MakePullRequest) -> GithubSnapshot:
    pull = opened()
    return GithubSnapshot(client, pull)


def test_files_of_both_sides_are_read_by_name(snapshot: GithubSnapshot) -> None:
    assert snapshot.head("app.py") == "changed\n"
    assert (snapshot.base("app.py") or "").startswith("line 1\n")
    assert snapshot.head("README") == "a shop\n"
    assert snapshot.head("pkg/mod.py") == "x = 1\n"
    assert snapshot.head("latin.txt") == "caf\ufffd\r\n"


@pytest.mark.parametrize("path", ["bin", "large.txt", "link", "folder/mod.py", "pkg", "nothing", "../app.py", ""])
def test_what_is_no_regular_text_file_is_none(path: str, snapshot: GithubSnapshot) -> None:
    assert snapshot.head(path) is None


def test_each_object_is_asked_for_once(github_api: FakeGitHub, snapshot: GithubSnapshot) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert {*pool.map(snapshot.head, ["app.py"] * 16)} == {"changed\n"}

    asked = [path for path in github_api.paths("GET") if "/git/" in path]
    assert len(asked) == len(set(asked)) == 2


def test_the_old_side_of_a_changed_file_needs_no_request_of_its_own(
    github_api: FakeGitHub, branch: Any, client: GithubClient, opened: MakePullRequest
) -> None:
    pull = opened()
    found = read_change(client, pull)
    snapshot = GithubSnapshot(client, pull, merge_base=found.merge_base, change=found.change)
    before = len(github_api.recorded)

    assert (snapshot.base("app.py") or "").startswith("line 1\n")
    assert len(github_api.recorded) == before + 2


def test_the_old_side_is_that_of_the_merge_base(branch: Any, client: GithubClient, opened: MakePullRequest) -> None:
    branch.git("checkout", "--quiet", "main")
    branch.commit(app_py="main went on\n", README="another\n")
    branch.git("checkout", "--quiet", "feature")
    with ExitStack() as closing:
        hosted = GithubHost(client).change(opened(), Workspace({}, None, closing))

    assert (hosted.snapshot.base("app.py") or "").startswith("line 1\n")
    assert hosted.snapshot.base("README") == "a shop\n"
    assert hosted.snapshot.base_file("README") == "another\n"


def odd_sides(shop: Any) -> None:
    """Files whose old side follows from the new one, and files where it does not."""
    lines = "".join(f"value_{number} = {number}\n" for number in range(30))
    old = {"edited.py": lines, "moved.py": lines.upper(), "gone.py": "away\n", "kept.py": "x\n", "swapped.py": "y\n"}
    shop.write("bytes.txt", b"caf\xe9\r\nas it was\r\n")
    shop.write("long.js", "x" * 30_000 + "\n")
    shop.write("was.bin", b"\0\1")
    shop.commit(old)
    shop.git("checkout", "--quiet", "-b", "odd")
    shop.git("rm", "--quiet", "gone.py")
    shop.git("mv", "moved.py", "there.py")
    shop.write("bytes.txt", b"caf\xe9\r\nas it is")
    shop.write("was.bin", "text now\n")
    shop.write("long.js", "y" * 30_000 + "\n")
    (shop.folder / "swapped.py").chmod(0o755)
    shop.commit(**{"edited.py": lines.replace("_7", "_seven"), "there.py": lines.upper() + "MORE\n", "new.py": "new\n"})


def test_the_old_side_of_every_sort_of_file_is_what_git_has_there(
    shop: Any, like: Callable[..., None], client: GithubClient, opened: MakePullRequest
) -> None:
    like(shop, "odd-sides", lambda: odd_sides(shop))
    snapshot = subject_of(client, opened()).snapshot
    names = shop.git("ls-tree", "-r", "--name-only", "main").split("\n")
    there = {name: shop.output("show", f"main:{name}") for name in names}

    assert {name: snapshot.base(name) for name in (*names, "new.py", "there.py")} == {
        **{name: data.decode("utf-8", "replace") for name, data in there.items()},
        "was.bin": None,
        "new.py": None,
        "there.py": None,
    }


def test_without_a_place_for_the_tree_there_are_no_uses_and_no_list(snapshot: GithubSnapshot) -> None:
    assert snapshot.search("line", 5) is None
    assert snapshot.files() is None
    assert dict(snapshot.contents(["app.py"])) == {}
    assert snapshot.read_warnings() == ()


def test_settings_cards_and_prompts_come_from_the_base_branch(snapshot: GithubSnapshot) -> None:
    assert repository_settings(snapshot) == "max_findings = 7\n"
    assert repository_workers(snapshot) == {"workers/own.toml": "base\n"}
    assert snapshot.base_listing("nothing/here") == ()


def organisation(github_api: FakeGitHub, make_repo: Callable[..., Any]) -> Path:
    """acme/.github with settings."""
    repo = make_repo("organisation")
    repo.commit(**{".reviewbot.toml": "max_findings = 3\n"})
    github_api.add_repository("acme/.github", repo.folder)
    folder: Path = repo.folder
    return folder


def subject_of(client: GithubClient, pull: PullRequest) -> Subject:
    with ExitStack() as closing:
        hosted = GithubHost(client).change(pull, Workspace({}, None, closing))
    return Subject(hosted.change, hosted.digest, hosted.snapshot, hosted.snapshot, hosted.notes)


def test_the_organisations_settings_hold_where_the_repository_has_none(
    github_api: FakeGitHub, shop: Any, client: GithubClient, opened: MakePullRequest, make_repo: Callable[..., Any]
) -> None:
    organisation(github_api, make_repo)
    shop.git("checkout", "--quiet", "-b", "feature")
    shop.commit(**{".reviewbot.toml": "max_findings = 1\n"})

    subject = subject_of(client, opened())

    assert settings_for(subject.base, {}, {}).max_findings == 3
    assert notes_on(subject)[0] == ".reviewbot.toml is that of the owner's .github repository; this one has none"


def test_the_repositorys_own_settings_come_first(
    github_api: FakeGitHub, branch: Any, client: GithubClient, opened: MakePullRequest, make_repo: Callable[..., Any]
) -> None:
    organisation(github_api, make_repo)
    subject = subject_of(client, opened())

    assert settings_for(subject.base, {}, {}).max_findings == 7
    assert subject.notes == ()
    assert not any("/.github/" in path for path in github_api.paths("GET"))


@pytest.mark.parametrize(
    "reply",
    [
        missing_permission("contents", "read"),
        Reply(404, {"message": "Not Found"}),
        Reply(200, [{"type": "dir"}]),
        Reply(200, {"type": "symlink", "encoding": "base64", "content": "YQ=="}),
        Reply(200, {"type": "file", "encoding": "none", "content": ""}),
    ],
)
def test_an_organisation_without_settings_for_us_has_none(
    reply: Reply, github_api: FakeGitHub, shop: Any, client: GithubClient, opened: MakePullRequest
) -> None:
    github_api.refuse("GET", "/.github/", reply)
    pull = opened()

    assert GithubSnapshot(client, pull).base_file(".reviewbot.toml") is None


def test_settings_that_cannot_be_read_end_the_run(
    github_api: FakeGitHub, shop: Any, client: GithubClient, opened: MakePullRequest
) -> None:
    pull = opened()
    github_api.refuse("GET", "/.github/", secondary_limit(9_999))
    with pytest.raises(HostLimitError):
        GithubSnapshot(client, pull).base_file(".reviewbot.toml")
    github_api.refuse("GET", "/git/trees/", server_error(), times=4)
    with pytest.raises(HostError):
        GithubSnapshot(client, pull).base_file(".reviewbot.toml")


def test_the_organisations_own_repository_asks_itself_once(
    github_api: FakeGitHub, shop: Any, client: GithubClient
) -> None:
    github_api.add_repository("acme/.github", shop.folder)
    github_api.open_pull("acme/.github", "main", "main")
    pull = read_pull(client, "acme/.github", 1)

    assert GithubSnapshot(client, pull).base_file(".reviewbot.toml") is None
    assert not any("/contents/" in path for path in github_api.paths("GET"))


def test_a_file_that_cannot_be_read_is_absent_and_github_is_left_alone(
    github_api: FakeGitHub, snapshot: GithubSnapshot
) -> None:
    github_api.refuse("GET", "/git/blobs/", secondary_limit(9_999))

    assert snapshot.head("app.py") is None
    assert "limit of requests" in snapshot.failures[0]
    before = len(github_api.recorded)
    assert snapshot.head("README") is None
    assert len(github_api.recorded) == before


def test_a_repository_with_too_many_files_is_read_folder_by_folder(
    github_api: FakeGitHub, snapshot: GithubSnapshot
) -> None:
    github_api.refuse("GET", "/git/trees/", Reply(200, {"tree": [], "truncated": True}), times=1)

    assert snapshot.head("pkg/mod.py") == "x = 1\n"
    assert snapshot.head("folder/mod.py") is None
    assert snapshot.head("none/at/all") is None


def test_a_folder_of_such_a_repository_is_listed(github_api: FakeGitHub, snapshot: GithubSnapshot) -> None:
    github_api.refuse("GET", "/git/trees/", Reply(200, {"tree": [], "truncated": True}), times=1)

    assert snapshot.base_listing(".reviewbot/workers") == (".reviewbot/workers/own.toml",)
    assert snapshot.base_listing(".reviewbot/prompts") == ()


@pytest.mark.parametrize("data", [{"tree": "odd"}, [], {"tree": [{"path": 1, "mode": 2}, "odd"]}])
def test_an_odd_tree_holds_nothing(data: object, github_api: FakeGitHub, snapshot: GithubSnapshot) -> None:
    github_api.refuse("GET", "/git/trees/", Reply(200, data))

    assert snapshot.head("app.py") is None


def test_an_odd_blob_is_no_text(github_api: FakeGitHub, snapshot: GithubSnapshot) -> None:
    github_api.refuse("GET", "/git/blobs/", Reply(200, {"encoding": "utf-16"}))

    assert snapshot.head("app.py") is None
    assert decode_text("%%%") is None
    assert decode_text("a") is None
    assert decode_text(3) is None
    assert decode_text(base64.b64encode(b"x" * (2 * 2**20 + 1)).decode()) is None


BRANCHES = ("submodule", "link_to_a_folder", "links_to_files", "copied_folder", "other_case")
"""Of the ways to plant: nothing is checked out here, so that others make no difference."""


def planted(shop: Any) -> None:
    """A branch for each way to plant cards, all from one base."""
    start(shop)
    for name in BRANCHES:
        shop.git("checkout", "--quiet", "--force", "-b", name, "main")
        PLANTS[name](shop)
        shop.commit()
        for left in (shop.folder / ".reviewbot", shop.folder.parent / "kit", shop.folder / ".git/modules"):
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left)


@pytest.mark.parametrize("side", ["head", "base"])
def test_a_branch_plants_no_cards_and_settings(
    side: str, github_api: FakeGitHub, shop: Any, like: Callable[..., None], client: GithubClient
) -> None:
    """Files of the base branch count, but for what lies behind its links and in its submodules."""
    like(shop, "planted", lambda: planted(shop))
    for plant in BRANCHES if side == "head" else BRANCHES[:3]:
        base, head = ("main", plant) if side == "head" else (plant, "main")
        number = github_api.open_pull("acme/shop", base, head).number
        snapshot = GithubSnapshot(client, read_pull(client, "acme/shop", number))

        assert (plant, repository_workers(snapshot), repository_settings(snapshot)) == (plant, {}, None)
