"""The numbers that models state, in whole reviews: measured or not, written into results, and fitted from them."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reviewbot import wiring
from reviewbot.cli.commands.traces.replay import synthesizer_of
from reviewbot.cli.main import main
from reviewbot.domain.contracts.answers import ReviewAnswer
from reviewbot.evaluate.model_fit import LabelledClaim, measure, replace_tables
from reviewbot.llm.agents.calibrator import prompt_hash
from reviewbot.replay.replay_review import replay
from reviewbot.review.model_calibration import ModelTables, Quantity, Role, read_model_tables
from reviewbot.wiring.model_components import prompt
from tests.messages_api import MessagesApi, Scripted, answered, asks_judge, ruled

Json = dict[str, Any]

LINE = "    return total / len(name)"
CHANGE = f"""\
diff --git a/bill.py b/bill.py
new file mode 100644
--- /dev/null
+++ b/bill.py
@@ -0,0 +1,2 @@
+def bill(name, total):
+{LINE}
"""
CLAIM = {
    "id": "f1", "task": "logic", "file": "bill.py", "side": "new", "quote": LINE, "line": 2,
    "title": "Division by zero", "message": "An empty name divides by zero.", "impact": "bill('', 1)",
    "proof": [{"path": "bill.py", "side": "new", "quote": LINE.strip(), "why": "nothing checks it"}],
    "severity": "warning", "cause": "missing-case", "category": "wrong-value", "confidence": 92, "worth": 70,
    "suggestion": "", "replacement": None, "cwe": None,
}  # fmt: skip
RULING = {"argument_against": "", "reason": "nothing checks it", "severity": "warning", "contradicts": []}
HASHES: Mapping[Role, str] = {
    "reader": prompt_hash(prompt("reader"), ReviewAnswer),
    "judge": prompt_hash(f"{prompt('reader')}\n{prompt('judge')}", ReviewAnswer),
}
UNMEASURED = (
    "Confidence and worth of claims stand as {} stated them; how often that holds was not measured with these prompts"
)


def answer(body: Json) -> Scripted:
    """A reader with one claim, stated at 92 and 70, and a judge that says 95 and 80."""
    if asks_judge(body):
        handles = dict.fromkeys(re.findall(r"Claim (c[0-9]+)", json.dumps(body["messages"])))
        return answered(ruled(*({**RULING, "claim": each, "confidence": 95, "worth": 80} for each in handles)))
    return answered({"summary": "It bills.", "themes": [], "findings": [CLAIM], "hints": [], "tasks": []})


@pytest.fixture
def here(messages_api: MessagesApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a change, a case of it, and a model behind the key."""
    for name in [name for name in os.environ if name.startswith("REVIEWBOT_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary-5f1e0c9d7b")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_api.url)
    messages_api.otherwise = answer
    for number in range(2):
        case = tmp_path / f"here/cases/own/case{number}"
        case.mkdir(parents=True)
        (case / "change.diff").write_text(CHANGE)
        (case / "meta.json").write_text(json.dumps({"title": f"Bill {number}"}))
        (case / "golden.json").write_text(json.dumps([{"file": "bill.py", "line": 2}][:number]))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def table_of(role: Role, quantity: Quantity, model: str, right: float, prompt_of: str | None = None) -> ModelTables:
    """A table of a model that is right so often where it states any number of these."""
    claims = [
        LabelledClaim(str(change), stated, n < 100 * right)
        for stated in (70, 80, 92, 95)
        for n in range(100)
        for change in [n % 20]
    ]
    key = (role, quantity, model, prompt_of or HASHES[role])
    return replace_tables(ModelTables(), [measure(key, claims, "2026-01-02")])


def joined(*tables: ModelTables) -> ModelTables:
    return ModelTables(table=tuple(each for tables_of in tables for each in tables_of.table))


def reviewed(measured: ModelTables | None, **flags: str) -> tuple[Json, list[Any]]:
    """The review with these tables, and its trace; a replay of the trace is the same."""
    subject = wiring.from_diff(CHANGE.encode(), None)
    settings = wiring.settings_for(None, os.environ, {"engine": "models", **flags})
    run = wiring.setup(subject, settings, wiring.RunInputs(environ=os.environ, measured=measured))
    review = asyncio.run(run.review(subject.change))
    events = json.loads(json.dumps(run.trace.events))
    assert asyncio.run(replay(events, synthesizer_of)) == review
    return review.model_dump(mode="json"), events


def names(events: list[Any]) -> dict[str, str]:
    """The model that answered in each role."""
    return {event["purpose"]: event["model"] for event in events if event["event"] == "call"}


def claim_of(review: Json) -> Json:
    found = [*review["findings"], *(entry["finding"] for entry in review["withheld"])]
    (claim,) = [finding for finding in found if finding["category"] == "wrong-value"]
    return dict(claim)


@pytest.mark.slow
def test_without_a_table_the_numbers_stand_as_stated_and_one_line_of_each_report_says_so(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "change.diff").write_text(CHANGE)

    told = {}
    for form in ("json", "terminal", "markdown"):
        assert main(["review", "change.diff", "--engine", "models", "--format", form]) == 0
        told[form] = capsys.readouterr().out
    review = json.loads(told["json"])

    assert (claim_of(review)["confidence"], claim_of(review)["claimed"], claim_of(review)["worth"]) == (95, 92, 75)
    [note] = [each for each in review["notes"] if "stated" in each]
    models = " and ".join(sorted({each.removeprefix("model:") for each in claim_of(review)["sources"]}))
    assert note == UNMEASURED.format(models)
    for form in ("terminal", "markdown"):
        assert " ".join(told[form].replace("\\", "").split()).count("was not measured with these prompts") == 1


def test_what_was_measured_of_a_judge_takes_the_place_of_what_it_states(here: Path) -> None:
    _, events = reviewed(None)
    reader, judge = names(events)["reader"], names(events)["judge"]
    tables = joined(
        table_of("judge", "confidence", judge, 0.6),
        table_of("judge", "worth", judge, 0.4),
        table_of("reader", "confidence", reader, 0.9),
        table_of("reader", "worth", reader, 0.4),
    )

    review, events = reviewed(tables)

    claim = claim_of(review)
    assert review["findings"] == []
    assert 58 <= claim["confidence"] <= 62, "the judge's number, which is below the cut"
    assert 38 <= claim["worth"] <= 42
    assert claim["claimed"] == 92
    assert not [note for note in review["notes"] if "stated" in note]
    assert [(e["role"], e["stated"]) for e in events if e["event"] == "calibrated"] == [
        ("reader", {"confidence": 92, "worth": 70}),
        ("judge", {"confidence": 95, "worth": 80}),
    ]


def test_without_a_judge_the_number_is_that_which_was_measured_of_the_reader(here: Path) -> None:
    _, events = reviewed(None, effort="quick")
    reader = names(events)["reader"]
    tables = joined(table_of("reader", "confidence", reader, 0.6), table_of("reader", "worth", reader, 0.9))

    review, _ = reviewed(tables, effort="quick")

    assert 58 <= claim_of(review)["confidence"] <= 62
    assert not [note for note in review["notes"] if "stated" in note]


@pytest.mark.slow
def test_a_table_of_another_prompt_is_not_used(here: Path) -> None:
    _, events = reviewed(None, effort="quick")
    reader = names(events)["reader"]

    review, events = reviewed(table_of("reader", "confidence", reader, 0.6, "0" * 16), effort="quick")

    assert claim_of(review)["confidence"] == 92
    assert UNMEASURED.format(reader) in review["notes"]
    assert not [event for event in events if event["event"] == "calibrated"]


def evaluated(here: Path) -> list[Json]:
    """The claims of both cases, as `eval` writes them."""
    assert main(["eval", "cases", "--engine", "models", "--jobs", "1", "--out", "rows.jsonl"]) == 0
    rows = sorted(map(json.loads, (here / "rows.jsonl").read_text().splitlines()), key=lambda row: row["case"])
    return [{"case": row["case"], **each} for row in rows for each in row["findings"] if each["stated"]]


@pytest.mark.slow
def test_rows_of_results_have_what_reader_and_judge_stated(here: Path) -> None:
    first, second = evaluated(here)

    assert (first["case"], first["file"], first["line"], first["text"]) == (
        "own/case0", "bill.py", 2, "An empty name divides by zero. bill('', 1)",
    )  # fmt: skip
    reader, judge = first["stated"]
    assert reader == {**reader, "role": "reader", "prompt": HASHES["reader"], "confidence": 92, "worth": 70}
    assert judge == {**judge, "role": "judge", "prompt": HASHES["judge"], "confidence": 95, "worth": 80}
    assert first["sources"] == [f"model:{reader['model']}"]
    assert second["stated"] == first["stated"]


def test_claims_with_labels_are_measured_and_too_few_of_them_make_no_table(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluated(here)
    capsys.readouterr()
    words = ["calibrate", "rows.jsonl", "--cases", "cases", "--models", "--truth", "own"]

    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "Confidence of claude-" in shown
    assert ": 2 claims of 2 changes. Calibration error (ECE) .45 as stated" in shown
    assert "| 90-100 | 2 | .95 | .50 | .95 |" in shown
    assert main([*words, "--out", "tables.toml"]) == 2
    assert "a table needs 150 claims with labels, of 5 changes" in capsys.readouterr().err
    assert not (here / "tables.toml").exists()


def test_a_table_is_added_to_those_of_other_models(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    finding = {"file": "bill.py", "line": 2, "confidence": 95, "text": "t", "type": "logic"}
    stated = {"role": "judge", "model": "model-x", "prompt": "0" * 16, "confidence": 95, "worth": 80}
    rows = [{"case": f"own/many{n}", "findings": [{**finding, "stated": [stated]}] * 30, "run": "r"} for n in range(6)]
    for row in rows:
        case = here / "cases" / str(row["case"])
        case.mkdir()
        for name, text in {"change.diff": CHANGE, "meta.json": "{}", "golden.json": "[]"}.items():
            (case / name).write_text(text)
    (here / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (here / "tables.toml").write_text("schema_version = 1\n")

    assert (
        main(["calibrate", "rows.jsonl", "--cases", "cases", "--models", "--truth", "own", "--out", "tables.toml"]) == 0
    )

    [table] = read_model_tables((here / "tables.toml").read_text()).table
    assert (table.model, table.claims, table.points, table.error_fitted) == ("model-x", 180, ((95, 1),), 0.01)
    assert "1 table written, 0 left out" in capsys.readouterr().err
    (here / "tables.toml").write_text("schema_version = 7\n")
    assert (
        main(["calibrate", "rows.jsonl", "--cases", "cases", "--models", "--truth", "own", "--out", "tables.toml"]) == 2
    )
    assert "tables.toml holds no tables of models: schema_version" in capsys.readouterr().err


@pytest.mark.slow
def test_a_claim_that_was_judged_by_hand_goes_before_its_place(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claims = evaluated(here)
    capsys.readouterr()
    labels = [{key: claim[key] for key in ("case", "file", "line", "text")} for claim in claims]
    stray = {**labels[0], "line": 77, "true": False}
    lines = [{**labels[0], "true": True}, {**labels[1], "labelled": False}, stray]
    (here / "labels.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\n")

    words = ["calibrate", "rows.jsonl", "--cases", "cases", "--models", "--judged", "labels.jsonl"]
    assert main([*words, "--truth", "own", "--worth", "own"]) == 0

    shown, told = capsys.readouterr()
    assert "| 90-100 | 2 | .95 | 1.00 | " in shown, "true by hand, and true by its place"
    assert "| 80-89 | 2 | .80 | .00 | " in shown, "no label at its place, and none by hand"
    assert "no claim in these results for 1 label of labels.jsonl" in told
    assert main(words) == 0
    assert ": 1 claim of 1 change." in capsys.readouterr().out


@pytest.mark.slow
def test_only_claims_of_the_wanted_types_are_measured(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluated(here)
    words = ["calibrate", "rows.jsonl", "--cases", "cases", "--models", "--truth", "own", "--type"]

    assert [main([*words, kind]) for kind in ("logic", "security")] == [0, 2]


@pytest.mark.slow
def test_claims_without_a_label_measure_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluated(here)

    assert main(["calibrate", "rows.jsonl", "--cases", "cases", "--models"]) == 2
    assert "no claim of a model in these results has a label" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "line 1: the line: Invalid JSON"),
        ('{"case": "a/b", "file": "f", "line": "2", "text": "t"}', "line 1: line: Input should be a valid integer"),
        (
            "\n".join(
                f'{{"case": "a/b", "file": "f", "line": 2, "text": "t", "true": {each}}}' for each in ("true", "false")
            ),
            "line 2: this claim has another label further up",
        ),
    ],
    ids=["no JSON", "a text for a number", "twice"],
)
def test_a_file_of_labels_that_cannot_be_read_is_named_with_its_line(
    here: Path, capsys: pytest.CaptureFixture[str], text: str, why: str
) -> None:
    (here / "rows.jsonl").write_text("")
    (here / "labels.jsonl").write_text(text)

    assert main(["calibrate", "rows.jsonl", "--cases", "cases", "--models", "--judged", "labels.jsonl"]) == 2
    assert f"labels.jsonl, {why}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (
            {"case": "own/case0", "findings": [{"file": "a", "stated": [{"role": "oracle"}]}]},
            "states numbers in an unknown form",
        ),
        ({"case": "own/gone", "findings": []}, "which is in none of the folders of --cases"),
    ],
    ids=["another form", "unknown case"],
)
def test_rows_that_are_none_of_ours_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str], row: Json, why: str
) -> None:
    (here / "rows.jsonl").write_text(json.dumps(row))

    assert main(["calibrate", "rows.jsonl", "--cases", "cases", "--models", "--truth", "own"]) == 2
    assert why in capsys.readouterr().err


def test_a_case_that_stands_in_the_results_twice_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "rows.jsonl").write_text(2 * (json.dumps({"case": "own/case0", "findings": []}) + "\n"))

    assert main(["calibrate", "rows.jsonl", "--cases", "cases", "--models", "--truth", "own"]) == 2
    assert "the results hold own/case0 twice" in capsys.readouterr().err
