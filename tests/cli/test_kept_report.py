"""A review of what was reviewed before prints the report that was kept, wherever nothing that counts has changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from reviewbot.cli.local_review import is_lasting
from reviewbot.cli.output.kept_report import MAX_ALL_BYTES, MAX_BYTES, PREFIX, Asked, KeptReport, find, keep
from reviewbot.domain.contracts import Gap
from reviewbot.journal.sqlite import SqliteJournal, default_path
from reviewbot.wiring import open_journal
from tests.command_line import Ended, Run, git
from tests.make import one_fast

AGAIN = "this review was made before"
WEAK = "import os, flask\ndef run():\n    return os.system('ls ' + flask.request.args['name'])\n"
DIFF = b"""\
diff --git a/run.py b/run.py
new file mode 100644
--- /dev/null
+++ b/run.py
@@ -0,0 +1,3 @@
+import os, flask
+def run():
+    return os.system('ls ' + flask.request.args['name'])
"""
LAST = ("review", "--git", "HEAD^..HEAD")

PROGRAM = """
import sys
from reviewbot.cli.main import main
code = main(sys.argv[1:])
sys.stderr.write("loaded " + " ".join(sorted(sys.modules)))
sys.exit(code)
"""


@pytest.fixture(name="shop")
def _shop(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose last commit adds a weakness, and no model to ask."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    (repository / "run.py").write_text(WEAK)
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "two")
    return repository


def is_kept(ended: Ended) -> bool:
    return AGAIN in ended.err


def test_the_same_range_prints_the_same_bytes_ends_alike_and_says_that_it_was_kept(run: Run, shop: Path) -> None:
    first, second = (run(*LAST, "--fail-on", "warning") for _ in range(2))

    assert [is_kept(first), is_kept(second)] == [False, True]
    assert "run.py:3" in first.out
    assert (second.code, second.out) == (first.code, first.out)
    assert first.code == 1


@pytest.mark.slow
def test_a_kept_report_is_printed_without_loading_what_a_review_needs(shop: Path) -> None:
    def loaded() -> set[str]:
        command = [sys.executable, "-c", PROGRAM, *LAST]
        done = subprocess.run(command, cwd=shop, capture_output=True, text=True, check=True, env=dict(os.environ))
        return set(done.stderr.rpartition("loaded ")[2].split())

    first, second = loaded(), loaded()

    heavy = {
        "pydantic",
        "asyncio",
        "rich",
        "reviewbot.domain.contracts",
        "reviewbot.wiring",
        "reviewbot.analyzers.catalog",
    }
    assert heavy - {"rich"} <= first
    assert not second & heavy


@pytest.mark.parametrize("argv", [("review",), ("review", "change.diff"), ("review", "-")])
def test_the_report_of_a_branch_and_of_a_diff_alone_is_kept_with_what_was_said(
    run: Run, shop: Path, argv: tuple[str, ...]
) -> None:
    git(shop, "checkout", "-qb", "feature")
    git(shop, "branch", "-qf", "main", "HEAD^")
    (shop / "change.diff").write_bytes(DIFF)
    (shop / ".reviewbot.toml").write_text("")

    first, second = run(*argv, stdin=DIFF), run(*argv, stdin=DIFF)

    assert [is_kept(first), is_kept(second)] == [False, True]
    assert second.out == first.out
    assert first.err
    assert second.err.startswith(first.err)


def test_the_report_of_an_incomplete_review_that_nothing_can_complete_is_kept_with_its_exit_code(
    run: Run, repository: Path
) -> None:
    (repository / "app.ex").write_text("defmodule App do\nend\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "two")

    first, second = run(*LAST), run(*LAST)

    assert is_kept(second)
    assert (second.code, second.out) == (first.code, first.out) == (4, first.out)
    assert "incomplete: " in second.err


def commit_more(shop: Path, _set: Callable[[str, str], None]) -> tuple[str, ...]:
    (shop / "more.py").write_text("x = 1\n")
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "three")
    return LAST


def set_a_variable(_shop: Path, set_variable: Callable[[str, str], None]) -> tuple[str, ...]:
    set_variable("REVIEWBOT_MIN_CONFIDENCE", "1")
    return LAST


def write_user_settings(_shop: Path, _set: Callable[[str, str], None]) -> tuple[str, ...]:
    folder = Path(os.environ["XDG_CONFIG_HOME"]) / "reviewbot"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("min_confidence = 1\n")
    return LAST


def make_it_narrow(_shop: Path, set_variable: Callable[[str, str], None]) -> tuple[str, ...]:
    set_variable("COLUMNS", "50")
    return LAST


def pack_objects(shop: Path, _set: Callable[[str, str], None]) -> tuple[str, ...]:
    git(shop, "gc", "-q")
    return LAST


def give_an_option(_shop: Path, _set: Callable[[str, str], None]) -> tuple[str, ...]:
    return (*LAST, "--min-confidence", "1")


def stand_elsewhere(shop: Path, _set: Callable[[str, str], None]) -> tuple[str, ...]:
    return (*LAST, "--repo", str(shop))


@pytest.mark.parametrize(
    "alter",
    one_fast(
        [
            commit_more,
            set_a_variable,
            write_user_settings,
            make_it_narrow,
            pack_objects,
            give_an_option,
            stand_elsewhere,
        ]
    ),
)
def test_whatever_may_change_a_report_makes_a_review_anew(
    run: Run,
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
    alter: Callable[[Path, Callable[[str, str], None]], tuple[str, ...]],
) -> None:
    run(*LAST)
    argv = alter(shop, monkeypatch.setenv)

    assert not is_kept(run(*argv))
    assert is_kept(run(*argv))


@pytest.mark.parametrize(
    "argv",
    one_fast(
        [
            [*LAST, "--no-cache"],
            [*LAST, "--resume"],
            [*LAST, "--trace", "trace.json"],
            [*LAST, "--estimate"],
            ["review", "--staged"],
            ["review", "change.diff", "--repo", "."],
        ]
    ),
)
def test_a_review_that_is_more_than_its_report_or_has_no_name_is_made_each_time(
    run: Run, shop: Path, argv: tuple[str, ...]
) -> None:
    (shop / "change.diff").write_bytes(DIFF)
    (shop / "new.py").write_text(WEAK)
    git(shop, "add", "new.py")

    assert not any(is_kept(run(*argv)) for _ in range(2))


def test_the_report_goes_to_the_file_that_is_named(run: Run, shop: Path) -> None:
    argv = (*LAST, "--format", "json", "--output", "report.json")
    run(*argv)
    first = (shop / "report.json").read_bytes()
    (shop / "report.json").unlink()

    assert is_kept(run(*argv))
    assert (shop / "report.json").read_bytes() == first
    assert json.loads(first)["findings"]


@pytest.mark.slow
def test_with_a_key_no_report_is_looked_for(
    run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch, messages_api: Any
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-none-at-all")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", messages_api.url)
    argv = (*LAST, "--engine", "analyzers")

    assert [is_kept(run(*argv)), is_kept(run(*argv))] == [False, True]
    assert not is_kept(run(*LAST, "--estimate"))


def test_from_a_folder_that_is_gone_a_diff_is_still_reviewed(run: Run, home: Path, tmp_path: Path) -> None:
    (tmp_path / "change.diff").write_bytes(DIFF)
    home.rmdir()

    assert [is_kept(run("review", str(tmp_path / "change.diff"))) for _ in range(2)] == [False, False]


@pytest.mark.slow
def test_a_damaged_journal_is_told_of_by_the_review_that_follows(run: Run, shop: Path) -> None:
    del shop
    run(*LAST)
    journal = default_path(os.environ)
    journal.write_bytes(journal.read_bytes()[:5_000] + b"x" * 5_000)

    result, after, kept = (run(*LAST) for _ in range(3))
    assert ["the journal was damaged" in each.out for each in (result, after, kept)] == [True, False, False]
    assert [is_kept(each) for each in (result, after, kept)] == [False, False, True]


# --- what is kept


@pytest.mark.parametrize(
    ("reason", "lasting"), [("unreadable", True), ("flooded", True), ("timeout", False), ("missing_program", False)]
)
def test_a_gap_that_may_close_by_itself_keeps_a_report_from_being_kept(reason: Any, *, lasting: bool) -> None:
    gaps = [Gap(path="a.py", worker="logic", reason=each, message="m") for each in ("unreadable", reason)]

    assert is_lasting("analyzers", gaps) is lasting


@pytest.mark.parametrize("engine", ["claude", "scripted"])
def test_what_a_model_or_a_script_said_is_not_kept(engine: str) -> None:
    assert not is_lasting(engine, ())


@pytest.mark.slow
def test_only_so_many_reports_are_kept_and_none_that_is_too_long(home: Path) -> None:
    del home
    long, longer = (KeptReport("x" * (MAX_BYTES - spare), 0, ("said",)) for spare in (100, 0))
    names = [str(number) for number in range(MAX_ALL_BYTES // MAX_BYTES + 2)]
    with open_journal(os.environ) as journal:
        for name in names:
            keep(Asked(key=name), long, journal)
        keep(Asked(key="longer"), longer, journal)

    found = [find(Asked(key=name), os.environ) for name in names]
    assert found.count(long) == MAX_ALL_BYTES // MAX_BYTES
    assert find(Asked(key="longer"), os.environ) is None


def test_a_review_whose_journal_was_in_trouble_is_not_kept_and_one_that_cannot_be_read_holds_none(home: Path) -> None:
    del home
    with open_journal(os.environ) as journal:
        journal.trouble = "the disk is full"
        keep(Asked(key="a"), KeptReport("text", 0, ()), journal)
    with closing(SqliteJournal(default_path(os.environ))) as inner:
        assert inner.get(PREFIX + "a") is None

    default_path(os.environ).write_bytes(b"no journal")
    assert find(Asked(key="a"), os.environ) is None
