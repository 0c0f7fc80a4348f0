from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewbot.app.runtime.credentials import WatchedCredentials, credentials_from, read_credentials, store_credentials
from reviewbot.app.runtime.environment import Environment
from reviewbot.app.runtime.supervise import Child
from reviewbot.app.store.inbox.inbox import open_inbox
from reviewbot.cli import serving
from reviewbot.cli.commands.app import serve
from reviewbot.domain.errors import ConfigError
from tests.webhooks import CREDENTIALS, KEY, SECRET, body_of, headers_of, pull_event

pytestmark = pytest.mark.usefixtures("process_as_it_was")

ENVIRON = {"REVIEWBOT_APP_ID": "77", "REVIEWBOT_PRIVATE_KEY": KEY, "REVIEWBOT_WEBHOOK_SECRET": SECRET}
LISTENING = re.compile(r"listening on \S+ port (\d+)")


def arguments(**changed: object) -> argparse.Namespace:
    known = {"host": "127.0.0.1", "port": 0, "no_worker": True, "print_credentials": False}
    return argparse.Namespace(**{**known, **changed})


def ask(
    port: int, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, {"Host": f"localhost:{port}", **(headers or {})})
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def serving_of(
    environ: dict[str, str], story: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> tuple[int, list[BaseException]]:
    """Serve in this thread until the story, in another one, is over; the exit code and what went wrong in the story."""
    wrong: list[BaseException] = []
    result: list[str] = []

    def tell() -> None:
        try:
            until = time.monotonic() + 120
            while not (found := LISTENING.search("".join(result))):
                result.append(capsys.readouterr().err)
                assert time.monotonic() < until
                time.sleep(0.01)
            story(int(found.group(1)))
        except BaseException as error:  # noqa: BLE001 - the test raises it
            wrong.append(error)
        os.kill(os.getpid(), signal.SIGTERM)

    teller = threading.Thread(target=tell)
    teller.start()
    code = serving.serve_web(arguments(), environ)
    teller.join()
    return code, wrong


def test_it_serves_what_the_environment_says_until_it_is_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def story(port: int) -> None:
        body = body_of(pull_event())
        assert ask(port, "POST", "/webhook", body, headers_of(body))[0] == 202
        assert ask(port, "GET", "/readyz")[0] == 200
        assert ask(port, "GET", "/setup")[0] == 404
        assert b"reviewbot_runs_now" in ask(port, "GET", "/metrics")[1]

    environ = {**ENVIRON, "REVIEWBOT_STATE_DIR": str(tmp_path / "state")}
    code, wrong = serving_of(environ, story, capsys)

    assert (code, wrong) == (0, [])
    inbox = open_inbox(str(tmp_path / "state" / "inbox.sqlite"))
    assert inbox.lag()[0] == 1
    inbox.close()


def test_without_credentials_it_offers_the_setup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def story(port: int) -> None:
        assert ask(port, "GET", "/setup")[0] == 403  # it takes the token that was printed
        assert ask(port, "POST", "/webhook")[0] == 503

    code, wrong = serving_of({"REVIEWBOT_STATE_DIR": str(tmp_path / "state")}, story, capsys)

    assert (code, wrong) == (0, [])


def test_credentials_are_stored_or_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = Environment(tmp_path / "state")

    assert "credentials.json" in serving._store(place, CREDENTIALS)
    assert read_credentials(tmp_path / "state" / "credentials.json") == CREDENTIALS
    assert "environment" in serving._print(CREDENTIALS)
    printed = dict(line.split("=", 1) for line in capsys.readouterr().out.splitlines())
    assert credentials_from({name: json.loads(value) for name, value in printed.items()}, tmp_path) is not None


@pytest.mark.parametrize(
    "wrong",
    [
        {"REVIEWBOT_WEBHOOK_SECRET": "short"},
        {"REVIEWBOT_METRICS_TOKEN": "short"},
        {"REVIEWBOT_READY_MAX_AGE_S": "-1"},
        {"REVIEWBOT_PUBLIC_URL": "nowhere"},
        {"REVIEWBOT_PROXIES": "all"},
        {"REVIEWBOT_REVIEW_DRAFTS": "perhaps"},
    ],
)
def test_what_is_configured_wrongly_is_found_at_the_start(wrong: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        serving.serve_web(arguments(), {**ENVIRON, "REVIEWBOT_STATE_DIR": str(tmp_path), **wrong})


def test_a_limit_for_readiness_and_a_token_are_taken() -> None:
    assert serving._number({"REVIEWBOT_READY_MAX_AGE_S": "600"}, "REVIEWBOT_READY_MAX_AGE_S", "seconds") == 600
    assert serving._number({}, "REVIEWBOT_READY_MAX_AGE_S", "seconds") is None
    assert serving._number({}, "REVIEWBOT_PROXIES", "proxies", 1) == 1
    assert (
        serving._token({"REVIEWBOT_METRICS_TOKEN": "long-enough-to-be-one"}, "REVIEWBOT_METRICS_TOKEN")
        == "long-enough-to-be-one"
    )


class Served:
    """`reviewbot serve` in a process of its own."""

    def __init__(self, state: Path, **environ: str) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "reviewbot", "serve", "--port", "0"],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**kept, "REVIEWBOT_STATE_DIR": str(state), **environ},
        )

    def wait_for(self, words: str) -> dict[str, object]:
        """The next line whose message has these words."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            result = json.loads(line)
            if words in result["message"]:
                assert isinstance(result, dict)
                return result
        raise AssertionError(words)

    def end(self) -> int:
        self.process.terminate()
        code = self.process.wait(60)
        self.close()
        return code

    def close(self) -> None:
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


def port_of(line: dict[str, object]) -> int:
    found = LISTENING.search(str(line["message"]))
    assert found is not None
    return int(found.group(1))


@pytest.mark.slow
def test_a_web_process_that_is_killed_is_there_again_and_all_ends_in_good_order(tmp_path: Path) -> None:
    served = Served(tmp_path)
    web = served.wait_for("web started")
    assert ask(port_of(served.wait_for("listening")), "GET", "/healthz")[0] == 200
    os.kill(int(str(web["child"])), signal.SIGKILL)

    assert served.wait_for("web ended with -9")
    assert ask(port_of(served.wait_for("listening")), "GET", "/healthz")[0] == 200
    assert served.end() == 0


@pytest.mark.slow
def test_when_the_supervisor_is_killed_its_children_end_too(tmp_path: Path) -> None:
    served = Served(tmp_path)
    served.wait_for("listening")
    served.process.kill()
    served.process.wait(60)

    assert served.wait_for("stopped")
    served.close()


def test_a_wrong_start_ends_at_once_and_says_why_in_one_line(tmp_path: Path) -> None:
    served = Served(tmp_path, **{**ENVIRON, "REVIEWBOT_WEBHOOK_SECRET": "short"})
    assert served.process.stderr is not None
    result = served.process.stderr.read().decode()
    code = served.process.wait(60)
    served.close()

    assert code == 2
    assert result.startswith("reviewbot: a webhook secret must have at least 16 bytes")
    assert len(result.splitlines()) == 1


def test_the_command_supervises_the_web_process_and_waits_with_the_worker_for_an_app(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REVIEWBOT_STATE_DIR", str(tmp_path))
    begun: list[Child] = []

    async def supervised(children: list[Child]) -> int:
        begun.extend(children)
        return 0

    monkeypatch.setattr(serve, "supervise", supervised)

    assert serve.serve_command(arguments(no_worker=False, print_credentials=True, port=8123)) == 0
    web, worker = begun
    assert web.argv[-7:] == ("serve", "--no-worker", "--host", "127.0.0.1", "--port", "8123", "--print-credentials")
    assert (worker.argv[-1], web.ready(), worker.ready()) == ("worker", True, False)
    store_credentials(tmp_path / "credentials.json", CREDENTIALS)
    assert worker.ready()


def test_a_worker_waits_for_credentials_that_can_be_used(tmp_path: Path) -> None:
    watched = WatchedCredentials({}, tmp_path)
    store_credentials(tmp_path / "credentials.json", CREDENTIALS)
    (tmp_path / "credentials.json").chmod(0o644)

    assert not serve._are_there(watched)
    (tmp_path / "credentials.json").chmod(0o600)
    assert serve._are_there(watched)


def test_the_command_without_a_worker_is_the_web_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REVIEWBOT_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("REVIEWBOT_METRICS_TOKEN", "short")

    with pytest.raises(ConfigError, match="METRICS_TOKEN"):
        serve.serve_command(arguments())
