"""One section to one file with one state."""

from __future__ import annotations

from reviewbot.diff.parser.build import build
from reviewbot.diff.parser.state import Section
from reviewbot.domain.contracts import Hunk

HUNK = Hunk(old_start=1, old_count=1, new_start=1, new_count=1, body="-a\n+b")


def section(**fields: object) -> Section:
    made = Section("git", 1, b"a/x.py b/x.py", old=b"a/x.py", new=b"b/x.py", hunks=[HUNK], added=1, removed=1)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def test_a_section_that_two_readers_count_alike_is_reviewed() -> None:
    built = build(section())
    assert (built.parsed.state, built.parsed.reason) == ("read", "")
    assert built.file.hunks == (HUNK,)


def test_a_section_that_two_readers_count_differently_is_malformed() -> None:
    built = build(section(added=2))
    assert (built.parsed.state, built.parsed.reason) == ("malformed", "a second reader counts other lines in it")
    assert (built.file.hunks, built.file.added, built.file.removed) == ((), 0, 0)


def test_the_first_fault_of_a_section_is_the_one_that_is_told() -> None:
    broken = section()
    broken.blame(4, "this")
    broken.blame(9, "that")
    assert build(broken).parsed.reason == "line 5 of the diff: this"


def test_what_was_cut_is_partial_and_keeps_its_rows() -> None:
    built = build(section(cut="it ends", last=True))
    assert (built.parsed.state, built.parsed.reason, built.file.added) == ("partial", "it ends", 1)


def test_the_mode_is_that_of_the_new_side() -> None:
    assert build(section(index_mode="100644")).file.mode == "100644"
    assert build(section(old_mode="100644", new_mode="100755")).file.mode == "100755"
    assert build(section(deleted_mode="120000", index_mode="100644")).file.mode == "120000"
