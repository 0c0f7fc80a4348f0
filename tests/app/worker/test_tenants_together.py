"""Two tenants at the same time in one `reviewbot serve`, with our GitHub and models that repeat what they read.

Each has a word that stands in its code, its keys, its titles and what models say of it; and both have a repository with
one and the same commit, of which every answer of a model has a number of its own. No word and no number may cross.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any
from urllib.request import Request, urlopen

import pytest

from reviewbot.cli.main import main
from tests.git_repo import GitRepo
from tests.github_api import Pull
from tests.github_api.apps import APP_ID, AppGithub, a_key
from tests.messages_api import MessagesApi, Scripted, a_claim, a_reading, answered, asks_judge, rulings_on
from tests.ports import free_port
from tests.webhooks import SECRET, body_of, event, headers_of
from tests.webhooks import pull as pull_of

pytestmark = pytest.mark.slow

Json = Any

WORDS = {1: "ambercanary", 2: "birchcanary"}
"""By installation."""

TENANTS = tuple(WORDS)
LIMIT_S = 240.0
TOKEN = re.compile(r"ghs_[0-9]{36}")
KEYS = re.compile(rf"ghp_[^*]|{TOKEN.pattern}")
"""Of the code, which nobody is shown without a mask, and of the host."""

NUMBER = re.compile(r"numbered-[0-9]+-")

BASE = "def bill(name, total):\n    return total\n"
DATE = "2026-01-01T00:00:00Z"


def changed(word: str) -> str:
    """Code with a defect, a word and a key."""
    key = f"ghp_{word}{'Zx9' * 12}"[:40]
    return f'KEY = "{key}"\n\n\ndef bill(name, {word}_total):\n    return {word}_total / len(name)\n'


@dataclass
class Ended:
    """What is left when all of it is over."""

    github: AppGithub
    pulls: dict[tuple[int, str], Pull]
    """By installation and "shop" or "twin"."""
    asked: list[Json]
    metrics: str
    log: list[Json]
    state: Path
    environ: dict[str, str]

    def owner(self, repository: int) -> int:
        """The installation that has a repository."""
        return next(tenant for (tenant, _), pull in self.pulls.items() if pull.repository.repository_id == repository)

    def of_run(self, run: str) -> int:
        """The installation whose run this is."""
        return self.owner(int(run.split(":")[1]))

    def posts(self, tenant: int, kind: str) -> str:
        """All that was posted in one of its repositories."""
        pull = self.pulls[tenant, kind]
        return repr((pull.reviews, pull.comments, pull.repository.checks))

    def rows(self, name: str, *tables: str) -> Iterator[tuple[str, str]]:
        """All rows of a file: the table, and the row as text, unpacked where it is packed."""
        with contextlib.closing(sqlite3.connect(self.state / f"{name}.sqlite")) as file:
            there = file.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (table,) in there:
                if not tables or table in tables:
                    for row in file.execute(f'SELECT * FROM "{table}"'):
                        yield table, "|".join(_text(value) for value in row)


def _text(value: object) -> str:
    if not isinstance(value, bytes):
        return str(value)
    with contextlib.suppress(zlib.error):
        value = zlib.decompress(value)
    return value.decode("utf-8", "replace")


class Models:
    """Find the same in everybody's code, in words of whoever asked; the first answers wait until both have."""

    def __init__(self) -> None:
        self._met = Event()
        self._seen: set[str] = set()
        self._numbers = count(1)

    def __call__(self, body: Json) -> Scripted:
        shown = json.dumps(body["messages"])
        own = [word for word in WORDS.values() if word in shown]
        self._seen.update(own)
        if len(self._seen) == len(WORDS):
            self._met.set()
        said = self._said(body, shown, f"numbered-{next(self._numbers)}-{own[0] if own else 'twin'}")
        return answered(said, gate=self._met if own else None)

    @staticmethod
    def _said(body: Json, shown: str, tag: str) -> Json:
        wanted = body["output_config"]["format"]["schema"]["properties"]
        line = re.search(r"return \w+ / len\(name\)", shown)
        if asks_judge(body):
            return rulings_on(shown, argument_against=f"{tag} checks", reason=line.group() if line else "")
        if "findings" in wanted:
            return a_reading(*([_found(line.group(), tag)] if line else []))
        return {"reason": tag, "strategy": "merge", "tasks": [], "workers": []}


def _found(quote: str, tag: str) -> Json:
    words = f"{tag}: an empty name divides by zero."
    return a_claim("bill.py", f"    {quote}", words, impact=f"bill('', 1) of {tag}")


def repository(folder: Path, after: str) -> Path:
    """A branch with this change; the same change makes the same commit."""
    GitRepo(folder)
    who = {f"GIT_{role}_{part}": f"a{'@example.com' if part == 'EMAIL' else ''}"
           for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}  # fmt: skip
    environ = {**os.environ, **who, "GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE}

    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, env=environ)

    for branch, text in (("main", BASE), ("feature", after)):
        git("checkout", "--quiet", "-B", branch)
        (folder / "bill.py").write_text(text, "utf-8")
        git("add", "--all")
        git("-c", "commit.gpgsign=false", "commit", "--quiet", "--message", "bill")
    return folder


def opened(github: AppGithub, folder: Path) -> dict[tuple[int, str], Pull]:
    """Two repositories of each tenant, each with a pull request."""
    pulls = {}
    for tenant, word in WORDS.items():
        for kind in ("shop", "twin"):
            name = f"{word}/{kind}"
            after = changed(word if kind == "shop" else "some")
            github.add_repository(name, repository(folder / f"{kind}-{tenant}", after), private=True)
            own = f"{word} " if kind == "shop" else ""
            pulls[tenant, kind] = github.open_pull(name, "main", "feature", title=f"{own}title", body=f"{own}body")
        github.install(tenant, f"{word}/shop", f"{word}/twin")
    return pulls


def deliver(url: str, tenant: int, pull: Pull) -> None:
    """Say that it was opened."""
    side = {"sha": pull.head_sha, "ref": pull.head_ref, "repo": None}
    place = {"id": pull.repository.repository_id, "full_name": pull.repository.name}
    result = pull_of(number=pull.number, head=side, title=pull.title)
    body = body_of(event("opened", pull_request=result, repository=place, installation={"id": tenant}))
    with urlopen(Request(f"{url}/webhook", body, headers_of(body, delivery=f"d-{place['id']}"))) as answer:
        assert answer.status == 202


def until(done: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    limit = time.monotonic() + LIMIT_S
    while not done():
        if process.poll() is not None or time.monotonic() > limit:
            pytest.fail(log.read_text("utf-8")[-3_000:])
        time.sleep(0.05)


def page(url: str) -> str:
    try:
        with urlopen(url, timeout=60) as answer:
            return str(answer.read(), "utf-8")
    except OSError:
        return ""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ended]:
    """All four pull requests were delivered, reviewed side by side, and the server has stopped."""
    folder, pem, port = tmp_path_factory.mktemp("tenants"), a_key(), free_port()
    with AppGithub(pem) as github, MessagesApi(Models()) as models:
        pulls = opened(github, folder)
        environ = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "REVIEWBOT_STATE_DIR": str(folder / "state"),
            "REVIEWBOT_APP_ID": str(APP_ID), "REVIEWBOT_PRIVATE_KEY": pem, "REVIEWBOT_WEBHOOK_SECRET": SECRET,
            "REVIEWBOT_BOT_ID": str(github.own.account_id), "GITHUB_API_URL": github.url,
            "REVIEWBOT_ENGINE": "models", "REVIEWBOT_REQUESTS_PER_MINUTE": "60000",
            "ANTHROPIC_API_KEY": "sk-ant-none", "ANTHROPIC_BASE_URL": models.url,
        }  # fmt: skip
        words = [sys.executable, "-m", "reviewbot", "serve", "--host", "127.0.0.1", "--port", str(port)]
        url, log = f"http://127.0.0.1:{port}", folder / "log"
        with log.open("wb") as out:
            process = subprocess.Popen(words, env=environ, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        try:
            until(lambda: page(f"{url}/readyz") != "", process, log)
            for place, pull in pulls.items():
                if place == (2, "twin"):  # what the first one was answered is in the journal by then
                    until(lambda: bool(pulls[1, "twin"].reviews), process, log)
                deliver(url, place[0], pull)
            until(lambda: 'reviewbot_runs_total{outcome="posted"} 4.0' in page(f"{url}/metrics"), process, log)
            metrics = page(f"{url}/metrics")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(LIMIT_S)
        lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
        yield Ended(github, pulls, models.bodies, metrics, lines, folder / "state", environ)
    models.check()
    github.check()


def other(tenant: int) -> str:
    """The word of the other one."""
    return WORDS[3 - tenant]


def crossing(text: str) -> bool:
    """Whether words of both stand in it."""
    return all(word in text for word in WORDS.values())


@pytest.mark.parametrize("tenant", TENANTS)
def test_what_is_posted_has_no_word_of_the_other_tenant(ended: Ended, tenant: int) -> None:
    posted = ended.posts(tenant, "shop")

    assert f"{WORDS[tenant]}: an empty name" in posted
    assert other(tenant) not in posted + ended.posts(tenant, "twin")
    assert not KEYS.search(posted)


def test_the_same_commit_is_asked_about_for_each_tenant_anew(ended: Ended) -> None:
    heads = {ended.pulls[tenant, "twin"].head_sha for tenant in TENANTS}
    numbers = [set(NUMBER.findall(ended.posts(tenant, "twin"))) for tenant in TENANTS]

    assert len(heads) == 1
    assert all(numbers)
    assert not numbers[0] & numbers[1]


def test_a_model_reads_of_one_tenant_alone(ended: Ended) -> None:
    asked = [json.dumps(body) for body in ended.asked]

    assert all(any(word in each for each in asked) for word in WORDS.values())
    assert not any(crossing(each) for each in asked)
    assert not any(TOKEN.search(each) for each in asked)


def test_no_token_of_one_tenant_asks_for_anything_of_the_other(ended: Ended) -> None:
    made = [each.path.split("/")[3] for each in ended.github.recorded
            if "access_tokens" in each.path and each.status == 201]  # fmt: skip
    owners = {f"ghs_{number:036}": WORDS[int(tenant)] for number, tenant in enumerate(made)}
    asked = [each for each in ended.github.recorded if each.path.startswith("/repos/")]

    assert set(owners.values()) == set(WORDS.values())
    for each in asked:
        assert owners[each.headers["authorization"].split()[-1]] == each.path.split("/")[2]
        assert not crossing(f"{each.path} {each.body}")


def test_the_logs_have_no_code_and_each_line_is_of_one_run(ended: Ended) -> None:
    text = json.dumps(ended.log)

    assert not any(f"{word}_" in text or f"{word}: " in text for word in WORDS.values())
    assert not NUMBER.search(text)
    assert not KEYS.search(text)
    assert {ended.of_run(line["run"]) for line in ended.log if line["run"]} == set(TENANTS)
    for line in ended.log:
        assert not crossing(json.dumps(line))
        if line["run"]:
            assert other(ended.of_run(line["run"])) not in json.dumps(line)


def result(ended: Ended, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """What `reviewbot runs` prints."""
    monkeypatch.setenv("REVIEWBOT_STATE_DIR", ended.environ["REVIEWBOT_STATE_DIR"])
    monkeypatch.delenv("REVIEWBOT_DATABASE_URL", raising=False)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["runs", *words]) == 0
    return out.getvalue()


def test_each_trace_tells_of_its_own_tenant(ended: Ended, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = json.loads(result(ended, monkeypatch, "--format", "json"))
    numbers: dict[int, set[str]] = {tenant: set() for tenant in TENANTS}
    for run in runs:
        tenant, trace = run["installation"], result(ended, monkeypatch, run["run"], "--trace")
        numbers[tenant] |= set(NUMBER.findall(trace))
        assert tenant == ended.of_run(run["run"])
        assert other(tenant) not in trace + json.dumps(run)
        assert not KEYS.search(trace)

    assert [run["state"] for run in runs] == ["posted"] * 4
    assert all(numbers.values())
    assert not numbers[1] & numbers[2]


def test_the_metrics_tell_of_nobody(ended: Ended) -> None:
    assert 'reviewbot_findings_total{severity="warning",worker="logic"} 4.0' in ended.metrics
    assert not any(word in ended.metrics for word in WORDS.values())
    assert not NUMBER.search(ended.metrics)


def test_each_entry_of_the_journal_is_of_the_tenant_in_its_key(ended: Ended) -> None:
    entries = [row for _, row in ended.rows("app", "reviewbot_journal")]
    numbers: dict[int, set[str]] = {tenant: set() for tenant in TENANTS}
    for entry in entries:
        installation, repository, _ = entry.split("/", 2)
        tenant = ended.owner(int(repository))
        numbers[tenant] |= set(NUMBER.findall(entry))
        assert int(installation) == tenant
        assert other(tenant) not in entry
        assert not KEYS.search(entry)

    assert all(any(word in entry for entry in entries) for word in WORDS.values())
    assert not numbers[1] & numbers[2]


@pytest.mark.parametrize("name", ["app", "inbox", "runs"])
def test_no_row_of_any_table_is_of_both(ended: Ended, name: str) -> None:
    rows = list(ended.rows(name))

    assert all(any(word in row for _, row in rows) for word in WORDS.values())
    assert [table for table, row in rows if crossing(row) or KEYS.search(row)] == []
