"""How the App's processes are put together: what each part is given, and what is said of it word for word."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from reviewbot.app.runtime.credentials import WatchedCredentials
from reviewbot.app.runtime.environment import Environment
from reviewbot.app.runtime.supervise import Child
from reviewbot.app.store.durable.database import Database, open_database
from reviewbot.app.store.durable.runs import RunRecord, Runs
from reviewbot.app.store.durable.workers import Workers
from reviewbot.app.store.inbox.counters import Counters, Tally
from reviewbot.app.store.inbox.inbox import open_inbox
from reviewbot.app.store.inbox.store import InboxError, Store, open_store
from reviewbot.app.triggers.values import Delivery, Trigger
from reviewbot.app.web.app import NO_WORKER
from reviewbot.app.worker.options import JobOptions
from reviewbot.app.worker.worker import Parts, Worker
from reviewbot.cli import serving
from reviewbot.cli.commands.app import serve, worker
from reviewbot.cli.main import main
from reviewbot.domain.errors import ConfigError
from tests.inbox_rows import counts
from tests.webhooks import KEY, SECRET

pytestmark = pytest.mark.usefixtures("process_as_it_was")

ENVIRON = {"REVIEWBOT_APP_ID": "77", "REVIEWBOT_PRIVATE_KEY": KEY, "REVIEWBOT_WEBHOOK_SECRET": SECRET}
HEAD = "a" * 40


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Of an App that is set up, on files."""
    monkeypatch.delenv("REVIEWBOT_DATABASE_URL", raising=False)
    given = {**ENVIRON, "REVIEWBOT_STATE_DIR": str(tmp_path)}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    return given


def arguments(**changed: object) -> argparse.Namespace:
    known = {"host": "127.0.0.1", "port": 8123, "no_worker": False, "print_credentials": False}
    return argparse.Namespace(**{**known, **changed})


Story = Callable[[Flask], None]


def served(environ: dict[str, str], story: Story, monkeypatch: pytest.MonkeyPatch) -> Flask:
    """Put the web process together, and have `story` where the server would run."""
    apps: list[Flask] = []

    def serve_app(app: Flask, host: str, port: int, _: Callable[[int], None]) -> None:
        assert (host, port) == ("127.0.0.1", 8123)
        apps.append(app)
        story(app)

    monkeypatch.setattr(serving, "serve_app", serve_app)
    assert serving.serve_web(arguments(), environ) == 0
    return apps[0]


def asked(app: Flask, path: str) -> Any:
    answer = app.test_client().get(path, headers={"Host": "localhost:1"}, environ_overrides={"REMOTE_ADDR": "::1"})
    return answer.json if answer.is_json else answer.text


def a_delivery(body: str = "one") -> Delivery:
    return Delivery(body, "pull_request", body, Trigger("head", 1, 5, "acme/shop", 7, HEAD, "opened", body))


def test_a_worker_that_cannot_run_does_not_end_the_door(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes in meanwhile is kept; without the door it would be lost."""
    begun: list[Child] = []

    async def supervised(children: list[Child]) -> int:
        begun.extend(children)
        return 5

    monkeypatch.setattr(serve, "supervise", supervised)
    code = serve.serve_command(arguments())
    ours = (sys.executable, "-P", "-m", "reviewbot")

    assert (code, [(each.name, each.vital) for each in begun]) == (5, [("web", True), ("worker", False)])
    assert begun[0].argv == (*ours, "serve", "--no-worker", "--host", "127.0.0.1", "--port", "8123")
    assert begun[1].argv == (*ours, "worker")
    assert begun[1].ready()


def test_readiness_counts_the_workers_that_gave_a_sign_of_life_lately(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = JobOptions.of(environ)
    database = open_database(options.database)
    Workers(database).join("one")
    result: list[dict[str, Any]] = []

    def story(app: Flask) -> None:
        result.append(asked(app, "/readyz"))
        for silent_s in (options.silent_s - 5, options.silent_s + 5):
            database.run("UPDATE reviewbot_workers SET beat = ?", database.now() - silent_s)
            result.append(asked(app, "/readyz"))

    served(environ, story, monkeypatch)
    database.close()

    assert [(each["status"], each["workers"], each.get("note")) for each in result] == [
        ("ok", 1, None),
        ("ok", 1, None),
        ("ok", 0, NO_WORKER),
    ]


def test_metrics_are_those_of_the_databases_that_workers_use(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = open_store(str(tmp_path / "inbox.sqlite"), durable=False)
    Counters(store).add_all([Tally("runs", {"outcome": "posted"}, 3)])
    store.close()
    a_run(tmp_path, f"review:5:7:{HEAD}:p")
    result: list[str] = []
    served(environ, lambda app: result.append(asked(app, "/metrics")), monkeypatch)

    assert 'reviewbot_runs_total{outcome="posted"} 3.0' in result[0]
    assert 'reviewbot_runs_now{state="waiting"} 1.0' in result[0]
    assert "reviewbot_database_up 1.0" in result[0]


def test_a_limit_and_a_token_reach_the_pages_and_all_is_closed_in_the_end(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    inbox = open_inbox(str(tmp_path / "inbox.sqlite"), durable=False, clock=lambda: 1_000.0)
    inbox.put(a_delivery())
    inbox.close()
    result: list[Any] = []
    limits = {"REVIEWBOT_READY_MAX_AGE_S": "600", "REVIEWBOT_METRICS_TOKEN": "x" * serving.MIN_TOKEN_CHARS}
    app = served(
        {**environ, **limits},
        lambda app: result.extend(asked(app, path) for path in ("/readyz", "/metrics", "/setup")),
        monkeypatch,
    )

    assert (result[0]["status"], result[0]["queue"]["waiting"]) == ("unavailable", 1)
    assert [each["error"] for each in result[1:]] == ["Forbidden", "Not Found"]
    assert asked(app, "/readyz") == {"status": "unavailable", "database": "unavailable"}


def test_where_the_server_cannot_listen_the_databases_are_closed_too(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(_: Flask) -> None:
        raise ConfigError("cannot listen")

    stores: list[Store] = []

    def opened_store(place: str) -> Store:
        stores.append(open_store(place))
        return stores[-1]

    databases: list[Database] = []

    def opened(place: str) -> Database:
        databases.append(open_database(place))
        return databases[-1]

    monkeypatch.setattr(serving, "open_store", opened_store)
    monkeypatch.setattr(serving, "open_database", opened)
    with pytest.raises(ConfigError, match="cannot listen"):
        served(environ, taken, monkeypatch)
    with pytest.raises(InboxError):
        stores[0].read("SELECT 1")
    with pytest.raises(ConfigError):
        Runs(databases[0]).counts()


@pytest.mark.parametrize(
    ("host", "public", "address"),
    [
        ("0.0.0.0", None, "http://THIS-SERVER:8123"),
        ("::", None, "http://THIS-SERVER:8123"),
        ("10.0.0.5", None, "http://10.0.0.5:8123"),
        ("0.0.0.0", "https://reviews.example.org", "https://reviews.example.org"),
    ],
)
def test_without_an_app_two_addresses_are_printed_that_are_good_once(
    host: str, public: str | None, address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Environment(tmp_path, public_url=public, web_url="https://ghe.example.org")
    setup, another = (serving._setup(place, lambda _: "") for _ in range(2))
    serving._began(host, place, None, 8123)
    assert capsys.readouterr().out == ""
    serving._began(host, place, setup, 8123)

    assert capsys.readouterr().out == (
        "No App is set up yet. Open this address to make one; it is good once. On this machine\n"
        f"  http://localhost:8123/setup?token={setup.token}\nor from elsewhere\n  {address}/setup?token={setup.token}\n"
    )
    assert (setup.token != another.token, len(setup.token)) == (True, 43)
    assert (setup.web_url, setup.public_url) == ("https://ghe.example.org", public)


def test_a_server_that_only_this_machine_reaches_says_what_github_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Environment(tmp_path, public_url=None, web_url="https://ghe.example.org")

    serving._began("127.0.0.1", place, serving._setup(place, lambda _: ""), 8123)

    said = capsys.readouterr().out
    assert "http://localhost:8123/setup?token=" in said
    assert "127.0.0.1" not in said
    assert "set REVIEWBOT_PUBLIC_URL" in said


@pytest.mark.parametrize(("text", "age"), [("", None), ("0", 0.0), ("999999", 999_999.0)])
def test_an_age_is_a_whole_number_of_seconds_of_some_days(text: str, age: float | None) -> None:
    assert serving._number({"REVIEWBOT_READY_MAX_AGE_S": text}, "REVIEWBOT_READY_MAX_AGE_S", "seconds") == age


@pytest.mark.parametrize("text", ["1000000", "1.5", "+1", " 1", "\u0663", "ten"])
def test_what_is_no_age_is_refused_in_words(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^REVIEWBOT_READY_MAX_AGE_S must be a whole number of seconds$"):
        serving._number({"REVIEWBOT_READY_MAX_AGE_S": text}, "REVIEWBOT_READY_MAX_AGE_S", "seconds")


def test_a_token_for_metrics_is_long_or_none_and_never_quoted() -> None:
    assert serving._token({"REVIEWBOT_METRICS_TOKEN": ""}, "REVIEWBOT_METRICS_TOKEN") is None
    assert serving._token({"REVIEWBOT_METRICS_TOKEN": "q" * 16}, "REVIEWBOT_METRICS_TOKEN") == "q" * 16
    with pytest.raises(ConfigError, match=r"^REVIEWBOT_METRICS_TOKEN must have at least 16 characters$"):
        serving._token({"REVIEWBOT_METRICS_TOKEN": "q" * 15}, "REVIEWBOT_METRICS_TOKEN")


def test_a_worker_does_its_chores_at_their_times_and_forgets_what_is_old(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REVIEWBOT_KEEP_DAYS", "2")
    monkeypatch.setenv("REVIEWBOT_CATCH_UP_SECONDS", "123")
    given: list[Parts] = []

    def run(_: Worker, __: object, parts: Parts) -> int:
        given.append(parts)
        return 4

    monkeypatch.setattr(Worker, "run", run)
    assert worker.worker_command(argparse.Namespace()) == 4
    (parts,) = given

    assert [(each.name, each.every_s) for each in parts.chores] == [
        ("asking for failed deliveries", 123.0),
        ("looking for heads without a review", 123.0),
        ("carrying out decisions", 5.0),
        ("tidying up the inbox", 3_600.0),
    ]
    assert parts.inbox is not None
    now = [time.time() - 5 * 86_400]
    inbox = open_inbox(str(tmp_path / "inbox.sqlite"), durable=False, clock=lambda: now[0])
    inbox.put(a_delivery())
    (taken,) = inbox.claim(1, 60.0, "w")
    inbox.mark_done(taken.id)
    now[0] += 2 * 86_400
    worker.forget_deliveries(inbox, 2 * 86_400.0)
    assert (counts(inbox)["done"], capsys.readouterr().err) == (1, "")
    tidy: Any = parts.chores[-1].act  # of now, it is five days old
    tidy(None, None)

    assert counts(inbox)["done"] == 0
    assert json.loads(capsys.readouterr().err)["message"] == "1 old deliveries were removed"
    inbox.close()


def test_without_an_app_a_worker_says_where_one_is_made(tmp_path: Path) -> None:
    said = r"^there is no App yet: run `reviewbot serve` and open /setup, or see docs/operations\.md$"
    with pytest.raises(ConfigError, match=said):
        worker.known(WatchedCredentials({}, tmp_path))
    keys = worker.keys_of(worker.known(WatchedCredentials(ENVIRON, tmp_path)))

    assert KEY not in repr(keys)


def a_run(state: Path, run: str, name: str = "acme/shop", reason: str = "") -> None:
    database = open_database(str(state / "app.sqlite"))
    record = (run, 1, name, 5, 7, HEAD, 1, "waiting", "", "", "", 0, 0.0, 0, "", 0.0, None, None)
    Runs(database).add(RunRecord._make(record))
    if reason:
        Runs(database).begin(run, "me", "worker")
        Runs(database).cost(run, 0.123456, 1_234, "{}")
        Runs(database).end(run, "failed", reason, "https://host.test/1")
    database.close()


def test_of_runs_that_begin_alike_the_whole_name_means_one(
    environ: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = f"review:5:7:{HEAD}:p"
    a_run(tmp_path, first)
    a_run(tmp_path, f"{first}:again")

    a_run(tmp_path, f"{first}:once-more")

    assert main(["runs", first, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["run"] == first
    assert main(["runs", HEAD]) == 2
    said = capsys.readouterr().err
    assert "several runs begin like this, " in said
    assert (f"{first}:" in said, " among them" in said) == (True, True)


def test_a_list_stands_in_columns_and_nothing_in_it_steers_a_terminal(
    environ: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_run(tmp_path, f"review:5:7:{HEAD}:p", "acme/s\x1b[2Jhop", "it broke\r\nforged line")
    assert main(["runs"]) == 0
    head, row = capsys.readouterr().out.splitlines()

    assert head.index("STATE") == row.index("failed")
    assert head.index("PULL REQUEST") == row.index("acme/s")
    assert (row.index("it broke"), "forged line" in row) == (head.index("REASON"), True)
    assert ("$0.12" in row, "1,234" in row, "host.test" in row, "\x1b" in row) == (True, True, False, False)
    assert main(["runs", HEAD]) == 0
    assert "\x1b" not in (result := capsys.readouterr().out)
    assert (len(result.splitlines()), "dollars       0.1235\n" in result) == (14, True)


def test_before_a_run_was_ordered_the_list_is_empty(
    environ: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    open_database(str(tmp_path / "app.sqlite")).close()
    assert main(["runs", "--format", "json"]) == 0
    assert capsys.readouterr().out == "[]\n"
    assert main(["runs"]) == 0

    assert capsys.readouterr().out.split() == [
        "RUN",
        "STATE",
        "TRIES",
        "COST",
        "TOKENS",
        "BEGUN",
        "PULL",
        "REQUEST",
        "REASON",
    ]
