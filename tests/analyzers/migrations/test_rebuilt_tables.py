"""A table of SQLite that is rebuilt while foreign keys are on takes the rows of other tables with it."""

from __future__ import annotations

import sqlite3

import pytest

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.migrations.rebuilt_tables import MAX_TABLES
from reviewbot.analyzers.migrations.tool import Migrations
from reviewbot.domain.contracts import Hunk
from reviewbot.domain.ports import ChangedFile
from reviewbot.review.calibration import Calibration
from tests.snapshots import InMemorySnapshot

TOOL = Migrations(packaged_rules("migrations", Calibration()).rules)

FIRST = """\
CREATE TABLE carts (id INTEGER PRIMARY KEY, state TEXT);
CREATE TABLE cart_lines (
    cart INTEGER NOT NULL REFERENCES carts (id) ON DELETE CASCADE,
    sku TEXT
);
"""
REBUILD = """\
CREATE TABLE carts_new (id INTEGER PRIMARY KEY, state TEXT CHECK (state <> ''));
INSERT INTO carts_new SELECT id, state FROM carts;
DROP TABLE carts;
ALTER TABLE carts_new RENAME TO carts;
"""
ON = 'conn.execute("PRAGMA foreign_keys = ON")\n'
PATH = "shop/migrations/0002_carts.sql"


def said(text: str = REBUILD, **others: str) -> list[tuple[str, int | None]]:
    """Rule and line of what is said of a new migration beside `FIRST` and a program, or other files in their place."""
    tree = {"shop/migrations/0001_first.sql": FIRST, "shop/db.py": ON, **others}
    rows = text.split("\n")
    hunk = Hunk(old_start=0, old_count=0, new_start=1, new_count=len(rows), body="\n".join(f"+{each}" for each in rows))
    snapshot = InMemorySnapshot({**tree, PATH: text}, searchable=True)
    found = TOOL.find_candidates(ChangedFile(PATH, PATH, "sql", (hunk,), head=text), snapshot)
    return [(each.rule, each.line) for each in found]


@pytest.mark.parametrize("switch", ["ON", "OFF"])
def test_sqlite_does_what_the_rule_says(switch: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(f"PRAGMA foreign_keys = {switch};" + FIRST)
    connection.executescript("INSERT INTO carts VALUES (1, 'open'); INSERT INTO cart_lines VALUES (1, 'a');" + REBUILD)

    left = connection.execute("SELECT count(*) FROM cart_lines").fetchone()[0]

    connection.close()
    assert left == (0 if switch == "ON" else 1)


def test_a_rebuild_that_empties_another_table_is_found_at_the_line_that_drops() -> None:
    assert said() == [("rebuild-cascades", 3)]


@pytest.mark.parametrize(
    "first",
    [
        FIRST.replace(
            "carts (id) ON DELETE CASCADE", '"carts" ("id")\n      ON UPDATE NO ACTION\n      ON DELETE SET NULL'
        ),
        FIRST.replace("carts (id) ON", "carts(id)\n    MATCH SIMPLE ON"),
        FIRST.replace("REFERENCES", "references").replace("CREATE TABLE", "create table if not exists"),
    ],
)
def test_a_reference_is_known_in_its_other_spellings(first: str) -> None:
    assert said(**{"shop/migrations/0001_first.sql": first}) == [("rebuild-cascades", 3)]


@pytest.mark.parametrize("switch", ['query.Set("_foreign_keys", "on")', "file:shop.db?_fk=1", "pragma=foreign_keys(1)"])
def test_the_switch_is_known_in_the_address_of_a_database(switch: str) -> None:
    assert said(**{"shop/db.py": switch}) == [("rebuild-cascades", 3)]


@pytest.mark.parametrize(
    "text",
    [
        f"PRAGMA foreign_keys = OFF;\n{REBUILD}",
        REBUILD.replace("INSERT INTO carts_new SELECT id, state FROM carts;\n", ""),
        f"{REBUILD}INSERT INTO cart_lines SELECT cart, sku FROM cart_lines_kept;\n",
        f"DROP TABLE cart_lines;\n{REBUILD}",
        f"-- +goose Down\n{REBUILD}",
    ],
)
def test_a_migration_that_loses_nothing_draws_no_such_finding(text: str) -> None:
    assert "rebuild-cascades" not in {rule for rule, _ in said(text)}


@pytest.mark.parametrize(
    "others",
    [
        {"shop/db.py": "import sqlite3\n"},
        {"shop/migrate.py": 'conn.execute("PRAGMA foreign_keys = OFF")\n'},
        {"shop/db.py": "import sqlite3\n", "tests/test_db.py": ON},
        {"shop/migrations/0001_first.sql": FIRST.replace(" ON DELETE CASCADE", "")},
        {"shop/migrations/0001_first.sql": FIRST.replace(" ON DELETE CASCADE", " ON DELETE NO ACTION")},
        {"shop/migrations/0001_first.sql": "", "shop/migrations/0003_later.sql": FIRST},
        {"shop/migrations/0001_first.sql": "", "shop/postgres/0001_first.sql": FIRST},
        {"shop/migrations/0001_first.sql": FIRST.replace("cart_lines", "carts")},
    ],
)
def test_nothing_is_said_where_the_tree_does_not_have_the_whole_proof(others: dict[str, str]) -> None:
    assert "rebuild-cascades" not in {rule for rule, _ in said(**others)}


def test_a_table_that_is_filled_in_thousands_of_statements_is_looked_for_in_the_first_few() -> None:
    filled = "INSERT INTO carts_new VALUES (1, 'a');\n" * 30_000
    last = REBUILD.replace("INSERT", filled + "INSERT")

    assert "rebuild-cascades" not in {rule for rule, _ in said(last)}
    assert "rebuild-cascades" in {rule for rule, _ in said(last.replace(filled, filled[: 39 * (MAX_TABLES - 1)]))}
