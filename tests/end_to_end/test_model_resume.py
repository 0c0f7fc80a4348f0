"""A review with models that is killed amid a call, and resumed: the same review, and no recorded answer paid twice."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from reviewbot.cli.main import main
from tests.kill_and_resume import kill, lasting, start
from tests.kill_and_resume_model import marked, question_of, recorded
from tests.messages_api import MessagesApi, Scripted, asks_judge, ruled

Json = dict[str, Any]

LINES = ("def bill(name, total):", "    return total / len(name)")
DIFF = "diff --git a/shop/bill.py b/shop/bill.py\nnew file mode 100644\n--- /dev/null\n+++ b/shop/bill.py\n"
DIFF += f"@@ -0,0 +1,{len(LINES)} @@\n" + "".join(f"+{line}\n" for line in LINES)
FOUND = {
    "id": "f1", "task": "logic", "file": "shop/bill.py", "side": "new", "quote": LINES[1], "line": 2,
    "title": "Division by zero", "message": "An empty name divides by zero.", "impact": "bill('', 1)", "proof": [],
    "severity": "warning", "cause": "missing-case", "category": "wrong-value", "confidence": 65, "worth": 70,
    "suggestion": "", "replacement": None, "cwe": None,
}  # fmt: skip


def answer(body: Json) -> Scripted:
    """The reader finds one thing; the judge believes it. Rules are enough for a plan."""
    if asks_judge(body):
        ruling = {"argument_against": "a caller may check", "reason": LINES[1].strip(), "confidence": 90}
        ruling |= {"severity": "warning", "worth": 70, "contradicts": []}
        handles = dict.fromkeys(re.findall(r"Claim (c[0-9]+):", json.dumps(body["messages"])))
        return marked(body, ruled(*({"claim": handle, **ruling} for handle in handles)))
    return marked(body, {"summary": "", "themes": [], "findings": [FOUND], "hints": [], "tasks": []})


@pytest.fixture
def undisturbed() -> Iterator[MessagesApi]:
    """The far end of the run that nobody kills."""
    with MessagesApi(answer) as api:
        yield api
    api.check()


@pytest.mark.slow
def test_a_review_that_is_killed_amid_a_call_asks_only_for_what_was_not_answered(
    messages_api: MessagesApi,
    undisturbed: MessagesApi,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in [name for name in os.environ if name.startswith("REVIEWBOT_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    diff, gate = tmp_path / "change.diff", Event()
    diff.write_text(DIFF)

    def review(api: MessagesApi, cache: Path, *more: str) -> Json:
        for key, value in {"HOME": str(cache), "XDG_CACHE_HOME": str(cache), **_door(api)}.items():
            monkeypatch.setenv(key, value)
        assert main(["review", str(diff), "--engine", "models", "--format", "json", *more]) == 0
        return lasting(json.loads(capsys.readouterr().out))

    # The ruling is not there when it is killed; by then the reader's answer is in the journal.
    messages_api.otherwise = lambda body: replace(answer(body), gate=gate) if asks_judge(body) else answer(body)
    process = start(diff, tmp_path / "killed", engine="models", environ=_door(messages_api))
    wanted = review(undisturbed, tmp_path / "whole")
    whole = [question_of(body) for body in undisturbed.bodies]
    messages_api.wait_for(len(whole))
    kill(process)
    known = recorded(tmp_path / "killed")
    gate.set()
    resumed = review(messages_api, tmp_path / "killed", "--resume")

    asked = [question_of(body) for body in messages_api.bodies]
    first, then = asked[: len(whole)], asked[len(whole) :]
    assert sorted(first) == sorted(whole)
    (reader,) = [question_of(body) for body in undisturbed.bodies if not asks_judge(body)]
    assert reader in known, "the judge is asked once the reader's answer is recorded"
    assert sorted(then) == sorted(set(whole) - known)
    assert any(asks_judge(body) for body in messages_api.bodies[len(whole) :])
    assert resumed == wanted
    assert [(f["line"], f["confidence"]) for f in resumed["findings"] if f["category"] == "wrong-value"] == [(2, 90)]


def _door(api: MessagesApi) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "sk-none"}
