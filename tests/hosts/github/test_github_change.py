"""The change of a pull request: by diff, by list, by comparison; and what GitHub withheld, by name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.errors import (
    HostAccessError,
    HostError,
    HostLimitError,
    HostMovedError,
    InputError,
)
from reviewbot.hosts.base import PullRequest, ReadChange
from reviewbot.hosts.github.change import _check_counts, read_change
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.pull import read_pull
from tests.github_api import FakeGitHub, Reply
from tests.github_api.refusals import missing_permission, not_found, secondary_limit, server_error
from tests.make import MakePullRequest


@pytest.fixture
def branch(shop: Any, like: Callable[..., None]) -> Any:
    """A branch with every sort of change, while main went on."""
    like(shop, "every-sort", lambda: every_sort(shop))
    return shop


def every_sort(shop: Any) -> None:
    shop.write("old.py", "".join(f"value_{n} = {n}\n" for n in range(30)))
    shop.write("gone.txt", "away\n")
    shop.write("logo.png", b"\x89PNG\0\1")
    shop.write("moved.txt", "as it was\n" * 20)
    shop.commit()
    shop.git("checkout", "--quiet", "-b", "feature")
    shop.git("mv", "old.py", "new name.py")
    shop.git("mv", "moved.txt", "there.txt")
    shop.git("rm", "--quiet", "gone.txt")
    shop.write("new name.py", "".join(f"value_{n} = {n}\n" for n in range(29)) + "value_29 = 30\n")
    shop.write("logo.png", b"\x89PNG\0\2")
    shop.write('naïve "q".py', "print('x')")
    shop.write("empty.py", "")
    (shop.folder / "link").symlink_to("/proc/self/environ")
    shop.commit(app_py="".join(f"line {n}\n" for n in range(2, 42)))
    shop.git("checkout", "--quiet", "main")
    shop.commit(OTHER="main went on\n")
    shop.git("checkout", "--quiet", "feature")


def states(change: ChangeSet) -> dict[str, tuple[str, str, int, int]]:
    """By path: state, status, added and removed lines."""
    return {
        file.path: (parsed.state, file.status, file.added, file.removed)
        for file, parsed in zip(change.files, change.parsed, strict=True)
    }


WHOLE = {
    "app.py": ("read", "modified", 1, 1),
    "empty.py": ("read", "added", 0, 0),
    "gone.txt": ("read", "deleted", 0, 1),
    "link": ("read", "added", 1, 0),
    "logo.png": ("binary", "modified", 0, 0),
    'naïve "q".py': ("read", "added", 1, 0),
    "new name.py": ("read", "renamed", 1, 1),
    "there.txt": ("read", "renamed", 0, 0),
}


def test_the_diff_is_read_as_git_wrote_it(
    github_api: FakeGitHub, branch: Any, client: GithubClient, opened: MakePullRequest
) -> None:
    pull = opened(title="T", body="B")

    found = read_change(client, pull)

    assert states(found.change) == WHOLE
    assert (found.change.title, found.change.description) == ("T", "B")
    assert (found.change.base_sha, found.change.head_sha) == (pull.base_sha, pull.head_sha)
    assert (found.merge_base, found.notes) == (branch.git("rev-parse", "main~1"), ())
    diff = branch.output("-c", "core.quotePath=true", "diff", "-M", "main...feature")
    assert found.digest == hashlib.sha256(diff).hexdigest()


def test_above_githubs_limit_the_list_of_files_gives_the_same(
    github_api: FakeGitHub, branch: Any, client: GithubClient, opened: MakePullRequest
) -> None:
    pull = opened()
    whole = read_change(client, pull)
    github_api.state.max_diff_files = 7

    found = read_change(client, pull)

    assert states(found.change) == WHOLE
    assert [f.hunks for f in found.change.files] == [f.hunks for f in whole.change.files]
    assert [f.old_path for f in found.change.files] == [f.old_path for f in whole.change.files]
    assert {f.path: f.mode for f in found.change.files}["link"] == "120000"
    assert found.notes == ("GitHub gave no diff (it is too large); the change was put together from its list of files",)
    assert read_change(client, pull).digest == found.digest


@pytest.mark.usefixtures("branch")
@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (server_error(500), "GitHub failed to make it"),
        (Reply(422, {"message": "odd", "errors": [{"code": "too_large"}]}), "it is too large"),
        (Reply(406, {"message": "odd"}), "GitHub refuses it"),
        (Reply(200, {"number": 1}), "this server knows no diffs"),
    ],
)
def test_whatever_keeps_github_from_giving_a_diff_the_list_is_read(
    reply: Reply, why: str, github_api: FakeGitHub, client: GithubClient, opened: MakePullRequest
) -> None:
    pull = opened()
    github_api.refuse("GET", "pulls/1$", reply, times=4 if reply.status == 500 else 1)

    found = read_change(client, pull)

    assert states(found.change) == WHOLE
    assert found.notes[0].startswith(f"GitHub gave no diff ({why})")


@pytest.mark.usefixtures("branch")
@pytest.mark.parametrize(
    ("reply", "error"),
    [(missing_permission("pull_requests", "read"), HostAccessError), (secondary_limit(9_999), HostLimitError)],
)
def test_a_missing_permission_or_a_limit_is_no_reason_to_try_another_way(
    reply: Reply, error: type[HostError], github_api: FakeGitHub, client: GithubClient, opened: MakePullRequest
) -> None:
    pull = opened()
    github_api.refuse("GET", "pulls/1$", reply)

    with pytest.raises(error):
        read_change(client, pull)


def test_where_the_list_has_no_text_the_comparison_is_read(
    github_api: FakeGitHub, branch: Any, client: GithubClient, opened: MakePullRequest
) -> None:
    pull = opened()
    github_api.state.max_diff_files = 0
    github_api.refuse("GET", "files$", Reply(200, []))

    found = read_change(client, pull)

    assert states(found.change) == WHOLE
    assert found.notes[1] == "GitHub lists no text of the changed files; its comparison of the two commits was read"


def test_a_file_whose_text_is_withheld_is_named_with_its_reason(
    github_api: FakeGitHub, branch: Any, client: GithubClient, opened: MakePullRequest
) -> None:
    branch.commit(big_py="".join(f"{n}\n" for n in range(60)))
    github_api.state.max_diff_files, github_api.state.max_patch_lines = 0, 50

    found = read_change(client, opened())

    state = {parsed.path: parsed for parsed in found.change.parsed}["big.py"]
    assert state.state == "over_budget"
    assert state.reason == "GitHub withholds the text of this change, which is too large for it (+60 -0 lines)"


@pytest.mark.slow
def test_files_beyond_the_list_stand_in_the_coverage_as_one_entry(
    github_api: FakeGitHub, shop: Any, client: GithubClient, opened: MakePullRequest
) -> None:
    files = "".join(f"M 100644 inline pkg/f{number:04}.txt\ndata 2\nx\n\n" for number in range(3_001))
    author = "committer A <a@example.invalid> 0 +0000\ndata 1\nx\nfrom refs/heads/main^0\n"
    shop.git("fast-import", "--quiet", given=f"commit refs/heads/wide\n{author}{files}\n".encode())
    shop.git("symbolic-ref", "HEAD", "refs/heads/wide")

    found = read_change(client, opened())

    assert len(found.change.files) == 3_001
    last = found.change.parsed[-1]
    assert (last.path, last.state) == ("(1 more changed file)", "over_budget")
    assert last.reason == "GitHub counts 3,001 changed files and names 3000: it lists no more than 3,000"
    assert found.notes[-1].endswith("; the others were not reviewed")
    assert sum(path.endswith("/files") for path in github_api.paths("GET")) == 30


def counted(client: GithubClient, pull: PullRequest, **fields: Any) -> ReadChange:
    """The change as it is where GitHub counts otherwise."""
    found, notes = read_change(client, pull), list[str]()
    there = replace(read_pull(client, pull.repository, pull.number), **fields)
    return replace(found, change=_check_counts(found.change, there, notes), notes=tuple(notes))


@pytest.mark.usefixtures("branch")
def test_counts_that_differ_from_githubs_are_told(client: GithubClient, opened: MakePullRequest) -> None:
    pull = opened()

    assert counted(client, pull, additions=99).notes == ("GitHub counts 99 added lines; its diff shows 4",)
    assert counted(client, pull, deletions=0).notes == ("GitHub counts 0 removed lines; its diff shows 3",)
    assert counted(client, pull, changed_files=7).notes == ("GitHub counts 7 changed files; found: 8",)
    missing = counted(client, pull, changed_files=10)
    assert missing.change.parsed[-1].path == "(2 more changed files)"
    assert missing.change.parsed[-1].reason == "GitHub counts 10 changed files and names 8"


def test_a_head_that_moves_while_it_is_read_is_refused(
    github_api: FakeGitHub, branch: Any, client: GithubClient, opened: MakePullRequest
) -> None:
    pull = opened()
    moved = branch.commit(app_py="other\n")
    github_api.push("acme/shop", 1, moved)

    with pytest.raises(HostMovedError, match="moved while it was read") as raised:
        read_change(client, pull)
    assert raised.value.head_sha == moved


def test_a_change_without_files_is_nothing_to_review(client: GithubClient, shop: Any, opened: MakePullRequest) -> None:
    with pytest.raises(InputError, match="changes no file"):
        read_change(client, opened())


@pytest.mark.usefixtures("branch")
def test_what_is_no_diff_is_not_taken_for_an_empty_one(
    github_api: FakeGitHub, client: GithubClient, opened: MakePullRequest
) -> None:
    pull = opened()
    github_api.refuse("GET", "pulls/1$", Reply(200, b"<html>a proxy</html>"))

    with pytest.raises(HostError, match="diff cannot be read"):
        read_change(client, pull)


@pytest.mark.usefixtures("branch")
@pytest.mark.parametrize("reply", [not_found(), Reply(200, {}), Reply(200, [])])
def test_without_a_merge_base_the_base_itself_counts(
    reply: Reply, github_api: FakeGitHub, client: GithubClient, opened: MakePullRequest
) -> None:
    pull = opened()
    github_api.refuse("GET", "/compare/", reply)

    assert read_change(client, pull).merge_base == pull.base_sha
