"""The page of a run, its outputs and its end, as a reader finds them."""

from __future__ import annotations

import io
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reviewbot.action.inputs import read_inputs
from reviewbot.action.outcome import (
    ENDS,
    KEYLESS,
    PASSED_EMPTY,
    PASSED_UNREAD,
    REVIEW_CHARS,
    Ending,
    PostOutcome,
    end_of,
    summary_of,
)
from reviewbot.action.pulls import OUTCOMES, ActionPulls, to_posted
from reviewbot.action.run import NOT_POSTED
from reviewbot.action.runner import runner_of
from reviewbot.cli.commands.action import run_step
from reviewbot.domain.contracts import CoverageState, FileCoverage, Verdict
from reviewbot.domain.contracts.pulls import PullPosted
from reviewbot.domain.errors import ConfigError, ExitCode, ReviewbotError
from reviewbot.report.markdown.comment import MAX_CHARS, render_markdown
from tests.action_runner import pull_request
from tests.action_runner.played import URL, PlayedPulls, Run, reviewed
from tests.fork_cases import an_environment, run_event, text_of
from tests.make import MakeFinding
from tests.publishing import a_review

ENVIRONMENT = {
    "GITHUB_EVENT_NAME": "pull_request",
    "GITHUB_EVENT_PATH": "/event.json",
    "GITHUB_REPOSITORY": "acme/shop",
    "GITHUB_WORKSPACE": "/work",
    "GITHUB_API_URL": "https://api.github.com",
    "RUNNER_TEMP": "/temp",
}


def never(_: object) -> Any:
    """Work that nobody does."""
    raise AssertionError


def test_a_page_says_how_it_ended_what_was_reviewed_and_all_notes_before_the_review() -> None:
    ending = Ending(
        reviewed(a_review()), ExitCode.REVIEWED, PostOutcome(URL, notes=("a *note*", "another")), keyless=True
    )
    headline, _, rest = summary_of(ending).partition("\n\n")

    assert headline == "## reviewbot: No issues found"
    assert rest.split("\n\n")[0].split("\n") == [
        f"- **Check {ENDS[ExitCode.REVIEWED]}.**",
        "- Reviewed: pull request 1, aaa..bbb",
        f"- {KEYLESS}",
        r"- a \*note\*",
        "- another",
        f"- Posted: <{URL}>",
    ]
    assert KEYLESS not in summary_of(replace(ending, keyless=False))


def test_a_page_has_room_for_more_of_a_review_than_a_comment(a_finding: MakeFinding) -> None:
    review = a_review(*[a_finding(message="m" * 900, category=f"c{number}") for number in range(150)])
    page = summary_of(Ending(reviewed(review), ExitCode.REVIEWED))

    assert len(render_markdown(review)) <= MAX_CHARS
    assert 2 * MAX_CHARS < len(page) <= REVIEW_CHARS + 1_000


@pytest.mark.parametrize(
    ("code", "verdict", "state", "words"),
    [
        (ExitCode.REVIEWED, "clean", "reviewed", ENDS[ExitCode.REVIEWED]),
        (ExitCode.REVIEWED, "limited", "partial", PASSED_UNREAD),
        (ExitCode.REVIEWED, "nothing_to_review", "removed", PASSED_EMPTY),
        (ExitCode.GATE, "issues", "partial", ENDS[ExitCode.GATE]),
        (ExitCode.GATE, "nothing_to_review", "removed", ENDS[ExitCode.GATE]),
        (ExitCode.INCOMPLETE, "incomplete", "partial", ENDS[ExitCode.INCOMPLETE]),
        (ExitCode.PROVIDER, "issues", "partial", ENDS[ExitCode.PROVIDER]),
        (ExitCode.HOST, "clean", "reviewed", ENDS[ExitCode.HOST]),
        (ExitCode.HOST, "limited", "partial", ENDS[ExitCode.HOST]),
    ],
)
def test_a_run_passes_in_words_that_say_what_was_not_read(
    code: ExitCode, verdict: Verdict, state: CoverageState, words: str
) -> None:
    coverage = (FileCoverage(path="a.py", state=state, reason="r"),)

    assert end_of(Ending(reviewed(a_review(verdict=verdict, coverage=coverage)), code)) == words


@pytest.mark.parametrize(
    ("key", "engine", "said"), [("", "analyzers", True), ("sk-ant-x", "analyzers", False), ("", "claude", False)]
)
def test_that_no_model_was_asked_is_said_where_no_key_was_given(run: Run, key: str, engine: str, *, said: bool) -> None:
    inputs = {"anthropic_api_key": key} if key else {}
    result = run("pull_request", pull_request(), PlayedPulls(reviewed(a_review(engine=engine))), **inputs)

    assert (KEYLESS in result.summary) == said


@pytest.mark.parametrize(
    ("notes", "words"),
    [((), NOT_POSTED), (("Nothing was posted:\na newer head.",), "Nothing was posted: a newer head.")],
)
def test_a_review_that_was_not_posted_is_a_warning_that_says_why(run: Run, notes: tuple[str, ...], words: str) -> None:
    result = run("pull_request", pull_request(), PlayedPulls(reviewed(a_review()), PostOutcome(notes=notes)))

    assert f"::warning title=reviewbot::{words}\n" in result.log


def test_a_review_that_was_posted_is_no_warning(run: Run) -> None:
    result = run(
        "pull_request", pull_request(), PlayedPulls(reviewed(a_review()), PostOutcome(URL, marks=True, notes=("x",)))
    )

    assert "::warning" not in result.log


@pytest.mark.parametrize(
    ("outcome", "check", "notes", "result"),
    [
        ("posted", "https://h/check", (), PostOutcome("https://h/review", marks=True)),
        ("posted", "", ("a note",), PostOutcome("https://h/review", notes=("a note",))),
        ("busy", "", ("a note",), PostOutcome("https://h/review", notes=(OUTCOMES["busy"], "a note"))),
        (
            "head_moved",
            "https://h/check",
            (),
            PostOutcome("https://h/review", marks=True, notes=(OUTCOMES["head_moved"],)),
        ),
    ],
)
def test_what_came_of_posting_is_told_before_what_went_wrong_on_the_way(
    outcome: Any, check: str, notes: tuple[str, ...], result: PostOutcome
) -> None:
    posted = PullPosted(outcome=outcome, url="https://h/review", check_url=check, notes=notes)

    assert to_posted(posted) == result


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "the input github-token is empty"),
        ({"INPUT_GITHUB_TOKEN": "t", "REVIEWBOT_MARKER_KEY": "short"}, "REVIEWBOT_MARKER_KEY must have at least 16"),
    ],
)
def test_what_a_pull_request_takes_is_asked_for_before_anything_begins(given: dict[str, str], words: str) -> None:
    with ExitStack() as closing, pytest.raises(ConfigError, match=words):
        ActionPulls(runner_of(ENVIRONMENT), read_inputs(given), never, closing).review(1)


def test_neither_an_input_nor_a_login_of_the_job_is_in_what_a_run_says(tmp_path: Path) -> None:
    secrets = {"INPUT_ANTHROPIC_API_KEY": "sk-ant-" + "k" * 20, "AWS_BEARER_TOKEN_BEDROCK": "bedrock-" + "b" * 20}
    log = io.StringIO()
    name = f"{' '.join(secrets.values())}/shop"
    given = {"INPUT_MODE": "fork-review", "GITHUB_REPOSITORY": name, **secrets}

    assert run_step(an_environment(tmp_path, "workflow_run", run_event(), **given), log) == ExitCode.USAGE
    said = log.getvalue() + text_of(tmp_path)
    assert said.count("another repository than ***") == 2
    assert not [secret for secret in secrets.values() if secret in said]


def test_without_a_review_of_a_pull_request_nothing_is_posted() -> None:
    stack, runner, unread = ExitStack(), runner_of(ENVIRONMENT), reviewed(a_review())
    with pytest.raises(ReviewbotError, match="no review of a pull request to post"):
        ActionPulls(runner, read_inputs({}), never, stack).post(unread)
