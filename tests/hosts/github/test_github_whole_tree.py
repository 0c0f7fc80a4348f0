"""The whole tree of a head: listed by the API, fetched once, checked file by file by its hash."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from reviewbot.domain.ports import Occurrence, RepositorySnapshot
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.files.snapshot import NO_TREE, GithubSnapshot
from reviewbot.hosts.github.files.stores import checkout_files
from reviewbot.hosts.github.files.whole_tree import FEW_FILES, TreeStore
from reviewbot.llm.tools import RepositoryTools
from reviewbot.sources.blobs.store import BlobStore
from tests.github_api import FakeGitHub
from tests.github_api.routes import Reply
from tests.make import MakePullRequest

FILES = {f"src/f{number:03}.py": f"value_{number} = {number}\n" for number in range(FEW_FILES + 20)}


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "trees")


@pytest.fixture
def branch(shop: Any, like: Callable[..., None]) -> Any:
    """A branch with more files than are read one by one, on a base without them."""

    def build() -> None:
        shop.git("checkout", "--quiet", "-b", "feature")
        for name, text in FILES.items():
            shop.write(name, text)
        shop.commit(app_py="word = 1\n")

    like(shop, "whole-tree", build)
    return shop


@pytest.fixture
def snapshot(client: GithubClient, opened: MakePullRequest, store: BlobStore) -> Callable[..., GithubSnapshot]:
    """The snapshot of the branch that is checked out, with a place for its files."""

    def make(checkout: Callable[[Iterable[str]], Iterator[bytes]] | None = None) -> GithubSnapshot:
        kept = store.repository("api", 1)
        place = TreeStore(kept, checkout) if checkout else TreeStore(kept)
        found = GithubSnapshot(client, opened(), place=lambda: place)
        as_port: RepositorySnapshot = found
        assert as_port is found
        return found

    return make


def asked(github_api: FakeGitHub, part: str) -> int:
    return sum(part in path for path in github_api.paths("GET"))


def test_every_file_of_the_head_is_at_hand_after_one_archive(
    github_api: FakeGitHub, branch: Any, snapshot: Callable[..., GithubSnapshot]
) -> None:
    found = snapshot()

    assert found.files() == ("README", "app.py", *sorted(FILES))
    assert dict(found.contents(["src/f007.py", "no.py", "app.py"])) == {
        "src/f007.py": b"value_7 = 7\n",
        "app.py": b"word = 1\n",
    }
    assert found.search("value_7", 9) == (Occurrence("src/f007.py", 1, "value_7 = 7"),)
    assert found.search("README", 9) == found.search("a b", 9) == ()
    assert len(found.search("value_1", 0) or ()) == 0
    assert len(found.search("line", 7) or ()) == 0
    assert len(found.search("word", 1) or ()) == 1
    assert found.head("src/f008.py") == "value_8 = 8\n"
    assert (asked(github_api, "/tarball/"), asked(github_api, "/git/blobs/")) == (1, 0)
    assert found.read_warnings() == ()
    assert found.read_warnings() == ()
    github_api.check()


def test_nothing_is_fetched_before_somebody_asks(
    github_api: FakeGitHub, branch: Any, snapshot: Callable[..., GithubSnapshot]
) -> None:
    found = snapshot()

    assert found.head("app.py") == "word = 1\n"
    assert asked(github_api, "/tarball/") == 0


def test_the_next_head_costs_only_what_is_new_in_it(
    github_api: FakeGitHub, branch: Any, snapshot: Callable[..., GithubSnapshot]
) -> None:
    snapshot().files()
    branch.commit(app_py="other = 2\n")
    found = snapshot()

    assert found.search("other", 9) == (Occurrence("app.py", 1, "other = 2"),)
    assert asked(github_api, "/tarball/") == 1


def test_files_of_the_base_that_the_head_has_too_are_not_asked_for(
    github_api: FakeGitHub, branch: Any, snapshot: Callable[..., GithubSnapshot]
) -> None:
    found = snapshot()
    found.files()
    before = asked(github_api, "/git/blobs/")

    assert found.base("README") == "a shop\n"
    assert asked(github_api, "/git/blobs/") == before


def test_what_attributes_of_the_head_hide_or_alter_is_repaired_by_its_hash(
    github_api: FakeGitHub, branch: Any, snapshot: Callable[..., GithubSnapshot]
) -> None:
    attributes = "hidden.py export-ignore\nstamp.py export-subst\n*.bat text eol=crlf\nident.py ident\n"
    branch.write("hidden.py", "evil = 1\n")
    branch.write("stamp.py", "x = '$Format:%H$'\n")
    branch.write("run.bat", "echo 1\n")
    branch.write("ident.py", "y = '$Id$'\n")
    branch.commit({".gitattributes": attributes})
    found = snapshot()

    assert dict(found.contents(["hidden.py", "stamp.py", "run.bat", "ident.py"])) == {
        "hidden.py": b"evil = 1\n",
        "stamp.py": b"x = '$Format:%H$'\n",
        "run.bat": b"echo 1\n",
        "ident.py": b"y = '$Id$'\n",
    }
    assert asked(github_api, "/tarball/") == 1
    assert found.read_warnings() == ()


def test_what_cannot_be_had_is_named_and_a_search_then_tells_nothing_for_sure(
    github_api: FakeGitHub, branch: Any, snapshot: Callable[..., GithubSnapshot]
) -> None:
    github_api.state.graphql = False
    branch.write("hidden.py", "evil = 1\n")
    branch.commit({".gitattributes": "hidden.py export-ignore\n"})
    github_api.refuse("GET", "/git/blobs/", Reply(404, {"message": "Not Found"}), times=9)
    found = snapshot()

    assert "hidden.py" in (found.files() or ())
    assert "1 file could not be read (hidden.py)" in found.read_warnings()[0]
    assert found.search("evil", 9) is None
    [note] = found.read_warnings()
    assert note == (
        "these files of the head could not be fetched, and were not searched; 1 file could not be read (hidden.py)"
    )


def test_links_submodules_binaries_and_large_files_are_no_text(
    branch: Any, snapshot: Callable[..., GithubSnapshot], store: BlobStore
) -> None:
    branch.write("binary", b"a\0b")
    branch.write("large", b"x" * (2 * 2**20 + 1))
    (branch.folder / "link").symlink_to("/etc/passwd")
    head = branch.git("rev-parse", "HEAD")
    branch.git("update-index", "--add", "--cacheinfo", f"160000,{head},module")
    branch.commit(a_py="1\n")
    found = snapshot()

    names = found.files() or ()
    assert {"binary", "large"} <= set(names)
    assert not {"link", "module"} & set(names)
    assert dict(found.contents(["binary", "large", "link", "module", "../a.py", "/etc/passwd"])) == {}
    assert found.read_warnings() == ()


def test_a_checkout_that_is_there_anyway_saves_the_archive_and_is_believed_by_hash_alone(
    github_api: FakeGitHub, branch: Any, snapshot: Callable[..., GithubSnapshot]
) -> None:
    def checkout(wanted: Iterable[str]) -> Iterator[bytes]:
        yield b"a lie"
        for sha in wanted:
            yield branch.output("cat-file", "blob", sha)

    found = snapshot(checkout)

    assert found.head("src/f001.py") == "value_1 = 1\n"
    assert dict(found.contents(["src/f001.py"])) == {"src/f001.py": b"value_1 = 1\n"}
    assert asked(github_api, "/tarball/") == 0


def test_several_reviews_at_once_fetch_one_archive(
    github_api: FakeGitHub, branch: Any, snapshot: Callable[..., GithubSnapshot]
) -> None:
    made = [snapshot() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda each: each.search("value_3", 9), made))

    assert found == [(Occurrence("src/f003.py", 1, "value_3 = 3"),)] * 4
    assert asked(github_api, "/tarball/") == 1


@pytest.mark.parametrize(
    ("pattern", "reply", "why"),
    [
        ("/tarball/", Reply(403, {"message": "Resource not accessible by integration"}), "not accessible"),
        ("/tarball/", Reply(302, None, {"location": "https://evil.example/x"}), "a host that is not its own"),
        ("/_codeload/", Reply(503, {}), "the archive of the commit did not come"),
        ("/_codeload/", Reply(200, gzip.compress(b"x" * 3_000, mtime=0)), "no tar file"),
        ("/_codeload/", Reply(200, b"\x1f\x8b"), "ends in the middle"),
        ("/_codeload/", Reply(200, lost=True), "did not come"),
        ("/git/trees/", Reply(200, {"sha": "x", "tree": [], "truncated": True}), "lists not all files"),
        ("/git/trees/", Reply(404, {"message": "Not Found"}), "it does not exist"),
    ],
)
def test_where_the_tree_cannot_be_had_that_is_said_and_files_are_read_one_by_one(
    github_api: FakeGitHub, branch: Any, snapshot: Callable[..., GithubSnapshot], pattern: str, reply: Reply, why: str
) -> None:
    github_api.refuse("GET", pattern, reply)
    found = snapshot()

    assert found.files() is None
    assert found.search("word", 9) is None
    assert list(found.contents(["app.py"])) == []
    assert why in found.read_warnings()[0]
    assert found.read_warnings()[-1].startswith(NO_TREE)
    assert found.head("app.py") == "word = 1\n"


@pytest.mark.slow
def test_the_archive_of_another_commit_is_repaired_or_refused(
    github_api: FakeGitHub, branch: Any, snapshot: Callable[..., GithubSnapshot]
) -> None:
    github_api.state.graphql = False
    other = branch.output("archive", "--format=tar.gz", "main")
    github_api.refuse("GET", "/_codeload/", Reply(200, other))
    found = snapshot()

    assert found.files() is None
    assert "its archive holds other ones" in found.read_warnings()[0]


def test_a_tree_that_is_too_large_is_not_fetched(
    github_api: FakeGitHub, branch: Any, client: GithubClient, opened: MakePullRequest, tmp_path: Path
) -> None:
    small = BlobStore(tmp_path / "small", max_bytes=100)
    found = GithubSnapshot(client, opened(), place=lambda: TreeStore(small.repository(1)))
    rows = [{"path": f"f{n}", "mode": "100644", "type": "blob", "sha": f"{n:040x}", "size": 2**20} for n in range(600)]
    huge = GithubSnapshot(client, opened(), place=lambda: TreeStore(small.repository(1)))

    assert found.files() is None
    assert "too much for" in found.read_warnings()[0]
    github_api.refuse("GET", "/git/trees/", Reply(200, {"sha": "x", "tree": rows, "truncated": False}))
    assert huge.files() is None
    assert "more than 512 MiB" in huge.read_warnings()[0]
    assert asked(github_api, "/tarball/") == 0


def test_names_that_leave_the_tree_and_hashes_that_are_none_lead_nowhere(
    github_api: FakeGitHub, branch: Any, snapshot: Callable[..., GithubSnapshot]
) -> None:
    sha = branch.git("rev-parse", "HEAD:app.py")
    rows = [
        {"path": "../../etc/passwd", "mode": "100644", "type": "blob", "sha": sha, "size": 9},
        {"path": "app.py", "mode": "100644", "type": "blob", "sha": sha, "size": 9},
        {"path": "x.py", "mode": "100644", "type": "blob", "sha": "../../x", "size": 9},
    ]
    github_api.refuse("GET", "/git/trees/", Reply(200, {"sha": "x", "tree": rows, "truncated": False}))
    tools = RepositoryTools(snapshot())

    assert tools.view.files == ("../../etc/passwd", "app.py")
    assert not Path("/etc/passwd").read_bytes().startswith(b"word")


def test_a_folder_that_cannot_be_used_is_said(client: GithubClient, branch: Any, opened: MakePullRequest) -> None:
    def refuse() -> TreeStore:
        raise PermissionError(13, "Permission denied")

    found = GithubSnapshot(client, opened(), place=refuse)

    assert found.files() is None
    assert found.read_warnings() == (
        f"{NO_TREE}: the folder for files of repositories cannot be used: Permission denied",
    )


def test_a_search_that_takes_too_long_tells_nothing(branch: Any, snapshot: Callable[..., GithubSnapshot]) -> None:
    tree = snapshot()._tree
    assert tree is not None

    assert tree.search("word", 9, seconds=-1.0) is None


def test_the_files_of_a_checkout_are_found_by_their_hash(branch: Any, tmp_path: Path) -> None:
    names = [branch.git("rev-parse", f"HEAD:{name}") for name in ("app.py", "README")]

    assert list(checkout_files(branch.folder, ["0" * 40, *names])) == [b"word = 1\n", b"a shop\n"]
    assert list(checkout_files(branch.folder, ["0" * 40] * 300 + names)) == []
    assert list(checkout_files(tmp_path / "no", names)) == []
