"""Where a secret stands among the added lines, and how much it weighs there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from reviewbot.domain.contracts import FileChange, Hunk
from tests.secret_parts import FOOTER, GIVEN_OUT, HEADER, KEY_LINE, TOKEN, scan

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.domain.ports import Snapshot

    FileOf = Callable[..., FileChange]


def test_what_is_told_says_what_to_do_and_where_it_belongs(file_of: FileOf, bare: Snapshot) -> None:
    (found,) = scan(file_of(TOKEN, path="notes.txt", language="text"), bare)

    assert (found.source, found.category, found.path) == ("secrets", "secret", "notes.txt")
    assert "Revoke it" in found.suggestion


@pytest.mark.parametrize("path", ["tests/test_login.py", "src/app.py"])
def test_a_token_of_a_provider_weighs_as_much_in_a_test(file_of: FileOf, bare: Snapshot, path: str) -> None:
    (found,) = scan(file_of(f"token = '{GIVEN_OUT}'", path=path), bare)

    assert (found.severity, found.confidence) == ("critical", 99)


@pytest.mark.parametrize(
    "hunk",
    [
        f"+{HEADER}\n {KEY_LINE}\n+{KEY_LINE}\n+{FOOTER}",
        f"+{HEADER}\n {KEY_LINE}\n {KEY_LINE}\n {FOOTER}",
    ],
    ids=["a line of it was there", "all but its head was there"],
)
def test_lines_that_were_there_already_are_no_part_of_a_key(file_of: FileOf, bare: Snapshot, hunk: str) -> None:
    (found,) = scan(file_of(hunk, path="key.pem", language="text"), bare)

    assert (found.line, found.end_line, found.severity) == (1, 1, "info")


def test_a_removed_line_between_them_does_not_part_two_added_ones(file_of: FileOf, bare: Snapshot) -> None:
    hunk = f"+{HEADER}\n-old\n+{KEY_LINE}\n+{KEY_LINE}\n+{FOOTER}"

    (found,) = scan(file_of(hunk, path="key.pem", language="text"), bare)

    assert (found.line, found.severity) == (1, "critical")


LINE = st.tuples(st.sampled_from("+ -"), st.sampled_from(["", "x = 1", "y" * 9, TOKEN]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the snapshot has nothing that could change
@example(lines=[("+", "x = 1"), ("+", TOKEN), ("-", TOKEN), ("+", ""), ("+", TOKEN), ("+", TOKEN)])
@given(lines=st.lists(LINE, min_size=1, max_size=9))
def test_each_added_token_is_told_on_its_own_line_and_no_other(lines: list[tuple[str, str]], bare: Snapshot) -> None:
    body = "\n".join(mark + text for mark, text in lines)
    hunk = Hunk(old_start=5, old_count=0, new_start=7, new_count=0, body=body)
    change = FileChange(path="a.txt", status="modified", language="text", kind="prose", hunks=(hunk,))
    new = [(mark, text) for mark, text in lines if mark != "-"]
    added = [7 + at for at, (mark, text) in enumerate(new) if mark == "+" and text == TOKEN]

    found = scan(change, bare)

    assert [(each.line, each.end_line) for each in found] == [(number, number) for number in added]
