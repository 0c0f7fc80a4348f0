"""What programs really write, read by us and by sarif-pydantic: both must see the same results."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sarif_pydantic import Sarif  # type: ignore[import-untyped]  # it has no types

from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.imported import imported_tools
from reviewbot.analyzers.imported.descriptors import match_paths
from reviewbot.analyzers.ruff.run import find_ruff
from reviewbot.domain.contracts import Candidate, FileChange, Review
from reviewbot.domain.ports import Snapshot
from tests.analyzers.imported.logs import read_log
from tests.make import MakeFile
from tests.sarif_log import render_sarif

DATA = Path(__file__).parent / "data"
Seen = set[tuple[str, str, int, str]]

SHOP = '''"""Users of a small shop."""

import hashlib
import sqlite3
import subprocess


def find(db: sqlite3.Connection, name: str) -> list[str]:
    rows = db.execute("select * from users where name = '" + name + "'")
    found = []
    for row in rows:
        found.append(row[0])
    return found


def digest(password: str, seen: list[str] = []) -> str:
    seen.append(password)
    return hashlib.md5(password.encode()).hexdigest()


def archive(folder: str) -> None:
    subprocess.run(
        f"tar cf - {folder}",
        shell=True,
    )
'''


@pytest.fixture(scope="module")
def ruff_log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Ruff's own log of the shop, in a folder whose name has to be encoded."""
    folder = tmp_path_factory.mktemp("a shop") / "src"
    folder.mkdir()
    (folder / "shop.py").write_text(SHOP, "utf-8")
    ruff = find_ruff()
    assert ruff is not None
    command = [str(ruff), "check", "--isolated", "--no-cache", "--exit-zero", "--output-format", "sarif"]
    done = subprocess.run([*command, "--select", "S,B,PERF,D", str(folder)], capture_output=True, check=True)
    return done.stdout


@pytest.fixture(params=["ruff", "zizmor", "gitleaks"])
def log(request: pytest.FixtureRequest, ruff_log: bytes) -> tuple[bytes, list[str]]:
    """A real log, and the files of the change that it is about."""
    if request.param == "ruff":
        return ruff_log, ["src/shop.py"]
    name = {"zizmor": ".github/workflows/greet.yml", "gitleaks": "src/settings.py"}[request.param]
    return (DATA / f"{request.param}.sarif").read_bytes(), [name]


def by_the_oracle(data: bytes, paths: list[str]) -> Seen:
    """Rule, path, line and level of all results; a path is that of the change which the name ends with."""
    seen: Seen = set()
    for run in Sarif.model_validate_json(data).runs:
        rules = {rule.id: rule for rule in run.tool.driver.rules or []}
        for result in run.results:
            place = result.locations[0].physical_location
            uri = place.artifact_location.uri
            (path,) = (path for path in paths if uri == path or uri.endswith("/" + path))
            default = rules[result.rule_id].default_configuration
            level = result.level.value if result.level else default.level if default else "warning"
            seen.add((result.rule_id, path, place.region.start_line, level))
    return seen


def by_us(data: bytes, paths: list[str]) -> Seen:
    (run,) = read_log("x.sarif", data)
    where = match_paths((result.uri for result in run.results), paths)
    assert not run.omitted
    return {(result.rule, where[result.uri], result.line, result.level) for result in run.results}


def candidates(data: bytes, change: FileChange, snapshot: Snapshot) -> dict[str, list[Candidate]]:
    tools, _ = imported_tools([("x.sarif", data)], [change.path])
    return {
        tool.name: list(asyncio.run(tool.run(changed_file([change], snapshot), snapshot)).candidates) for tool in tools
    }


def test_we_read_what_the_oracle_reads(log: tuple[bytes, list[str]]) -> None:
    assert by_us(*log) == by_the_oracle(*log)
    assert by_us(*log)


def test_ruffs_results_go_to_their_workers(ruff_log: bytes, file_of: MakeFile, bare: Snapshot) -> None:
    told = candidates(ruff_log, file_of(SHOP.removesuffix("\n"), path="src/shop.py"), bare)

    assert {(found.rule, found.line, found.category) for found in told["imported-security"]} == {
        ("S608", 9, "sql-injection"),
        ("S324", 18, "weak-cryptography"),
        ("S602", 22, "command-injection"),
    }
    assert [(found.rule, found.category) for found in told["imported-performance"]] == [("PERF401", "loop")]
    assert [found.rule for found in told["imported-logic"]] == ["B006"]
    assert {found.rule for found in told["imported-style"]} == {"D103"}
    assert {found.source for group in told.values() for found in group} == {"imported:ruff"}


def test_zizmors_results_are_securitys(file_of: MakeFile, bare: Snapshot) -> None:
    name, text = ".github/workflows/greet.yml", (DATA / "greet.yml").read_text("utf-8")

    told = candidates((DATA / "zizmor.sarif").read_bytes(), file_of(text.rstrip("\n"), path=name), bare)

    assert [(found.rule, found.line, found.severity) for found in told["imported-security"]] == [
        ("zizmor/dangerous-triggers", 2, "warning"),
        ("zizmor/excessive-permissions", 4, "warning"),
        ("zizmor/artipacked", 7, "warning"),
        ("zizmor/unpinned-uses", 7, "warning"),
        ("zizmor/template-injection", 8, "warning"),
    ]
    assert not any(told[name] for name in told if name != "imported-security")


def test_gitleaks_finds_secrets_without_saying_how_bad_they_are(file_of: MakeFile, bare: Snapshot) -> None:
    told = candidates(
        (DATA / "gitleaks.sarif").read_bytes(), file_of("REGION = 'eu'\nSLACK = '?'", path="src/settings.py"), bare
    )

    ((found,), *others) = told.values()
    assert (found.rule, found.line, found.severity) == ("slack-bot-token", 2, "warning")
    assert (found.category, found.cwe, found.source) == ("secret", 798, "imported:gitleaks")
    assert others == [[], [], []]


def test_our_own_log_reads_back(a_finding: Callable[..., Any]) -> None:
    finding = a_finding(category="sql-injection", rule="sql-external", cwe=89, severity="critical", line=7)
    timings: Any = {"wall_ms": 1, "critical_path_ms": 1, "sequential_ms": 1}
    fields: dict[str, Any] = {"engine": "analyzers", "verdict": "issues", "headline": "x", "summary": "x"}
    review = Review(**fields, timings=timings, findings=(finding,))

    (run,) = read_log("own.sarif", render_sarif(review).encode())

    (result,) = run.results
    assert run.tool == "reviewbot"
    assert (result.rule, result.level, result.line, result.cwe) == ("security/sql-external", "error", 7, 89)
    assert (result.uri, result.message, result.score) == (finding.path, finding.message, 9.5)


def test_the_stored_logs_hold_no_place_of_the_machine_that_made_them() -> None:
    for path in DATA.glob("*.sarif"):
        text = path.read_text("utf-8")
        assert json.loads(text)["version"] == "2.1.0"
        assert not any(word in text for word in ("file:", "/tmp", "/home", "/root", "/Users"))
