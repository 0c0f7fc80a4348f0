"""A run of the Action from its event to its end, with a pull request that is played."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from reviewbot.action.outcome import KEYLESS, OUTPUTS, Ending, PostOutcome, outputs_of, summary_of
from reviewbot.action.run import FORK_NOTE, NOTHING_TO_POST_TO
from reviewbot.domain.contracts import Usage
from reviewbot.domain.errors import (
    ExitCode,
    HostAccessError,
    HostError,
    HostLimitError,
    HostMissingError,
)
from tests.action_runner import BEFORE, DEFECT, ROOT, pull_request, pushed, read_yaml, zeros
from tests.action_runner.played import URL, PlayedPulls, Run, reviewed
from tests.git_repo import GitRepo
from tests.make import MakeFinding
from tests.publishing import a_review

REFUSED = HostAccessError("GitHub refuses: Resource not accessible by integration; it needs pull_requests=write")


def test_a_pull_request_is_reviewed_posted_once_and_told_of(run: Run, a_finding: MakeFinding) -> None:
    pulls = PlayedPulls(reviewed(a_review(a_finding(severity="critical"), a_finding(line=3))))

    result = run("pull_request", pull_request(1), pulls)

    assert (result.code, pulls.asked, pulls.posts) == (0, [1], 1)
    sarif = Path(result.outputs.pop("sarif"))
    assert len(json.loads(sarif.read_text())["runs"][0]["results"]) == 2
    assert Path(result.outputs.pop("html")).read_text().startswith("<!doctype html>")
    assert result.outputs == {
        "verdict": "issues",
        "findings": "2",
        "critical": "1",
        "review-url": URL,
        "cost": "0.0000",
        "tokens": "0",
        "coverage": "1/1",
    }
    assert f"- Posted: <{URL}>" in result.summary
    assert result.summary.startswith("## reviewbot: 2 issues found\n\n- **Check passed")


def test_lines_are_marked_once_by_the_check_run_or_by_the_log(run: Run, a_finding: MakeFinding) -> None:
    answer = reviewed(a_review(a_finding()))

    assert run("pull_request", pull_request(), PlayedPulls(answer)).log.count("::") == 0
    assert "::warning file=src/app.py" in run("pull_request", pull_request(), PlayedPulls(answer, PostOutcome(URL))).log


@pytest.mark.parametrize(("mode", "marks"), [("annotate", 1), ("report", 0)])
def test_in_the_other_modes_nothing_is_posted(run: Run, a_finding: MakeFinding, mode: str, marks: int) -> None:
    pulls = PlayedPulls(reviewed(a_review(a_finding())))

    result = run("pull_request", pull_request(), pulls, mode=mode)

    assert pulls.posts == 0
    assert result.log.count("file=src/app.py") == marks
    assert (result.outputs["findings"], result.outputs["review-url"]) == ("1", "")


@pytest.mark.parametrize("code", [ExitCode.REVIEWED, ExitCode.GATE, ExitCode.INCOMPLETE])
def test_a_run_ends_as_the_review_does(run: Run, code: ExitCode) -> None:
    result = run("pull_request", pull_request(), PlayedPulls(reviewed(a_review(), code)))

    assert result.code == code
    assert f"- **Check {'passed' if code == 0 else 'failed'}" in result.summary


@pytest.mark.parametrize("code", [ExitCode.REVIEWED, ExitCode.GATE, ExitCode.INCOMPLETE])
def test_a_forks_run_that_may_not_post_says_so_and_ends_by_the_gate(
    run: Run, a_finding: MakeFinding, code: ExitCode
) -> None:
    pulls = PlayedPulls(reviewed(a_review(a_finding()), code), REFUSED)

    result = run("pull_request", pull_request(fork="stranger/shop"), pulls)

    assert result.code == code
    assert "Nothing was posted: a workflow on a fork's pull request has a token that can only read" in result.summary
    assert f"::warning title=reviewbot::{FORK_NOTE}" in result.log
    assert "::warning file=src/app.py" in result.log


@pytest.mark.parametrize("error", [REFUSED, HostLimitError("its limit is reached"), HostMissingError("no such thing")])
def test_what_github_does_not_take_otherwise_is_an_error_that_says_why(
    run: Run, a_finding: MakeFinding, error: HostError
) -> None:
    result = run("pull_request", pull_request(), PlayedPulls(reviewed(a_review(a_finding())), error))

    assert result.code == ExitCode.HOST
    assert f"::error title=reviewbot::Nothing was posted: {error}" in result.log
    assert "failed: GitHub did not take the review" in result.summary
    assert result.outputs["findings"] == "1"


def test_a_closed_gate_is_said_before_that_nothing_was_posted(run: Run) -> None:
    result = run("pull_request", pull_request(), PlayedPulls(reviewed(a_review(), ExitCode.GATE), REFUSED))

    assert result.code == ExitCode.GATE


def test_a_run_that_came_to_no_review_claims_nothing(run: Run) -> None:
    result = run("pull_request", pull_request(), PlayedPulls(HostMissingError("there is no pull request 1")))

    assert result.code == ExitCode.HOST
    assert result.outputs == dict.fromkeys(OUTPUTS, "") | {"verdict": "not_reviewed"}
    assert result.log == "::error title=reviewbot::there is no pull request 1\n"
    assert result.summary == "## reviewbot: no review\n\nNothing was reviewed: there is no pull request 1\n"


def test_an_event_that_is_not_ours_fails_the_step_with_the_reason(run: Run) -> None:
    result = run("schedule", {})

    assert result.code == ExitCode.USAGE
    assert "::error title=reviewbot::there is no review for the event 'schedule'" in result.log


def test_a_deleted_branch_is_nothing_to_review_and_no_clean_review(run: Run) -> None:
    result = run("push", pushed("a" * 40, zeros))

    assert (result.code, result.outputs["verdict"], result.outputs["findings"]) == (0, "nothing_to_review", "")
    assert "the branch or tag was deleted" in result.summary


def test_a_push_is_reviewed_from_the_objects_of_the_checkout(run: Run, tmp_path: Path) -> None:
    checkout = GitRepo(tmp_path / "work")
    before = checkout.commit({"app.py": BEFORE})
    after = checkout.commit({"run.py": DEFECT})
    (tmp_path / "work/run.py").write_text("the files of the checkout are not read\n")

    result = run("push", pushed(before, after, [after]), fail_on="critical", paths="run.py")

    assert (result.code, result.outputs["verdict"], result.outputs["critical"]) == (
        ExitCode.GATE,
        "issues",
        "1",
    )
    assert "::error file=run.py,line=5" in result.log
    assert f"\n- Reviewed: `{before[:12]}..{after[:12]}`, 1 file\n" in result.summary
    assert KEYLESS in result.summary
    assert NOTHING_TO_POST_TO in result.summary


def test_a_push_to_a_new_repository_is_reviewed(run: Run, tmp_path: Path) -> None:
    after = GitRepo(tmp_path / "work").commit({"run.py": DEFECT})

    assert run("push", pushed(zeros, after, [after])).outputs["critical"] == "1"


def test_a_change_cannot_configure_its_own_review(run: Run, tmp_path: Path) -> None:
    checkout = GitRepo(tmp_path / "work")
    before = checkout.commit({"app.py": BEFORE, ".reviewbot.toml": 'fail_on = "critical"\n'})
    after = checkout.commit({"run.py": DEFECT, ".reviewbot.toml": 'ignore = ["*"]\n'})

    result = run("push", pushed(before, after, [after]))

    assert (result.code, result.outputs["critical"]) == (ExitCode.GATE, "1")
    assert "this change cannot configure its own review" in result.summary


def test_a_shallow_checkout_is_an_error_that_says_what_to_do(run: Run, tmp_path: Path) -> None:
    after = GitRepo(tmp_path / "work").commit({"run.py": DEFECT})

    result = run("push", pushed("d" * 40, after, [after]))

    assert result.code == ExitCode.USAGE
    assert "fetch-depth: 0" in result.log
    assert result.outputs["verdict"] == "not_reviewed"


def test_without_a_checkout_a_range_is_an_error_that_says_so(run: Run) -> None:
    assert "actions/checkout must bring both ends" in run("push", pushed("a" * 40, "b" * 40)).log


def test_what_no_analyzer_reads_is_never_green_without_a_key(run: Run, tmp_path: Path) -> None:
    checkout = GitRepo(tmp_path / "work")
    before = checkout.commit({"app.py": BEFORE})
    after = checkout.commit({"app.ex": "defmodule App do\nend\n"})

    result = run("push", pushed(before, after, [after]))

    assert (result.code, result.outputs["verdict"], result.outputs["coverage"]) == (
        ExitCode.INCOMPLETE,
        "not_reviewed",
        "0/1",
    )
    assert "failed: something that should have been reviewed was not" in result.summary


def test_what_was_read_only_in_part_carries_a_warning(run: Run, tmp_path: Path) -> None:
    checkout = GitRepo(tmp_path / "work")
    before = checkout.commit({"app.py": BEFORE})
    after = checkout.commit({"app.ex": "defmodule App do\nend\n", "other.py": BEFORE})

    result = run("push", pushed(before, after, [after]))

    assert (result.outputs["verdict"], result.outputs["coverage"]) == ("limited", "1/2")
    assert (
        "::warning title=reviewbot::No issues found in what was read; 1 of 2 files reviewed (1 only scanned)"
        in result.log
    )


def test_an_engine_that_needs_a_key_is_an_error_without_one(run: Run, tmp_path: Path) -> None:
    checkout = GitRepo(tmp_path / "work")
    before = checkout.commit({"app.py": BEFORE})
    after = checkout.commit({"run.py": DEFECT})

    result = run("push", pushed(before, after, [after]), engine="models")

    assert result.code == ExitCode.USAGE
    assert "no key for a model" in result.log


def test_the_outputs_are_those_that_the_action_declares(a_finding: MakeFinding) -> None:
    declared = read_yaml(ROOT / "action.yml")["outputs"]

    assert list(outputs_of(Ending(reviewed(a_review()), ExitCode.REVIEWED), {})) == list(OUTPUTS)
    assert {name: each["value"] for name, each in declared.items()} == {
        name: f"${{{{ steps.review.outputs.{name} }}}}" for name in OUTPUTS
    }


def test_cost_and_tokens_are_those_of_the_models_and_an_unknown_price_is_called_so() -> None:
    priced = Usage(calls=2, input_tokens=100, output_tokens=20, cached_tokens=3, cache_write_tokens=4, cost_usd=0.25)

    def of(usage: Usage) -> tuple[str, str]:
        made = outputs_of(Ending(reviewed(a_review(usage=usage)), ExitCode.REVIEWED), {})
        return made["cost"], made["tokens"]

    assert of(priced) == ("0.2500", "127")
    assert of(priced.model_copy(update={"unpriced_calls": 1})) == ("unknown", "127")


def test_a_summary_holds_the_coverage_of_each_file_and_how_the_review_was_made(a_finding: MakeFinding) -> None:
    text = summary_of(Ending(reviewed(a_review(a_finding())), ExitCode.REVIEWED))

    assert "- **reviewed** (1: `" in text
    assert "static analyzers without a model" in text


@pytest.mark.parametrize(
    "note", ["<img src=x onerror=alert(1)>", "@everyone", "[x](http://evil.example)", "a\n## b", "\u202eevil", "|a|b|"]
)
def test_a_note_in_the_summary_is_text_and_nothing_else(note: str) -> None:
    def kinds(*notes: str) -> set[str]:
        text = summary_of(Ending(reviewed(a_review(notes=("n",))), ExitCode.REVIEWED, PostOutcome(notes=notes)))
        tree = MarkdownIt("commonmark").enable("table").parse(text)
        return {token.type for part in tree for token in (part, *(part.children or ()))}

    assert kinds(note) == kinds("a `note`")


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://x/a>b", "https://x/ y", "https://x/[a](b)"])
def test_an_address_that_is_not_plain_is_no_link(url: str) -> None:
    assert f"<{url}>" not in summary_of(Ending(reviewed(a_review()), ExitCode.REVIEWED, PostOutcome(url)))
