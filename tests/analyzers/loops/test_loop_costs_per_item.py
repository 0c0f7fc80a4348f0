"""What a loop pays for in each turn: which calls count, and which loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.analyzers.python.views import Found

IN_LOOP = """
import copy, io, json, re, subprocess, sqlite3, urllib.request
import boto3, httpx, pandas as pd, requests, yaml
from pathlib import Path
from sqlalchemy import select, text

def work(rows, cursor, session, db, conn, path, statement, name):
    for row in rows:
        {}
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('cursor.execute("SELECT a FROM t WHERE b = ?", (row,))', ["query-per-item"]),
        ('self._cursor.execute("select a from t where b = ?", (row,))', ["query-per-item"]),
        ('await conn.fetchrow("SELECT a FROM t WHERE b = $1", row)', ["query-per-item"]),
        ("session.execute(select(User).where(User.id == row))", ["query-per-item"]),
        ('session.execute(text("SELECT 1 FROM t WHERE a = :a"), {"a": row})', ["query-per-item"]),
        ("session.get(User, row)", ["query-per-item"]),
        ("session.get(USER, row)", []),
        ("session.get(row)", []),
        ("User.query.get(row)", ["query-per-item"]),
        ("User.query.filter_by(a=row).first()", ["query-per-item"]),
        ("db.session.query(User).filter_by(a=row).one()", ["query-per-item"]),
        ('request.query.get("page")', []),
        ("session.query(User).filter_by(a=row)", []),
        ("User.objects.filter(a=row)", []),
        ("list(User.objects.filter(a=row))", ["query-per-item"]),
        ("[u for u in User.objects.filter(a=row)]", ["query-per-item"]),
        ("User.objects.update_or_create(a=row)", ["query-per-item"]),
        ("self.objects.get(a=row)", []),
        ("db.users.find_one({'a': row})", ["query-per-item"]),
        ("find_one(row)", []),
        ("cursor.execute(row)", []),
        ("cursor.execute()", []),
        ('cursor.execute("CREATE TABLE t (a int)")', []),
        ("cursor.execute(7)", []),
        ("cursor.execute(build(row))", []),
        ('cursor.execute(f"DELETE FROM {row}")', ["query-in-loop"]),
        ('cursor.execute(f"SELECT a FROM t WHERE b = {row:d}")', ["query-per-item"]),
        ('cursor.execute("DELETE FROM " + row)', ["query-in-loop"]),
        ("cursor.execute(prefix + row)", []),
        ("cursor.execute(statement, row)", ["query-in-loop"]),
        ('runner.execute("SELECT a FROM t")', []),
        ('cursor.executemany("INSERT INTO t VALUES (?)", row)', []),
        ("row.save()", ["save-in-loop"]),
        ("row.save(update_fields=['a'])", ["save-in-loop"]),
        ("row.save(path)", []),
        ("row.save(format='png')", []),
        ("other.save()", []),
        ("conn.commit()", ["commit-per-item"]),
        ("repo.commit()", []),
        ("row.line_set.count()", ["related-query"]),
        ("row.line_set.all()", []),
        ("list(row.line_set.all())", ["related-query"]),
        ("row.lines.count()", []),
        ("row.count(1)", []),
        ("requests.get(row)", ["request-per-item"]),
        ("requests.Session().post(row)", ["request-per-item"]),
        ("urllib.request.urlopen(row)", ["request-per-item"]),
        ("cache.get(row)", []),
        ("subprocess.run([row])", ["process-per-item"]),
        ('open("rates.json").read()', ["file-per-item"]),
        ("io.open(path).read()", ["file-per-item"]),
        ('open(path, "rb").read()', ["file-per-item"]),
        ('open(path, mode="a").write(row)', ["file-in-loop"]),
        ("open(path, mode).read()", ["file-in-loop"]),
        ("open(row).read()", []),
        ("pd.read_csv(path)", ["file-per-item"]),
        ("pd.read_csv(row)", []),
        ('Path("a.txt").read_text()', ["file-per-item"]),
        ("Path(path).read_bytes()", ["file-per-item"]),
        ("Path(row).read_text()", []),
        ("row.read_text()", []),
        ("json.loads(name)", ["parse-per-item"]),
        ("yaml.safe_load(name)", ["parse-per-item"]),
        ("json.loads(row)", []),
        ("json.loads('{}')", []),
        ('re.compile("a+b")', ["regex-per-item"]),
        ('re.match("a+b", row)', []),
        ("re.compile(row)", []),
        ("copy.deepcopy(name)", ["copy-per-item"]),
        ("copy.deepcopy(row)", []),
        ("(lambda: requests.get(row))", []),
    ],
)
def test_a_call_counts_by_what_it_does(rules: Callable[..., list[str]], call: str, expected: list[str]) -> None:
    assert rules(IN_LOOP.format(call)) == expected


@pytest.mark.parametrize(
    ("around", "expected"),
    [
        ("for row in rows:", "query-per-item"),
        ("async for row in rows:", "query-per-item"),
        ("for number, row in enumerate(sorted(rows), 1):", "query-per-item"),
        ("for key, row in rows.items():", "query-per-item"),
        ("for number in range(len(rows)):", "query-per-item"),
        ("for row in rows[1:]:", "query-per-item"),
        ("for row in load():", "query-per-item"),
        ("for row in self.rows:", "query-per-item"),
        ("for row in a + b:", "query-per-item"),
        ("for row in BACKENDS:", "query-in-loop"),
        ("for field in rows:", "query-in-loop"),
        ("for number in range(count):", "query-in-loop"),
        ("for number in range(5000):", "query-in-loop"),
        ("for row in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11):", "query-in-loop"),
        ("for row in (*rows, 1):", "query-per-item"),
        ("for row in rows[:5]:", None),
        ("for row in (1, 2):", None),
        ("for row in 'abc':", None),
        ("for row in {1: 2}:", None),
        ("for row in {**rows}:", "query-per-item"),
        ("for number in range(3):", None),
        ("for number in range(0, 10_000, 500):", None),
        ("for number in range(9_000, 0, -1):", "query-in-loop"),
        ("for number in range(max_retries):", None),
        ("for number in range(page_size):", None),
        ("for attempt in rows:", None),
        ("for page in rows:", None),
        ("for part in chunked(rows, 50):", None),
        ("for number in itertools.count():", None),
        ("for part in retries:", None),
        ("for name in few:", None),
        ("for name in filled:", "query-per-item"),
        ("for name in many:", "query-in-loop"),
        ("for name in (lambda: rows)():", "query-in-loop"),
        ("while True:", None),
        ("while rows:", None),
    ],
)
def test_a_loop_counts_by_how_far_it_may_go(rules: Callable[..., list[str]], around: str, expected: str | None) -> None:
    text = f"""
async def work(rows, cursor, count):
    few = ["a", "b"]
    many = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    filled = []
    filled.extend(rows)
    {around}
        cursor.execute("SELECT a FROM t WHERE b = ?", (1,))
"""
    assert rules(text) == ([expected] if expected else [])


@pytest.mark.parametrize(
    "body",
    [
        "if row not in known:\n            ASK",
        "if known is None and row:\n            ASK",
        "if not known:\n            ASK",
        "if row % 100 == 0:\n            ASK",
        "if len(known) >= 500:\n            ASK",
        "if row.bad:\n            ASK\n            break",
        "if row.bad:\n            ASK\n            raise ValueError",
        "known = known if known is None else row\n        time.sleep(1)\n        ASK",
        "try:\n            row.check()\n        except KeyError:\n            ASK",
        "ASK\n        return row",
    ],
)
def test_what_happens_now_and_then_only_is_no_cost_of_each_turn(rules: Callable[..., list[str]], body: str) -> None:
    ask = 'cursor.execute("SELECT a FROM t WHERE b = ?", (row,))'

    assert rules("def work(rows, cursor, known):\n    for row in rows:\n        " + body.replace("ASK", ask)) == []


@pytest.mark.parametrize("condition", ["row.active", "row > 3", "row == 3 or row.active"])
def test_an_ordinary_condition_makes_nothing_rare(rules: Callable[..., list[str]], condition: str) -> None:
    text = f"""
def work(rows, cursor):
    for row in rows:
        if {condition}:
            cursor.execute("SELECT a FROM t WHERE b = ?", (row,))
        else:
            row.skip()
"""
    assert rules(text) == ["query-per-item"]


def test_two_loops_of_unknown_length_are_far_enough_together(rules: Callable[..., list[str]]) -> None:
    text = """
def work(cursor, width, height):
    for x in range(width):
        for y in range(height):
            cursor.execute("SELECT a FROM t WHERE b = ?", (x * y,))
"""
    assert rules(text) == ["query-per-item"]


def test_a_search_that_may_stop_and_a_script_are_told_with_less_trust(rules: Callable[..., list[str]]) -> None:
    text = """
def work(rows, cursor):
    for row in rows:
        cursor.execute("SELECT a FROM t WHERE b = ?", (row,))
        for part in row:
            if part:
                break
"""
    stops = text + "        if cursor.fetchone():\n            break\n"

    assert rules(text) == ["query-per-item"]
    assert rules(stops) == ["query-in-loop"]
    assert rules(text, path="scripts/load.py") == ["query-in-loop"]
    assert rules(text, path="shop/migrations/0002_fill.py") == ["query-in-loop"]
    assert rules(text, path="tests/test_app.py") == []


def test_what_a_name_was_bound_to_tells_what_it_is(rules: Callable[..., list[str]]) -> None:
    text = """
import requests, sqlite3

class Shop:
    def __init__(self, path):
        self.web = requests.Session()
        self.store: sqlite3.Connection = sqlite3.connect(path)

    def work(self, rows):
        c = self.store.cursor()
        for row in rows:
            self.web.get(row)
            c.execute("SELECT a FROM t WHERE b = ?", (row,))
            (d := c).execute("SELECT a FROM t WHERE b = ?", (row,))
"""
    assert rules(text) == ["request-per-item", "query-per-item"]


def test_names_that_disagree_or_go_in_a_circle_tell_nothing(rules: Callable[..., list[str]]) -> None:
    text = """
import requests

def work(rows, flag, a, b):
    web = requests.Session() if flag else None
    web = {}
    a = b
    b = a
    for row in rows:
        web.get(row)
        a.get(row)
"""
    assert rules(text) == []


def test_what_is_put_together_or_waited_for_is_known_as_well(rules: Callable[..., list[str]]) -> None:
    text = """
from pathlib import Path

async def work(rows, folder: Path, names: list):
    rates = Path("data") / "rates.json"
    store = await open_store(folder)
    known = names + [1]
    for row in rows:
        row.use(rates.read_text(), folder.read_text(), store.get(row), known.index(row))
    for row in rows:
        folder = row.folder
        row.use(folder.read_text())
"""
    assert rules(text) == ["file-per-item"]


def test_a_statement_in_a_name_is_looked_up(rules: Callable[..., list[str]]) -> None:
    text = """
INSERT = "INSERT INTO t VALUES (?)"

def work(rows, cursor):
    for row in rows:
        cursor.execute(INSERT, (row,))
"""
    assert rules(text) == ["query-per-item"]


def test_saving_rows_of_a_queryset_is_certain_and_prefetched_relations_are_none(
    rules: Callable[..., list[str]],
) -> None:
    text = """
def work():
    orders = Order.objects.filter(a=1)
    for order in orders:
        order.save()
        order.lines.count()
    for order in Order.objects.prefetch_related("lines"):
        order.lines.count()
    for order in orders:
        order.lines.name()
"""
    assert rules(text) == ["save-per-item", "related-query"]


def test_a_fixed_pattern_is_told_in_nested_loops(rules: Callable[..., list[str]]) -> None:
    text = """
import re

def work(files):
    for file in files:
        for line in file:
            re.match("a+", line)
"""
    assert rules(text) == ["regex-per-item"]


def test_only_operations_that_the_change_added_are_told(found: Callable[..., list[Found]]) -> None:
    text = """
import requests
def work(urls):
    for url in urls:
        requests.get(
            url,
            timeout=5,
        )
"""
    assert found(text, added={3}) == []
    (one,) = found(text, added={6})
    assert (one.row, one.end_row) == (4, 7)
    assert one.message == "`requests.get` sends a request for each `url`"
    assert one.flow[0] == (3, "for each `url`")


def test_the_head_that_makes_a_hunk_parse_is_no_loop(rules: Callable[..., list[str]]) -> None:
    text = """
import requests
for _ in (1, *rest):
    requests.get(url)
"""
    assert rules(text, whole=False) == []
    assert rules(text) == ["request-per-item"]


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("for a, b in rows:", "for each element of `rows`"),
        ("for a, b in load():", "in each turn of the loop"),
        ("for name in rows:", "for each `name`"),
    ],
)
def test_a_message_says_for_each_of_what(found: Callable[..., list[Found]], head: str, words: str) -> None:
    (one,) = found(f"import requests\ndef work(rows, x):\n    {head}\n        requests.get(x)\n")

    assert one.message.endswith(words)
