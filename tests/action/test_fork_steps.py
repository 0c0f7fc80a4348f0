"""Both stages as steps, with a review that is given: what each refuses, by name, and what stays as it was."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from reviewbot.action.artifact import FILE_NAME, MAX_BYTES, read_artifact
from reviewbot.action.artifact_download import name_of
from reviewbot.action.fork_seam import Desk, inputs_of
from reviewbot.action.outcome import Posted
from reviewbot.action.runner import Voice, runner_of
from reviewbot.action.stage_one import analyze
from reviewbot.action.stage_two import review_fork
from reviewbot.action.summary import KEYLESS
from reviewbot.adapters.github.access import Access
from reviewbot.adapters.github.client import GithubClient
from reviewbot.contracts import Finding, Review
from reviewbot.contracts.pulls import PullRef
from reviewbot.errors import ExitCode, HostError, HostMovedError
from tests.action_runner import outputs_in
from tests.action_runner.played import PlayedFork, PlayedForks, reviewed
from tests.fork_cases import (
    BASE,
    FORK_ID,
    HEAD,
    LINE,
    NUMBER,
    REPOSITORY_ID,
    RUN_ID,
    a_change,
    a_claim,
    an_artifact,
    an_entry,
    an_environment,
    as_json,
    pull_event,
    run_event,
    text_of,
    zipped,
)
from tests.github_api import FakeGitHub, Reply
from tests.github_api.artifacts import Storage, add_artifact
from tests.publishing import a_review

FOUND = Finding(
    type="security",
    severity="critical",
    path="src/app.py",
    line=3,
    end_line=3,
    message="A value from outside reaches a shell.",
    evidence=LINE,
    confidence=90,
    category="command-injection",
    rule="S602",
    cwe=78,
    sources=("ruff-security",),
)
REVIEW = a_review(FOUND, headline="1 issue found; 1 of 1 file reviewed")
REF = PullRef(repository="acme/shop", repository_id=REPOSITORY_ID, number=NUMBER, base_sha=BASE, head_sha=HEAD)


def a_fork() -> PlayedForks:
    return PlayedForks(PlayedFork(REF, a_change(), replace(reviewed(REVIEW), from_fork=True)))


@dataclass
class Step:
    """A stage, its runner and GitHub's answers."""

    folder: Path
    github: FakeGitHub
    storage: Storage
    pulls: PlayedForks = field(default_factory=a_fork)
    log: io.StringIO = field(default_factory=io.StringIO)

    def desk(self, name: str, event: object) -> Desk:
        environ = an_environment(self.folder, name, event, INPUT_MODE="anything")
        return Desk(runner_of(environ), inputs_of(environ), Voice(runner_of(environ), self.log), self.pulls)

    def one(self, event: Mapping[str, Any] | None = None) -> ExitCode:
        return analyze(self.desk("pull_request", event or pull_event()))

    def two(self, event: Mapping[str, Any] | None = None) -> ExitCode:
        with GithubClient(Access(self.github.token, self.github.url)) as client:
            return review_fork(self.desk("workflow_run", event or run_event()), client)

    def upload(self, archive: bytes, run_id: int = RUN_ID) -> None:
        repository = self.github.state.repositories["acme/shop"]
        made = add_artifact(repository, 77, run_id, name_of(1), self.storage.put("a.zip", archive))
        made.listed_for = RUN_ID

    def closes_the_gate(self) -> None:
        self.pulls.one.answer = replace(self.pulls.one.answer, code=ExitCode.GATE)

    @property
    def handed_over(self) -> Path:
        return self.folder / "temp" / FILE_NAME

    @property
    def posted(self) -> Review:
        (review,) = self.pulls.one.posts
        return review

    @property
    def told(self) -> str:
        """All that the run says."""
        return self.log.getvalue() + text_of(self.folder)


def a_listed(number: int = NUMBER, sha: str = HEAD) -> dict[str, Any]:
    """A pull request as the API lists it."""
    return {
        "number": number,
        "head": {"sha": sha, "repo": {"id": FORK_ID}},
        "base": {"sha": BASE, "repo": {"id": REPOSITORY_ID}},
    }


@pytest.fixture
def step(github_api: FakeGitHub, tmp_path: Path) -> Iterator[Step]:
    github_api.add_repository("acme/shop", tmp_path)
    listed(github_api, a_listed())
    with Storage() as storage:
        yield Step(tmp_path, github_api, storage)


def listed(github: FakeGitHub, *pulls: dict[str, Any]) -> None:
    """Let GitHub list these pull requests."""
    github.state.ordered.clear()
    github.refuse("GET", "/pulls$", lambda: Reply(200, list(pulls)), times=9)


def unchanged(review: Review) -> bool:
    """Whether nothing but the notes and the withheld findings differs from the review that was made."""
    return review.model_copy(update={"notes": (), "withheld": ()}) == REVIEW


POISONS: list[tuple[str, bytes, str]] = [
    ("oversized", zipped((an_entry(), b"x" * (MAX_BYTES + 1))), "its file is larger than 2 MiB"),
    ("a bomb", zipped((an_entry(), b" " * MAX_BYTES)), "its file grows more than 200 times when it is unpacked"),
    (
        "path traversal",
        zipped((an_entry(f"../../{FILE_NAME}"), b"{}")),
        "the file in its archive has another name than it should have",
    ),
    ("several", zipped((an_entry(), b"{}"), (an_entry("x"), b"")), "its archive holds not one entry but 2"),
    (
        "a link",
        zipped((an_entry(mode=0o120_777), b"/proc/self/environ")),
        "the entry in its archive is a link or no regular file",
    ),
    ("no archive", b"#!/bin/sh\nid\n", "it is no zip archive"),
    ("torn", zipped((an_entry(), b"{}"))[:-9], "its zip archive is damaged"),
    ("no JSON", zipped((an_entry(), b"<html>")), "it is no JSON"),
    ("deep", zipped((an_entry(), b"[" * 60_000)), "it is nested too deeply"),
    ("NaN", zipped((an_entry(), b'{"left_out": NaN}')), "NaN is no number"),
    ("a key twice", zipped((an_entry(), b'{"a": 1, "a": 2}')), "a key stands twice in one of its objects"),
    (
        "an extra field",
        zipped((an_entry(), as_json(an_artifact(summary="@everyone")))),
        "it does not fit its schema at its top: a field that nobody knows",
    ),
    (
        "another version",
        zipped((an_entry(), as_json(an_artifact(schema_version="0")))),
        "it does not fit its schema at schema_version: literal error",
    ),
]


@pytest.mark.parametrize(("archive", "why"), [each[1:] for each in POISONS], ids=[each[0] for each in POISONS])
def test_a_poisoned_archive_is_refused_by_name_and_the_review_is_the_same(step: Step, archive: bytes, why: str) -> None:
    step.upload(archive)
    assert step.two() == ExitCode.REVIEWED
    assert unchanged(step.posted)
    (note,) = step.posted.notes
    assert note.startswith(f"Report of the fork's own run: not used, because {why}.")


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("repository_id", 1, "it is about another repository"),
        ("number", 99, "it is about another pull request"),
        ("head_sha", "c" * 40, "it is about another head"),
        ("base_sha", "c" * 40, "it is about another base"),
    ],
)
def test_an_artifact_about_something_else_is_refused_by_name(step: Step, name: str, value: object, why: str) -> None:
    identity = an_artifact()["identity"] | {name: value}
    step.upload(zipped((an_entry(), as_json(an_artifact(identity=identity)))))
    assert step.two() == ExitCode.REVIEWED
    assert unchanged(step.posted)
    assert f"not used, because {why}." in step.posted.notes[0]


def test_an_artifact_of_another_run_is_refused_by_name(step: Step) -> None:
    step.upload(zipped((an_entry(), as_json(an_artifact()))), run_id=RUN_ID + 1)
    step.two()
    assert "not used, because it is of another run." in step.posted.notes[0]


def test_without_an_artifact_the_review_is_made_and_says_so(step: Step) -> None:
    assert step.two() == ExitCode.REVIEWED
    assert "not used, because the run left none." in step.posted.notes[0]
    assert step.storage.asked == []


def test_claims_are_refused_by_name_and_nothing_else_changes(step: Step) -> None:
    claims = (a_claim(path="no.py"), a_claim(line=1, end_line=1), a_claim(quote="<b>"), a_claim(tool="eslint"))
    step.upload(zipped((an_entry(), as_json(an_artifact(*claims, a_claim(confidence=99), a_claim())))))
    step.two()
    assert unchanged(step.posted)
    assert step.posted.withheld == ()
    taken, refusals = step.posted.notes
    assert "1 finding taken: 1 found here as well" in taken
    assert "5 entries refused" in refusals


def test_the_gate_is_what_it_was_before_the_report_was_read(step: Step) -> None:
    step.closes_the_gate()
    step.upload(zipped((an_entry(), as_json(an_artifact()))))
    assert step.two() == ExitCode.GATE


@pytest.mark.parametrize("key", ["", "sk-ant-key"])
def test_a_review_that_was_posted_is_no_warning_and_says_where_no_model_was_asked(step: Step, key: str) -> None:
    desk = step.desk("workflow_run", run_event())
    with GithubClient(Access(step.github.token, step.github.url)) as client:
        assert review_fork(replace(desk, inputs=replace(desk.inputs, key=key)), client) == ExitCode.REVIEWED
    assert "::warning title=reviewbot" not in step.log.getvalue()
    assert (KEYLESS in (step.folder / "summary").read_text()) == (not key)


def test_a_head_that_moved_before_gets_nothing_and_it_is_said(step: Step) -> None:
    listed(step.github, a_listed(sha="c" * 40))
    assert step.two() == ExitCode.REVIEWED
    assert (step.pulls.asked, step.pulls.one.posts) == ([], [])
    assert "the head has moved on since" in step.told


def test_a_head_that_moved_while_it_was_read_gets_nothing_and_it_is_said(step: Step) -> None:
    step.pulls.one.pull = REF.model_copy(update={"head_sha": "c" * 40})
    assert step.two() == ExitCode.REVIEWED
    assert step.pulls.one.posts == []
    step.pulls.error = HostMovedError("the head moved", "c" * 40)
    assert step.two() == ExitCode.REVIEWED
    assert step.told.count("the head has moved on since") == 4


def test_a_review_that_was_not_posted_is_said_to_be_none(step: Step) -> None:
    step.pulls.one.fate = Posted(notes=("Nothing was posted: a newer head is there.", "a note"))
    assert step.two() == ExitCode.REVIEWED
    assert "::warning title=reviewbot::Nothing was posted: a newer head is there.; a note" in step.log.getvalue()
    step.pulls.one.fate = Posted()
    step.two()
    assert "::warning title=reviewbot::Nothing was posted." in step.log.getvalue()


def test_two_pull_requests_of_one_head_are_ambiguous_and_get_nothing(step: Step) -> None:
    listed(step.github, a_listed(), a_listed(8))
    assert step.two() == ExitCode.REVIEWED
    assert step.pulls.asked == []
    assert "several open pull requests have this head" in step.told


def test_a_closed_pull_request_gets_nothing(step: Step) -> None:
    listed(step.github)
    assert step.two() == ExitCode.REVIEWED
    assert "no open pull request has this head any more" in step.told
    assert "verdict" in (step.folder / "output").read_text()


def test_a_review_that_github_does_not_take_stands_on_the_page(step: Step) -> None:
    step.pulls.one.fate = HostError("Resource not accessible")
    assert step.two() == ExitCode.HOST
    assert "nothing was posted: Resource not accessible" in step.log.getvalue()
    assert "A value from outside" in (step.folder / "summary").read_text()
    assert KEYLESS in (step.folder / "summary").read_text()
    step.closes_the_gate()
    assert step.two() == ExitCode.GATE


def test_an_error_of_github_ends_stage_two_with_a_line(step: Step) -> None:
    step.pulls.error = HostError("GitHub cannot be reached")
    assert step.two() == ExitCode.HOST
    assert "GitHub cannot be reached" in step.log.getvalue()


def test_stage_one_hands_over_places_and_rules_and_tells_its_own_verdict(step: Step) -> None:
    assert step.one() == ExitCode.REVIEWED
    artifact = read_artifact(step.handed_over.read_bytes())
    assert [(claim.tool, claim.rule, claim.line, claim.quote) for claim in artifact.findings] == [
        ("ruff-security", "S602", 3, LINE)
    ]
    assert "shell" not in step.handed_over.read_text().replace(LINE, "")
    assert "::error file=src/app.py,line=3" in step.log.getvalue()
    summary = (step.folder / "summary").read_text()
    assert "1 issue found" in summary
    assert KEYLESS in summary
    outputs = outputs_in((step.folder / "output").read_text())
    assert (outputs["verdict"], outputs["findings"], outputs["sarif"]) == ("issues", "1", "")
    assert step.pulls.one.posts == []


def test_stage_one_ends_by_its_own_gate_and_still_hands_over(step: Step) -> None:
    step.closes_the_gate()
    assert step.one() == ExitCode.GATE
    assert step.handed_over.exists()


def test_stage_one_leaves_a_branch_of_the_repository_to_the_other_workflow(step: Step) -> None:
    pull = {"number": 7, "head": {"sha": HEAD, "repo": {"id": REPOSITORY_ID}}}
    assert step.one(pull_event(pull_request=pull)) == ExitCode.REVIEWED
    assert "not from a fork" in step.told
    assert not step.handed_over.exists()


def test_stage_one_leaves_a_head_that_moved_to_the_newer_run(step: Step) -> None:
    step.pulls.one.pull = REF.model_copy(update={"head_sha": "c" * 40})
    assert step.one() == ExitCode.REVIEWED
    step.pulls.error = HostMovedError("the head moved", "c" * 40)
    assert step.one() == ExitCode.REVIEWED
    assert step.told.count("the head has moved on since") == 4
    assert not step.handed_over.exists()


def test_stage_one_refuses_another_repository_of_the_same_name(step: Step) -> None:
    step.pulls.one.pull = REF.model_copy(update={"repository_id": 3})
    assert step.one() == ExitCode.USAGE
    assert "another repository under this name" in step.told


def test_stage_one_says_where_it_cannot_write(step: Step) -> None:
    step.handed_over.mkdir(parents=True)
    assert step.one() == ExitCode.USAGE
    assert f"cannot write {FILE_NAME} into RUNNER_TEMP" in step.told
