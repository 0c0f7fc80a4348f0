"""Names of tables and columns in statements, which cannot be bound as values can."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.analyzers.taint.conftest import Agree

NAMES = {
    "a table": 'f"select * from {a}"',
    "a table in quotes": "f'select * from \"{a}\" where x = 1'",
    "a table of a schema": 'f"select * from public.{a}"',
    "a table of any schema": 'f"select * from {S}.{a}"',
    "a table to fill": 'f"insert into {a} values (?)"',
    "columns to fill": 'f"insert into {T} ({a}) values (?)"',
    "a table to drop": '"drop table " + a',
    "a table to change": '"update %s set x = 1" % a',
    "an order": '"select x from t order by {}".format(a)',
    "a group": 'f"select x from t group by {a}"',
    "a table to join": 'f"select x from t join {a} on t.x = 1"',
}


@pytest.mark.parametrize("statement", NAMES.values(), ids=NAMES)
def test_a_parameter_is_a_name(statement: str, agree: Agree) -> None:
    agree(f"def f(cur, a):\n    cur.execute({statement})  # <<< sql-identifier-parameter\n")


TEXTS = {
    "a value": "f\"select * from t where x = '{a}'\"",
    "a name and a value": "f\"select * from {a} where x = '{a}'\"",
    "a value beside a table": "f\"select * from {b} where x = '{a}'\"",
    "two in a pattern": "\"select * from %s where x = '%s'\" % (b, a)",
    "a condition": '"select * from t where " + a',
}


@pytest.mark.parametrize("statement", TEXTS.values(), ids=TEXTS)
def test_a_parameter_is_a_part_of_the_statement(statement: str, agree: Agree) -> None:
    agree(f"def f(cur, a, b):\n    cur.execute({statement})  # <<< sql-parameter\n")


def test_a_name_from_outside_is_told_as_before(agree: Agree) -> None:
    agree("""
        from flask import request
        def f(cur):
            cur.execute("select * from " + request.args["t"])  # <<< sql-external
    """)
