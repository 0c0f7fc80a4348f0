"""How values go on from one name to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.analyzers.taint.conftest import Agree

HEAD = """
from flask import request
import os, json, base64, collections, copy
async def view(flag, rows):
    a = request.args['a']
"""
BAD = "  # <<< command-external"

PASSES = {
    "a sum": 'b = "ls " + a',
    "a sum on the right": 'b = a + " x"',
    "a filled pattern": 'b = "ls %s" % a',
    "a filled pattern with several": 'b = "ls %s %s" % ("x", a)',
    "a filled pattern by name": 'b = "ls %(a)s" % {"a": a}',
    "a pattern that is unknown": "b = PATTERN % a",
    "format": 'b = "ls {}".format(a)',
    "format by name": 'b = "ls {a}".format(a=a)',
    "format of something unknown": "b = PATTERN.format(a)",
    "a formatted text": 'b = f"ls {a}"',
    "a formatted text with a width": 'b = f"ls {a:>10}"',
    "join": 'b = " ".join(["ls", a])',
    "join of what was split": 'b = " ".join(a.split("_"))',
    "join with it between": 'b = a.join(["x", "y"])',
    "methods of texts": "b = a.strip().lower().encode().decode()",
    "what replaces": 'b = "ls X".replace("X", a)',
    "a slice": "b = a[1:-1]",
    "an item": "b = a[0]",
    "an item of what was split": 'b = a.split("/")[1]',
    "a choice": 'b = a if flag else "x"',
    "a choice of two": 'b = "x" if flag else a',
    "a default": 'b = a or "x"',
    "both": "b = flag and a",
    "a copy": "b = copy.deepcopy(a)",
    "a code and back": "b = base64.b64decode(base64.b64encode(a.encode())).decode()",
    "a document": 'b = json.loads(a)["x"]',
    "a walrus": "print(b := a)",
    "several names": "b = c = a",
    "a pair": 'c, b = "x", a',
    "a pair inside another": 'c, (d, b) = "x", ("y", a)',
    "the rest of a list": 'c, *b = ["x", a]',
    "a call that is unpacked": "b, c = parts(a)",
    "more of the same": 'b = "ls "\n    b += a',
    "a type": "b: str = a",
    "a list": 'b = ["x", a][1]',
    "a list with a star": "b = [*rows, a][3]",
    "a list from the end": 'b = ["x", a][-1]',
    "a sum of lists": 'b = (["x"] + [a])[1]',
    "a sum with an unknown list": "b = (rows + [a])[0]",
    "a dictionary": 'b = {"x": a}["x"]',
    "a dictionary with more": 'b = {**rows, "x": a}["x"]',
    "a dictionary by get": 'b = {"x": a}.get("x")',
    "the default of get": 'b = {"x": "y"}.get("z", a)',
    "any item of a dictionary": 'b = {"x": a}[flag]',
    "items of a dictionary": 'b = ""\n    for key, b in {"x": a}.items():\n        pass',
    "a comprehension": 'b = " ".join(x for x in [a])',
    "a comprehension of keys": "b = list({x: 1 for x in [a]})[0]",
    "a set": "b = list({a})[0]",
    "a loop": 'b = ""\n    for x in a.split():\n        b = b + x',
    "a loop that carries over": 'b = c = ""\n    for x in rows:\n        b = c\n        c = a',
    "a loop that is left": 'b = ""\n    for x in rows:\n        b = a\n        break\n    else:\n        b = "y"',
    "a loop with a condition": 'b = ""\n    while flag:\n        b = a',
    "a branch": 'b = "x"\n    if flag:\n        b = a',
    "the other branch": 'if flag:\n        b = "x"\n    else:\n        b = a',
    "a handler": (
        'b = "x"\n    try:\n        b = a\n        risky()\n'
        '        b = "y"\n    except ValueError as error:\n        pass'
    ),
    "the end of a try": 'try:\n        b = "x"\n    finally:\n        b = a',
    "a with": "with opened(a) as b:\n        pass",
    "an awaited call": "b = await changed(a)",
    "an attribute": "rows.x = a\n    b = rows.x",
    "an item that is set": 'd = {}\n    d["x"] = a\n    b = d["x"]',
    "an item with an unknown key": 'd = {"x": "y"}\n    d[flag] = a\n    b = d["x"]',
    "append": 'l = ["x"]\n    l.append(a)\n    b = l[1]',
    "extend": 'l = ["x"]\n    l.extend([a])\n    b = l[1]',
    "insert": 'l = ["x"]\n    l.insert(0, a)\n    b = l[0]',
    "reverse": 'l = ["x", "y", a]\n    l.reverse()\n    b = l[0]',
    "append and take": 'l = ["x"]\n    l.append(a)\n    b = l.pop()',
    "append in front": 'l = list()\n    l.append("x")\n    l.appendleft(a)\n    b = l[0]',
    "a queue": 'l = collections.deque()\n    l.append(a)\n    l.append("x")\n    b = l.popleft()',
    "an unknown place of a list": "l = ['x']\n    l.append(a)\n    b = l.pop(flag)",
    "a list after an unknown change": "l = ['x']\n    l.append(a)\n    l.remove('x')\n    b = l[0]",
    "update": 'd = {}\n    d.update({"x": a})\n    b = d["x"]',
    "update by keyword": 'd = {}\n    d.update(x=a)\n    b = d["x"]',
    "update with something unknown": 'd = {}\n    d.update(rows, y=a)\n    b = d["x"]',
    "setdefault": 'd = {}\n    d.setdefault("x", a)\n    b = d["x"]',
    "a container that is unknown": "rows.append(a)\n    b = rows[0]",
    "dict of keywords": 'b = dict(x=a)["x"]',
    "code that is not at hand": "b = changed(a)",
    "an object that is not at hand": "b = flag.thing.changed(a)",
    "match": 'b = "x"\n    match flag:\n        case 1:\n            b = a',
    "match by name": 'match a:\n        case [x, *b]:\n            pass\n        case {"k": v, **b}:\n            pass',
    "a global": "global b\n    b = a",
    "a deleted name that is set again": "b = 'x'\n    del b\n    b = a",
    "a text of one choice": 'b = "x" if flag else ("y" if rows else a)',
}


@pytest.mark.parametrize("lines", PASSES.values(), ids=PASSES)
def test_a_value_goes_through(lines: str, agree: Agree) -> None:
    agree(f"{HEAD}    {lines}\n    os.system(b){BAD}\n")


STOPS = {
    "another value": 'b = a\n    b = "ls"',
    "another value in both branches": 'b = a\n    if flag:\n        b = "x"\n    else:\n        b = "y"',
    "a deleted name": "b = a\n    del b",
    "the length": "b = str(len(a))",
    "a comparison": 'b = a == "x"',
    "not": "b = not a",
    "another item of a list": 'b = ["x", a][0]',
    "another item of a dictionary": 'b = {"x": a, "y": "z"}["y"]',
    "another item that was set": 'd = {}\n    d["x"] = a\n    d["y"] = "z"\n    b = d["y"]',
    "an item that was set again": 'd = {}\n    d["x"] = a\n    d["x"] = "z"\n    b = d["x"]',
    "a list that was emptied": 'l = [a]\n    l.clear()\n    l.append("x")\n    b = l[0]',
    "an item that was taken out": 'd = {"x": a, "y": "z"}\n    d.pop("x")\n    b = d.get("x", "z")',
    "a dictionary that was emptied": 'd = {"x": a}\n    d.clear()\n    b = d.get("x")',
    "a list without its first": 'l = ["x", a, "y"]\n    l.pop(0)\n    b = l[1]',
    "an attribute that is set again": 'flag.x = a\n    flag.x = "ls"\n    b = flag.x',
    "an attribute of an object that is set again": 'flag.x = a\n    flag = "ls"\n    b = flag.x',
    "a value that is looked up": "b = NAMES[a]",
    "a value that is looked up by get": 'b = NAMES.get(a, "x")',
    "a value that is looked up in a literal": 'b = {"x": "y"}[a]',
    "a question": "b = is_known(a)",
    "an object with a name of its own": "b = Thing(a)",
    "a form": "b = request_form(a)",
    "a record": "b = find_user(a)",
    "what is asked of the value": "b = a.count('x')",
    "a branch that is never taken": 'b = "x" if 3 * 4 - 2 > 9 else a',
    "a branch by a constant text": 'b = "x"\n    if "y" in b:\n        b = a',
    "a branch behind another": (
        'n = 5\n    b = "x"\n    if n > 9:\n        b = a\n    elif n == 5:\n        b = "y"\n    else:\n        b = a'
    ),
    "a branch that is always taken": 'b = a\n    if not (1 > 2):\n        b = "y"',
    "an or that is decided": 'b = "x" or a',
    "an and that is decided": 'b = "" and a',
    "a case that is never taken": (
        'k = "ABC"[1]\n    match k:\n        case "A" | "C":\n            b = a\n'
        '        case "B":\n            b = "x"\n        case _:\n            b = a'
    ),
    "a case of none": (
        'k = None\n    match k:\n        case None:\n            b = "x"\n        case _:\n            b = a'
    ),
    "what comes behind a return": 'b = "x"\n    if flag:\n        b = a\n        return',
    "what comes behind an exit": 'b = "x"\n    if flag:\n        b = a\n        exit()',
    "what comes behind a raise": 'b = "x"\n    if flag:\n        b = a\n        raise Error(b)',
    "what comes behind a continue": (
        'b = "x"\n    for r in rows:\n        if flag:\n            c = a\n            continue\n        b = "y"'
    ),
    "an error": "b = 'x'\n    try:\n        pass\n    except Error as b:\n        pass",
    "a name of the loop": "b = a\n    for b in ['x', 'y']:\n        pass\n    b = 'x'",
    "a comprehension of its own": "b = ' '.join(a for a in ['x'])",
}


@pytest.mark.parametrize("lines", STOPS.values(), ids=STOPS)
def test_a_value_does_not_go_through(lines: str, agree: Agree) -> None:
    agree(f"{HEAD}    {lines}\n    os.system(b)\n")


def test_settings_are_told_apart_by_section_and_key(agree: Agree) -> None:
    agree("""
        import configparser, os
        from flask import request
        def view():
            conf = configparser.ConfigParser()
            conf.set("s", "a", request.args["a"])
            conf.set("s", "b", "ls")
            os.system(conf.get("s", "b"))
            os.system(conf.get("s", "a"))  # <<< command-external
            conf.set(SECTION, "c", "ls")
            os.system(conf.get("s", "b"))  # <<< command-external
    """)


def test_statements_of_the_module_and_of_classes_are_followed(agree: Agree) -> None:
    agree("""
        import os, sys
        NAME = sys.argv[1]
        class A:
            B = "ls " + NAME
            ALLOWED = ["x"]
            os.system(B)  # <<< command-local
            class Inner:
                pass
            def f(self):
                os.system("ls " + NAME)  # <<< command-local
        def g():
            os.system("ls " + NAME)  # <<< command-local
        try:
            os.system(NAME)  # <<< command-local
        except OSError:
            raise
        else:
            os.system(NAME)  # <<< command-local
        assert NAME
        from os import path
        while True:
            if path:
                break
            os.system("ls " + NAME)  # <<< command-local
        async def h():
            async with a as b:
                async for c in b:
                    yield "ls " + NAME
                    yield from b
    """)


def test_odd_targets_are_taken_as_they_come(agree: Agree) -> None:
    agree("""
        import os
        from flask import request
        def view(d, rows):
            a = request.args["a"]
            find().x = a
            find()[0] = a
            d[1:2] = [a]
            os.system(d[0])  # <<< command-external
            for rows[0] in [a]:
                os.system(rows[0])  # <<< command-external
            e = {}
            e["k"] = input()
            if e["k"] in ALLOWED:
                os.system(e["k"])
                e["k"] = a
                os.system(e["k"])  # <<< command-external
            [x, *y] = [a, a]
            os.system(y[0])  # <<< command-external
            del d.x
            pass
    """)


def test_constants_are_followed_through_signs_and_sides(agree: Agree) -> None:
    agree("""
        import os
        from flask import request
        def view(n):
            a = request.args["a"]
            low = -3
            b = "x" if low < 0 else a
            os.system(b)
            c = a if not n else a
            os.system(~c)  # <<< command-external
            d = "x" if 1 < n < 3 else a
            os.system(d)  # <<< command-external
            e = ["x", a]
            os.system(e[9])  # <<< command-external
    """)


def test_lists_that_are_filled_in_odd_ways_are_taken_as_a_whole(agree: Agree) -> None:
    agree("""
        import os
        from flask import request
        def view(n):
            a = request.args["a"]
            one = ["x"]
            one.append()
            one.insert(n, a)
            os.system(one[0])  # <<< command-external
            two = ["x"]
            two.pop(7)
            two.extend(n)
            os.system(two[0])
            three = {"k": "x"}
            three.update(**n)
            three.setdefault(n, a)
            os.system(three["k"])  # <<< command-external
            four = [a]
            four.pop().strip()
            os.system([].pop())
            os.system({"x": a}.pop(n, "x"))  # <<< command-external
            five = (x for x in [a])
            os.system(next(five))  # <<< command-external
            six = []
            six.sort()
    """)
