"""Steps of migrations that drop or rewrite what is stored."""

from __future__ import annotations

import pytest

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.migrations.tool import Migrations
from reviewbot.domain.contracts import Hunk
from reviewbot.domain.ports import ChangedFile
from reviewbot.review.calibration import Calibration
from tests.snapshots import InMemorySnapshot

TOOL = Migrations(packaged_rules("migrations", Calibration()).rules)


def said(path: str, head: str, first: int = 1) -> list[tuple[str, int | None]]:
    """The rule and line of each candidate, of a file whose lines from `first` on were added."""
    added = head.split("\n")[first - 1 :]
    hunk = Hunk(old_start=0, old_count=0, new_start=first, new_count=len(added), body="\n".join(f"+{x}" for x in added))
    file = ChangedFile(path, path, "text", (hunk,), head=head)
    return [(each.rule, each.line) for each in TOOL.find_candidates(file, InMemorySnapshot())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DROP TABLE users;", "data-dropped"),
        ("ALTER TABLE users DROP COLUMN name;", "data-dropped"),
        ("alter table users drop name;", "data-dropped"),
        ("TRUNCATE users;", "data-dropped"),
        ("DELETE FROM users;", "data-rewritten"),
        ("UPDATE users SET name = '';", "data-rewritten"),
    ],
)
def test_a_statement_that_loses_rows_is_found_by_its_own_line(text: str, expected: str) -> None:
    assert said("db/migrations/7_users.sql", text) == [(expected, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "ALTER TABLE users DROP CONSTRAINT one;",
        "ALTER TABLE users DROP NOT NULL;",
        "DELETE FROM users WHERE id = 1;",
        "UPDATE users SET name = '' WHERE id = 1;",
        "DROP TABLE IF EXISTS users;\nCREATE TABLE users (id int);",
        "ALTER TABLE users RENAME TO users_old;\nDROP TABLE users_old;",
        "CREATE TABLE a (id int);\n-- +goose Down\nDROP TABLE b;",
        "-- DROP TABLE users;",
    ],
)
def test_what_keeps_the_rows_or_takes_the_migration_back_draws_nothing(text: str) -> None:
    assert said("db/migrations/7_users.sql", text) == []


def test_the_way_back_is_known_where_only_a_part_of_it_is_in_the_hunk() -> None:
    head = "def upgrade():\n    pass\n\n\ndef downgrade():\n    op.drop_table('a')\n"

    assert said("alembic/versions/0a_b.py", head, first=6) == []
    assert said("alembic/versions/0a_b.py", head.replace("downgrade", "upgrade"), first=6) == [("data-dropped", 6)]


def test_the_same_lines_in_another_folder_are_no_migration() -> None:
    assert said("db/queries/7_users.sql", "DROP TABLE users;") == []
    assert said("tests/migrations/7_users.sql", "DROP TABLE users;") == []
    assert said("db/migrations/7_users.down.sql", "DROP TABLE users;") == []
