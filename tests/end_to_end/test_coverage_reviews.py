"""What a change cannot hide from a review, and what a report may claim: whole reviews of real git repositories."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from reviewbot.cli.main import main
from tests.git_repo import GitRepo
from tests.secret_parts import GIVEN_OUT

HIDDEN = 'import os\n\n\ndef pay(name):\n    os.system("pay " + name)\n    return eval(name)\n'
Review = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture(name="review")
def _review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Review:
    """The exit code and the report of a change from one state of some files to another; None removes a file."""
    folder = tmp_path / "work"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(base: Mapping[str, str], head: Mapping[str, str | None], *flags: str) -> tuple[int, dict[str, Any]]:
        repo = GitRepo(folder)
        repo.commit(base)
        repo.commit(head)
        # As unsure as the programs that agree about `HIDDEN` are.
        common = ("--format", "json", "--no-cache", "--min-confidence", "75")
        code = main(["review", "--repo", str(folder), "--git", "HEAD~1..HEAD", *common, *flags])
        return int(code), json.loads(capsys.readouterr().out)

    return run


def states(report: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    return {entry["path"]: (entry["state"], entry["need"]) for entry in report["coverage"]}


def rules(report: Mapping[str, Any], path: str) -> set[str]:
    return {finding["category"] for finding in report["findings"] if finding["path"] == path}


@pytest.mark.parametrize(
    "path", ["pay_pb2.py", "pay.generated.py", "vendor/x.py", "node_modules/x.py", "src/marked.py"]
)
def test_code_that_is_named_or_marked_like_generated_code_is_reviewed_and_reaches_the_gate(
    path: str, review: Review
) -> None:
    marker = "# @generated DO NOT EDIT\n" if "marked" in path else ""

    code, report = review({"a.py": "x = 1\n"}, {path: marker + HIDDEN}, "--fail-on", "info")

    assert code == 1
    assert states(report) == {path: ("reviewed", "review")}
    assert rules(report, path) == {"command-injection", "code-injection"}


def test_what_the_base_side_declares_generated_is_scanned_and_says_so(review: Review) -> None:
    base = {".gitattributes": "gen/** linguist-generated\n"}

    code, report = review(base, {"gen/a.py": HIDDEN, "b.py": "y = 2\n"})

    assert code == 0
    assert states(report) == {"b.py": ("reviewed", "review"), "gen/a.py": ("scanned", "scan")}
    assert report["findings"] == []
    [reason] = [entry["reason"] for entry in report["coverage"] if entry["path"] == "gen/a.py"]
    assert reason == "declared linguist-generated in .gitattributes of the base side"


def test_a_change_cannot_declare_its_own_files_generated(review: Review) -> None:
    code, report = review(
        {"a.py": "x = 1\n"}, {".gitattributes": "*.py linguist-generated\n", "b.py": HIDDEN}, "--fail-on", "info"
    )

    assert code == 1
    assert states(report)["b.py"] == ("reviewed", "review")


def test_attributes_of_a_folder_beside_a_diff_spare_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".gitattributes").write_text("*.py linguist-generated\n")
    (tmp_path / "b.py").write_text(HIDDEN)
    lines = HIDDEN.removesuffix("\n").split("\n")
    diff = f"--- /dev/null\n+++ b/b.py\n@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)
    (tmp_path / "change.diff").write_text(diff)

    main(
        [
            "review",
            str(tmp_path / "change.diff"),
            "--repo",
            str(tmp_path),
            "--format",
            "json",
            "--no-cache",
            "--min-confidence",
            "75",
        ]
    )

    assert rules(json.loads(capsys.readouterr().out), "b.py") == {"command-injection", "code-injection"}


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ({}, "package-lock.json"),
        ({}, "docs/a.md"),
        ({}, "vendor/a.go"),
        ({}, "app.min.js"),
        ({}, "config.unheard-of"),
        ({".gitattributes": "* linguist-generated\n"}, "gen/a.py"),
        ({".reviewbot.toml": 'ignore = ["**"]\n'}, "ignored/a.py"),
        ({".reviewbot.toml": 'paths = ["lib/**"]\n'}, "src/a.py"),
    ],
)
def test_the_scans_of_plain_lines_run_whatever_a_file_is_called(
    base: dict[str, str], path: str, review: Review
) -> None:
    code, report = review({"a.py": "x = 1\n", **base}, {path: f'k = "{GIVEN_OUT}"\n'}, "--fail-on", "critical")

    assert code == 1
    assert rules(report, path) == {"secret"}
    assert "secrets" in report["coverage"][0]["scans"]


def test_a_pipeline_without_a_reader_is_only_scanned_and_no_file_counts_as_reviewed(review: Review) -> None:
    pipeline = "pipeline { agent any }\n"

    code, report = review({"a.py": "x = 1\n"}, {"Jenkinsfile": pipeline, "settings.toml": "a = 1\n"})

    assert (code, report["verdict"], report["incomplete"]) == (4, "not_reviewed", True)
    assert report["headline"] == "No review: 0 of 2 files reviewed (2 only scanned)"
    assert {entry["reason"] for entry in report["coverage"]} == {
        "nothing in this run understands its lines",
    }  # fmt: skip


def test_deleted_files_are_removed_and_never_reviewed(review: Review) -> None:
    code, report = review({"a.py": "x = 1\n", "b.py": "y = 1\n", "c.py": "z = 1\n"}, {"a.py": None, "b.py": None})

    assert (code, report["verdict"]) == (0, "nothing_to_review")
    assert report["headline"] == "Nothing to review: 0 of 2 files reviewed (2 removed)"
    assert {entry["state"] for entry in report["coverage"]} == {"removed"}


def test_a_rename_that_turns_a_text_into_a_workflow_is_not_called_reviewed(review: Review) -> None:
    text = "on: push\njobs: {}\n"

    code, report = review(
        {"notes.txt": text, "a.py": "x = 1\n"},
        {"notes.txt": None, ".github/workflows/ci.yml": text, "a.py": "x = 2\n"},
    )

    assert (code, report["verdict"]) == (0, "limited")
    assert states(report) == {
        ".github/workflows/ci.yml": ("not_reviewed", "review"),
        "a.py": ("reviewed", "review"),
    }


@pytest.mark.parametrize("path", ["package-lock.json", "uv.lock", "go.sum", "Cargo.lock", "composer.lock"])
def test_the_hashes_of_a_lock_file_are_no_secrets(path: str, review: Review) -> None:
    lines = [
        '      "resolved": "https://registry.npmjs.org/a/-/a-1.0.0.tgz",',
        f'      "integrity": "sha512-{"aB3+/9xQ" * 11}=="',
        f'    {{ url = "https://files.example/a.whl", hash = "sha256:{"9f8e7d6c" * 8}", size = 1 }},',
        f"example.org/a v1.2.3 h1:{'Zx9+' * 10}bc=",
        f'checksum = "{"0123456789abcdef" * 4}"',
        f'            "reference": "{"abc12345" * 5}",',
    ]

    _, report = review({"a.py": "x = 1\n"}, {path: "\n".join(lines * 20) + "\n", "b.py": "y = 1\n"})

    assert (report["findings"], report["withheld"]) == ([], [])
    assert states(report)[path] == ("scanned", "scan")
