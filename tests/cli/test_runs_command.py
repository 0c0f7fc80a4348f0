from __future__ import annotations

import json
from pathlib import Path

import pytest

from reviewbot.app.store.durable.database import open_database
from reviewbot.app.store.durable.runs import RunRecord, Runs
from reviewbot.cli.main import main

HEADS = ("a" * 40, "b" * 40)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs: one that was posted, and one that waits and has an odd name."""
    monkeypatch.setenv("REVIEWBOT_STATE_DIR", str(tmp_path))
    monkeypatch.delenv("REVIEWBOT_DATABASE_URL", raising=False)
    database = open_database(str(tmp_path / "app.sqlite"))
    runs = Runs(database)
    for number, head in enumerate(HEADS):
        empty = ("waiting", "", "", "", 0, 0.0, 0, "", 0.0, None, None)
        runs.add(RunRecord._make((f"review:5:{number}:{head}:p", 1, "acme/shop\x1b[31m", 5, number, head, 1, *empty)))
    runs.begin(f"review:5:0:{HEADS[0]}:p", "me", "worker")
    runs.cost(f"review:5:0:{HEADS[0]}:p", 1.25, 12_345, '{"trace_version":"2"}\n')
    runs.end(f"review:5:0:{HEADS[0]}:p", "posted", "", "https://host.test/1")
    database.close()
    return tmp_path


def test_the_runs_are_listed_with_state_reason_and_cost(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs"]) == 0
    out = capsys.readouterr().out

    assert [line.split()[0] for line in out.splitlines()] == [
        "RUN",
        *(f"review:5:{n}:{HEADS[n]}:p" for n in _order(out)),
    ]
    assert "posted" in out
    assert "$1.25" in out
    assert "12,345" in out
    assert "https://host.test/1" in out
    assert "\x1b" not in out


def _order(out: str) -> list[int]:
    return [0, 1] if out.index(HEADS[0]) < out.index(HEADS[1]) else [1, 0]


def test_one_run_is_found_by_its_head(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", HEADS[0][:8], "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)

    assert (found["state"], found["dollars"], found["attempts"]) == ("posted", 1.25, 1)


@pytest.mark.parametrize("name", ["3", "#3", "acme/plain#3", "ACME/Plain#3", "https://github.com/acme/plain/pull/3"])
def test_the_runs_of_a_pull_request_are_found_by_its_name_or_number(
    state: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    database = open_database(str(state / "app.sqlite"))
    runs = Runs(database)
    for head, reason in (("c" * 40, "the host could not be reached"), ("d" * 40, "")):
        empty = ("waiting", "", "", "", 0, 0.0, 0, "", 0.0, None, None)
        runs.add(RunRecord._make((f"review:6:3:{head}:p", 1, "acme/plain", 6, 3, head, 1, *empty)))
        runs.begin(f"review:6:3:{head}:p", "me", "worker")
        runs.wait(f"review:6:3:{head}:p", "me", reason)
    runs.try_again(f"review:6:3:{'c' * 40}:p", "me")
    runs.cost(f"review:6:3:{'c' * 40}:p", 0.0, 0, '{"trace_version":"2"}\n')
    database.close()

    assert main(["runs", name, "--format", "json"]) == 0
    result = {each["head"][0]: each for each in json.loads(capsys.readouterr().out)}
    assert (result["c"]["attempts"], result["c"]["reason"]) == (2, "the host could not be reached")
    assert (result["d"]["attempts"], result["d"]["reason"]) == (1, "")
    assert main(["runs", name]) == 0
    assert "the host could not be reached" in capsys.readouterr().out
    assert main(["runs", name, "--trace"]) == 0
    assert capsys.readouterr().out == '{"trace_version":"2"}\n'


def test_a_number_that_no_pull_request_has_may_begin_a_head(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = open_database(str(state / "app.sqlite"))
    empty = ("waiting", "", "", "", 0, 0.0, 0, "", 0.0, None, None)
    Runs(database).add(RunRecord._make(("review:6:3:1234:p", 1, "acme/plain", 6, 3, "1234" * 10, 1, *empty)))
    database.close()

    assert main(["runs", "1234"]) == 0
    assert "review:6:3:1234:p" in capsys.readouterr().out


def test_a_run_can_be_read_line_by_line(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", f"review:5:1:{HEADS[1]}:p"]) == 0

    assert "state         waiting" in capsys.readouterr().out


def test_its_trace_is_printed_as_it_was_stored(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", HEADS[0], "--trace"]) == 0

    assert capsys.readouterr().out == '{"trace_version":"2"}\n'


def test_all_can_be_had_as_json(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "--format", "json", "--limit", "1"]) == 0

    assert len(json.loads(capsys.readouterr().out)) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["acme/shop#7"], "there is no run of acme/shop#7"),
        (["acme/shop"], "OWNER/REPO#NUMBER"),
        (["1", "--trace"], "there is no trace of this run"),
        (["99"], "no pull request with a run of this number"),
        (["review:5:"], "several runs begin like this"),
        (["nothing"], "there is no run whose id"),
        ([HEADS[1], "--trace"], "there is no trace of this run"),
        (["--trace"], "--trace needs the ID of a run"),
    ],
)
def test_what_cannot_be_shown_is_said(
    state: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["runs", *words]) == 2
    assert said in capsys.readouterr().err


def test_before_the_first_run_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REVIEWBOT_STATE_DIR", str(tmp_path / "none"))
    monkeypatch.delenv("REVIEWBOT_DATABASE_URL", raising=False)

    assert main(["runs"]) == 2
    assert "the App has not run here yet" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()
