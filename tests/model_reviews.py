"""Whole reviews with models, from the command line in this process to a Messages API on loopback and back."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reviewbot.cli.main import main
from tests.messages_api import MessagesApi, Scripted, answered, asks_judge, ruled

Json = dict[str, Any]

KEY = "sk-canary-5f1e0c9d7b"
CANARY = "canary-secret-77aa31"
"""A key of the API, and a secret of the environment."""

LINE = "    return total / len(name)"
FOUND = {
    "id": "f1", "task": "logic", "file": "shop/bill.py", "side": "new", "quote": LINE, "line": 5,
    "title": "Division by zero", "message": "An empty name divides by zero.", "impact": "bill('', 1)",
    "proof": [{"path": "shop/bill.py", "side": "new", "quote": LINE.strip(), "why": "nothing checks it"}],
    "severity": "warning", "cause": "missing-case", "category": "wrong-value", "confidence": 85, "worth": 70,
    "suggestion": "", "replacement": None, "cwe": None,
}  # fmt: skip

SILENT: Json = {"summary": "It bills.", "themes": [], "findings": [], "hints": [], "tasks": []}


def new_file(path: str, *lines: str) -> str:
    """The section of a diff that adds a file."""
    added = "".join(f"+{line}\n" for line in lines)
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
    return f"{head}@@ -0,0 +1,{len(lines)} @@\n{added}"


@dataclass
class Team:
    """Answers as readers, judge and planner would, by what each is asked to answer in."""

    findings: list[Json] = field(default_factory=list)
    """Said by a reader of the files that it is shown."""
    confidence: int = 90
    """What the judge rules."""
    reason: str = "`return total / len(name)`: nothing checks the name"
    severity: str = "warning"

    def __call__(self, body: Json) -> Scripted:
        wanted = body["output_config"]["format"]["schema"]["properties"]
        shown = json.dumps(body["messages"])
        if asks_judge(body):
            handles = dict.fromkeys(re.findall(r"Claim (c[0-9]+):", shown))
            return answered(ruled(*map(self._ruling, handles)))
        if "findings" in wanted:
            return answered({**SILENT, "findings": [each for each in self.findings if f"### {each['file']}" in shown]})
        return answered({"reason": "as routed", "strategy": "merge", "tasks": [], "workers": []})

    def _ruling(self, handle: str) -> Json:
        return {
            "claim": handle,
            "argument_against": "a caller may check",
            "reason": self.reason,
            "confidence": self.confidence,
            "severity": self.severity,
            "worth": 70,
            "contradicts": [],
        }


@dataclass
class Door:
    """The command line with a key, and the API behind it."""

    api: MessagesApi
    folder: Path
    capsys: pytest.CaptureFixture[str]
    code: int = 0
    err: str = ""

    def review(self, diff: str, *more: str) -> Json:
        """The review in JSON. Whatever it was, a replay of its trace is the same to the byte."""
        (self.folder / "change.diff").write_text(diff)
        low = [] if "--min-confidence" in more else ["--min-confidence", "75"]  # programs that agree may be unsure
        trace = [] if "--trace" in more else ["--trace", "of-all.json"]
        self.code = main(["review", "change.diff", "--engine", "models", "--format", "json", *low, *trace, *more])
        captured = self.capsys.readouterr()
        self.err = captured.err
        if trace and captured.out:
            assert main(["replay", "of-all.json", "--format", "json"]) == 0
            assert self.capsys.readouterr().out == captured.out
        return json.loads(captured.out) if captured.out else {}
