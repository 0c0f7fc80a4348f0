"""A run of the mode fork-review with a pull request that is played: what is told, and how it ends."""

from __future__ import annotations

import pytest

from reviewbot.action.event import MOVED, ForkRun
from reviewbot.action.outcome import PostOutcome
from reviewbot.domain.errors import EmptyChangeError, ExitCode, HostAccessError, HostError
from tests.action_runner import pull_request
from tests.action_runner.played import URL, ActionResult, PlayedPulls, Run, reviewed
from tests.fork_cases import FORK_ID, HEAD, REPOSITORY_ID, run_event
from tests.make import MakeFinding
from tests.publishing import a_review


def fork_run(run: Run, pulls: PlayedPulls, **inputs: str) -> ActionResult:
    return run("workflow_run", run_event(), pulls, mode="fork-review", **inputs)


def test_a_fork_is_reviewed_and_posted_and_leaves_no_sarif_for_another_commit(run: Run, a_finding: MakeFinding) -> None:
    pulls = PlayedPulls(reviewed(a_review(a_finding())))
    result = fork_run(run, pulls)

    assert (result.code, pulls.posts) == (0, 1)
    assert pulls.asked == [ForkRun("acme/shop", REPOSITORY_ID, HEAD, FORK_ID, "mallory", "patch-1")]
    assert (result.outputs["verdict"], result.outputs["review-url"], result.outputs["sarif"]) == (
        "issues",
        URL,
        "",
    )


def test_where_no_pull_request_is_to_be_reviewed_the_run_says_why_and_passes(run: Run) -> None:
    pulls = PlayedPulls(EmptyChangeError(MOVED))
    result = fork_run(run, pulls)

    assert (result.code, pulls.posts, result.outputs["verdict"]) == (0, 0, "nothing_to_review")
    assert f"::notice title=reviewbot::nothing to review: {MOVED}" in result.log
    assert MOVED in result.summary


def test_an_event_that_is_not_ours_ends_the_run_with_a_line(run: Run) -> None:
    pulls = PlayedPulls(reviewed(a_review()))

    for name, event in (("pull_request", pull_request()), ("workflow_run", {"repository": {}})):
        result = run(name, event, pulls, mode="fork-review")
        assert (result.code, pulls.asked) == (ExitCode.USAGE, [])
        assert result.log.startswith("::error title=reviewbot::")


def test_the_event_of_a_fork_is_reviewed_in_its_own_mode_alone(run: Run) -> None:
    result = run("workflow_run", run_event(), PlayedPulls(reviewed(a_review())))

    assert result.code == ExitCode.USAGE
    assert "there is no review for the event 'workflow_run'" in result.log


@pytest.mark.parametrize("error", [HostAccessError("Resource not accessible"), HostError("GitHub cannot be reached")])
def test_a_review_that_github_does_not_take_is_an_error_and_stands_on_the_page(
    run: Run, a_finding: MakeFinding, error: HostError
) -> None:
    result = fork_run(run, PlayedPulls(reviewed(a_review(a_finding(message="A value reaches a shell."))), error))

    assert result.code == ExitCode.HOST
    assert f"::error title=reviewbot::Nothing was posted: {error}" in result.log
    assert "A value reaches a shell" in result.summary


def test_the_gate_ends_the_run_also_where_nothing_was_posted(run: Run) -> None:
    result = fork_run(run, PlayedPulls(reviewed(a_review(), ExitCode.GATE), HostError("GitHub cannot be reached")))

    assert result.code == ExitCode.GATE


def test_a_newer_head_at_the_end_is_a_warning_that_nothing_was_posted(run: Run) -> None:
    result = fork_run(run, PlayedPulls(reviewed(a_review()), PostOutcome(notes=("Nothing was posted: a newer head.",))))

    assert result.code == ExitCode.REVIEWED
    assert "::warning title=reviewbot::Nothing was posted: a newer head.\n" in result.log
