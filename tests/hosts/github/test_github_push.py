"""What a push brought, where GitHub may not have told all of it."""

from __future__ import annotations

import os
from typing import Any

import pytest

from reviewbot.domain.errors import HostError
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.push import MAX_COMPARED, read_push
from tests.github_api import FakeGitHub, Reply
from tests.make import MakePullRequest


@pytest.mark.parametrize("files", [[{}] * 2, [{}] * MAX_COMPARED, [{"filename": "other"}], None])
def test_a_push_of_which_the_diff_may_lack_a_file_is_not_known(
    files: Any, client: GithubClient, opened: MakePullRequest, github_api: FakeGitHub
) -> None:
    pull = opened()
    github_api.refuse("GET", "/compare/", Reply(200, {"status": "ahead", "commits": [], "files": files}))

    with pytest.raises(HostError, match="name other files"):
        read_push(client, pull, pull.base_sha)


def test_a_push_whose_diff_shows_all_files_is_known(client: GithubClient, opened: MakePullRequest, shop: Any) -> None:
    shop.git("checkout", "--quiet", "-b", "pushed")
    earlier = shop.git("rev-parse", "HEAD")
    shop.commit({"pushed.py": "x = 1\n"})

    push = read_push(client, opened(), earlier)

    assert push is not None
    assert [file.path for file in push.change.files] == ["pushed.py"]


def test_a_push_of_a_file_whose_name_is_no_utf_8_is_not_known(
    client: GithubClient, opened: MakePullRequest, shop: Any
) -> None:
    shop.git("checkout", "--quiet", "-b", "pushed")
    earlier = shop.git("rev-parse", "HEAD")
    (shop.folder / os.fsdecode(b"caf\xe9.py")).write_bytes(b"x = 1\n")
    shop.git("add", "-A")
    shop.git("commit", "--quiet", "-m", "pushed")

    with pytest.raises(HostError, match="name other files"):
        read_push(client, opened(), earlier)
