"""What a statement for a database is put together from."""

from __future__ import annotations

import ast
import textwrap

import pytest

from reviewbot.analyzers.python.sql_texts import Made, SqlTexts


def made(code: str) -> Made:
    """What the statement is made of whose last row ends in "# <<<"."""
    text = textwrap.dedent(code).strip("\n")
    row = next(row for row, line in enumerate(text.split("\n"), 1) if line.endswith("# <<<"))
    return SqlTexts(ast.parse(text)).origin_of(row, row)


def made_in_a_function(expression: str, before: str = "pass") -> Made:
    body = textwrap.indent(before, "    ")
    return made(f"def f(db, ids, n, name: int, self):\n{body}\n    return {expression}  # <<<")


FIXED = {
    "marks": ('f"SELECT 1 WHERE a IN ({marks})"', 'marks = ",".join("?" * len(ids))'),
    "marks inside": ("""f"SELECT 1 WHERE a IN ({','.join('?' for _ in ids)})\"""", "pass"),
    "marks in a pattern": ('"SELECT 1 WHERE a IN (%s)" % ",".join(["%s"] * n)', "pass"),
    "marks in a filled text": ('"SELECT 1 WHERE a IN ({})".format(",".join(n * "?"))', "pass"),
    "marks behind": ('"SELECT 1 WHERE a IN (" + marks + ")"', 'marks = ("?," * n)[:-1]'),
    "marks with numbers": ('f"SELECT {marks}"', 'marks = ", ".join(f":p{i}" for i, _ in enumerate(ids))'),
    "marks of a range": ('f"SELECT {marks}"', 'marks = ", ".join(f":p{i}" for i in range(len(ids)))'),
    "marks by a function that makes them": ('f"SELECT {make_placeholders(ids)}"', "pass"),
    "a choice": ('f"SELECT 1 ORDER BY a {way}"', 'way = "desc" if n else "asc"'),
    "an operand": ("f\"SELECT 1 ORDER BY {n and 'a' or 'b'}\"", "n = 1"),
    "a condition": ('f"SELECT 1 {where}"', 'where = ""\nif n:\n    where = "WHERE a = ?"'),
    "a sum of conditions": ('f"SELECT 1 {where}"', 'where = "WHERE 1"\nif n:\n    where += " AND a = ?"'),
    "a list of conditions": (
        """f"SELECT 1 WHERE {' AND '.join(where)}\"""",
        'where = ["1"]\nif n:\n    where.append("a = ?")',
    ),
    "pairs of conditions and values": (
        """f"SELECT 1 WHERE {' AND '.join(a for a, _ in where)}\"""",
        'where = [("a = ?", n)]',
    ),
    "a list that is gone through": ('f"DELETE FROM {table}"', 'for table in ("a", "b"):\n    pass'),
    "pairs that are gone through": ('f"DELETE FROM {t}"', 'for t, x in (("a", ids), ("b", n)):\n    pass'),
    "a dict that is gone through": ('f"DELETE FROM {t}"', 'for t, x in {"a": ids, "b": n}.items():\n    pass'),
    "the keys of a dict": ("""f"SELECT {', '.join(d)}\"""", 'd = {f"p{i}": x for i, x in enumerate(ids)}'),
    "the sorted keys of a dict": ("""f"SELECT {', '.join(sorted(d.keys()))}\"""", 'd = {"a": ids}'),
    "the keys that a dict is given": ("""f"SELECT {', '.join(d)}\"""", 'd = {}\nd["a"] = ids\nd[f"b{len(ids)}"] = n'),
    "the values of a dict": ('f"SELECT {d[n]}"', 'd = {"x": "a", "y": "b"}'),
    "a value of a dict, or its default": ("""f"SELECT {d.get(n, 'a')}\"""", 'd = {"x": "a"}'),
    "zipped lists": ('f"SELECT {t}"', 'for t, x in zip(["a", "b"], ids):\n    pass'),
    "a number": ('f"SELECT 1 LIMIT {int(n)} OFFSET {len(ids) - 1}"', "pass"),
    "a number by its type": ('f"SELECT 1 LIMIT {name}"', "pass"),
    "a number by its format": ('f"SELECT 1 LIMIT {n:d}"', "pass"),
    "a dict in a pattern": ('"SELECT %(a)s" % {"a": "x"}', "pass"),
    "a name that is made of itself": ('f"SELECT {a}"', 'a = "x"\na = a.strip() + ","'),
    "a name that is given on the way": ("""f"SELECT {(a := 'x')}{a}\"""", "pass"),
    "a name that is only declared": ('f"SELECT {a}"', 'a: str\na = "x"'),
    "a name inside a manager without one": ('f"SELECT {a}"', 'with db:\n    a = "x"'),
    "a name beside an attribute": ('f"SELECT {a}"', 'self.a, a = n, "x"'),
    "two names in one": ('f"SELECT {a}{b}"', 'a, (b, *c) = "x", ("y", n)'),
    "stars": ("""f"SELECT {', '.join([*a, 'b'])}\"""", 'a = ["x"]'),
    "a list of lists": ("""f"SELECT {', '.join(list(a))}\"""", 'a = {"x"}'),
    "a comprehension of sets": ("""f"SELECT {', '.join(a)}\"""", 'a = {x.upper() for x in ("b", "c")}'),
}


@pytest.mark.parametrize(("expression", "before"), FIXED.values(), ids=FIXED)
def test_words_of_the_program_are_fixed(expression: str, before: str) -> None:
    assert made_in_a_function(expression, before) is Made.FIXED


NAMED = {
    "a quoted name": ('f"SELECT 1 FROM {quote_identifier(ids)}"', "pass"),
    "a constant from elsewhere": ('f"SELECT 1 FROM {TABLE}"', "from names import TABLE"),
    "a constant that is not seen": ('f"SELECT 1 FROM {TABLE}"', "pass"),
    "a constant of a class": ('f"SELECT 1 FROM {self.TABLE}"', "pass"),
    "the table of a model": ('f"SELECT 1 FROM {self.meta.db_table}"', "pass"),
    "a column": ('f"SELECT 1 ORDER BY {self.order_column}"', "pass"),
}


@pytest.mark.parametrize(("expression", "before"), NAMED.values(), ids=NAMED)
def test_names_of_tables_and_columns_are_named(expression: str, before: str) -> None:
    assert made_in_a_function(expression, before) is Made.NAMED


OPEN = {
    "a parameter": ('f"SELECT {ids}"', "pass"),
    "a parameter among marks": ('f"SELECT {ids} WHERE a IN ({marks})"', 'marks = ",".join("?" * n)'),
    "the values": ("""f"SELECT {','.join(ids)}\"""", "pass"),
    "the values of a comprehension": ("""f"SELECT {','.join(str(x) for x in ids)}\"""", "pass"),
    "the values of an enumeration": ("""f"SELECT {','.join(x for _, x in enumerate(ids))}\"""", "pass"),
    "an enumeration as a whole": ("""f"SELECT {','.join(x for x in enumerate(ids))}\"""", "pass"),
    "the values of a dict": ("""f"SELECT {','.join(d.values())}\"""", 'd = {"a": ids}'),
    "the values of its items": ("""f"SELECT {','.join(v for _, v in d.items())}\"""", 'd = {"a": ids}'),
    "the keys of a dict": ("""f"SELECT {','.join(d)}\"""", "d = {}\nd[ids] = 1"),
    "a dict that takes over another": ("""f"SELECT {','.join(d)}\"""", 'd = {"a": 1, **ids}'),
    "a dict that is given anything": ("""f"SELECT {','.join(d)}\"""", "d = {}\nd[ids], x = n"),
    "a default": ('f"SELECT {d.get(n, ids)}"', 'd = {"x": "a"}'),
    "a dict in a pattern": ('"SELECT %(a)s" % {"a": ids}', "pass"),
    "what a list is given": ("""f"SELECT {' AND '.join(where)}\"""", 'where = ["1"]\nwhere.append(ids)'),
    "a function that is not seen": ('f"SELECT {where(ids)}"', "pass"),
    "a method of something else": ('f"SELECT {ids.where()}"', "pass"),
    "what is awaited": ('f"SELECT {await ids}"', "pass"),
    "what a manager gives": ('f"SELECT {x}"', "with ids as x:\n    pass"),
    "a name from elsewhere": ('f"SELECT {x}"', "from names import x"),
    "a name that is not seen": ('f"SELECT {x}"', "pass"),
    "a name of the module": ('f"SELECT {x}"', "global x"),
    "an attribute": ('f"SELECT {self.where}"', "pass"),
    "parts of something": ('f"SELECT {a}"', "a, b = ids"),
    "what stars take": ('f"SELECT {a}"', "b, *a = ids"),
    "a text that is repeated": ('f"SELECT {ids * n}"', "pass"),
    "the later of two": ('f"SELECT {a}"', 'a = "x"\na = ids'),
    "all arguments": ('f"SELECT {args}"', "def g(*args, **more):\n    pass"),
}


@pytest.mark.parametrize(("expression", "before"), OPEN.values(), ids=OPEN)
def test_what_may_be_anything_is_open(expression: str, before: str) -> None:
    assert made_in_a_function(expression, before) is Made.OPEN


def test_a_function_of_the_file_is_looked_into() -> None:
    head = """
        def order(way):
            if way:
                return "a desc"
            return "a asc"
        def again(n):
            return again(n - 1) if n else "x"
        def nothing():
            pass
        def anything(*args, **more):
            return args or more
    """
    assert made(f"{textwrap.dedent(head)}\nquery = f'SELECT 1 ORDER BY {{order(x)}}'  # <<<") is Made.FIXED
    assert made(f"{textwrap.dedent(head)}\nquery = f'SELECT {{again(x)}}'  # <<<") is Made.FIXED
    assert made(f"{textwrap.dedent(head)}\nquery = f'SELECT {{nothing()}}'  # <<<") is Made.OPEN
    assert made(f"{textwrap.dedent(head)}\nquery = f'SELECT {{anything()}}'  # <<<") is Made.OPEN


def test_constants_of_the_module_are_seen_from_its_functions() -> None:
    assert (
        made("""
            COLUMNS = "a, b"
            def f():
                def g():
                    return f"SELECT {COLUMNS} FROM t"  # <<<
        """)
        is Made.FIXED
    )


def test_where_no_statement_stands_nothing_is_said() -> None:
    assert made("query = 1  # <<<") is Made.OPEN
    assert made("query = join(a)  # <<<") is Made.OPEN


def test_a_statement_of_too_many_parts_is_open() -> None:
    assert made_in_a_function(" + ".join(["'SELECT'"] * 300)) is Made.FIXED
    assert made_in_a_function(f"f'SELECT {'{1}' * 3_000}'") is Made.OPEN


@pytest.mark.slow
def test_a_file_of_too_many_parts_is_open_from_there_on() -> None:
    texts = SqlTexts(ast.parse(f"a = f'{'{1}' * 900}'\n" * 30))

    made = [texts.origin_of(row, row) for row in range(1, 31)]

    assert made == sorted(made)
    assert set(made) == {Made.FIXED, Made.OPEN}
