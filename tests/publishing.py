"""For tests of the publisher: a host that records, reviews made to order, and a reader of Markdown trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from markdown_it import MarkdownIt

from reviewbot.delivery import DeliveredReview
from reviewbot.domain.contracts import ChangeSet, FileChange, FileCoverage, Finding, Hunk, ParsedFile, Review, Timings
from reviewbot.domain.contracts.ledger import Record
from reviewbot.hosts.base import CommentKind, PostedComment, PostedReview, PullRequest, Reaction, ReviewDraft, Thread
from reviewbot.memory.fingerprints import of_review
from reviewbot.publish.marker import Signer
from reviewbot.publish.options import PublishOptions, PublishRequest
from tests.git_repo import GitRepo

OWN, STRANGER = 77, 78
HEAD, BASE = "a" * 40, "b" * 40
POLICY = "0" * 32
NAME = "1" * 32
"""Of a finding."""
SIGNER = Signer((b"k" * 32,))
OPTIONS = PublishOptions(SIGNER, suggest=lambda _finding: None)


def record(state: str = "open", **fields: object) -> Record:
    """A finding in a ledger."""
    known: dict[str, object] = {"names": (NAME,), "path": "src/app.py", "state": state, "reason": "its code changed"}
    known |= {"who": "reviewbot", "at": "", "head": HEAD, "since": "b" * 40}
    return Record.model_validate({**known, **fields})


@dataclass
class RecordingHost:
    """A `ReviewHost` that keeps what it is told. `before_post` and `after_post` run around each call that posts."""

    head: str = HEAD
    posted: list[PostedReview] = field(default_factory=list)
    at_lines: list[Thread] = field(default_factory=list)
    drafts: list[ReviewDraft] = field(default_factory=list)
    edits: list[tuple[int, str]] = field(default_factory=list)
    released: list[int] = field(default_factory=list)
    edited_by: dict[int, int] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    reacted: dict[int, tuple[Reaction, ...]] = field(default_factory=dict)
    faults: dict[str, list[Exception | None]] = field(default_factory=dict)
    before_post: Callable[[ReviewDraft], None] = field(default=lambda _: None)
    after_post: Callable[[ReviewDraft], None] = field(default=lambda _: None)

    def head_sha(self) -> str:
        self._called("head")
        return self.head

    def own_id(self) -> int:
        return OWN

    def reviews(self) -> tuple[PostedReview, ...]:
        self._called("reviews")
        return tuple(self.posted)

    def editors(self) -> dict[int, int]:
        return self.edited_by

    def threads(self) -> tuple[Thread, ...]:
        self._called("threads")
        return tuple(self.at_lines)

    def post_review(self, draft: ReviewDraft) -> PostedReview:
        self.before_post(draft)
        self._called("post")
        self.drafts.append(draft)
        made = self.stand(draft.body, draft.commit_sha, blocks=draft.event == "REQUEST_CHANGES")
        for comment in draft.comments:
            first = PostedComment(len(self.at_lines) + 1, OWN, "reviewbot", "NONE", comment.body)
            self.at_lines.append(
                Thread(first.comment_id, comment.path, comment.line, resolved=False, comments=(first,))
            )
        self.after_post(draft)
        return made

    def edit_review(self, review_id: int, body: str) -> None:
        self._called("edit")
        self.edits.append((review_id, body))
        self.posted = [replace(each, body=body) if each.review_id == review_id else each for each in self.posted]

    def release_review(self, review_id: int, message: str) -> None:
        self._called("release")
        self.released.append(review_id)

    def reply(self, thread_id: int, body: str) -> PostedComment:
        self._called("reply")
        made = PostedComment(900 + len(self.calls), OWN, "reviewbot", "NONE", body)
        self.at_lines = [
            replace(each, comments=(*each.comments, made)) if each.thread_id == thread_id else each
            for each in self.at_lines
        ]
        return made

    def conversation(self) -> tuple[PostedComment, ...]:
        raise NotImplementedError

    def say(self, body: str) -> PostedComment:
        raise NotImplementedError

    def resolve(self, thread_id: int, *, resolved: bool = True) -> None:
        self._called("resolve")
        self.at_lines = [
            replace(each, resolved=resolved) if each.thread_id == thread_id else each for each in self.at_lines
        ]

    def reactions(self, comment_id: int) -> tuple[Reaction, ...]:
        self._called("reactions")
        return self.reacted.get(comment_id, ())

    def react(self, kind: CommentKind, comment_id: int, reaction: str) -> None:
        raise NotImplementedError

    def stand(
        self, body: str, commit: str | None = HEAD, author: int | None = OWN, *, blocks: bool = False
    ) -> PostedReview:
        """A review that stands there."""
        number = len(self.posted) + 1
        url = f"https://github.example/acme/shop/pull/7#pullrequestreview-{number}"
        made = PostedReview(number, author, commit, body, url, blocks)
        self.posted.append(made)
        return made

    def _called(self, name: str) -> None:
        self.calls.append(name)
        queue = self.faults.get(name)
        if queue and (fault := queue.pop(0)) is not None:
            raise fault


def a_pull(**fields: Any) -> PullRequest:
    known: dict[str, Any] = {
        "repository": "acme/shop",
        "repository_id": 4242,
        "number": 7,
        "title": "Add a shop",
        "description": "",
        "author": "contributor",
        "author_is_bot": False,
        "base_ref": "main",
        "base_sha": BASE,
        "head_ref": "feature",
        "head_sha": HEAD,
        "is_open": True,
        "draft": False,
        "labels": (),
        "url": "https://github.example/acme/shop/pull/7",
    }
    return PullRequest(**{**known, **fields})


def a_review(*findings: Finding, **fields: Any) -> Review:
    known: dict[str, Any] = {
        "engine": "analyzers",
        "verdict": "issues" if findings else "clean",
        "headline": f"{len(findings)} issues found; 1 of 1 file reviewed",
        "summary": "",
        "findings": findings,
        "coverage": (FileCoverage(path="src/app.py", state="reviewed", analyzers=("ruff",)),),
        "timings": Timings(wall_ms=1, critical_path_ms=1, sequential_ms=1),
    }
    return Review(**{**known, **fields})


def shown(first: int = 1, last: int = 20, path: str = "src/app.py") -> ChangeSet:
    """A change that adds lines `first` to `last` of one file."""
    count = last - first + 1
    body = "\n".join(f"+line_{number}" for number in range(first, last + 1))
    hunk = Hunk(old_start=first, old_count=0, new_start=first, new_count=count, body=body)
    file = FileChange(path=path, status="modified", language="python", kind="code", hunks=(hunk,), added=count)
    return ChangeSet(files=(file,), parsed=(ParsedFile(path=path, state="read"),))


def an_order(review: Review, change: ChangeSet | None = None, **fields: Any) -> PublishRequest:
    known: dict[str, Any] = {"pull": a_pull(), "policy": POLICY}
    told = DeliveredReview(review, of_review(review))
    return PublishRequest(delivered=told, change=change or shown(), **{**known, **fields})


class Tree(NamedTuple):
    """What a Markdown parser sees, outside code: the shape without texts, and each run of text between other nodes."""

    shape: list[str]
    texts: list[str]


def read_tree(markdown: str) -> Tree:
    """Parse as GitHub does: CommonMark with tables and strikethrough, HTML allowed."""
    shape: list[str] = []
    texts: list[str] = []
    for token in MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(markdown):
        if token.type != "inline":
            shape.append(f"{token.type} {token.info} {token.content if token.type == 'html_block' else ''}".rstrip())
            continue
        run = ""
        for child in token.children or []:
            if child.type in ("text", "text_special"):
                run += child.content
                continue
            texts.append(run)
            run = ""
            if child.type != "code_inline":
                address = str(child.attrs.get("href", ""))
                shape.append(f"{child.type} {address}{child.content if child.type == 'html_inline' else ''}".rstrip())
        texts.append(run)
    return Tree(shape, [text for text in texts if text])


LINES = tuple(f"line {number}\n" for number in range(1, 41))


class Shop(NamedTuple):
    """A git repository, made once: a branch "feature" of two changed files, and two commits that may follow on it."""

    folder: Path
    later: str
    """Adds another file."""
    shifted: str
    """Puts a line above everything else in app.py."""


def make_shop(folder: Path) -> Shop:
    """Lines 1 and 20 of app.py are changed, and new.py is added."""
    repo = GitRepo(folder)
    repo.commit({"app.py": "".join(LINES)})
    changed = ["LINE 1\n", *LINES[1:19], "LINE 20\n", *LINES[20:]]
    feature = repo.commit({"app.py": "".join(changed), "new.py": "a\nb\n"}, branch="feature")
    later = repo.commit({"more.py": "x\n"})
    shifted = repo.commit({"app.py": "".join(["LINE 0\n", *changed])})
    repo.git("reset", "--quiet", "--hard", feature)
    return Shop(folder, later, shifted)
