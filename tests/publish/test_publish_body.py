from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import pytest

from reviewbot.domain.contracts import ChangeSet, FileChange, FileCoverage, HumanItem, ParsedFile, Withheld
from reviewbot.domain.contracts.ledger import HeadEntry, Ledger, Record
from reviewbot.hosts.base import PostedReview
from reviewbot.publish.body import MIN_CHARS, body_of, marker_of, outdated_body, twin_body
from reviewbot.report.markdown.brief import BRIEF_CHARS
from reviewbot.report.markdown.comment import MAX_CHARS, render_markdown
from tests.make import MakeFinding
from tests.publishing import HEAD, POLICY, SIGNER, a_review, an_order

NEWER = PostedReview(12, 77, HEAD, "", "https://github.example/acme/shop/pull/7#pullrequestreview-12")


def test_the_body_is_the_whole_report_with_a_marker_behind_it(a_finding: MakeFinding) -> None:
    order = an_order(a_review(a_finding(), a_finding(category="other")))
    body = body_of(order, SIGNER)

    assert body == f"{render_markdown(order.delivered.review, links=order.links)}\n{SIGNER.review(marker_of(order))}\n"
    marker = SIGNER.read_review(body, 4242, 7)
    assert marker is not None
    assert (marker.head_sha, marker.policy, marker.newer, marker.summary) == (HEAD, POLICY, 0, 0)


def test_each_finding_of_a_body_that_has_no_comment_is_called_by_the_id_that_commands_take(
    a_finding: MakeFinding,
) -> None:
    first, second = a_finding(line=2), a_finding(line=3, category="other")
    person = HumanItem(path="src/app.py", reason="critical", finding=a_finding(line=4, category="third"))
    order = an_order(a_review(first, second, human=(person,)))
    order = replace(order, delivered=order.delivered._replace(ledger=Ledger()))
    body = body_of(order, SIGNER, {first: ""})

    shown = [f"ID `{name[:10]}`" in body for name in order.delivered.fingerprints.values()]
    assert shown == [False, True, True]  # the first one's comment has it


def test_a_body_of_very_many_findings_fits_and_keeps_its_marker(a_finding: MakeFinding) -> None:
    findings = [a_finding(message="m" * 900, category=f"c{number}") for number in range(400)]
    withheld = [Withheld(finding=each, reason="over_cap", message="m") for each in findings[200:]]
    order = an_order(a_review(*findings[:200], withheld=tuple(withheld)))
    body = body_of(order, SIGNER)
    marker = SIGNER.read_review(body, 4242, 7)

    assert len(body) <= 60_000
    assert marker is not None


@pytest.mark.slow
def test_a_body_with_the_longest_history_and_ledger_fits_and_keeps_both_markers(a_finding: MakeFinding) -> None:
    records = tuple(
        Record(
            names=(sha256(b"%d" % number).hexdigest()[:32],),
            path="|" * 200,
            title="|" * 300 + sha256(b"t%d" % number).hexdigest() * 4,
            state="open",
            reason="&<|" * 100,
            who="us",
            at="",
            head=HEAD,
            since=HEAD,
        )
        for number in range(400)
    )
    ledger = Ledger(records=records, heads=(HeadEntry(head=HEAD, outcome="reviewed", at=""),) * 15)
    findings = [a_finding(message="m" * 900, category=f"c{number}") for number in range(200)]
    order = an_order(a_review(*findings))
    body = body_of(replace(order, delivered=order.delivered._replace(ledger=ledger)), SIGNER)
    packed = SIGNER.read_ledger(body, 4242, 7)

    assert len(body) <= MAX_CHARS + 1
    assert SIGNER.read_review(body, 4242, 7) is not None
    assert packed is not None
    assert len(packed) > 20_000
    assert "more findings of earlier heads" in body


def test_a_long_report_takes_all_the_room_that_its_marker_leaves(a_finding: MakeFinding) -> None:
    findings = [a_finding(message="<" * 900, category=f"c{number}", evidence="x" * 900) for number in range(60)]
    order = an_order(a_review(*findings))
    body, marker = body_of(order, SIGNER), SIGNER.review(marker_of(order))
    room = MAX_CHARS - len(marker) - 1

    assert body == f"{render_markdown(order.delivered.review, links=order.links, max_chars=room)}\n{marker}\n"
    assert MIN_CHARS < len(body) <= MAX_CHARS + 1


def test_the_marker_says_how_the_run_ended() -> None:
    for code in (None, 0, 1):
        marker = SIGNER.read_review(body_of(an_order(a_review(), code=code), SIGNER), 4242, 7)
        assert marker is not None
        assert marker.code == code


def test_an_outdated_review_says_so_and_points_to_the_newer_one() -> None:
    marker = marker_of(an_order(a_review()))
    body = outdated_body(marker, NEWER, SIGNER)

    assert body.startswith("## reviewbot: an earlier review\n\nThis review is of `aaaaaaaaaa`, or of other settings. ")
    assert f"[A newer one]({NEWER.url}) counts." in body
    assert SIGNER.read_review(body, 4242, 7) == marker.mark_replaced(12)


def test_the_second_of_two_reviews_points_to_the_first() -> None:
    body = twin_body(marker_of(an_order(a_review())), NEWER, SIGNER)

    assert body.startswith(
        "## reviewbot: the same review twice\n\nTwo runs reviewed `aaaaaaaaaa` at the same time. "
        f"[The first review]({NEWER.url}) counts.\n\n<!-- "
    )


@pytest.mark.parametrize("url", ["", "javascript:x", "https://h/x) [y](z", "https://h/x y", "https://u:p@h/x", "//h/x"])
def test_an_address_that_is_none_is_no_link(url: str) -> None:
    body = outdated_body(marker_of(an_order(a_review())), replace(NEWER, url=url), SIGNER)

    assert "A newer one counts." in body
    assert "](" not in body


@pytest.mark.parametrize("read", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("files", [1, 7, 300])
def test_the_body_of_a_change_without_a_finding_takes_at_most_600_characters_with_its_marker_and_ledger(
    files: int, read: float
) -> None:
    coverage = tuple(
        FileCoverage(path=f"shop/orders/f{number}.py", state="reviewed", models=("claude:m",), added=900, removed=90)
        if sha256(b"%d" % number).digest()[0] < 256 * read
        else FileCoverage(path=f"shop/orders/f{number}.py", state="scanned", reason="no model read it", added=900)
        for number in range(files)
    )
    digest = [sha256(b"%d" % number).hexdigest() for number in range(3)]
    lacking = tuple(each.path for each in coverage if each.state == "scanned")
    head = HeadEntry(
        head=digest[0][:40],
        outcome="reviewed",
        at="2026-11-23T14:20:59Z",
        policy=digest[1][:32],
        base=digest[2][:40],
        lacking=lacking,
    )
    ledger = Ledger(heads=(head,), seen_last=digest[0] * 40)
    change = ChangeSet(
        files=tuple(FileChange(path=each.path, status="modified", language="python", kind="code") for each in coverage),
        parsed=tuple(ParsedFile(path=each.path, state="read", reason="") for each in coverage),
    )
    about = ("It does one thing and another one. " * 40,)
    order = an_order(a_review(verdict="limited" if lacking else "clean", coverage=coverage, about=about), change)
    pull = replace(order.pull, repository_id=10**9, number=10**5, head_sha=digest[0][:40])
    order = replace(order, pull=pull, policy=digest[2][:32], code=0)
    body = body_of(replace(order, delivered=order.delivered._replace(ledger=ledger)), SIGNER)

    assert len(body) <= BRIEF_CHARS
    assert ("**What it does:** It does one thing" in body) == (not lacking)
    assert (f"**Not fully reviewed ({len(lacking)}):** `shop/orders/" in body) == bool(lacking)
    assert SIGNER.read_ledger(body, 10**9, 10**5) is not None
