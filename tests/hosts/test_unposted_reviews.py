"""`--estimate`, `plan --pr` and `--pr` without `--post`: models would read, and read, what a posting review does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from reviewbot.cli import main
from tests.command_line import Ended, Run
from tests.github_api.refusals import missing_permission
from tests.host_cases import GithubCase, HostCase
from tests.messages_api import MessagesApi
from tests.model_pushes import CHANGE, PUSHED, Pushing, on_a_branch

INCREMENTAL, IN_FULL = "Models read what was pushed since ", "The whole change was in scope: it was asked for"


@pytest.fixture
def pushed(case: HostCase, messages_api: MessagesApi) -> Pushing:
    """A reviewed pull request with a push of one hunk that was not reviewed."""
    pushing = on_a_branch(case, messages_api)
    pushing.push(CHANGE)
    pushing.commit({"shop/prices.py": PUSHED})
    return pushing


@pytest.fixture
def run(
    case: HostCase,
    messages_api: MessagesApi,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """The command line on the pull request of the host."""
    known = {
        "ANTHROPIC_API_KEY": "sk-canary",
        "ANTHROPIC_BASE_URL": messages_api.url,
        "REVIEWBOT_REQUESTS_PER_MINUTE": "60000",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "COLUMNS": "200",
    }
    name = f"local:{case.repo.folder}#1"
    if isinstance(case, GithubCase):
        known |= {"GITHUB_API_URL": case.api.url, "GITHUB_TOKEN": case.api.token}
        name = f"{case.repository}#1"
    for variable, value in known.items():
        monkeypatch.setenv(variable, value)

    def running(command: str, *words: str) -> Ended:
        code = main.main([command, "--pr", name, *words])
        said = capsys.readouterr()
        return Ended(code, said.out, said.err)

    return running


def tokens_of(estimate: str) -> int:
    found = re.search(r"([\d,]+) tokens in", estimate)
    assert found is not None, estimate
    return int(found[1].replace(",", ""))


@pytest.mark.slow
def test_an_estimate_is_of_what_was_pushed_and_with_full_of_the_whole_change(pushed: Pushing, run: Run) -> None:
    push, full = run("review", "--estimate"), run("review", "--estimate", "--full")

    assert (push.code, full.code) == (0, 0)
    assert INCREMENTAL in push.err
    assert IN_FULL in full.err
    assert tokens_of(push.out) < tokens_of(full.out) / 2
    assert pushed.models.asked == []


@pytest.mark.slow
def test_a_plan_is_of_what_was_pushed_and_with_full_of_the_whole_change(pushed: Pushing, run: Run) -> None:
    def read_by_models(*words: str) -> set[str]:
        plan = json.loads(run("plan", "--format", "json", *words).out)
        return {
            payload["file_path"]
            for task in plan["tasks"]
            if not task["programs_only"]
            for payload in (task["payload"], *task["more"])
        }

    assert read_by_models() == {"shop/prices.py"}
    assert read_by_models("--full") > {"shop/prices.py", "shop/credit.py"}
    assert INCREMENTAL in run("plan").out
    assert pushed.models.asked == []


@pytest.mark.slow
def test_a_review_that_is_not_posted_reads_what_was_pushed_and_writes_nothing(pushed: Pushing, run: Run) -> None:
    before = pushed.ledger
    push = json.loads(run("review", "--format", "json", "--quiet").out)
    shown = pushed.shown()
    pushed.models.asked.clear()
    full = json.loads(run("review", "--format", "json", "--quiet", "--full").out)

    assert "def price_of" in shown
    assert "def credit_5" not in shown
    assert "def credit_5" in pushed.shown()
    assert [note.startswith(INCREMENTAL) for note in push["notes"] if "was pushed" in note] == [True]
    assert IN_FULL in full["notes"]
    assert pushed.ledger == before


@pytest.mark.slow
def test_a_full_review_that_was_posted_is_not_made_a_second_time(pushed: Pushing, run: Run) -> None:
    posted, again = run("review", "--full", "--post", "--quiet"), run("review", "--full", "--post", "--quiet")

    assert IN_FULL in " ".join(posted.out.split())
    assert "this head has its review already" in again.err
    assert pushed.ledger.heads[-1].since == ""


def test_full_without_a_pull_request_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["review", "--git", "HEAD", "--full"]) == 2
    assert "--full needs --pr" in capsys.readouterr().err


@pytest.mark.slow
def test_a_ledger_of_another_account_leads_to_the_whole_change(pushed: Pushing, run: Run) -> None:
    pushed.case.disown(pushed.case.host.reviews(pushed.case.pull()).reviews()[0].review_id)

    estimate = run("review", "--estimate")
    assert INCREMENTAL not in estimate.err
    assert "does not count" in estimate.err
    assert tokens_of(estimate.out) == tokens_of(run("review", "--estimate", "--full").out)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["github_case"], indirect=True)
def test_reviews_that_the_host_does_not_show_lead_to_the_whole_change_with_a_note(
    pushed: Pushing, run: Run, case: GithubCase
) -> None:
    case.api.refuse("GET", "/pulls/1/reviews$", missing_permission("pull_requests", "read"))

    estimate = run("review", "--estimate")
    assert "what earlier reviews of this pull request said is not known: " in estimate.err
    assert INCREMENTAL not in estimate.err
    assert pushed.models.asked == []
