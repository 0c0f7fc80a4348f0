"""The steps of action.yml, carried out as the runner would: an event in; one review, outputs and a summary out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.action_runner import (
    BEFORE,
    DEFECT,
    ROOT,
    ActionRunner,
    MakeRunner,
    Ran,
    dispatched,
    pull_request,
    pushed,
)
from tests.git_repo import GitRepo
from tests.github_api import FakeGitHub, Pull
from tests.messages_api import MessagesApi

REAL = ROOT.parent / "shared/contracts/webhooks"
INJECTIONS = sorted((ROOT / "tests/hostile/injection").iterdir())
KEY = "sk-ant-api03-" + "k" * 40
READ_ONLY = "ghs_" + "r" * 36
NAME = "acme/shop"


@pytest.fixture
def origin(tmp_path: Path) -> GitRepo:
    """What GitHub has: `main`, and a branch `feature` with a defect."""
    made = GitRepo(tmp_path / "origin")
    made.commit({"app.py": BEFORE})
    made.git("checkout", "-q", "-b", "feature")
    made.commit({"run.py": DEFECT})
    return made


@pytest.fixture
def pull(github_api: FakeGitHub, origin: GitRepo) -> Pull:
    github_api.add_repository(NAME, origin.folder)
    return github_api.open_pull(NAME, "main", "feature")


@pytest.fixture
def runner(make_runner: MakeRunner, github_api: FakeGitHub) -> ActionRunner:
    return make_runner(api_url=github_api.url, token=github_api.token)


def posted(github: FakeGitHub) -> list[str]:
    return [path for path in github.paths("POST") if path.endswith("/reviews")]


def results(ran: Ran) -> list[Any]:
    log = json.loads(Path(ran.outputs["sarif"]).read_text())
    found: list[Any] = log["runs"][0]["results"]
    return found


@pytest.mark.slow
def test_an_opened_pull_request_gets_one_review_and_one_check(
    runner: ActionRunner, github_api: FakeGitHub, pull: Pull
) -> None:
    first = runner.run("pull_request", pull_request(pull.number, "opened"), {"fail-on": "critical"})

    assert first.code == 1, first.log
    assert len(posted(github_api)) == len(pull.reviews) == 1
    assert first.outputs["review-url"].endswith(f"#pullrequestreview-{pull.reviews[0].review_id}")
    assert (first.outputs["verdict"], first.outputs["critical"], first.outputs["coverage"]) == ("issues", "1", "1/1")
    assert (first.outputs["cost"], first.outputs["tokens"], len(results(first))) == ("0.0000", "0", 1)
    assert "static analyzers reviewed, and no model was asked" in first.summary
    checks = pull.repository.checks
    assert {(check.status, check.conclusion) for check in checks} == {("completed", "failure")}
    assert first.commands("error") == []
    assert [step for step in first.steps if step != "python"] == ["install", "review"]


@pytest.mark.slow
def test_a_head_is_reviewed_once_and_a_new_head_gets_a_review_of_its_own(
    runner: ActionRunner, github_api: FakeGitHub, pull: Pull
) -> None:
    first = runner.run("pull_request", pull_request(pull.number))
    again = runner.run("pull_request", pull_request(pull.number, "reopened"))
    assert (len(posted(github_api)), again.outputs["review-url"]) == (1, first.outputs["review-url"])
    assert "This head has its review already" in again.summary

    GitRepo(pull.repository.folder).commit({"more.py": "def more():\n    return eval(input())\n"})
    github_api.push(NAME, pull.number, "feature")

    ran = runner.run("pull_request", pull_request(pull.number, "synchronize"))

    assert (ran.code, len(pull.reviews)) == (0, 2)
    assert pull.reviews[-1].commit_id == pull.head_sha


@pytest.mark.slow
def test_a_forks_run_with_a_token_that_can_only_read_ends_by_the_gate(
    make_runner: MakeRunner, github_api: FakeGitHub, pull: Pull
) -> None:
    github_api.add_token(
        READ_ONLY, "github-actions[bot]", {"contents": "read", "metadata": "read", "pull_requests": "read"}
    )
    runner = make_runner(api_url=github_api.url, token=READ_ONLY)

    ran = runner.run("pull_request", pull_request(pull.number, fork="stranger/shop"), {"fail-on": "critical"})

    assert (ran.code, ran.outputs["critical"], ran.outputs["review-url"]) == (1, "1", "")
    assert "a workflow on a fork's pull request has a token that can only read" in ran.summary
    assert [line for line in ran.commands("error") if "file=run.py,line=5" in line]
    assert not pull.reviews


@pytest.mark.slow
def test_a_push_is_reviewed_from_the_checkout(make_runner: MakeRunner, checkout: GitRepo) -> None:
    before = checkout.git("rev-parse", "HEAD")
    after = checkout.commit({"run.py": DEFECT})

    ran = make_runner().run("push", pushed(before, after, [after]), {"mode": "annotate"})

    assert (ran.code, ran.outputs["verdict"], len(results(ran))) == (0, "issues", 1)
    assert len(ran.commands("error")) == 1


@pytest.mark.slow
def test_a_manual_run_reviews_the_pull_request_that_it_names(
    runner: ActionRunner, github_api: FakeGitHub, pull: Pull
) -> None:
    ran = runner.run("workflow_dispatch", dispatched(number=str(pull.number), range=""))

    assert (ran.code, ran.outputs["verdict"], len(pull.reviews)) == (0, "issues", 1)


@pytest.fixture
def models() -> Iterator[MessagesApi]:
    with MessagesApi() as api:
        yield api


@pytest.mark.slow
def test_the_key_goes_where_the_input_says_and_nowhere_that_the_job_says(
    make_runner: MakeRunner, checkout: GitRepo, models: MessagesApi
) -> None:
    before = checkout.git("rev-parse", "HEAD")
    after = checkout.commit({"run.py": DEFECT})
    with MessagesApi() as evil:
        job = {
            "ANTHROPIC_BASE_URL": evil.url,
            "ANTHROPIC_CUSTOM_HEADERS": "x-evil: 1",
            "ANTHROPIC_AUTH_TOKEN": "other",
            "REVIEWBOT_MODEL_MEDIUM": "evil-1",
        }
        given = {"anthropic-api-key": KEY, "base-url": models.url, "max-cost": "1"}
        ran = make_runner(job=job).run("push", pushed(before, after, [after]), given)

        assert not evil.asked
    assert models.asked
    assert {asked.headers.get("x-api-key", asked.headers.get("authorization")) for asked in models.asked} <= {
        KEY,
        f"Bearer {KEY}",
    }
    assert not [asked for asked in models.asked if "x-evil" in asked.headers]
    assert "static analyzers reviewed" not in ran.summary
    said = ran.raw + ran.summary + json.dumps(ran.outputs) + Path(ran.outputs["sarif"]).read_text()
    assert KEY not in said


@pytest.mark.slow
def test_no_file_of_the_checkout_is_python_for_us(make_runner: MakeRunner, checkout: GitRepo) -> None:
    before = checkout.git("rev-parse", "HEAD")
    names = ("reviewbot/__init__.py", "reviewbot/__main__.py", "json.py", "pydantic.py", "sitecustomize.py", "re.py")
    after = checkout.commit(dict.fromkeys(names, "open('canary', 'w')\n") | {"run.py": DEFECT})
    job = {"PYTHONPATH": str(checkout.folder), "PYTHONSTARTUP": str(checkout.folder / "re.py")}

    ran = make_runner(job=job).run("push", pushed(before, after, [after]), {"paths": "run.py"})

    assert (ran.code, ran.outputs["critical"]) == (0, "1")
    assert not list(checkout.folder.parent.rglob("canary"))


@pytest.fixture
def hostile(checkout: GitRepo) -> str:
    """Text that makes a file `canary` in the checkout where a shell or the runner takes it for more than text."""
    canary = checkout.folder / "canary"
    shell = f'"; touch {canary}; $(touch {canary}) `touch {canary}` ${{{{ github.token }}}} \n::set-output name=x::y\n'
    return shell + "".join(path.read_text("utf-8", "replace") for path in INJECTIONS)


def assert_harmless(ran: Ran, checkout: GitRepo) -> None:
    assert not list(checkout.folder.parent.rglob("canary"))
    assert "touch" not in ran.raw + ran.summary + json.dumps(ran.outputs)
    assert all(re.match(r"::(?:error|warning|notice) |reviewbot: ", line) for line in ran.raw.splitlines())


@pytest.mark.slow
def test_texts_of_a_push_execute_nothing_and_reach_no_file_of_the_runner(
    make_runner: MakeRunner, checkout: GitRepo, hostile: str
) -> None:
    before = checkout.git("rev-parse", "HEAD")
    after = checkout.commit({"run.py": DEFECT})
    payload = pushed(before, after, [after], branch=hostile, message=hostile)

    ran = make_runner().run("push", payload, {"paths": "run.py"})

    assert (ran.code, ran.outputs["critical"]) == (0, "1")
    assert_harmless(ran, checkout)


@pytest.mark.slow
def test_texts_of_a_pull_request_execute_nothing_and_reach_no_file_of_the_runner(
    make_runner: MakeRunner, checkout: GitRepo, hostile: str
) -> None:
    ran = make_runner().run("pull_request", pull_request(title=hostile, branch=hostile, body=hostile))

    assert (ran.code, ran.outputs["verdict"]) == (5, "not_reviewed")  # no host is there
    assert_harmless(ran, checkout)


@pytest.mark.slow
def test_a_pull_request_with_an_empty_commit_alone_is_nothing_to_review(
    runner: ActionRunner, github_api: FakeGitHub, origin: GitRepo
) -> None:
    origin.git("checkout", "-q", "-b", "empty", "main")
    origin.commit({})
    github_api.add_repository(NAME, origin.folder)
    empty = github_api.open_pull(NAME, "main", "empty")

    ran = runner.run("pull_request", pull_request(empty.number))

    assert (ran.code, ran.outputs["verdict"], ran.outputs["findings"]) == (0, "nothing_to_review", "")
    assert not posted(github_api)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"),
    [("engine", '"; touch canary; "'), ("config", "$(touch canary)"), ("paths", "`touch canary`"), ("mode", "a\nb")],
)
def test_an_input_is_never_a_script(make_runner: MakeRunner, checkout: GitRepo, name: str, text: str) -> None:
    head = checkout.git("rev-parse", "HEAD")

    ran = make_runner().run("push", pushed("0" * 40, head, [head]), {name: text})

    assert not list(checkout.folder.parent.rglob("canary"))
    assert ran.code in ((0, 4) if name == "paths" else (2,)), ran.log


def real(name: str, **changes: Any) -> Any:
    return json.loads((REAL / name).read_text()) | changes


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="GitHub's own example payloads are not beside the repository")
@pytest.mark.parametrize("name", ["pull_request.opened.00.json", "pull_request.synchronize.22.json", "fork"])
def test_a_real_payload_of_a_pull_request_is_reviewed_and_posted_once(
    make_runner: MakeRunner, github_api: FakeGitHub, origin: GitRepo, name: str
) -> None:
    payload = real("pull_request.opened.00.json" if name == "fork" else name)
    repository = payload["repository"]["full_name"]
    github_api.add_repository(repository, origin.folder)
    fork = None
    if name == "fork":
        fork = "stranger/Hello-World"
        github_api.add_repository(fork, origin.folder)
        payload["pull_request"]["head"]["repo"]["full_name"] = fork
    pulls = [github_api.open_pull(repository, "main", "feature", fork=fork) for _ in range(2)]
    runner = make_runner(api_url=github_api.url, token=github_api.token, repository=repository)

    ran = runner.run("pull_request", payload, {"fail-on": "warning"})

    assert (ran.code, ran.outputs["critical"], len(posted(github_api))) == (1, "1", 1), ran.log
    assert [len(pull.reviews) for pull in pulls] == [0, 1]


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="GitHub's own example payloads are not beside the repository")
def test_real_payloads_of_pushes_and_manual_runs_are_answered(make_runner: MakeRunner, checkout: GitRepo) -> None:
    before = checkout.git("rev-parse", "HEAD")
    after = checkout.commit({"run.py": DEFECT})
    runner = make_runner(repository="Codertocat/Hello-World")

    brought = real("push.event.04.json", before=before, after=after)
    by_push = runner.run("push", brought)
    by_hand = make_runner(repository=real("workflow_dispatch.event.00.json")["repository"]["full_name"]).run(
        "workflow_dispatch", real("workflow_dispatch.event.00.json", inputs={"range": f"{before}..{after}"})
    )

    assert [(ran.code, ran.outputs["critical"]) for ran in (by_push, by_hand)] == [(0, "1"), (0, "1")]
    assert runner.run("push", real("push.event.01.json")).outputs["verdict"] == "nothing_to_review"
