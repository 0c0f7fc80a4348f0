"""What another account has said at the same lines gets no second thread."""

from __future__ import annotations

import asyncio

import pytest

from reviewbot.hosts.base import PostedComment, Thread
from reviewbot.publish.inline import said_by_others
from reviewbot.publish.marker import Signer
from reviewbot.publish.options import PublishContext
from reviewbot.publish.post import publish
from tests.make import MakeFinding
from tests.publishing import OPTIONS, RecordingHost, a_review, an_order, shown

SAID = "An empty order leads to a division by zero here, could you guard it?"


def thread(
    body: str = SAID,
    *,
    author: str = "rabbit[bot]",
    association: str = "NONE",
    path: str = "src/app.py",
    line: int | None = 3,
) -> Thread:
    comment = PostedComment(comment_id=91, author_id=78, author=author, association=association, body=body)
    return Thread(thread_id=91, path=path, line=line, resolved=False, comments=(comment,))


@pytest.mark.parametrize(
    ("other", "is_said"),
    [
        (thread(), True),
        (thread(line=5), True),
        (thread(line=6), False),
        (thread(line=None), False),
        (thread(path="src/other.py"), False),
        (thread("Please rename this variable."), False),
        (thread(author="jo", association="MEMBER"), True),
        (thread(author="jo", association="CONTRIBUTOR"), False),
        (thread(author="contributor", association="OWNER"), False),
    ],
    ids=[
        "an app",
        "two lines off",
        "further off",
        "outdated",
        "another file",
        "other words",
        "a member",
        "a stranger",
        "the author",
    ],
)
def test_a_finding_is_said_where_another_account_says_it(
    other: Thread,
    is_said: bool,  # noqa: FBT001 - a case
    a_finding: MakeFinding,
) -> None:
    finding = a_finding(path="src/app.py", line=3, end_line=3, title="Division by zero on an empty order")
    request = an_order(a_review(finding), shown())

    assert bool(said_by_others(request, [other])) is is_said


@pytest.mark.parametrize(
    ("author", "name", "is_said"),
    [("github-actions[bot]", "", True), ("github-actions[bot]", "0" * 32, False), ("jo", "", False)],
    ids=["reviewbot under another account", "of another finding", "a stranger's copy"],
)
def test_a_finding_is_said_where_reviewbot_says_it_under_another_account_and_key(
    author: str,
    name: str,
    is_said: bool,  # noqa: FBT001 - a case
    a_finding: MakeFinding,
) -> None:
    finding = a_finding(path="src/app.py", line=3, end_line=3, title="Division by zero on an empty order")
    request = an_order(a_review(finding), shown())
    marker = Signer((b"of the App",)).finding(4242, 7, name or request.delivered.fingerprints[finding])
    other = thread(f"**Warning: Nobody guards the average**\n\n{marker}", author=author)

    assert bool(said_by_others(request, [other])) is is_said


def test_the_report_has_it_and_no_comment_repeats_it(
    a_finding: MakeFinding, host: RecordingHost, context: PublishContext
) -> None:
    finding = a_finding(path="src/app.py", line=3, end_line=3, title="Division by zero on an empty order")
    host.at_lines = [thread()]
    request = an_order(a_review(finding), shown())
    posted = asyncio.run(publish(request, OPTIONS, context))

    assert (posted.outcome, posted.inline, len(host.at_lines)) == ("posted", 0, 1)
    assert "Division by zero on an empty order" in host.posted[0].body
