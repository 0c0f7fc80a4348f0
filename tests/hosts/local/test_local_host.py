"""What only a local host has: its files, their errors, their locks, and where threads go when the head moves on."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.cli.main import main
from reviewbot.domain.errors import (
    HostAccessError,
    HostError,
    HostLimitError,
    HostMissingError,
    InputError,
)
from reviewbot.hosts.base import InlineComment, ReviewDraft
from reviewbot.hosts.local import store
from reviewbot.hosts.local.change import line_now
from reviewbot.hosts.local.host import open_host
from reviewbot.hosts.local.registration import repository_name
from reviewbot.hosts.pull_name import PullName
from reviewbot.hosts.registry import resolve_pull
from tests.git_repo import GitRepo
from tests.host_cases import AFTER, PERSON, LocalCase

RECORD = {"base": "main", "head": "feature"}
NO_BRANCHES = ("--upload-pack=x", "a..b", "a.", "a/", "/a", "a b", "a:b", "a^", "a~1", "a@{1}", "a\\b", ".a", "a\n")


# --- how it is named


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("local:/srv/shop.git#3", PullName("local/shop", 3, "/srv/shop.git")),
        ("local:/srv/a#b/shop#12", PullName("local/shop", 12, "/srv/a#b/shop")),
        ("local:/srv/shop/.git#1", PullName("local/shop", 1, "/srv/shop/.git")),
        ("local:/srv/my shop (2).git#1", PullName("local/my-shop-2", 1, "/srv/my shop (2).git")),
        ("local:/#1", PullName("local/repository", 1, "/")),
    ],
)
def test_a_name_has_a_path_and_a_number(text: str, expected: PullName) -> None:
    assert resolve_pull(text).name == expected


@pytest.mark.parametrize("text", ["local:#1", "local:/srv/shop", "local:/shop#0", "local:/srv/\x00#1", "local:a\n#1"])
def test_what_names_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="local:PATH#NUMBER"):
        resolve_pull(text)


@given(st.text(max_size=40))
def test_a_folder_of_any_name_gives_the_name_of_a_repository(name: str) -> None:
    found = repository_name(Path("/srv") / name.replace("/", "").replace("\0", ""))

    assert re.fullmatch(r"local/[A-Za-z0-9_-]{1,100}", found)


def test_a_relative_path_is_one_from_where_the_user_stands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")

    assert resolve_pull("local:.#1").name == PullName("local/shop", 1, ".")


# --- its files


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"head": "feature"}, "base: field required"),
        ({**RECORD, "bse": "x"}, "bse: extra inputs"),
        ({**RECORD, "draft": "no"}, "draft: input should be a valid boolean"),
        ({**RECORD, "number": 2}, "says that it is pull request 2"),
        ({**RECORD, "state": "gone"}, "state: input should be"),
        (["a list"], "it: input should be"),
        ({**RECORD, "head": "nowhere"}, "unknown revision 'refs/heads/nowhere'"),
        *(({**RECORD, "head": name}, "no name of a branch") for name in NO_BRANCHES),
    ],
)
def test_a_record_that_cannot_be_used_is_named_with_its_field(
    local_case: LocalCase, record: object, words: str
) -> None:
    local_case.write("1.json", record)

    with pytest.raises(HostError, match=re.escape(words)) as caught:
        local_case.pull()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("accounts", [["octocat"], {"octocat": 3}, "octocat"])
def test_accounts_of_another_form_are_named_with_their_file(local_case: LocalCase, accounts: object) -> None:
    local_case.write("accounts.json", accounts)

    with pytest.raises(HostError, match=r"accounts\.json must map the names of accounts"):
        local_case.host.may_write(local_case.repository, PERSON)


@pytest.mark.parametrize("text", ["", "{", '{"base": "a", "base": "b"}', "[" * 100_000, "\xff", '{"title": NaN}'])
def test_what_is_no_json_is_named_with_its_file(local_case: LocalCase, text: str) -> None:
    (local_case.folder / "1.json").write_text(text, "latin-1")

    with pytest.raises(HostError, match=r"pulls/1\.json cannot be"):
        local_case.pull()


def test_half_a_character_of_json_is_replaced(local_case: LocalCase) -> None:
    (local_case.folder / "1.json").write_text(
        '{"title": "a\\ud83d", "body": "x\\r\\ny", "base": "main", "head": "feature"}'
    )

    assert (local_case.pull().title, local_case.pull().description) == ("a\ufffd", "x\ny")


@pytest.mark.parametrize("name", ["1.json", "1.activity.json", "accounts.json"])
def test_a_link_a_pipe_or_a_folder_in_the_place_of_a_file_is_refused(
    local_case: LocalCase, name: str, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps(RECORD))
    place = local_case.folder / name
    for put in (place.symlink_to, lambda _: os.mkfifo(place), lambda _: place.mkdir()):
        if place.is_file():
            place.unlink()
        put(secret)
        with pytest.raises(HostError, match="is no regular file"):
            read_all(local_case)
        if place.is_symlink() or place.is_fifo():
            place.unlink()


def read_all(case: LocalCase) -> None:
    pull = case.pull()
    case.host.reviews(pull).threads()
    case.host.may_write(case.repository, PERSON)


def test_a_file_that_is_too_large_is_refused(local_case: LocalCase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_BYTES", 20)

    with pytest.raises(HostError, match="no regular file of at most"):
        local_case.pull()


def test_a_folder_of_pull_requests_that_is_a_link_is_refused(local_case: LocalCase, tmp_path: Path) -> None:
    local_case.folder.rename(tmp_path / "elsewhere")
    local_case.folder.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(HostError, match="pulls"):
        local_case.pull()


def test_a_repository_without_pull_requests_says_where_they_should_be(pay_repo: GitRepo) -> None:
    with open_host(PullName("local/shop", 1, str(pay_repo.folder)), {}) as host:
        with pytest.raises(HostMissingError, match=r"\.git/pulls is no folder"):
            host.pull_request("local/shop", 1)
        with pytest.raises(HostMissingError, match="this is local/shop"):
            host.pull_request("local/other", 1)


def test_a_folder_that_may_not_be_read_is_a_matter_of_access(
    local_case: LocalCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(store, "open_folder", refuse)  # root, as whom containers run tests, may read everything

    with pytest.raises(HostAccessError, match="pulls cannot be used: Permission denied"):
        local_case.pull()


def test_no_repository_is_an_error_of_the_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not inside a git repository"):
        open_host(PullName("local/x", 1, str(tmp_path)), {}).__enter__()


def test_a_number_that_no_marker_could_hold_is_refused(local_case: LocalCase) -> None:
    comment = {"id": 10**18 - 1, "author": "ann", "body": "Why?"}
    local_case.write("1.activity.json", {"comments": [comment]})

    with pytest.raises(HostError, match=r"comments\.0\.id"):
        local_case.host.reviews(local_case.pull()).post_review(ReviewDraft(local_case.pull().head_sha, "a body"))


def test_what_could_not_be_read_again_is_not_written(local_case: LocalCase, monkeypatch: pytest.MonkeyPatch) -> None:
    host = local_case.host.reviews(local_case.pull())
    first = host.post_review(ReviewDraft(local_case.pull().head_sha, "a body"))
    monkeypatch.setattr(store, "MAX_BYTES", 2_000)

    with pytest.raises(HostLimitError, match="more than"):
        host.post_review(ReviewDraft(local_case.pull().head_sha, "b" * 3_000))
    assert [each.review_id for each in host.reviews()] == [first.review_id]


def test_what_stands_on_the_host_of_others_is_kept(local_case: LocalCase) -> None:
    comment = {"id": 5, "author": "ann", "body": "Why?", "reactions": []}
    local_case.write("1.activity.json", {"comments": [comment], "labels": ["later"], "requested": ["bob"]})
    host = local_case.host.reviews(local_case.pull())
    posted = host.post_review(ReviewDraft(local_case.pull().head_sha, "a body"))
    host.react("issue", 5, "eyes")
    host.react("issue", 5, "eyes")
    local_case.host.request_people(local_case.repository, 1, "a person", ["cy"])

    found = local_case.read("1.activity.json")
    assert posted.review_id == 6
    assert found["comments"] == [{**comment, "reactions": ["eyes"]}]
    assert (found["labels"], found["requested"]) == (["later", "a person"], ["bob", "cy"])
    assert local_case.pull().labels == ("size/s", "later", "a person")
    with pytest.raises(HostMissingError, match="no comment 6"):
        host.react("review", 6, "eyes")


def test_an_unreadable_pull_request_hides_no_other_one(local_case: LocalCase) -> None:
    local_case.write("2.json", {"base": "main"})
    local_case.write("3.json", {**RECORD, "state": "closed"})
    local_case.write("04.json", RECORD)

    head = local_case.pull().head_sha
    assert [each.number for each in local_case.host.open_pulls(local_case.repository, head)] == [1]


# --- writing


def test_writers_at_once_lose_nothing(local_case: LocalCase) -> None:
    pull = local_case.pull()

    def write(number: int) -> None:
        local_case.host.reviews(pull).post_review(ReviewDraft(pull.head_sha, f"body {number}"))

    threads = [Thread(target=write, args=(number,)) for number in range(12)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    found = local_case.host.reviews(pull).reviews()
    assert sorted(each.body for each in found) == sorted(f"body {number}" for number in range(12))
    assert len({each.review_id for each in found}) == 12


def test_a_lock_that_is_never_let_go_is_named(local_case: LocalCase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "LOCK_S", 0.05)
    with (local_case.folder / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(HostLimitError, match=r"pulls/\.lock locked"):
            local_case.host.checks(local_case.repository, 1).start_check("reviewbot", "a" * 40)


def test_a_lock_that_is_a_link_writes_nothing_elsewhere(local_case: LocalCase, tmp_path: Path) -> None:
    (local_case.folder / ".lock").symlink_to(tmp_path / "made")

    with pytest.raises(HostError, match="cannot be used"):
        local_case.host.checks(local_case.repository, 1).start_check("reviewbot", "a" * 40)
    assert not (tmp_path / "made").exists()


def test_a_writer_that_was_killed_leaves_the_old_file_and_no_trace(
    local_case: LocalCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = local_case.host.reviews(local_case.pull())
    host.post_review(ReviewDraft(local_case.pull().head_sha, "first"))

    class KilledError(BaseException):
        pass

    def killed(*_: Any, **__: Any) -> None:
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        with pytest.raises(KilledError):
            host.edit_review(1, "second")
    assert [each.body for each in host.reviews()] == ["first"]

    host.edit_review(1, "third")
    assert [each.body for each in host.reviews()] == ["third"]
    assert sorted(path.name for path in local_case.folder.iterdir()) == [
        ".lock",
        "1.activity.json",
        "1.json",
        "accounts.json",
    ]


def test_nothing_is_written_where_the_change_breaks_off(local_case: LocalCase) -> None:
    folder = store.PullFolder(local_case.folder.parent)

    def add(number: int) -> None:
        with folder.editing(number) as activity:
            activity.labels.append("lost")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        add(1)
    assert folder.activity(1).labels == []
    with pytest.raises(HostMissingError):
        add(2)
    assert not (local_case.folder / "2.activity.json").exists()


def test_the_check_run_of_another_pull_request_is_none_of_this_one(local_case: LocalCase) -> None:
    with pytest.raises(HostMissingError, match="no check run 7"):
        local_case.host.checks(local_case.repository, 1).finish_check(7, None)  # type: ignore[arg-type]


# --- where a thread is


@pytest.mark.parametrize(
    ("after", "line"),
    [
        ("# first\n" + AFTER, 3),
        (AFTER + "# last\n", 2),
        (AFTER.replace("is 3", "== 3"), None),
        (AFTER.replace("return None", "return 0"), 2),
        ("def pay(order):\n    return order\n", None),
    ],
)
def test_a_thread_moves_with_its_line(local_case: LocalCase, after: str, line: int | None) -> None:
    host = local_case.host.reviews(local_case.pull())
    host.post_review(ReviewDraft(local_case.pull().head_sha, "b", comments=(InlineComment("src/pay.py", 2, "x"),)))
    local_case.push(**{"src/pay.py": after})

    assert [each.line for each in host.threads()] == [line]


def test_a_thread_of_a_file_that_moved_or_went_has_no_line(local_case: LocalCase) -> None:
    host = local_case.host.reviews(local_case.pull())
    host.post_review(ReviewDraft(local_case.pull().head_sha, "b", comments=(InlineComment("src/pay.py", 2, "x"),)))
    local_case.repo.git("mv", "src/pay.py", "src/paid.py")
    local_case.push()
    assert [each.line for each in host.threads()] == [None]

    activity = local_case.read("1.activity.json")
    activity["threads"][0]["commit"] = "d" * 40
    local_case.write("1.activity.json", activity)
    assert [each.line for each in host.threads()] == [None]


def test_a_line_far_below_a_change_is_shifted_by_it(local_case: LocalCase) -> None:
    local_case.push(**{"src/long.py": "".join(f"line {n}\n" for n in range(1, 60))})
    old = local_case.pull().head_sha
    local_case.push(**{"src/long.py": "new\nnew\n" + "".join(f"line {n}\n" for n in range(1, 60) if n != 30)})
    host = local_case.host.reviews(local_case.pull())
    later = host._later(old, local_case.pull().head_sha)  # type: ignore[attr-defined]

    assert [line_now(later, "src/long.py", line) for line in (1, 15, 29, 30, 31, 59)] == [3, 17, 31, None, 32, 60]
    assert line_now(later, "src/other.py", 7) == 7


# --- from the command line


@pytest.fixture
def bare(pay_repo: GitRepo, tmp_path: Path) -> Path:
    """A bare repository with pull request 3."""
    pay_repo.git("clone", "--quiet", "--bare", str(pay_repo.folder), str(tmp_path / "shop.git"))
    (tmp_path / "shop.git" / "pulls").mkdir()
    (tmp_path / "shop.git" / "pulls" / "3.json").write_text(json.dumps({**RECORD, "title": "Pay three"}))
    return tmp_path / "shop.git"


@pytest.mark.usefixtures("home")
@pytest.mark.slow
def test_a_pull_request_of_a_bare_repository_is_reviewed_and_posted_once(
    bare: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["review", "--pr", f"local:{bare}#3", "--post"]
    first, said = main(words), capsys.readouterr()
    second, again = main(words), capsys.readouterr()

    activity = json.loads((bare / "pulls" / "3.activity.json").read_text())
    assert (first, second, len(activity["reviews"]), len(activity["threads"])) == (0, 0, 1, 1)
    assert "src/pay.py:2" in said.out
    assert f"posted: {bare}/pulls/3.activity.json#review-" in said.err
    assert (again.out, "was not posted again" in again.err) == ("", True)
    assert [each["conclusion"] for each in activity["checks"]] == ["neutral"]


@pytest.mark.usefixtures("home")
def test_what_is_not_to_be_posted_is_only_read(bare: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "--pr", f"local:{bare}#3"]) == 0
    assert main(["plan", "--pr", f"local:{bare}#3"]) == 0
    assert main(["review", "--pr", f"local:{bare}#4"]) == 5

    assert "there is no pull request 4" in capsys.readouterr().err
    assert [path.name for path in (bare / "pulls").iterdir()] == ["3.json"]


def test_a_copy_of_a_repository_is_another_one(bare: Path, tmp_path: Path) -> None:
    shutil.copytree(bare, tmp_path / "copy" / "shop.git")
    found = []
    for path in (bare, tmp_path / "copy" / "shop.git"):
        with open_host(PullName("local/shop", 3, str(path)), {}) as host:
            found.append(host.pull_request("local/shop", 3))

    assert found[0].head_sha == found[1].head_sha
    assert found[0].repository_id != found[1].repository_id
