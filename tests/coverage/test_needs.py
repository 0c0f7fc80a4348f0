"""What a file needs: nothing that the change says lowers it, and the base side may."""

from __future__ import annotations

from typing import Any

import pytest

from reviewbot.coverage.needs import Needs, needs_of
from reviewbot.domain.contracts import FileChange, ParsedFile, ParseState
from tests.make import MakeFile, MakeHunk

MADE_TO_LOOK_GENERATED = [
    "api/orders_pb2.py", "static/app.min.js", "src/pay.generated.ts", "vendor/x.py", "third_party/a.go",
    "web/node_modules/left-pad/index.js", "tests/__snapshots__/page.snap", "src/app.designer.cs", "Cargo.lock.py",
    "uv.lock/run.py",
]  # fmt: skip


def nothing_declared(_path: str) -> str | None:
    return None


def needs(file: FileChange, state: ParseState = "read", **rules: Any) -> Needs:
    known: dict[str, Any] = {"ignore": (), "paths": (), "declared": nothing_declared}
    return needs_of(file, ParsedFile(path=file.path, state=state, reason="as parsed"), **{**known, **rules})


def told(found: Needs) -> tuple[str, str, bool]:
    return found.planned.need, found.planned.reason, found.to_read


@pytest.mark.parametrize("path", MADE_TO_LOOK_GENERATED)
def test_a_name_that_looks_generated_or_vendored_lowers_no_need(path: str, a_file: MakeFile) -> None:
    assert told(needs(a_file(path))) == ("review", "", True)


@pytest.mark.parametrize("path", ["src/pay.py", ".github/workflows/ci.yml"])
def test_a_line_that_says_generated_lowers_no_need(path: str, a_file: MakeFile, a_hunk: MakeHunk) -> None:
    assert told(needs(a_file(path, a_hunk("+# @generated DO NOT EDIT\n+x = 1")))) == ("review", "", True)


def test_a_minified_file_needs_a_review(a_file: MakeFile) -> None:
    assert told(needs(a_file(minified=True))) == ("review", "", True)


def test_what_the_base_side_declares_generated_needs_scans_alone(a_file: MakeFile) -> None:
    found = needs(a_file("gen/api.py"), declared=lambda path: f"declared for {path}")

    assert told(found) == ("scan", "declared for gen/api.py", False)


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"ignore": ("docs/*", "src/*")}, "matches the ignore pattern 'src/*'"),
        ({"paths": ("lib/*",)}, "not among the paths to review"),
        ({"paths": ("src/*",), "ignore": ("*.py",)}, "matches the ignore pattern '*.py'"),
    ],
)
def test_what_the_settings_leave_out_needs_scans_alone(rules: dict[str, Any], reason: str, a_file: MakeFile) -> None:
    assert told(needs(a_file(), **rules)) == ("scan", reason, False)


@pytest.mark.parametrize("pattern", ["SRC/*", "*.md", "app.py"])
def test_a_pattern_that_does_not_fit_leaves_nothing_out(pattern: str, a_file: MakeFile) -> None:
    assert told(needs(a_file(), ignore=(pattern,))) == ("review", "", True)


@pytest.mark.parametrize("path", ["uv.lock", "web/package-lock.json", "go.sum"])
def test_a_lock_file_needs_scans_alone(path: str, a_file: MakeFile) -> None:
    assert told(needs(a_file(path, kind="config"))) == ("scan", "a lock file", False)


@pytest.mark.parametrize("path", ["Uv.lock", "uv.lock.py", "my-uv.lock"])
def test_a_name_that_only_resembles_a_lock_file_lowers_no_need(path: str, a_file: MakeFile) -> None:
    assert needs(a_file(path, kind="config")).planned.need == "review"


def test_prose_needs_scans_alone_and_readers_get_it(a_file: MakeFile) -> None:
    assert told(needs(a_file("README.md", kind="prose"))) == ("scan", "prose", True)


@pytest.mark.parametrize("path", ["README.md", "uv.lock"])
@pytest.mark.parametrize(
    ("fields", "body"),
    [({"mode": "100755"}, "+text"), ({}, "+#!/bin/sh\n+rm -rf /"), ({}, "-old\n+#!/usr/bin/env node")],
)
def test_what_a_system_runs_as_a_program_needs_a_review_whatever_its_name_says(
    path: str, fields: dict[str, str], body: str, a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    assert told(needs(a_file(path, a_hunk(body), kind="prose", **fields))) == ("review", "", True)


@pytest.mark.parametrize(
    ("body", "start"), [("+text\n+#!/bin/sh", 1), ("+#!/bin/sh", 2), ("-#!/bin/sh", 1), ("-#!/bin/sh\n+text", 1)]
)
def test_the_sign_of_a_program_counts_on_the_first_line_alone(
    body: str, start: int, a_file: MakeFile, a_hunk: MakeHunk
) -> None:
    assert needs(a_file("README.md", a_hunk(body, start), kind="prose")).planned.need == "scan"


def test_an_empty_new_file_needs_no_reader(a_file: MakeFile) -> None:
    assert told(needs(a_file("a/__init__.py", status="added", hunks=()))) == ("scan", "an empty file", False)
    assert needs(a_file("a.py", status="added", hunks=()), "partial").planned.need == "review"


@pytest.mark.parametrize("status", ["renamed", "copied", "modified"])
def test_a_file_without_changed_lines_needs_a_review_that_no_reader_of_lines_can_give(
    status: str, a_file: MakeFile
) -> None:
    assert told(needs(a_file(status=status, hunks=()))) == ("review", "", False)


@pytest.mark.parametrize("state", ["read", "partial", "binary", "over_budget"])
def test_a_deleted_file_needs_nothing(state: ParseState, a_file: MakeFile) -> None:
    assert told(needs(a_file(status="deleted"), state)) == ("nothing", "deleted", False)


@pytest.mark.parametrize("state", ["malformed", "refused", "over_budget"])
def test_what_could_not_be_read_needs_a_review(state: ParseState, a_file: MakeFile) -> None:
    assert told(needs(a_file(hunks=()), state)) == ("review", "as parsed", False)


@pytest.mark.parametrize("state", ["malformed", "refused"])
def test_a_section_that_is_not_believed_cannot_say_that_its_file_is_deleted(
    state: ParseState, a_file: MakeFile
) -> None:
    assert needs(a_file(status="deleted", hunks=()), state).planned.need == "review"


@pytest.mark.parametrize(
    ("path", "language", "kind", "need"),
    [
        ("logo.png", "text", "code", "nothing"),
        ("guide.md", "markdown", "prose", "nothing"),
        ("uv.lock", "lockfile", "config", "nothing"),
        ("src/app.py", "python", "code", "review"),
        ("ci.yml", "yaml", "config", "review"),
    ],
)
def test_a_binary_file_needs_nothing_unless_its_name_says_text(
    path: str, language: str, kind: str, need: str, a_file: MakeFile
) -> None:
    file = a_file(path, language=language, kind=kind, hunks=())

    assert told(needs(file, "binary")) == (need, "as parsed", False)


@pytest.mark.parametrize(("mode", "what"), [("120000", "a symbolic link"), ("160000", "a submodule")])
def test_links_and_submodules_are_never_followed(mode: str, what: str, a_file: MakeFile) -> None:
    assert told(needs(a_file(mode=mode))) == ("nothing", f"{what}, which is never followed", False)
    assert needs(a_file(mode=mode), "malformed").planned.need == "review"


@pytest.mark.parametrize("rules", [{"ignore": ("gen/*",)}, {"declared": lambda _path: "declared"}])
def test_a_binary_file_that_the_base_side_spares_needs_nothing_whatever_its_name(
    rules: dict[str, Any], a_file: MakeFile
) -> None:
    assert needs(a_file("gen/app.js", language="javascript", hunks=()), "binary", **rules).planned.need == "nothing"
