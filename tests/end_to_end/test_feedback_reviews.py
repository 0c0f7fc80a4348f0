"""A review on a machine with feedback: what it changes, where it is named, and that the trace gives it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reviewbot.cli.labels_file import keep_labels
from reviewbot.domain.contracts.feedback import Label
from reviewbot.review.trace import read_trace
from tests.command_line import Ended, Run
from tests.git_repo import GitRepo
from tests.make import one_fast

CODE = "def pay(order):\n    if order is 3:\n        return None\n    return order\n"


@pytest.fixture
def repo_here(home: Path) -> GitRepo:
    repo = GitRepo(home)
    repo.commit(pay_py="def pay(order):\n    return order\n")
    repo.commit(pay_py=CODE)
    return repo


def keep(run_environ: dict[str, str], rule: str, worker: str, count: int, **fields: Any) -> None:
    known = {"rule": rule, "worker": worker, "by_model": False, "source": "ruff", "stated": 90, "outcome": "merged"}
    keep_labels(
        run_environ,
        [Label.model_validate({"finding": f"{n:032x}", "pull": str(n), **known, **fields}) for n in range(count)],
    )


def review(run: Run, *more: str | Path) -> Ended:
    return run("review", "--git", "HEAD", "--engine", "analyzers", "--format", "json", *more)


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(home.parent / "cache"), "HOME": str(home)}


@pytest.mark.slow
def test_a_rule_that_people_ignore_moves_to_the_minor_findings_and_report_trace_and_replay_say_so(
    repo_here: GitRepo, run: Run, environ: dict[str, str], tmp_path: Path
) -> None:
    before = review(run).report
    [finding] = before["findings"]
    assert not any("feedback" in note for note in before["notes"])
    keep(environ, finding["rule"], finding["type"], 30, state="open")

    trace = tmp_path / "trace.json"
    after = review(run, "--trace", trace).report
    assert after["findings"] == []
    [withheld] = after["withheld"]
    assert withheld["reason"] == "minor"
    assert withheld["message"].endswith("of 30 findings like it, 0 were fixed before the merge")
    note = f"Less worth by feedback, since most were not fixed before the merge: {finding['rule']}"
    assert note in after["notes"]
    recorded = next(event for event in read_trace(trace.read_text()) if event["event"] == "rules")
    assert recorded["feedback"]["rules"][0]["ignored"] == 30
    assert json.loads(run("replay", trace, "--format", "json").out) == after
    assert note in run("review", "--git", "HEAD", "--engine", "analyzers", "--format", "markdown").out


@pytest.mark.slow
def test_verdicts_on_a_rule_change_its_confidence_and_the_former_one_stands_beside_it(
    repo_here: GitRepo, run: Run, environ: dict[str, str]
) -> None:
    [finding] = review(run).report["findings"]
    fields = {"state": "dismissed", "origin": "comment", "dismissed_as": "wrong"}
    keep(environ, finding["rule"], finding["type"], 12, **fields)
    after = review(run).report

    [withheld] = after["withheld"]
    assert withheld["reason"] == "below_threshold"
    assert withheld["finding"]["confidence"] < finding["confidence"] == withheld["finding"]["uncounted"]
    assert "Confidence is fitted to feedback of this installation: 1 rule by what people said of them" in after["notes"]


@pytest.mark.slow
def test_a_kept_report_is_not_that_of_other_feedback(repo_here: GitRepo, run: Run, environ: dict[str, str]) -> None:
    words = ("review", "--git", "HEAD", "--engine", "analyzers")
    run(*words)
    assert "kept" in run(*words).err
    [finding] = review(run).report["findings"]
    keep(environ, finding["rule"], finding["type"], 30, state="open")

    assert "kept" not in run(*words).err


@pytest.mark.parametrize("text", one_fast(["{", "", '{"models": 1}', "\x00"]))
def test_a_table_that_cannot_be_read_is_treated_as_none(
    repo_here: GitRepo, run: Run, environ: dict[str, str], text: str
) -> None:
    (home := Path(environ["XDG_CACHE_HOME"]) / "reviewbot").mkdir(parents=True)
    (home / "feedback.json").write_text(text)

    assert len(review(run).report["findings"]) == 1
