"""Inline comments for the weightiest findings, each with its fingerprint so that it is posted once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from reviewbot.domain.contracts import Finding
from reviewbot.hosts.base import InlineComment, PostedComment, Thread
from reviewbot.memory.matching import is_similar
from reviewbot.memory.packing import pack_record
from reviewbot.publish.marker import MAX_RECORD_CHARS, fingerprints_in
from reviewbot.publish.options import PublishOptions, PublishRequest
from reviewbot.publish.places import LineSpan, Shown, api_path
from reviewbot.report.markdown.finding import comment_blocks
from reviewbot.report.text import visible
from reviewbot.report.view_model import by_severity

_SUGGESTED_LINES, _SUGGESTED_CHARS = 100, 4_000
"""What a person can judge before committing it with one click."""

_BACKTICKS = re.compile("`{3,}")
# Other bots read commands at the start of a line, also in code. A decorator is no command: nothing follows its name.
_COMMANDS = re.compile(
    r"^[ \t]*(?:/[a-z]|@[\w/-]+(?:\[bot\])?[ \t]+[\w/]|[!/.]?(?:bors|homu|jenkins|recheck|retest)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_INFO = "suggestion"
_MEMBERS, _BOT = frozenset({"OWNER", "MEMBER", "COLLABORATOR"}), "[bot]"
"""Associations of accounts that belong to a repository, and the end of an app's name, which no person's has."""

_NEAR, _SAID_CHARS = 2, 4_000
"""Lines between a finding and a thread of another account about it, and how much of that thread is read."""


class PlacedComment(NamedTuple):
    """A comment and the finding that it is about."""

    finding: Finding
    comment: InlineComment


def inline_comments(
    request: PublishRequest, options: PublishOptions, standing: Collection[str]
) -> tuple[PlacedComment, ...]:
    """At most `options.inline` comments, highest severity first, without the fingerprints in `standing`.

    Every place is one that the change shows. A finding has a comment at its own lines, or at the last of them.
    """
    shown = Shown(request.change)
    comments: list[PlacedComment] = []
    for finding in by_severity(request.delivered.review.findings):
        if len(comments) == options.inline:
            break
        span = shown.span(finding.path, finding.line, finding.end_line)
        path = api_path(finding.path)
        if request.delivered.fingerprints[finding] not in standing and span is not None and path is not None:
            comments.append(PlacedComment(finding, _comment(request, options, finding, path, span)))
    return tuple(comments)


def reported_fingerprints(request: PublishRequest, threads: Collection[str]) -> frozenset[str]:
    """The fingerprints of findings that a comment or the report of an earlier head has said.

    `threads`: the names in the markers of our comments at lines, also of those whose line is no longer in the change.
    """
    ledger = request.delivered.ledger
    records = {} if ledger is None else {name: each for each in ledger.records for name in each.names}
    said = set()
    for name in request.delivered.fingerprints.values():
        record = records.get(name)
        names = {name} if record is None else {name, *record.names}
        # A finding without a record had no room in the ledger: it would be new on each head.
        earlier = ledger is not None and (
            record is None or (record.state, record.head) != ("new", request.pull.head_sha)
        )
        if earlier or not names.isdisjoint(threads):
            said.add(name)
    return frozenset(said)


def said_by_others(request: PublishRequest, threads: Iterable[Thread]) -> frozenset[str]:
    """The fingerprints of findings that other accounts, people or bots, have said at the same lines.

    They did so in similar words, or with the fingerprint itself, as reviewbot does under another account. The report
    has such a finding all the same; it only gets no second thread. Words of strangers and of the pull request's own
    author do not count: they keep no comment away.
    """
    found: set[str] = set()
    for thread in threads:
        trusted = [each.body for each in thread.comments if _may_speak(each, request.pull.author)]
        text = "\n".join(trusted)[:_SAID_CHARS]
        named = {name for body in trusted for name in fingerprints_in(body)}
        for finding, name in request.delivered.fingerprints.items():
            near = thread.line is not None and finding.line - _NEAR <= thread.line <= finding.end_line + _NEAR
            is_said = name in named or is_similar(finding.title or finding.message, text)
            if near and thread.path == finding.path and is_said:
                found.add(name)
    return frozenset(found)


def _may_speak(comment: PostedComment, author: str) -> bool:
    """Whether a comment is by an app of the repository or by an account that belongs to it."""
    return comment.author != author and (comment.association in _MEMBERS or comment.author.endswith(_BOT))


def comment_body(request: PublishRequest, options: PublishOptions, finding: Finding, span: LineSpan) -> str:
    """The body of a comment: the finding's text, and a suggestion where one is proven for just these lines."""
    proposal = None
    if span == (finding.line, finding.end_line):
        proposal = suggestion_block(options.suggest(finding))
    name, ledger = request.delivered.fingerprints[finding], request.delivered.ledger
    record = None if ledger is None else ledger.find(name)
    kept = "" if record is None else pack_record(record, MAX_RECORD_CHARS)
    marker = options.signer.finding(request.pull.repository_id, request.pull.number, name, kept)
    return "\n\n".join([*comment_blocks(finding, request.links, proposal, name), marker])


def suggestion_block(lines: str | None) -> str | None:
    """A suggestion block for GitHub; None where there is nothing to offer, or what could do harm unseen.

    What the block holds is committed as it stands. So nothing in it is escaped, and a text with characters that are
    not shown, or with lines that other bots obey, is not offered.
    """
    if lines is None or len(lines) > _SUGGESTED_CHARS or lines.count("\n") >= _SUGGESTED_LINES:
        return None
    if "\r" in lines or visible(lines) != lines or _COMMANDS.search(lines):
        return None
    fence = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(lines)), default=0))
    return f"{fence}{_INFO}\n{lines}\n{fence}" if lines else f"{fence}{_INFO}\n{fence}"


def _comment(
    request: PublishRequest, options: PublishOptions, finding: Finding, path: str, span: LineSpan
) -> InlineComment:
    body = comment_body(request, options, finding, span)
    # GitHub refuses a comment whose first line is its last one.
    return InlineComment(path, span.last, body, span.first if span.first < span.last else None)
