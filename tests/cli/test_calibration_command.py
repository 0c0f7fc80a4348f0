"""`reviewbot calibration`: where its labels come from, and what it prints."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from reviewbot.app.store.durable.database import open_database
from reviewbot.app.store.durable.labels import Labels
from reviewbot.cli.labels_file import add_labels, labels_path, read_labels
from reviewbot.domain.contracts.feedback import Label
from reviewbot.domain.contracts.ledger import Ledger, Record
from reviewbot.domain.errors import InputError
from tests.command_line import Run
from tests.git_repo import GitRepo


def a_record(number: int, **fields: Any) -> Record:
    known: dict[str, Any] = {"names": (f"{number:032x}",), "path": "a.py", "type": "logic", "kind": "race"}
    known |= {"source": "model-x", "stated": 80, "state": "fixed", "reason": "its code was changed", "who": "reviewbot"}
    return Record(**{**known, "at": "", "head": "a" * 40, "since": "a" * 40, **fields})


@pytest.fixture
def here(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without anything of ours."""
    for name in ("REVIEWBOT_DATABASE_URL", "REVIEWBOT_STATE_DIR", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    return home


def test_without_any_label_the_message_names_what_is_missing(run: Run, here: Path) -> None:
    found = run("calibration")

    assert found.code == 2
    assert "no finding has a label yet" in found.err


def test_a_folder_of_ledgers_is_counted_by_worker_kind_model_and_band(run: Run, here: Path) -> None:
    (here / "12.json").write_text(Ledger(records=(a_record(1), a_record(2, state="open"))).model_dump_json())
    found = run("calibration", str(here))

    assert found.code == 0
    assert "VERDICTS" in found.out
    assert [line.split()[:4] for line in found.out.splitlines()[1:]][:3] == [
        ["all", "all", "2", "1"],
        ["worker", "logic", "2", "1"],
        ["kind", "race", "2", "1"],
    ]
    assert "1.00 (0.21-1.00)" in found.out
    assert "none: a model needs 150 verdicts, or a rule 8, of 5 pull requests at least" in found.out


def test_the_json_has_the_rates_with_their_intervals_and_the_fitted_table(run: Run, here: Path) -> None:
    labels = [
        Label(finding=f"{n:032x}", pull=str(n), by_model=False, rule="S1", worker="security", state="fixed")
        for n in range(8)
    ]
    add_labels(here / "labels.jsonl", labels)
    found = json.loads(run("calibration", str(here / "labels.jsonl"), "--format", "json").out)

    assert found["labels"] == 8
    assert found["rates"][0]["precision"] == {"share": 1.0, "low": 0.6756, "high": 1.0}
    assert found["rates"][0]["resolution"] is None
    assert found["fitted"]["rules"][0]["right"] == 8


def test_the_apps_database_comes_first(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWBOT_STATE_DIR", str(here / "state"))
    database = open_database(str(here / "state" / "app.sqlite"))
    Labels(database).put(1, 5, 7, [a_record(1)])
    Labels(database).close(5, 7, "merged")
    database.close()

    first = run("calibration").out.splitlines()[1].split()
    assert first == ["all", "all", "1", "1", "1", "0", "1.00", "(0.21-1.00)", "1", "1", "1.00", "(0.21-1.00)"]


@pytest.mark.slow
def test_a_review_on_this_machine_keeps_labels_beside_its_ledger_and_counts_each_finding_once(
    run: Run, here: Path, repo: GitRepo
) -> None:
    base = repo.commit(a_py="def load(name):\n    return name\n")
    for body in ("    return eval(name)\n", "    x = 1\n    return eval(name)\n", "    return name + '!'\n"):
        head = repo.commit(a_py=f"def load(name):\n{body}")
        found = run("review", "--git", f"{base}..{head}", "--engine", "analyzers", "--repo", repo.folder)
        assert found.code in (0, 1), found.err
    labels = read_labels(labels_path(os.environ))

    assert labels
    assert {label.state for label in labels} == {"fixed"}
    assert all(label.stated and label.rule and label.source and not label.by_model for label in labels)
    assert len({label.finding for label in labels}) == len(labels)
    assert run("calibration").code == 0


@pytest.mark.parametrize("text", ["{", '{"finding": "x"}', '{"finding": "' + "0" * 32 + '", "title": "code"}', "\x00"])
def test_what_is_no_label_is_named_by_its_line(run: Run, here: Path, text: str) -> None:
    (here / "labels.jsonl").write_text(text)

    with pytest.raises(InputError, match=r"line 1 of .* is no label"):
        read_labels(here / "labels.jsonl")
    assert run("calibration", str(here / "labels.jsonl")).code == 2


def test_a_file_that_is_no_ledger_is_named(run: Run, here: Path) -> None:
    (here / "1.json").write_text("[]")

    assert "1.json is no ledger" in run("calibration", str(here)).err
