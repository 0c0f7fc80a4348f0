"""A private key in a change: not a line of it leaves the process, whatever quotes it, in no format and no file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from reviewbot.cli.main import main
from reviewbot.report.formats import FORMATS

LINES = [
    "MIIEpAIBAAKCAQEA1xq9Zk3vR8sT5wYbN2mC7dFgHjKlPoIuYtReWqAsDfGh4Jk6",
    "Zx8Cv0Bn2Mm4Qw6Er8Ty1Ui3Op5As7Df9Gh0Jk2Lz4Xc6Vb8Nm1Qa3Ws5Ed7Rf9T",
    "pL0oK9iJ8uH7yG6tF5rD4eS3wA2qZ1xC0vB9nM8bV7cX6zL5kJ4hG3fD2sA1pO0",
    "q7W3e9R2t6Y1u5I8o4P0a7S3d9F2g6H1j5K8l4Z0x7C3v9B2n6M1q5W8e4R0t7Y3",
]
BEGIN, END = "-----BEGIN RSA PRIVATE" + " KEY-----", "-----END RSA PRIVATE" + " KEY-----"
WORDS = f"the key goes on with `{LINES[1][:30]}`\n`{LINES[1][30:]}`, or without breaks: {LINES[2][5:50]}"


def leaks(text: str) -> list[str]:
    """What of the key stands in a text: twelve of its letters and digits in a row, whatever stands between them."""
    letters = re.sub("[^A-Za-z0-9]", "", text.replace("\\n", " ").replace("\\u200b", ""))
    value = "".join(LINES)
    return [value[at : at + 12] for at in range(len(value) - 11) if value[at : at + 12] in letters]


@pytest.fixture
def change(tmp_path: Path) -> Path:
    hidden = LINES[3][:20] + "\u200b" + LINES[3][20:]
    rows = ['KEY = """', BEGIN, *LINES[:3], hidden, END, '"""', f"OLD = open('{LINES[1]}')"]
    body = "".join(f"+{row}\n" for row in rows)
    # The old key stands on removed lines.
    moved = "".join(f"-{row}\n" for row in (BEGIN, *LINES, END)) + "+x = 1\n"
    path = tmp_path / "change.diff"
    path.write_text(
        "diff --git a/app.py b/app.py\nnew file mode 100644\n--- /dev/null\n+++ b/app.py\n"
        f"@@ -0,0 +1,{len(rows)} @@\n{body}"
        "diff --git a/old.py b/old.py\nindex 1111111..2222222 100644\n--- a/old.py\n+++ b/old.py\n"
        f"@@ -1,{len(LINES) + 2} +1 @@\n{moved}",
        encoding="utf-8",
    )
    return path


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A model that quotes lines of the key, breaks them up in its words, and calls a rule by a part of one."""
    found = [
        {"quote": LINES[1], "message": WORDS, "trigger": LINES[0], "suggestion": LINES[2], "replacement": LINES[0]},
        {"quote": f"OLD = open('{LINES[1]}')", "message": "x", "contract": WORDS, "rule": LINES[1][:40]},
        {
            "quote": "KEY = not there",
            "path": LINES[3][:40],
            "message": WORDS,
            "category": LINES[2][:40],
            "source": LINES[1][:40],
        },
    ]
    known = {"severity": "critical", "confidence": 95, "category": "x", "source": "m", "path": "app.py"}
    reply = {"findings": [{**known, **one} for one in found], "origin": "model"}
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"answers": [{"worker": "security", "path": "app.py", "replies": [reply]}]}))
    return path


@pytest.mark.parametrize("engine", ["analyzers", "scripted"])
def test_no_line_of_a_private_key_leaves_the_process(
    engine: str,
    change: Path,
    script: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    trace = tmp_path / "trace.json"
    arguments = ["review", str(change), "--engine", engine, "--format", "json", "--trace", str(trace)]
    assert leaks(change.read_text(encoding="utf-8"))

    main([*arguments, *(["--script", str(script)] if engine == "scripted" else [])])

    said = capsys.readouterr()
    told = json.loads(said.out)
    assert not leaks(said.out + said.err)
    assert not leaks(trace.read_text(encoding="ascii"))
    for file in (tmp_path / "cache").rglob("*"):
        assert not file.is_file() or not leaks(file.read_bytes().decode("latin-1"))
    assert "private-key" in {item["finding"]["rule"] for item in told["human"]} or engine == "scripted"
    for form in FORMATS:
        assert main(["replay", str(trace), "--format", form]) == 0
        again = capsys.readouterr().out
        assert not leaks(again)
        assert form != "json" or again == said.out
    main(["plan", str(change), "--format", "json"])
    assert not leaks(capsys.readouterr().out)


def test_what_a_model_calls_by_a_secret_is_called_masked(
    change: Path, script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace.json"

    main([
        "review", str(change), "--engine", "scripted", "--script", str(script), "--no-cache", "--format", "json",
        "--trace", str(trace),
    ])  # fmt: skip

    told = json.loads(capsys.readouterr().out)
    every = [item["finding"] for item in told["human"]] + told["findings"] + [e["finding"] for e in told["withheld"]]
    assert {one["rule"] for one in every} == {"", "masked"}
    assert {one["replacement"] for one in every} == {None}
    results = [event for event in json.loads(trace.read_text())["events"] if event["event"] == "result"]
    dropped = [one["candidate"] for event in results for one in event["outcome"]["dropped"]]
    assert [(one["category"], one["source"], one["path"]) for one in dropped] == [("masked", "masked", "****")]


def test_a_credential_of_our_own_is_masked_whatever_has_written_it(
    change: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = "gateway:zQ8wX3eV7rB2tN6yM1u"
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", own)
    found = {"quote": "KEY", "message": f"it is {own} or {own[::-1]}", "severity": "info", "confidence": 90}
    known = {"category": "x", "source": "m", "path": "app.py", "quote": BEGIN}
    reply = {"findings": [found | known], "origin": "model"}
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"answers": [{"worker": "logic", "path": "app.py", "replies": [reply]}]}))

    main(["review", str(change), "--engine", "scripted", "--script", str(script), "--no-cache", "--format", "json"])

    said = capsys.readouterr().out
    assert "it is **** or ****" in said
    assert own[-8:] not in said
