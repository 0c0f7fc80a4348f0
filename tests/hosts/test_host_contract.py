"""The contract of a code host, on each host: what is read, what is written, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from reviewbot.domain.errors import EmptyChangeError, HostInvalidError, HostMissingError
from reviewbot.hosts.base import Annotation, CheckDraft, HostedChange, InlineComment, ReviewDraft, Workspace
from tests.host_cases import AFTER, BEFORE, PERSON, Check, HostCase

AT_TWO = InlineComment("src/pay.py", 2, "at two")
DONE = CheckDraft("All read", "1 of 1", "nothing", "success")


@pytest.fixture
def closing() -> Iterator[ExitStack]:
    with ExitStack() as found:
        yield found


def change(case: HostCase, closing: ExitStack) -> HostedChange:
    return case.host.change(case.pull(), Workspace({}, None, closing))


def draft(case: HostCase, *comments: InlineComment, **fields: object) -> ReviewDraft:
    return ReviewDraft(case.pull().head_sha, "a body", comments=comments, **fields)  # type: ignore[arg-type]


# --- what is read


def test_a_pull_request_is_read_with_its_words_and_both_commits(case: HostCase) -> None:
    pull = case.pull()

    assert (pull.repository, pull.number, pull.title, pull.description) == (case.repository, 1, "Pay three", "")
    assert (pull.author, pull.author_is_bot, pull.is_open, pull.draft) == ("contributor", False, True, False)
    assert (pull.base_ref, pull.head_ref, pull.labels) == ("main", "feature", ("size/s",))
    assert pull.base_sha == case.repo.git("rev-parse", "main")
    assert pull.head_sha == case.repo.git("rev-parse", "feature")


def test_a_pull_request_that_is_not_there_is_missing(case: HostCase) -> None:
    with pytest.raises(HostMissingError):
        case.host.pull_request(case.repository, 7)


def test_the_change_starts_where_the_branch_left_its_base(case: HostCase, closing: ExitStack) -> None:
    found = change(case, closing)

    assert [(file.path, file.added, file.removed) for file in found.change.files] == [("src/pay.py", 2, 0)]
    assert found.merge_base == case.repo.git("merge-base", "main", "feature")
    assert (found.change.title, found.change.head_sha) == ("Pay three", case.pull().head_sha)
    assert len(found.digest) == 64


def test_the_old_side_is_the_merge_bases_and_what_configures_is_the_tip_of_the_base(
    case: HostCase, closing: ExitStack
) -> None:
    snapshot = change(case, closing).snapshot

    assert (snapshot.head("src/pay.py"), snapshot.base("src/pay.py")) == (AFTER, BEFORE)
    assert snapshot.base("README.md") == "a shop\n"
    assert snapshot.base_file("README.md") == "the shop\n"
    assert snapshot.base_file(".reviewbot.toml") == "max_findings = 7\n"
    assert snapshot.base_listing("src") == ("src/pay.py",)
    assert snapshot.read_warnings() == ()


def test_a_pull_request_without_a_change_is_empty(case: HostCase, closing: ExitStack) -> None:
    case.push(**{"src/pay.py": BEFORE})

    with pytest.raises(EmptyChangeError, match="no file"):
        change(case, closing)


# --- reviews


def test_a_review_is_listed_as_it_was_posted(case: HostCase) -> None:
    host = case.host.reviews(case.pull())
    posted = host.post_review(draft(case, AT_TWO))

    assert host.reviews() == (posted,)
    assert (posted.body, posted.commit_sha, posted.blocks) == ("a body", case.pull().head_sha, False)
    assert posted.author_id == host.own_id()
    assert posted.url


def test_the_body_of_a_review_is_replaced(case: HostCase) -> None:
    host = case.host.reviews(case.pull())
    posted = host.post_review(draft(case))
    host.edit_review(posted.review_id, "another body")

    assert [each.body for each in host.reviews()] == ["another body"]
    with pytest.raises(HostMissingError):
        host.edit_review(999_999, "x")


def test_a_review_asks_for_changes_until_it_is_released(case: HostCase) -> None:
    host = case.host.reviews(case.pull())
    posted = host.post_review(draft(case, event="REQUEST_CHANGES"))
    before = host.reviews()[0].blocks
    host.release_review(posted.review_id, "a newer one stands")

    assert (posted.blocks, before, host.reviews()[0].blocks) == (True, True, False)
    with pytest.raises(HostInvalidError, match="dismissed"):
        host.release_review(posted.review_id, "again")


@pytest.mark.parametrize(
    "comment", [InlineComment("src/pay.py", 30, "x"), InlineComment("README.md", 1, "x"), InlineComment("nope", 1, "x")]
)
def test_one_line_outside_the_change_loses_the_whole_review(case: HostCase, comment: InlineComment) -> None:
    host = case.host.reviews(case.pull())

    with pytest.raises(HostInvalidError, match="must be part of the diff"):
        host.post_review(draft(case, AT_TWO, comment))
    assert (host.reviews(), host.threads()) == ((), ())


def test_the_head_is_read_anew(case: HostCase) -> None:
    host = case.host.reviews(case.pull())
    new = case.push(**{"src/pay.py": BEFORE + "\n"})

    assert host.head_sha() == new
    assert case.pull().head_sha == new


# --- threads


def test_a_thread_has_its_place_and_its_replies_with_their_authors(case: HostCase) -> None:
    host = case.host.reviews(case.pull())
    host.post_review(draft(case, AT_TWO, InlineComment("src/pay.py", 3, "two to three", start_line=2)))
    first, second = host.threads()
    mine = host.reply(first.thread_id, "Fixed.")
    case.answer(first.thread_id, "Not quite.")

    found = host.threads()[0]

    assert [(each.path, each.line) for each in (found, second)] == [("src/pay.py", 2), ("src/pay.py", 3)]
    assert [each.body for each in found.comments] == ["at two", "Fixed.", "Not quite."]
    assert found.comments[1].comment_id == mine.comment_id
    assert [each.author_id == host.own_id() for each in found.comments] == [True, True, False]
    assert (found.comments[2].author, found.comments[2].association) == (PERSON, "OWNER")


def test_a_thread_is_resolved_and_the_others_are_not(case: HostCase) -> None:
    host = case.host.reviews(case.pull())
    host.post_review(draft(case, AT_TWO, InlineComment("src/pay.py", 3, "at three")))
    host.resolve(host.threads()[1].thread_id)
    host.resolve(host.threads()[1].thread_id)

    assert [each.resolved for each in host.threads()] == [False, True]
    host.resolve(host.threads()[1].thread_id, resolved=False)
    assert [each.resolved for each in host.threads()] == [False, False]


def test_no_thread_is_answered_or_resolved_that_is_not_there(case: HostCase) -> None:
    host = case.host.reviews(case.pull())

    with pytest.raises(HostMissingError):
        host.reply(999_999, "x")
    with pytest.raises(HostMissingError):
        host.resolve(999_999)


# --- check runs


def test_a_check_run_is_begun_once_and_concluded_with_its_marks(case: HostCase) -> None:
    head = case.pull().head_sha
    host = case.host.checks(case.repository, 1)
    check_id = host.start_check("reviewbot", head)
    again = host.start_check("reviewbot", head)
    begun = host.in_progress("reviewbot", head)
    marks = tuple(Annotation("src/pay.py", 2, 2, "warning", "t", str(n)) for n in range(120))

    url = host.finish_check(check_id, CheckDraft("Two of three", "s", "t", "neutral", marks))

    assert (again, begun, host.in_progress("reviewbot", head)) == (check_id, check_id, None)
    assert url
    assert case.checks() == [Check("reviewbot", head, "neutral", "Two of three", 120)]


@pytest.mark.parametrize("conclusion", ["success", "failure", "neutral", "cancelled"])
def test_a_check_run_has_each_colour(case: HostCase, conclusion: str) -> None:
    head = case.pull().head_sha
    host = case.host.checks(case.repository, 1)
    host.finish_check(host.start_check("reviewbot", head), CheckDraft("t", "s", "", conclusion))  # type: ignore[arg-type]

    assert [each.conclusion for each in case.checks()] == [conclusion]


def test_a_check_run_of_another_name_or_commit_is_none_of_ours(case: HostCase) -> None:
    head = case.pull().head_sha
    host = case.host.checks(case.repository, 1)
    other = host.start_check("lint", head)

    assert host.in_progress("reviewbot", head) is None
    assert host.in_progress("lint", case.pull().base_sha) is None
    host.finish_started("reviewbot", head, DONE)
    assert host.in_progress("lint", head) == other
    host.finish_started("lint", head, DONE)
    assert [each.conclusion for each in case.checks()] == ["success"]


# --- commands and people


def test_open_pull_requests_are_found_by_their_commit(case: HostCase) -> None:
    pull = case.pull()

    [found] = case.host.open_pulls(case.repository, pull.head_sha)

    assert (found.number, found.head_sha) == (1, pull.head_sha)
    assert found.repository_id == found.head_repository_id == pull.repository_id
    assert case.host.open_pulls(case.repository, pull.base_sha) == ()
    case.close()
    assert case.host.open_pulls(case.repository, pull.head_sha) == ()
    assert not case.pull().is_open


def test_open_pull_requests_are_found_by_their_branch(case: HostCase) -> None:
    owner = case.repository.partition("/")[0]
    [found] = case.host.open_pulls(case.repository, "", f"{owner}:feature")

    assert found.number == 1


@pytest.mark.parametrize(("account", "may"), [(PERSON, True), ("stranger", False), ("../x", False), ("", False)])
def test_who_may_write_is_the_hosts_to_say(case: HostCase, account: str, *, may: bool) -> None:
    assert case.host.may_write(case.repository, account) is may


def test_people_are_asked_and_those_who_cannot_be_are_named(case: HostCase) -> None:
    people = [PERSON, "team:security", "contributor", "a/b"]

    notes = case.host.request_people(case.repository, 1, "needs a person", people)

    assert len(notes) == 2
    assert case.host.request_people(case.repository, 1, None, []) == ()


# --- what a push brought


def test_a_push_has_its_commits_oldest_first_and_the_diff_between_the_heads(case: HostCase) -> None:
    before = case.pull().head_sha
    first, second = case.push(**{"src/pay.py": BEFORE}), case.push(**{"src/new name.py": "x = 1\n"})
    push = case.host.push(case.pull(), before)

    assert push is not None
    assert push.commits == (first, second)
    assert [(file.path, file.added, file.removed) for file in push.change.files] == [
        ("src/new name.py", 1, 0),
        ("src/pay.py", 0, 2),
    ]
    assert case.host.text_at(case.pull(), before, "src/pay.py") == AFTER
    assert case.host.text_at(case.pull(), second, "src/new name.py") == "x = 1\n"
    assert case.host.text_at(case.pull(), first, "src/new name.py") is None


def test_a_head_that_was_rewritten_is_no_push_on_the_earlier_one(case: HostCase) -> None:
    before = case.pull().head_sha
    case.repo.git("reset", "--quiet", "--hard", "HEAD^")
    case.push(**{"src/pay.py": AFTER + "\n"})

    assert case.host.push(case.pull(), before) is None
    assert case.host.push(case.pull(), "0" * 40) is None
