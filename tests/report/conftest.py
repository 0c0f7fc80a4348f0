"""Reviews and plans made to order, recorded outputs, and a reader of Markdown trees."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from markdown_it import MarkdownIt

from reviewbot.domain.contracts import (
    Conflict,
    Constraints,
    FileCoverage,
    Finding,
    Gap,
    HumanItem,
    Payload,
    Plan,
    PlannedFile,
    Review,
    ReviewTask,
    SkippedWorkers,
    Suppression,
    Timings,
    Usage,
    Withheld,
    WorkerUsage,
)

HOSTILE = Path(__file__).parents[1] / "hostile" / "markdown"
SNAPSHOTS = Path(__file__).parent / "snapshots"


class Tree(NamedTuple):
    """What a Markdown parser sees, outside code: the shape without texts, and each run of text between other nodes."""

    shape: list[str]
    texts: list[str]


def a_finding(**changes: Any) -> Finding:
    fields: dict[str, Any] = {
        "type": "security",
        "severity": "critical",
        "path": "app/db.py",
        "line": 41,
        "end_line": 42,
        "message": "SQL is built from user input: `name` goes into the query unescaped.",
        "evidence": "query = f\"select * from users where name = '{name}'\"\ncursor.execute(query)",
        "trigger": "Any caller that passes a name from a request, for instance `/users?name=...`.",
        "suggestion": "Pass the value as a parameter: `cursor.execute(sql, (name,))`.",
        "confidence": 92,
        "category": "injection",
        "rule": "S608",
        "cwe": 89,
        "sources": ("ruff", "taint"),
    }
    return Finding(**fields | changes)


def a_review(**changes: Any) -> Review:
    fields: dict[str, Any] = {
        "engine": "analyzers",
        "verdict": "clean",
        "headline": "No issues found; 1 of 1 file reviewed",
        "summary": "",
        "coverage": (FileCoverage(path="app/db.py", state="reviewed", analyzers=("ruff",)),),
        "timings": Timings(wall_ms=1_240, critical_path_ms=820, sequential_ms=3_410),
    }
    return Review(**fields | changes)


def a_full_review() -> Review:
    """A review in which every part is filled."""
    plain = {"trigger": "", "suggestion": "", "cwe": None}
    slow = a_finding(
        type="performance",
        severity="warning",
        path="app/views/orders_and_invoices_and_more/list_view.py",
        line=118,
        end_line=118,
        message="One query per order: the loop asks for the customer of each order separately.",
        evidence="    customer = Customer.objects.get(id=order.customer_id)",
        trigger="A page with 500 orders sends 501 queries.",
        suggestion="found = Customer.objects.in_bulk(ids)\nfor order in orders:\n    use(found[order.customer_id])",
        confidence=85,
        category="n-plus-one",
        rule="query-in-loop",
        cwe=None,
        contract="The docstring promises one query for the whole page.",
        symptom="The page takes seconds, and longer with each order.",
        judgement="`list_view` is called for every customer; nothing before it loads the customers.",
        disputed="The list is never longer than ten.",
        sources=("loops",),
    )
    unused = {"type": "style", "severity": "info", "path": "app/util.py", "category": "unused", "rule": "F401"}
    cache = {"path": "app/cache.py", "line": 12, "end_line": 12, "evidence": "cache = {}", "rule": ""} | plain
    sides = (
        a_finding(**cache, severity="warning", message="The cache grows without a bound.", sources=("small",)),
        a_finding(**cache, severity="info", message="It is cleared on each request.", sources=("medium",)),
    )
    shell = a_finding(path="app/shell.py", line=9, end_line=9, evidence="run(name, shell=True)", confidence=70)
    logic = Usage(
        calls=3, input_tokens=12_000, output_tokens=800, cached_tokens=9_000, cache_write_tokens=4_000, cost_usd=0.021
    )
    files = {"app/db.py": ("ruff", "taint"), "app/util.py": ("ruff",), "app/shell.py": (), "app/cache.py": ("ruff",)}
    return a_review(
        verdict="issues",
        headline="4 issues found; 4 of 7 files reviewed (1 reviewed in part, 1 only scanned, 1 not reviewed)",
        summary="The change adds a user search and an order list.",
        findings=(
            a_finding(**unused | plain, line=7, end_line=7, message="Unused import.", evidence="import os"),
            a_finding(),
            slow,
        ),
        withheld=(
            Withheld(finding=slow, reason="below_threshold", message="70 is below 80"),
            Withheld(finding=shell, reason="minor", message="The name never comes from outside."),
        ),
        suppressed=a_few_suppressions(),
        conflicts=(
            Conflict(findings=sides, reason="One says that the cache needs a bound, the other that it does not."),
        ),
        gaps=tuple(
            Gap(path=path, worker="security", reason="timeout", message="no answer within 30 s", tool="zizmor")
            for path in ("app/db.py", "app/util.py")
        ),
        human=(
            HumanItem(path="app/shell.py", line=9, reason="Critical, at a confidence of 70.", finding=shell),
            HumanItem(path="workers/own.toml", reason="The change edits the bot's own configuration."),
            HumanItem(path="app/db.py", line=3, reason="A file was replaced by a symlink."),
        ),
        coverage=(
            *(FileCoverage(path=path, state="reviewed", analyzers=names) for path, names in files.items()),
            FileCoverage(path=slow.path, state="partial", reason="one line is too long", analyzers=("loops", "ruff")),
            FileCoverage(path="poetry.lock", state="scanned", need="scan", reason="a lock file", scans=("secrets",)),
            FileCoverage(path="logo.png", state="not_reviewed", need="nothing", reason="binary"),
        ),
        unlooked=(
            SkippedWorkers(path="app/db.py", workers=("logic", "style"), reason="this engine has no check for it"),
        ),
        notes=("The setting `threshold` of the head branch was ignored.",),
        workers=(
            WorkerUsage(worker="security", tasks=5, findings=2, duration_ms=820, usage=Usage()),
            WorkerUsage(worker="logic", tasks=1, findings=1, duration_ms=310, usage=logic),
            WorkerUsage(worker="judge", tasks=0, findings=0, duration_ms=0, usage=Usage(calls=2, unpriced_calls=2)),
        ),
        usage=logic + Usage(calls=2, unpriced_calls=2),
    )


def a_few_suppressions() -> tuple[Suppression, ...]:
    """One of each kind, and a second finding of the rule that is off."""
    off: dict[str, Any] = {"action": "off", "rule": "F401", "category": "unused", "by": ".reviewbot.toml"}
    off |= {"type": "style", "severity": "info", "message": "Unused import."}
    ignored: dict[str, Any] = {"action": "ignored", "rule": "S602", "category": "command-injection", "type": "security"}
    return (
        Suppression(**off, path="app/cache.py", line=1),
        Suppression(**off, path="app/util.py", line=3),
        Suppression(**off | {"action": "severity", "rule": "B006", "by": "--rule"}, path="app/util.py", line=4,
                    shown_as="warning"),
        Suppression(**ignored, path="app/shell.py", line=4, severity="critical", by="comment at line 3",
                    reason="the command is fixed", message="A shell runs the command."),
        Suppression(action="refused", path="app/db.py", line=8, rule="S608", by="comment at line 8",
                    reason="it is fine", message="this change adds it, so it counts from the next change on"),
    )  # fmt: skip


def a_task(**changes: Any) -> ReviewTask:
    fields: dict[str, Any] = {
        "task_id": "security:app/db.py",
        "worker": "security",
        "type": "security",
        "instruction": "Look for injection and leaked secrets.",
        "success_criterion": "Every finding quotes its line.",
        "payload": Payload(
            code="@@ def find\n a\n+b\n-c\n@@ \n-gone\n@@ \n+one",
            file_path="app/db.py",
            language="python",
            starts=((10, 10), (40, 41), (60, 60)),
        ),
        "constraints": Constraints(
            max_tokens=8_000, timeout_ms=120_000, tier="small", higher_tiers=("medium", "large")
        ),
    }
    return ReviewTask(**fields | changes)


def a_plan() -> Plan:
    """A plan in which every part is filled."""
    waits = a_task(
        task_id="logic:app/db.py",
        worker="logic",
        type="logic",
        depends_on=("security:app/db.py",),
        needs_dependencies=False,
    )
    return Plan(
        goal="Review 3 files of which 1 is code",
        tasks=(a_task(), waits),
        reason="a small change in one language",
        files=(
            PlannedFile(path="app/db.py"),
            PlannedFile(path="poetry.lock", need="scan", reason="a lock file"),
            PlannedFile(path="package-lock.json", need="scan", reason="a lock file"),
        ),
        unlooked=(
            SkippedWorkers(path="app/db.py", workers=("performance",), reason="this engine has no check for it"),
        ),
    )


def read_tree(markdown: str) -> Tree:
    """Parse as GitHub does: CommonMark with tables and strikethrough, HTML allowed."""
    shape: list[str] = []
    texts: list[str] = []
    for token in MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(markdown):
        if token.type != "inline":
            shape.append(f"{token.type} {token.tag} {token.info} {token.content if token.type == 'html_block' else ''}")
            continue
        run = ""
        for child in token.children or []:
            if child.type in ("text", "text_special"):
                run += child.content
                continue
            texts.append(run)
            run = ""
            if child.type != "code_inline":
                shape.append(f"{child.type} {child.tag}")
        texts.append(run)
    return Tree(shape, [text for text in texts if text])


@pytest.fixture(scope="session")
def make_finding() -> Callable[..., Finding]:
    return a_finding


@pytest.fixture(scope="session")
def make_review() -> Callable[..., Review]:
    return a_review


@pytest.fixture(scope="session")
def make_task() -> Callable[..., ReviewTask]:
    return a_task


@pytest.fixture(scope="session")
def full_review() -> Review:
    return a_full_review()


@pytest.fixture(scope="session")
def full_plan() -> Plan:
    return a_plan()


@pytest.fixture(scope="session")
def tree() -> Callable[[str], Tree]:
    return read_tree


@pytest.fixture(scope="session")
def hostile_markdown() -> dict[str, str]:
    """The hostile texts by the name of their case."""
    cases = {path.stem: json.loads(path.read_text(encoding="utf-8"))["text"] for path in sorted(HOSTILE.glob("*.json"))}
    assert cases, f"no cases in {HOSTILE}"
    return cases


@pytest.fixture(scope="session")
def golden() -> Callable[[str, str], None]:
    """Compare with a recorded output; with UPDATE_SNAPSHOTS=1 record it anew."""

    def check(name: str, text: str) -> None:
        path = SNAPSHOTS / name
        if os.environ.get("UPDATE_SNAPSHOTS") == "1":
            path.write_bytes(text.encode())
        assert path.read_bytes().decode() == text

    return check
