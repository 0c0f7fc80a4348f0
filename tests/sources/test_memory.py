from __future__ import annotations

import asyncio

import pytest

from reviewbot.diff.parse import parse_diff
from reviewbot.domain.ports import Clock, Journal, Snapshot
from reviewbot.sources.memory import DiffSnapshot, MemoryJournal, SystemClock

ADDED = "diff --git a/n.py b/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1,2 @@\n+one\r\n+two\n"
DELETED = "diff --git a/d.py b/d.py\ndeleted file mode 100644\n--- a/d.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
MODIFIED = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-1\n+2\n"
LINK = (
    "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc/passwd\n"
    "\\ No newline at end of file\n"
)


def snapshot(*sections: str) -> Snapshot:
    return DiffSnapshot(parse_diff("".join(sections).encode()))


def test_an_added_file_is_whole_on_the_new_side() -> None:
    assert snapshot(ADDED).head("n.py") == "one\r\ntwo\n"
    assert snapshot(ADDED).base("n.py") is None


def test_a_deleted_file_is_whole_on_the_old_side() -> None:
    assert snapshot(DELETED).base("d.py") == "gone\n"
    assert snapshot(DELETED).head("d.py") is None


def test_of_the_repository_only_the_added_files_are_at_hand() -> None:
    found = DiffSnapshot(parse_diff((ADDED + DELETED).encode()))

    assert found.files() is None
    assert dict(found.contents(["n.py", "d.py"])) == {"n.py": b"one\r\ntwo\n"}


def test_the_last_newline_may_be_missing() -> None:
    assert snapshot(ADDED + "\\ No newline at end of file\n").head("n.py") == "one\r\ntwo"


@pytest.mark.parametrize(
    ("section", "path"),
    [
        (MODIFIED, "a.py"),
        (LINK, "l"),
        (ADDED, "nowhere"),
        (ADDED.replace("+1,2", "+1,3"), "n.py"),
        (ADDED.replace("two", "x" * 30_000), "n.py"),
        ("diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n", "e"),
    ],
)
def test_what_a_diff_does_not_show_whole_is_none(section: str, path: str) -> None:
    found = snapshot(section)

    assert found.head(path) is found.base(path) is None


def test_a_journal_in_memory_gives_back_the_last_value() -> None:
    journal: Journal = MemoryJournal()

    journal.put("key", "old")
    journal.put("key", "new")

    assert journal.get("key") == "new"
    assert journal.get("other") is None


def test_the_systems_clock_never_goes_back() -> None:
    clock: Clock = SystemClock()
    before = clock.monotonic()

    asyncio.run(clock.sleep(0))

    assert clock.monotonic() >= before
