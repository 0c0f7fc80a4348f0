"""Values and fakes that many tests need, as fixtures: test modules do not import each other.

The factories make a valid value and take any field by name. They keep no state, so they live as long as the session
and hypothesis may use them.
"""

from __future__ import annotations

import asyncio
import gc
import io
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from reviewbot.cli.main import main
from reviewbot.diff.rows import code_of
from reviewbot.domain.contracts import (
    Candidate,
    ChangeSet,
    Constraints,
    FileChange,
    Finding,
    Hunk,
    ParsedFile,
    ParseState,
    Payload,
    ReviewTask,
    WorkerCard,
)
from reviewbot.domain.ports import ModelRequest, Text, Turn, WorkerSet, WorkOrder
from tests.command_line import Ended, Run
from tests.git_repo import GitRepo, make_repo, repo
from tests.github_api import FakeGitHub
from tests.make import factory
from tests.messages_api import MessagesApi
from tests.snapshots import InMemorySnapshot

# No test asks a real model, whoever runs it and whatever is configured on the machine.
for _name in [name for name in os.environ if name.startswith(("ANTHROPIC_", "AWS_", "CLOUD_ML_"))]:
    del os.environ[_name]

# A busy machine is no defect. `make test` has minutes for thousands of tests, `make coverage` has more; `make fuzz`
# takes its time.
settings.register_profile("quick", deadline=None, max_examples=10)
settings.register_profile("house", deadline=None, max_examples=30)
settings.register_profile("long", deadline=None, max_examples=300)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

__all__ = ["make_repo", "repo"]  # fixtures for all folders


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the garbage collector from walking over thousands of collected tests, which live until the end."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


class RecordingClock:
    """A clock that only goes on when somebody sleeps, and writes down for how long."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


class RecordingTrace:
    """Keeps all events in order."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def record(self, event: str, **fields: object) -> None:
        self.events.append((event, fields))

    def of(self, event: str) -> list[dict[str, Any]]:
        """The fields of all events of one kind."""
        return [fields for name, fields in self.events if name == event]


class DictJournal:
    """A journal in memory; `store` can be handed on to a second run."""

    def __init__(self, store: dict[str, str] | None = None) -> None:
        self.store = {} if store is None else store

    def get(self, key: str) -> str | None:
        return self.store.get(key)

    def put(self, key: str, value: str) -> None:
        self.store[key] = value


@pytest.fixture
def clock() -> RecordingClock:
    return RecordingClock()


@pytest.fixture
def trace() -> RecordingTrace:
    return RecordingTrace()


@pytest.fixture
def journal() -> DictJournal:
    return DictJournal()


@pytest.fixture(scope="session")
def no_snapshot() -> InMemorySnapshot:
    return InMemorySnapshot()


def _hunk(body: str = "+x = 1", start: int = 1, heading: str = "") -> Hunk:
    """A hunk whose counts fit its body; it begins at the same line on both sides."""
    marks = [line[:1] for line in body.split("\n")]
    old, new = (sum(mark in f" {side}" for mark in marks) for side in "-+")
    return Hunk(old_start=start, old_count=old, new_start=start, new_count=new, heading=heading, body=body)


def _file(path: str = "src/app.py", *hunks: Hunk, **fields: Any) -> FileChange:
    given = hunks or (() if "hunks" in fields else (_hunk(),))
    known = {"status": "modified", "language": "python", "kind": "code", "hunks": given, "added": 1}
    return FileChange(path=path, **{**known, **fields})


def _change(*files: FileChange, states: Mapping[str, ParseState] | None = None, **fields: Any) -> ChangeSet:
    """A change whose files were read in full, but for those named in `states`."""
    found = states or {}
    parsed = tuple(
        ParsedFile(
            path=file.path,
            state=found.get(file.path, "read"),
            reason="as parsed" if file.path in found else "",
        )
        for file in files
    )
    return ChangeSet(files=files, parsed=parsed, **fields)


def _payload(*bodies: str, path: str = "src/app.py", language: str = "python") -> Payload:
    """A slice of one hunk per body, a hundred lines apart."""
    hunks = [_hunk(body, 1 + 100 * n) for n, body in enumerate(bodies or ("+x = 1",))]
    code, starts = code_of(hunks)
    return Payload(code=code, file_path=path, language=language, starts=starts)


def _task(task_id: str = "logic:src/app.py#1", *, payload: Payload | None = None, **fields: Any) -> ReviewTask:
    """A task of the worker that its id names."""
    worker = fields.pop("worker", task_id.partition(":")[0])
    limits = {
        "max_tokens": 8_000,
        "timeout_ms": fields.pop("timeout_ms", 60_000),
        "tier": fields.pop("tier", "small"),
        "higher_tiers": fields.pop("higher_tiers", ("medium", "large")),
    }
    known = {"type": worker, "instruction": "look at the change", "success_criterion": "each line was judged"}
    return ReviewTask(
        task_id=task_id,
        worker=worker,
        payload=payload or _payload(),
        constraints=Constraints(**limits),
        **{**known, **fields},
    )


def _card(name: str = "logic", **fields: Any) -> WorkerCard:
    known: dict[str, Any] = {
        "description": f"finds what {name} workers find",
        "task_type": name,
        "prompt": f"{name}.md",
        "success_criterion": "each added line was judged",
        "applies_to": ("@code",),
    }
    return WorkerCard(name=name, **{**known, **fields})


def _worker_set(*cards: WorkerCard) -> WorkerSet:
    given = cards or (_card(),)
    return WorkerSet(
        cards=given,
        prompts={card.name: f"You are the {card.name} worker." for card in given},
        origin={card.name: "package" for card in given},
    )


def _finding(**fields: Any) -> Finding:
    """A certain warning of the security worker about one line; `end_line` follows `line`."""
    line = fields.pop("line", 1)
    known: dict[str, Any] = {
        "type": "security",
        "severity": "warning",
        "path": "src/app.py",
        "line": line,
        "end_line": line,
        "message": "user input reaches a shell command",
        "evidence": "os.system(name)",
        "confidence": 90,
        "category": "injection",
        "sources": ("ruff",),
    }
    return Finding(**{**known, **fields})


def _candidate(**fields: Any) -> Candidate:
    known: dict[str, Any] = {
        "severity": "warning",
        "path": "src/app.py",
        "quote": "x = 1",
        "message": "this is never right",
        "confidence": 90,
        "source": "ruff",
        "category": "bug",
    }
    return Candidate(**{**known, **fields})


def _order(task: ReviewTask | None = None, dependencies: Mapping[str, Any] | None = None) -> WorkOrder:
    task = task or _task()
    return WorkOrder(
        task=task,
        card=_card(task.worker),
        prompt="Look closely.",
        tools={},
        snapshot=InMemorySnapshot(),
        dependencies=dependencies or {},
    )


a_hunk = factory(_hunk, "a_hunk")
a_file = factory(_file, "a_file")
a_change = factory(_change, "a_change")
a_payload = factory(_payload, "a_payload")
a_task = factory(_task, "a_task")
a_card = factory(_card, "a_card")
a_worker_set = factory(_worker_set, "a_worker_set")
a_finding = factory(_finding, "a_finding")
a_candidate = factory(_candidate, "a_candidate")
an_order = factory(_order, "an_order")


def _request(text: str = "is this right?", **fields: Any) -> ModelRequest:
    """A question to a model of the middle tier."""
    known: dict[str, Any] = {
        "purpose": "logic",
        "subject": "logic:src/app.py#1",
        "tier": "medium",
        "system": (Text("You judge code."),),
        "turns": (Turn("user", (Text(text),)),),
        "max_tokens": 1_000,
    }
    return ModelRequest(**{**known, **fields})


a_request = factory(_request, "a_request")


@pytest.fixture
def messages_api() -> Iterator[MessagesApi]:
    """A Messages API on loopback; a request that the real one would not take fails the test."""
    with MessagesApi() as api:
        yield api
    api.check()


@pytest.fixture
def github_api() -> Iterator[FakeGitHub]:
    """A GitHub on loopback; a request that the real one would not take fails the test."""
    with FakeGitHub() as api:
        yield api
    api.check()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to stand in, with a cache of its own and no setting in the environment."""
    for name in [name for name in os.environ if name.startswith("REVIEWBOT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command line in this process, with some bytes on standard input."""

    def running(*argv: str | Path, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = main([str(word) for word in argv])
        except SystemExit as ending:
            code = int(ending.code or 0)
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    assert home.exists()
    return running


@pytest.fixture
def repository(home: Path) -> Path:
    """A git repository with one commit of one harmless file, in the folder that the command line is run in."""
    GitRepo(home).commit({"app.py": "def double(number):\n    return number * 2\n"})
    return home
