"""What people do to a pull request between two reviews, on each host: renames, restored files, resolved threads."""

from __future__ import annotations

import pytest

from reviewbot.hosts.base import Thread
from reviewbot.hosts.github.auth.access import GithubAccess
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.host import GithubHost
from tests.github_api.state import Account, Token
from tests.host_cases import GithubCase, HostCase, LocalCase
from tests.scripted_pushes import CART, PAY, SIGNER, Pushing, on_a_branch

pytestmark = pytest.mark.slow

FIXED = PAY.replace("order.total - order.fee", "order.total + order.fee")
RUN = "import os\n\n\ndef run(command):\n    os.system(command)\n"


@pytest.fixture
def pushing(case: HostCase) -> Pushing:
    return on_a_branch(case)


def threads(pushing: Pushing) -> tuple[Thread, ...]:
    return pushing.case.host.reviews(pushing.case.pull()).threads()


def words(thread: Thread) -> list[str]:
    """How our replies in a thread begin."""
    return [each.body.partition("**")[2].partition("**")[0] for each in thread.comments[1:]]


def test_a_file_that_is_renamed_again_and_again_and_back_takes_its_findings_along(pushing: Pushing) -> None:
    pushing.push({"shop/a.py": PAY})
    pushing.push(None, "mv shop/a.py shop/b.py", "commit --quiet -m once")
    pushing.push(None, "mv shop/b.py shop/c.py", "commit --quiet -m twice")
    pushing.push({"shop/c.py": None, "lib/a.py": FIXED})
    assert pushing.states() == {"wrong-value": "fixed", "missing-check": "open", "race": "open"}
    report = pushing.case.host.reviews(pushing.case.pull()).reviews()[0].body
    assert len([line for line in report.splitlines() if line.startswith("- **") and "reviewed" not in line]) == 2
    assert "*Impact:*" not in report

    pushing.push({"lib/a.py": None, "shop/a.py": PAY})

    assert pushing.states() == {"wrong-value": "open", "missing-check": "open", "race": "open"}
    assert [words(each) for each in threads(pushing)] == [["Fixed by", "Back since"], [], []]
    assert not any(each.resolved for each in threads(pushing))


def test_files_that_change_places_take_their_findings_along(pushing: Pushing) -> None:
    pushing.push({"shop/a.py": PAY, "shop/b.py": CART})
    pushing.push({"shop/a.py": CART, "shop/b.py": PAY})

    assert {record.kind: record.path for record in pushing.ledger.records if record.is_open} == {
        "wrong-value": "shop/b.py", "missing-check": "shop/b.py", "race": "shop/b.py", "unbounded-growth": "shop/a.py",
    }  # fmt: skip
    assert [words(each) for each in threads(pushing)] == [[]] * 4


def test_findings_of_a_file_that_is_deleted_and_restored_are_said_to_be_back_once(pushing: Pushing) -> None:
    for files in ({"shop/a.py": PAY}, {"shop/a.py": None, "x.py": "X = 1\n"}, {"shop/a.py": PAY}, {"y.py": "Y = 1\n"}):
        pushing.push(files)

    assert set(pushing.states().values()) == {"open"}
    assert [words(each) for each in threads(pushing)] == [["Fixed by", "Back since"]] * 3


def test_a_fix_whose_thread_a_person_resolved_and_that_is_reverted_is_said_to_be_undone_once(pushing: Pushing) -> None:
    pushing.push({"shop/a.py": PAY})
    reviews = pushing.case.host.reviews(pushing.case.pull())
    for each in reviews.threads():
        reviews.resolve(each.thread_id)
    pushing.push({"shop/a.py": FIXED})
    assert all(each.resolved for each in threads(pushing))

    for files in ({"shop/a.py": PAY}, {"x.py": "X = 1\n"}):
        posted = pushing.push(files)
        first, *others = threads(pushing)
        assert (posted.inline, words(first), first.resolved) == (0, ["Back since"], False)
        assert [(words(each), each.resolved) for each in others] == [([], True)] * 2


def test_code_that_the_base_branch_brings_in_is_no_longer_the_changes_own(pushing: Pushing) -> None:
    pushing.push({"shop/a.py": PAY, "shop/run.py": RUN})
    pushing.case.repo.git("checkout", "--quiet", "main")
    pushing.case.repo.commit({"shop/a.py": PAY, "shop/run.py": RUN})
    pushing.push({"x.py": "X = 1\n"}, "checkout --quiet feature", "merge --quiet --no-edit main")

    assert set(pushing.states().values()) == {"outdated"}
    assert [words(each) for each in threads(pushing)] == [["No longer a part of the change since"]] * 4
    assert all(each.resolved for each in threads(pushing))


def test_reviewbot_under_two_accounts_says_a_finding_once_and_leaves_the_others_threads_alone(pushing: Pushing) -> None:
    """As where the App is installed and a workflow runs the Action, each with a ledger of its own."""
    case = pushing.case
    if not isinstance(case, GithubCase):
        pytest.skip("this host has one account for reviewbot")
    mine, api = case.host, case.api
    account = Account(41_898_282, "github-actions[bot]", "Bot")
    api.state.tokens["ghs_action"] = Token(account, dict(api.state.tokens[api.token].permissions), 15_368)
    with GithubClient(GithubAccess("ghs_action", api.url)) as client:

        def push(files: dict[str, str]) -> list[int]:
            case.host = mine
            first = pushing.push(files).inline
            case.host = GithubHost(client)
            return [first, pushing.push().inline]

        assert push({"shop/pay.py": PAY, "shop/cart.py": CART}) == [4, 0]
        assert push({"shop/pay.py": FIXED}) == [0, 0]
        assert push({"shop/run.py": RUN}) == [1, 0]
        assert push({"shop/pay.py": PAY}) == [0, 0]
        theirs = case.host.reviews(case.pull()).reviews()

    case.host = mine
    assert [words(each) for each in threads(pushing)].count(["Fixed by", "Back since"]) == 1
    assert {each.comments[0].author for each in threads(pushing)} == {"reviewbot[bot]"}
    reports = [each for each in theirs if SIGNER.read_ledger(each.body, case.pull().repository_id, 1)]
    assert len({each.author_id for each in reports}) == len(reports) == 2


def test_without_its_summary_a_pull_request_is_remembered_by_its_comments(pushing: Pushing) -> None:
    case = pushing.case
    pushing.push({"shop/a.py": PAY})
    if isinstance(case, GithubCase):
        case.api.state.repositories[case.repository].pulls[1].reviews[0].body = ""
    elif isinstance(case, LocalCase):
        case.write("1.activity.json", {**case.read("1.activity.json"), "reviews": []})
    posted = pushing.push({"shop/a.py": None, "shop/b.py": FIXED})

    assert (posted.inline, pushing.states()) == (0, {"wrong-value": "fixed", "missing-check": "open", "race": "open"})
    assert [(words(each), each.resolved) for each in threads(pushing)] == [
        (["Fixed as of"], True),
        ([], False),
        ([], False),
    ]
    assert all(record.title and record.code and record.at for record in pushing.ledger.records)


def test_what_a_run_said_that_was_killed_before_its_summary_is_resolved_by_the_push_that_fixes_it(
    pushing: Pushing,
) -> None:
    pushing.push({"shop/a.py": PAY})
    reviews = pushing.case.host.reviews(pushing.case.pull())
    [summary] = reviews.reviews()
    assert pushing.push({"shop/run.py": RUN}).inline == 1
    reviews.edit_review(summary.review_id, summary.body)  # as it was before that push
    pushing.push({"shop/run.py": "import os\n"})

    assert [entry.unposted for entry in pushing.ledger.heads] == [(), (pushing.heads[1],)]
    assert f"| `{pushing.heads[1][:10]}` | not posted |" in reviews.reviews()[0].body
    assert pushing.states()["injection"] == "fixed"
    assert [each.resolved for each in threads(pushing)].count(True) == 1
    assert len(threads(pushing)) == 4
