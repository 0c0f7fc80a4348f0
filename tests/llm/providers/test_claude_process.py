"""The process in which the SDK runs: how it begins, what it imports, and how it ends."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path

import pytest

from reviewbot.domain.errors import AccountError, ConfigError, EngineError, TransientError
from reviewbot.llm.preload import preload_models
from reviewbot.llm.providers.claude.access import Access
from reviewbot.llm.providers.claude.model import ClaudeModel
from reviewbot.llm.providers.claude.sdk import Sdk, shared_sdk
from reviewbot.llm.providers.claude.sdk_process import load
from reviewbot.prices import default_models
from tests.make import MakeRequest
from tests.messages_api import MessagesApi, held, said

KEY = "sk-test-canary-0123456789"
ENDS = """
from multiprocessing.connection import Connection
from pathlib import Path
connection = Connection(0)
with Path("begun").open("a") as file:
    file.write("x")
{before}
connection.send((0, "loaded", 7))
connection.recv()
"""
"""A program that ends with its first request."""

BEGINS = """
import os, sys
from pathlib import Path
from reviewbot.llm.providers.claude.sdk import shared_sdk
shared_sdk().begin().result()
print(Path(f"/proc/self/task/{os.getpid()}/children").read_text(), flush=True)
sys.stdin.read()
os._exit(0)
"""
"""A program that begins the process, says its number, and ends without tidying up."""


def model_of(sdk: Sdk, url: str = "http://127.0.0.1:9") -> ClaudeModel:
    return ClaudeModel(Access(key=KEY, base_url=url), default_models(), sdk=sdk)


def fault(sdk: Sdk, request: object) -> EngineError:
    with pytest.raises(EngineError) as caught:
        asyncio.run(model_of(sdk).ask(request))  # type: ignore[arg-type]  # made by a fixture
    return caught.value


def test_the_process_begins_once_and_says_how_long_loading_took() -> None:
    sdk = shared_sdk()
    assert sdk.begin() is sdk.begin()
    assert sdk is shared_sdk()
    assert asyncio.run(sdk.load_ms()) > 0


def test_nothing_is_imported_from_the_folder_of_the_caller(
    messages_api: MessagesApi, a_request: MakeRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "anthropic.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    messages_api.script(said("fine"))
    assert asyncio.run(model_of(Sdk(), messages_api.url).ask(a_request())).text == "fine"
    assert not (tmp_path / "ran").exists()


def test_an_isolated_program_begins_an_isolated_process(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    script = "from reviewbot.llm.providers.claude.sdk import Sdk; Sdk().begin().result()"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-I", "-c", script], env=environment, check=True, timeout=60)
    assert not (tmp_path / "ran").exists()


def test_a_process_that_ends_is_begun_again_with_the_next_request(
    a_request: MakeRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(ENDS.format(before=""))
    sdk = Sdk(tmp_path / "program.py")
    for begun in ("x", "xx"):
        error = fault(sdk, a_request())
        assert isinstance(error, TransientError)
        assert str(error) == "the process that asks the model API ended"
        assert (tmp_path / "begun").read_text() == begun


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ("raise SystemExit", "its process ended"),
        ("connection.send((0, 'unloadable', 'No module named x')); raise SystemExit", "No module named x"),
    ],
)
def test_an_sdk_that_cannot_be_loaded_is_told_as_that_and_tried_again_only_where_its_process_ended(
    a_request: MakeRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(ENDS.format(before=before))
    sdk = Sdk(tmp_path / "program.py")
    for _ in range(2):
        error = fault(sdk, a_request())
        assert isinstance(error, AccountError)
        assert str(error) == f"the models' SDK cannot be loaded ({why}): install it again"
    assert (tmp_path / "begun").read_text() == ("xx" if why == "its process ended" else "x")
    with pytest.raises(ConfigError):
        asyncio.run(sdk.load_ms())


def test_a_process_that_cannot_be_started_is_told_as_that(
    a_request: MakeRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    error = fault(Sdk(), a_request())
    assert isinstance(error, AccountError)
    assert "No such file or directory" in str(error)


def test_a_run_that_ends_early_keeps_no_reader_of_its_errors_waiting(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import time\ntime.sleep(60)\n")
    script = "from pathlib import Path; from reviewbot.llm.providers.claude.sdk import Sdk; import os\n"
    script += "Sdk(Path('program.py')).begin(); os._exit(3)"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=30, check=False)
    assert done.returncode == 3
    for process in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if process.readlink() == tmp_path:
                os.kill(int(process.parent.name), signal.SIGKILL)


@pytest.mark.parametrize(
    ("text", "why"), [("raise KeyError('/root/secret')", "KeyError"), (None, "No module named 'reviewbot_no_such'")]
)
def test_a_module_that_cannot_be_loaded_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, why: str
) -> None:
    if text is not None:
        (tmp_path / "reviewbot_no_such.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    ours, theirs = Pipe()
    try:
        assert load(theirs, ("reviewbot_no_such",)) is None
    finally:
        gc.unfreeze()
    assert ours.recv() == (0, "unloadable", why)
    assert gc.isenabled()


def test_a_request_that_its_caller_stops_is_stopped_over_there(
    messages_api: MessagesApi, a_request: MakeRequest
) -> None:
    answer, gate = held(said("too late"))
    messages_api.script(answer, said("the next"))
    model = model_of(shared_sdk(), messages_api.url)

    async def run() -> str:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(model.ask(a_request()), 1)
        gate.set()
        return (await model.ask(a_request())).text

    assert asyncio.run(run()) == "the next"


def test_the_process_ends_with_the_one_that_began_it_and_by_no_signal_to_both() -> None:
    with subprocess.Popen([sys.executable, "-c", BEGINS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdin
        assert program.stdout
        number = int(program.stdout.readline())
        # What libraries start must not read requests.
        assert Path(f"/proc/{number}/fd/0").readlink() == Path(os.devnull)
        for sent in (signal.SIGINT, signal.SIGTERM):
            os.kill(number, sent)
        time.sleep(0.2)
        assert Path(f"/proc/{number}/cmdline").read_bytes()
        program.stdin.close()
    end = time.monotonic() + 10
    while Path(f"/proc/{number}/cmdline").exists() and Path(f"/proc/{number}/cmdline").read_bytes():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_sdk_is_loaded_early_only_where_models_will_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    monkeypatch.setattr("reviewbot.llm.providers.claude.preload", lambda: begun.append("begun"))
    for environ, engine in (({}, None), ({"ANTHROPIC_API_KEY": KEY}, "analyzers")):
        preload_models(environ, engine)
    assert begun == []
    preload_models({"ANTHROPIC_API_KEY": KEY}, None)
    assert begun == ["begun"]
