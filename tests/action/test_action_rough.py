"""What real repositories send and real tokens may not, as the Action meets it: no crash, and no silence either."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from reviewbot.action.outcome import OUTPUTS, PASSED_EMPTY, PASSED_UNREAD, UNKNOWN_POST, PostOutcome
from reviewbot.action.pulls import OUTCOMES
from reviewbot.domain.contracts import CoverageState, FileCoverage, Gap, Verdict
from reviewbot.domain.errors import ConfigError, EmptyChangeError, ExitCode, HostUnknownError
from tests.action_runner import BEFORE, DEFECT, pull_request, pushed, zeros
from tests.action_runner.played import PlayedPulls, Run, reviewed
from tests.git_repo import GitRepo
from tests.make import MakeFinding
from tests.publishing import a_review

LIMITED = "No issues found in 0 of 1 file (1 partial)"


def covered(state: CoverageState) -> tuple[FileCoverage, ...]:
    return (FileCoverage(path="a.go", state=state, reason="no worker of this run reads such a file"),)


def test_the_first_push_of_several_commits_is_reviewed_from_its_root_on(run: Run, tmp_path: Path) -> None:
    checkout = GitRepo(tmp_path / "work")
    commits = [checkout.commit(files) for files in ({"run.py": DEFECT}, {"app.py": BEFORE})]

    result = run("push", pushed(zeros, commits[-1], commits))

    assert (result.code, result.outputs["critical"], result.outputs["coverage"]) == (0, "1", "2/2")


def test_a_forced_push_is_reviewed_in_a_checkout_that_never_had_the_old_commits(run: Run, tmp_path: Path) -> None:
    origin = GitRepo(tmp_path / "origin")
    kept = origin.commit({"app.py": BEFORE})
    old = origin.commit({"old.py": BEFORE})
    origin.git("reset", "-q", "--hard", kept)
    new = origin.commit({"run.py": DEFECT})
    # As actions/checkout with fetch-depth: 0 brings it: all branches and tags, and what they reach.
    work = tmp_path / "work"
    subprocess.run(["git", "clone", "-q", "--no-local", f"file://{origin.folder}", str(work)], check=True)

    result = run("push", pushed(old, new, [new], forced=True))

    assert (result.code, result.outputs["critical"], result.outputs["coverage"]) == (0, "1", "1/1")


def test_a_pull_request_without_a_changed_file_fails_nobody(run: Run) -> None:
    result = run("pull_request", pull_request(), PlayedPulls(EmptyChangeError("acme/shop#1 changes no file")))

    assert result.code == ExitCode.REVIEWED
    assert result.log == "::notice title=reviewbot::nothing to review: acme/shop#1 changes no file\n"
    assert result.outputs == dict.fromkeys(OUTPUTS, "") | {"verdict": "nothing_to_review"}


@pytest.mark.parametrize("mode", ["review", "annotate", "report"])
@pytest.mark.parametrize("verdict", ["limited", "issues"])
def test_what_nobody_could_look_at_is_a_warning_of_the_run_in_every_mode(
    run: Run, a_finding: MakeFinding, mode: str, verdict: Verdict
) -> None:
    findings = [a_finding()] if verdict == "issues" else []
    review = a_review(*findings, verdict=verdict, headline=LIMITED, coverage=covered("partial"))

    result = run("pull_request", pull_request(), PlayedPulls(reviewed(review)), mode=mode)

    assert result.code == ExitCode.REVIEWED
    assert result.log.count(f"::warning title=reviewbot::{LIMITED}\n") == 1
    words = "1 issue found" if findings else "No issues found in what was read"
    assert result.summary.startswith(f"## reviewbot: {words}\n\n- **Check {PASSED_UNREAD}.**")


@pytest.mark.parametrize("mode", ["review", "annotate", "report"])
def test_a_review_that_is_incomplete_by_leave_is_one_warning_and_never_silent(run: Run, mode: str) -> None:
    gaps = (Gap(path="a.go", worker="security", reason="deadline", message="no time was left"),)
    review = a_review(verdict="incomplete", headline="Incomplete: no issues", incomplete=True, gaps=gaps)

    result = run("pull_request", pull_request(), PlayedPulls(reviewed(review), PostOutcome("https://x/y")), mode=mode)

    assert result.log.count("::warning ") == 1
    assert "::Incomplete: no issues\n" in result.log
    assert f"Check {PASSED_UNREAD}." in result.summary


@pytest.mark.parametrize("mode", ["review", "annotate", "report"])
def test_a_provider_that_could_not_be_used_is_named_in_the_log_of_the_run(run: Run, mode: str) -> None:
    gaps = (Gap(path="a.go", worker="security", reason="provider", message="the model API cannot be reached"),)
    review = a_review(verdict="issues", headline="1 issue found", incomplete=True, gaps=gaps)

    result = run("pull_request", pull_request(), PlayedPulls(reviewed(review, ExitCode.PROVIDER)), mode=mode)

    assert result.code == ExitCode.PROVIDER
    assert result.log.count("::the model provider could not be used: the model API cannot be reached\n") == 1
    assert "Check failed: the model provider could not be used" in result.summary


def test_a_job_that_fails_because_nothing_was_read_is_an_error_with_the_way_out(run: Run) -> None:
    review = a_review(verdict="incomplete", headline="No review: 0 of 1 file reviewed", coverage=covered("partial"))
    answer = reviewed(review, ExitCode.INCOMPLETE)

    result = run("pull_request", pull_request(), PlayedPulls(answer))

    assert result.log.count("::error title=reviewbot::No review: 0 of 1 file reviewed\n") == 1
    assert "(`allow_partial` in the file of `config` lets it pass)" in result.summary
    assert "With one in the input anthropic-api-key models read files of every language" in result.summary


@pytest.mark.parametrize(("code", "level"), [(ExitCode.PROVIDER, "error"), (ExitCode.REVIEWED, "warning")])
def test_a_key_that_is_refused_is_named_as_the_input_and_is_an_error_where_the_job_fails(
    run: Run, code: ExitCode, level: str
) -> None:
    gaps = (Gap(path="a.go", worker="security", reason="provider", message="401: check ANTHROPIC_API_KEY"),)
    review = a_review(verdict="issues", headline="1 issue found", incomplete=True, gaps=gaps)

    log = run("pull_request", pull_request(), PlayedPulls(reviewed(review, code))).log

    said = "the model provider could not be used: 401: check the input anthropic-api-key"
    assert f"::{level} title=reviewbot::{said}\n" in log


def test_a_check_that_passes_beside_a_critical_finding_names_the_input_of_the_gate(
    run: Run, a_finding: MakeFinding
) -> None:
    result = run("pull_request", pull_request(), PlayedPulls(reviewed(a_review(a_finding(severity="critical")))))

    assert (result.code, result.outputs["critical"]) == (0, "1")
    assert "**Check passed: no finding closes the gate (`fail-on`, by default none)" in result.summary


@pytest.mark.parametrize(("verdict", "sarif"), [("not_reviewed", False), ("nothing_to_review", True)])
def test_a_review_that_read_nothing_gives_no_zero_and_no_log_that_would_close_alerts(
    run: Run, *, verdict: Verdict, sarif: bool
) -> None:
    state: CoverageState = "removed" if sarif else "partial"
    review = a_review(verdict=verdict, headline="nothing", incomplete=not sarif, coverage=covered(state))

    result = run("pull_request", pull_request(), PlayedPulls(reviewed(review)))

    assert (result.outputs["findings"], result.outputs["critical"], result.outputs["coverage"]) == (
        "",
        "",
        "0/1",
    )
    assert bool(result.outputs["sarif"]) is sarif
    assert f"::{'notice' if sarif else 'warning'} title=reviewbot::nothing\n" in result.log
    assert (f"Check {PASSED_EMPTY}." in result.summary) is sarif


def test_every_run_that_reviewed_says_in_its_log_how_it_ended(run: Run, a_finding: MakeFinding) -> None:
    result = run(
        "pull_request",
        pull_request(),
        PlayedPulls(reviewed(a_review(a_finding(), headline="1 issue found"), ExitCode.GATE)),
    )

    assert result.log == "reviewbot: 1 issue found. Check failed: a finding closes the gate (`fail-on`).\n"


def test_an_answer_that_was_lost_is_not_called_nothing_posted(run: Run, a_finding: MakeFinding) -> None:
    pulls = PlayedPulls(reviewed(a_review(a_finding())), HostUnknownError("no answer came"))

    result = run("pull_request", pull_request(), pulls)

    assert result.code == ExitCode.HOST
    assert f"::error title=reviewbot::I{UNKNOWN_POST[1:]}: no answer came\n" in result.log
    assert "othing was posted" not in result.log + result.summary


@pytest.mark.parametrize("outcome", ["head_moved", "busy"])
def test_a_review_that_stands_nowhere_is_a_warning_of_the_run(run: Run, outcome: str) -> None:
    posted = PostOutcome("", marks=True, notes=(OUTCOMES[outcome],))

    result = run("pull_request", pull_request(), PlayedPulls(reviewed(a_review()), posted))

    assert f"::warning title=reviewbot::{OUTCOMES[outcome]}\n" in result.log


def test_a_message_speaks_of_the_inputs_and_not_of_variables_that_nobody_set(run: Run) -> None:
    result = run(
        "pull_request", pull_request(), PlayedPulls(ConfigError("ANTHROPIC_BASE_URL must begin with https://"))
    )

    assert result.log == "::error title=reviewbot::the input base-url must begin with https://\n"


def test_a_token_in_a_message_is_hidden_on_the_page_too(run: Run) -> None:
    token = "ghs_wholly_secret"

    result = run("pull_request", pull_request(), PlayedPulls(ConfigError(f"bad token {token}")), github_token=token)

    assert "secret" not in result.log + result.summary + str(result.outputs)
