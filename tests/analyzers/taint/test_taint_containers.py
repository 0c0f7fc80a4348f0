"""What stands in a container is told apart from what stands beside it; how many there are does not stand in a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.analyzers.taint.conftest import Agree

PLACEHOLDERS = {
    "marks for a list": '",".join("?" * len(ids))',
    "marks of a repeated list": '",".join(["%s"] * n)',
    "marks of a number times a list": '",".join(n * ["%s"])',
    "marks of a comprehension": '",".join("?" for _ in ids)',
    "marks of a choice": '",".join("?" if x else "NULL" for x in ids)',
    "marks by position": '",".join(f":p{i}" for i, _ in enumerate(ids))',
    "marks by position, counted from one": '",".join(f"${i}" for i, _ in enumerate(ids, 1))',
    "marks by a range": '",".join(f":p{i}" for i in range(n))',
    "marks of a lambda": '",".join(map(lambda _: "?", ids))',
    "one mark and more of them": '"?" + ",?" * (n - 1)',
    "marks without the last comma": '("?," * n)[:-1]',
    "rows of marks": '", ".join("(?, ?)" for name in ids)',
    "numbers": '",".join(map(str, map(int, ids)))',
    "numbers by their format": '",".join(f"{x:d}" for x in ids)',
    "the keys of a dict that was made for it": '",".join(":" + k for k in {f"p{i}": x for i, x in enumerate(ids)})',
    "the sorted keys of a constant dict": '",".join(sorted({"a": ids, "b": ids}))',
    "the keys of a constant dict": '",".join({"a": ids, "b": ids}.keys())',
    "the first of pairs": '",".join(a for a, b in [("x", ids), ("y", ids)])',
    "the first of zipped lists": '",".join(a for a, b in zip(["x", "y"], ids))',
    "the names of pairs of a dict": '",".join(k for k, v in {f"p{i}": x for i, x in enumerate(ids)}.items())',
}


@pytest.mark.parametrize("marks", PLACEHOLDERS.values(), ids=PLACEHOLDERS)
def test_a_list_of_placeholders_is_no_injection(marks: str, agree: Agree) -> None:
    agree(f"""
        from flask import request
        def by_parameter(db, ids, n):
            marks = {marks}
            db.execute(f"DELETE FROM t WHERE id IN ({{marks}})", ids)
        def by_request(db):
            ids = request.args.getlist("id")
            n = len(ids)
            marks = {marks}
            db.execute("DELETE FROM t WHERE id IN (" + marks + ")", ids)
    """)


VALUES = {
    "the values themselves": '",".join(ids)',
    "a list that holds one": '",".join(["1", ids[0]])',
    "a list that is repeated": '",".join([ids[0]] * 3)',
    "the items of an enumeration": '",".join(x for _, x in enumerate(ids))',
    "the second of zipped lists": '",".join(b for a, b in zip(["x", "y"], ids))',
    "lists that are zipped from one": '",".join(a for a, b in zip(*[ids, ids]))',
    "the second of pairs": '",".join(b for a, b in [("x", ids[0]), ("y", ids[1])])',
    "the values of a dict": '",".join({f"p{i}": x for i, x in enumerate(ids)}.values())',
    "the items of a dict": '",".join(v for k, v in {f"p{i}": x for i, x in enumerate(ids)}.items())',
    "the keys of a dict": '",".join({x: 1 for x in ids})',
    "the keys of a dict that takes over another": '",".join({**{x: 1 for x in ids}, "a": 1})',
    "the keys of a display": '",".join({ids[0]: 1})',
    "a lambda that keeps them": '",".join(map(lambda x: "\'" + x, ids))',
    "a text by its format": '",".join(f"{x:>10}" for x in ids)',
    "a joined list of two": '",".join(["a"] + ids)',
    "texts that are repeated": "ids[0] * 3",
}


@pytest.mark.parametrize("text", VALUES.values(), ids=VALUES)
def test_what_a_list_holds_is_followed(text: str, agree: Agree) -> None:
    agree(f"""
        from flask import request
        def by_request(db):
            ids = request.args.getlist("id")
            db.execute("DELETE FROM t WHERE id IN (" + {text} + ")")  # <<< sql-external
    """)


FUNCTIONS = {
    "a tuple": """
        def merge(names, code):
            return [n for n in names], code + "\\n"
        def run():
            names, code = merge(request.args["n"], "x = 1")
            exec(code)
            exec(names[0])  # <<< code-external
    """,
    "a tuple of a parameter": """
        def merge(names, code):
            return [n for n in names], code
        def run(names):
            names, code = merge(names, "x = 1")
            exec(code)
    """,
    "a tuple that is handed on": """
        def merge(names):
            return names, "x = 1"
        def again():
            return merge(request.args["n"])
        def run():
            names, code = again()
            exec(code)
            exec(names)  # <<< code-external
    """,
    "a tuple or nothing": """
        def merge(names):
            if not names:
                return None
            return names, "x = 1"
        def run():
            names, code = merge(request.args["n"])
            exec(code)
            exec(names)  # <<< code-external
    """,
    "tuples of another length": """
        def merge(names):
            if len(names) > 3:
                return names, "x", "y"
            return names, "x = 1"
        def run():
            names, code = merge(request.args["n"])
            exec(names)  # <<< code-external
    """,
    "a statement and its values": """
        def where(name):
            clauses, values = [], []
            if name:
                clauses.append("name = ?")
                values.append(name)
            return " AND ".join(clauses), values
        def find(db):
            clause, values = where(request.args["n"])
            db.execute("SELECT * FROM t WHERE " + clause, values)
            db.execute("SELECT * FROM t WHERE name = '" + values[0] + "'")  # <<< sql-external
    """,
    "a dict": """
        def query(name):
            return {"sql": "SELECT * FROM t WHERE name = ?", "values": [name]}
        def find(db):
            made = query(request.args["n"])
            db.execute(made["sql"], made["values"])
            db.execute("SELECT '" + made["values"][0] + "'")  # <<< sql-external
    """,
    "tuples that are yielded": """
        def queries(names):
            for name in names:
                yield "SELECT * FROM t WHERE name = ?", name
        def find(db):
            for sql, name in queries(request.args.getlist("n")):
                db.execute(sql, (name,))
                db.execute("SELECT '" + name + "'")  # <<< sql-external
    """,
    "a tuple that a manager gives": """
        @contextlib.contextmanager
        def opened(name):
            yield "SELECT 1", name
        def find(db):
            with opened(request.args["n"]) as (sql, name):
                db.execute(sql)
                db.execute("SELECT '" + name + "'")  # <<< sql-external
    """,
    "a list of what is yielded": """
        def queries(names):
            for name in names:
                yield "SELECT * FROM t WHERE name = ?", name
        def find(db):
            for sql, name in list(queries(request.args.getlist("n"))):
                db.execute(sql, (name,))
                db.execute("SELECT '" + name + "'")  # <<< sql-external
    """,
    "a longer container than is told apart": f"""
        def many(name):
            return ({", ".join(str(number) for number in range(20))}, name)
        def run():
            exec(many(request.args["n"])[0])  # <<< code-external
    """,
}


@pytest.mark.parametrize("code", FUNCTIONS.values(), ids=FUNCTIONS)
def test_items_of_what_a_function_returns_are_told_apart(code: str, agree: Agree) -> None:
    agree(f"\n        import contextlib\n        from flask import request{code}")


FILLED = {
    "a list of pairs": """
            rows = []
            for i, x in enumerate(ids):
                rows.append((f"p{i}", x))
            for name, x in rows:
                db.execute("SELECT " + name)
                db.execute("SELECT '" + x + "'")  # <<< sql-external
    """,
    "a list that takes over another": """
            rows = [("a", "b")]
            rows.extend((f"p{i}", x) for i, x in enumerate(ids))
            for name, x in rows:
                db.execute("SELECT " + name)
                db.execute("SELECT '" + x + "'")  # <<< sql-external
    """,
    "a list that lost one": """
            rows = [(f"p{i}", x) for i, x in enumerate(ids)]
            rows.pop()
            for name, x in rows:
                db.execute("SELECT " + name)
    """,
    "a list of something else as well": """
            rows = [("a", "b") for x in ids]
            rows.writelines(ids)
            for name, x in rows:
                db.execute("SELECT " + name)  # <<< sql-external
    """,
    "a dict that is filled": """
            values = {}
            for i, x in enumerate(ids):
                values[f"p{i}"] = x
            db.execute("SELECT " + ",".join(values), values)
            db.execute("SELECT " + ",".join(values.values()), values)  # <<< sql-external
    """,
    "a dict that is filled under their names": """
            values = {}
            for x in ids:
                values[x] = 1
            db.execute("SELECT " + ",".join(values), values)  # <<< sql-external
    """,
    "a dict with defaults": """
            values = {f"p{i}": x for i, x in enumerate(ids)}
            values.setdefault("a", ids[0])
            values.update({"b": ids[0]})
            db.execute("SELECT " + ",".join(values), values)
            values.update(other)
            values.setdefault(ids[0], 1)
            db.execute("SELECT " + ",".join(values), values)  # <<< sql-external
    """,
    "a list whose items are set": """
            rows = ["a" for x in ids]
            for i in range(3):
                rows[i] = "b"
            db.execute("SELECT " + ",".join(rows))
            for i in range(3):
                rows[i] = ids[i]
            db.execute("SELECT " + ",".join(rows))  # <<< sql-external
    """,
    "a list in one of two ways": """
            rows = ["a" for x in ids] if ids else ["b", "c"]
            db.execute("SELECT " + ",".join(rows))
            rows = ["a" for x in ids] if db else ids
            db.execute("SELECT " + ",".join(rows))  # <<< sql-external
    """,
    "lists that are put together": """
            rows = ["a" for x in ids] + ["b" for x in ids]
            db.execute("SELECT " + ",".join(rows))
            db.execute("SELECT " + ",".join(rows + [x for x in ids]))  # <<< sql-external
    """,
    "keys that were checked": """
            values = {x: 1 for x in ids if x in COLUMNS}
            db.execute("SELECT " + ",".join(values))
    """,
    "a number that was counted with": """
            last = int(ids[0]) - 1
            db.execute("SELECT " + str(last))
            db.execute("SELECT " + str(len(ids[0]) ** 2))
    """,
}


@pytest.mark.parametrize("code", FILLED.values(), ids=FILLED)
def test_what_is_put_into_a_container_is_told_apart(code: str, agree: Agree) -> None:
    agree(f"""
        from flask import request
        def run(db):
            ids = request.args.getlist("id")
    {code}""")


def test_a_function_that_returns_keys_gives_those_of_its_caller(agree: Agree) -> None:
    agree("""
        from flask import request
        def indexed(names):
            found = {}
            for name in names:
                found[name] = 1
            return found
        def run(db):
            db.execute("SELECT " + ",".join(indexed(["a"])))
            db.execute("SELECT " + ",".join(indexed(request.args.getlist("n"))))  # <<< sql-external
    """)
