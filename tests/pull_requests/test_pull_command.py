"""`reviewbot review --pr` in one process: what is printed, what is posted, and how it ends."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reviewbot.cli import main
from reviewbot.cli.commands import pull as pull_module
from reviewbot.cli.commands.pull import review_pull
from reviewbot.domain.errors import HostAccessError, InputError
from reviewbot.hosts.github.host import access_to
from reviewbot.hosts.registry import resolve_pull
from tests.command_line import Ended, Run
from tests.github_api import FakeGitHub, Pull, Reply
from tests.github_api.refusals import missing_permission, server_error

OpenPull = Callable[..., Pull]
NAME = "acme/shop#1"


@pytest.fixture
def run(
    github_api: FakeGitHub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    office: Any,
) -> Run:
    """The command line on our GitHub, with a clock that does not wait."""
    own = {
        "GITHUB_API_URL": github_api.url,
        "GITHUB_TOKEN": github_api.token,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "COLUMNS": "100",
    }
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    for name in ("GH_TOKEN", "GH_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pull_module, "review_pull", lambda arguments: review_pull(arguments, office.clock))

    def running(*words: str | Path) -> Ended:
        try:
            code = main.main([str(word) for word in words])
        except SystemExit as ended:
            code = int(str(ended.code))
        said = capsys.readouterr()
        return Ended(code, said.out, said.err)

    return running


def test_a_pull_request_is_printed_and_nothing_is_written(
    run: Run, open_pull: OpenPull, github_api: FakeGitHub
) -> None:
    pull = open_pull()

    ended = run("review", "--pr", NAME)

    assert (ended.code, pull.reviews) == (0, [])
    assert "src/pay.py" in ended.out
    assert {each.method for each in github_api.recorded} == {"GET"}


def test_a_terminal_that_shows_links_gets_the_permanent_address_of_each_finding(
    run: Run, open_pull: OpenPull, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = open_pull().head_sha
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    done = run("review", "--pr", NAME, "--no-cache")

    assert f"/acme/shop/blob/{head}/" in done.out.partition("\x1b]8;;")[2]


def test_with_post_it_is_printed_and_posted_and_the_second_time_it_is_said_where(run: Run, open_pull: OpenPull) -> None:
    pull = open_pull()

    first = run("review", "--pr", NAME, "--post")
    second = run("review", "--pr", NAME, "--post")

    assert (first.code, second.code, len(pull.reviews), len(pull.comments)) == (0, 0, 1, 1)
    assert "src/pay.py" in first.out
    assert "posted: http://127.0.0.1" in first.err
    assert "was not reviewed and was not posted again: http://127.0.0.1" in second.err
    assert second.out == ""


@pytest.mark.slow
def test_the_ledger_of_a_pull_request_is_rebuilt_from_what_was_posted(run: Run, open_pull: OpenPull) -> None:
    pull = open_pull()
    assert json.loads(run("ledger", NAME, "--format", "json").out)["records"] == []
    run("review", "--pr", NAME, "--post")
    pull.comments.append(replace(pull.comments[0], comment_id=77, account=pull.author, in_reply_to_id=None))
    ended = run("ledger", NAME, "--format", "json")

    [record] = json.loads(ended.out)["records"]
    assert (record["state"], record["path"], record["head"]) == ("new", "src/pay.py", pull.head_sha)
    assert "has a marker of reviewbot, and does not count" in ended.err


@pytest.mark.slow
def test_a_gate_that_was_closed_is_closed_in_a_second_run_too(run: Run, open_pull: OpenPull) -> None:
    pull = open_pull()

    words = ("review", "--pr", NAME, "--post", "--fail-on", "warning")
    first, second = run(*words), run(*words)

    assert (first.code, second.code, len(pull.reviews)) == (1, 1, 1)
    assert "src/pay.py" in second.out
    assert "was posted before, and was not posted again" in second.err


@pytest.mark.slow
def test_a_head_that_moves_under_the_review_gets_nothing(
    run: Run, open_pull: OpenPull, github_api: FakeGitHub, folder: Any
) -> None:
    pull = open_pull()
    new = folder.commit({"src/pay.py": "pass\n"})

    def moving() -> Reply:
        github_api.push("acme/shop", 1, new)
        return missing_permission("checks", "write")

    github_api.refuse("POST", "/check-runs$", moving)

    ended = run("review", "--pr", NAME, "--post")

    assert (ended.code, pull.reviews) == (5, [])
    assert "the head of the pull request moved on" in ended.err
    assert "src/pay.py" in ended.out


@pytest.mark.slow
def test_a_refused_permission_is_named_after_the_review_was_printed(
    run: Run, open_pull: OpenPull, github_api: FakeGitHub
) -> None:
    pull = open_pull()
    github_api.refuse("POST", "/pulls/1/reviews$", missing_permission("pull_requests", "write"))

    ended = run("review", "--pr", NAME, "--post")

    assert (ended.code, pull.reviews) == (5, [])
    assert "nothing was posted" in ended.err
    assert "pull_requests" in ended.err
    assert "src/pay.py" in ended.out
    assert github_api.token not in ended.err + ended.out


@pytest.mark.slow
def test_a_closed_gate_is_told_before_that_nothing_could_be_posted(
    run: Run, open_pull: OpenPull, github_api: FakeGitHub
) -> None:
    open_pull()
    github_api.refuse("POST", "/pulls/1/reviews$", missing_permission("pull_requests", "write"))

    assert run("review", "--pr", NAME, "--post", "--fail-on", "warning").code == 1


@pytest.mark.parametrize("place", ["--output", "--trace"])
def test_a_report_that_cannot_be_written_is_not_posted_and_leaves_no_check_in_progress(
    place: str, run: Run, open_pull: OpenPull
) -> None:
    pull = open_pull()
    ended = run("review", "--pr", NAME, "--post", place, "/dev/full")
    (check,) = pull.repository.checks

    assert (ended.code, pull.reviews) == (2, [])
    assert "cannot write /dev/full" in ended.err
    assert (check.status, check.conclusion, check.title) == ("completed", "neutral", "Not posted")
    assert "/dev" not in check.summary


def test_a_token_that_is_refused_ends_with_the_hosts_code_and_is_not_shown(
    run: Run, open_pull: OpenPull, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_pull()
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_" + "w" * 36)

    ended = run("review", "--pr", NAME)

    assert (ended.code, ended.out) == (5, "")
    assert "w" * 36 not in ended.err


@pytest.mark.parametrize("name", ["acme/shop#7", "acme/none#1"])
def test_what_there_is_not_ends_with_the_hosts_code(run: Run, open_pull: OpenPull, name: str) -> None:
    open_pull()

    assert run("review", "--pr", name).code == 5


@pytest.mark.slow
def test_it_works_with_the_options_of_every_review(
    run: Run, open_pull: OpenPull, github_api: FakeGitHub, tmp_path: Path
) -> None:
    open_pull()
    report, trace = tmp_path / "report.json", tmp_path / "run.trace"

    result = run("review", "--pr", NAME, "--format", "json", "--output", report, "--trace", trace, "--no-cache")
    asked = len(github_api.recorded)
    replayed = run("replay", trace, "--format", "json")
    gate = run("review", "--pr", NAME, "--fail-on", "warning", "--worker", "logic", "security", "--format", "sarif")
    estimate = run("review", "--pr", NAME, "--estimate")
    resumed = run("review", "--pr", NAME, "--resume")
    plan = run("plan", "--pr", NAME, "--format", "json")

    assert (result.code, result.out, json.loads(report.read_text())["verdict"]) == (0, "", "issues")
    assert json.loads(replayed.out) == json.loads(report.read_text())
    assert (gate.code, json.loads(gate.out)["version"]) == (1, "2.1.0")
    assert (estimate.code, "src/pay.py" in estimate.out, bool(estimate.out)) == (0, False, True)
    assert resumed.code == 0
    assert {task["payload"]["file_path"] for task in json.loads(plan.out)["tasks"]} == {"src/pay.py"}
    assert len(github_api.recorded) > asked


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--pr", NAME, "change.diff"), "--pr"),
        (("--pr", NAME, "--git", "A..B"), "--git"),
        (("--pr", NAME, "--staged"), "--staged"),
        (("--pr", NAME, "--repo", "."), "--repo"),
        (("--pr", "acme/shop"), "'acme/shop' names no pull request"),
        (("--pr", NAME, "--post", "--estimate"), "--estimate"),
        (("--staged", "--post"), "--post"),
    ],
)
def test_what_does_not_go_together_is_refused_by_name_before_anything_is_asked(
    run: Run, github_api: FakeGitHub, words: tuple[str, ...], named: str
) -> None:
    ended = run("review", *words)

    assert (ended.code, ended.out, github_api.recorded) == (2, "", [])
    assert named in ended.err


def test_a_marker_key_that_could_be_guessed_is_refused(
    run: Run, github_api: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVIEWBOT_MARKER_KEY", "short")

    ended = run("review", "--pr", NAME)

    assert (ended.code, github_api.recorded) == (2, [])
    assert "REVIEWBOT_MARKER_KEY" in ended.err


@pytest.mark.slow
def test_how_far_a_review_came_that_broke_off_is_in_its_trace(
    run: Run, open_pull: OpenPull, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_pull()
    trace = tmp_path / "run.trace"

    def broken(*_: Any) -> Any:
        raise InputError("broken")

    monkeypatch.setattr("reviewbot.pull_requests.review.deliver", broken)

    ended = run("review", "--pr", NAME, "--trace", trace)

    assert (ended.code, "broken" in ended.err) == (2, True)
    assert '"plan_made"' in trace.read_text()


# --- which host, and under which token


@pytest.mark.parametrize(
    ("environ", "name", "expected"),
    [
        ({"GITHUB_TOKEN": "a"}, NAME, ("https://api.github.com", "a")),
        ({"GITHUB_TOKEN": "a"}, "https://github.com/acme/shop/pull/1", ("https://api.github.com", "a")),
        (
            {"GITHUB_TOKEN": "a", "GH_ENTERPRISE_TOKEN": "b"},
            "https://ghe.example.com/acme/shop/pull/1",
            ("https://ghe.example.com/api/v3", "b"),
        ),
        (
            {"GITHUB_TOKEN": "a", "GITHUB_API_URL": "https://ghe.example.com/api/v3"},
            "https://ghe.example.com/acme/shop/pull/1",
            ("https://ghe.example.com/api/v3", "a"),
        ),
    ],
)
def test_the_address_chooses_the_host_and_the_host_its_token(
    monkeypatch: pytest.MonkeyPatch, environ: Mapping[str, str], name: str, expected: tuple[str, str]
) -> None:
    monkeypatch.setattr("os.environ", environ)

    found = access_to(resolve_pull(name).name, os.environ)

    assert (found.api_url, found.token) == expected


def test_a_token_of_one_host_is_never_sent_to_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    address = resolve_pull("https://elsewhere.example/acme/shop/pull/1").name
    monkeypatch.setattr("os.environ", {"GITHUB_TOKEN": "a", "HOME": str(tmp_path), "PATH": ""})

    with pytest.raises(HostAccessError, match=r"elsewhere\.example"):
        access_to(address, os.environ)

    monkeypatch.setattr("os.environ", {"GITHUB_TOKEN": "a", "GITHUB_API_URL": "https://api.github.com"})
    with pytest.raises(InputError, match="GITHUB_API_URL"):
        access_to(address, os.environ)


@pytest.mark.slow
def test_what_may_have_been_posted_is_not_called_unposted(
    run: Run, open_pull: OpenPull, github_api: FakeGitHub
) -> None:
    open_pull()
    github_api.refuse("POST", "/reviews$", server_error(), times=2)

    ended = run("review", "--pr", NAME, "--post")

    assert ended.code == 5
    assert "nothing was posted" not in ended.err
    assert "not known whether it was posted" in ended.err
