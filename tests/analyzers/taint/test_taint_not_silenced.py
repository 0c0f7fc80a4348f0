"""What looks like an end or a check and is none does not silence what comes after it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.analyzers.taint.conftest import Follow

HEAD = """\
import contextlib
import os
import re
import sys
from flask import Flask, request, abort
app = Flask(__name__)
"""


def rules_of(follow: Follow, insert: str, module: str = "") -> list[str]:
    body = textwrap.indent(textwrap.dedent(insert).strip("\n"), "    ")
    route = f"@app.route('/x')\ndef x():\n    q = request.args['q']\n{body}\n    return open('/srv/' + q).read()\n"
    return [found.rule for found in follow(f"{HEAD}{textwrap.dedent(module)}\n{route}")]


ON = {
    "an error that is swallowed": ("with contextlib.suppress(KeyError):\n    return CACHE[q]", ""),
    "a raise that is swallowed": ("with contextlib.suppress(Exception):\n    raise ValueError", ""),
    "a check whose error is swallowed": (
        "with contextlib.suppress(Exception):\n    if q not in OK:\n        raise ValueError",
        "",
    ),
    "a check that is swallowed under another name": (
        "lock = contextlib.suppress(Exception)\nwith lock:\n    if q not in OK:\n        raise ValueError",
        "",
    ),
    "an error that a stack swallows": (
        "with contextlib.ExitStack() as s:\n    s.enter_context(contextlib.suppress(KeyError))\n    return CACHE[q]",
        "",
    ),
    "a manager that is named like a context": ("with ignored.suppress_context():\n    return CACHE[q]", ""),
    "a manager that nothing is known of": ("with tool[0]():\n    return CACHE[q]", ""),
    "a manager of the file": (
        "with lock():\n    return CACHE[q]",
        "@contextlib.contextmanager\ndef lock():\n    try:\n        yield\n    except KeyError:\n        pass",
    ),
    "a manager that is a class of the file": (
        "with Lock():\n    raise ValueError",
        "class Lock:\n    def __exit__(self, *a):\n        return True",
    ),
    "a name that a function sets": (
        "if not RUN:\n    return ''",
        "RUN = False\ndef start():\n    global RUN\n    RUN = True",
    ),
    "a name that is set twice": ("if not RUN:\n    return ''", "RUN = True\nRUN = False"),
    "a name that may be set by its text": ("if not RUN:\n    return ''", "RUN = False\nglobals()['RU' + 'N'] = True"),
    "a name that may be set in any object": (
        "if not RUN:\n    return ''",
        "RUN = False\nsetattr(sys.modules[__name__], 'RUN', True)",
    ),
    "a name with its type that a function sets": (
        "if not RUN:\n    return ''",
        "RUN: bool = False\ndef start():\n    global RUN\n    RUN = True",
    ),
    "an item that a function sets": (
        "if not CONF['run']:\n    return ''",
        "CONF = {'run': False}\ndef start():\n    CONF['run'] = True",
    ),
    "an item that a function updates": (
        "if not CONF['run']:\n    return ''",
        "CONF = {'run': False}\ndef start():\n    CONF.update(run=True)",
    ),
    "a method that is named fail": ("job.fail()", ""),
    "a method that is named exit": ("log.exit()", ""),
    "a method that is named abort": ("tx.abort()", ""),
    "a function that does nothing": ("die()", "def die():\n    pass"),
    "a function that returns": ("abort(400)", "def abort(code):\n    return code"),
    "a function that raises at times": ("die(q)", "def die(x):\n    if x:\n        return\n    raise ValueError"),
    "a function whose exit is another": ("die()", "def exit():\n    pass\ndef die():\n    exit()"),
    "a function whose own name is exit": ("die(print)", "def die(exit):\n    exit()"),
    "a function with a decorator": ("die()", "@quiet\ndef die():\n    raise ValueError"),
    "a name that is another one": ("abort(400)", "abort = print"),
    "a class by the name of an end": ("abort()", "class abort:\n    pass"),
    "a lambda by the name of an end": ("abort(400)", "abort = lambda code: code"),
    "a method of a name that is imported": ("abort.later()", ""),
    "a check that prints": ("check(q)", "def check(x):\n    print(x)"),
    "a check that returns": ("validate_path(q)", "def validate_path(p):\n    return p"),
    "a check that logs": ("ensure_log(q)", "def ensure_log(x):\n    print(x)"),
    "a check of something else": (
        "check(q, 'a')",
        "def check(x, mode):\n    if mode == 'b':\n        raise ValueError",
    ),
    "a check of being there": ("check(q)", "def check(x):\n    if x is None:\n        raise ValueError"),
    "a check of the kind": ("check(q)", "def check(x):\n    if isinstance(x, list):\n        raise ValueError"),
    "a check whose answer is lost": ("check(q)", "def check(x):\n    return x in OK"),
    "a check that turns back": ("check(q)", "def check(x):\n    if x not in OK:\n        return"),
    "a check that calls itself": ("check(q)", "def check(x):\n    check(x)"),
    "a check that is a lambda": ("check(q)", "check = lambda x: x"),
    "a check that is another function": ("check(q)", "from builtins import print as check"),
    "a check that is a class": ("check(q)", "class check:\n    pass"),
    "a method that checks nothing": (
        "v = Checker()\nv.check(q)",
        "class Checker:\n    def check(self, x):\n        print(x)",
    ),
}


@pytest.mark.parametrize(("insert", "module"), ON.values(), ids=ON)
def test_a_flow_is_not_silenced_by(insert: str, module: str, follow: Follow) -> None:
    assert rules_of(follow, insert, module) == ["path-external"]


OFF = {
    "an abort": ("abort(400)", ""),
    "an exit": ("sys.exit(1)", ""),
    "an error of a parser": ("import argparse\np = argparse.ArgumentParser()\np.error('no')", ""),
    "a parser by its name": ("parser.error('no')", ""),
    "a function that raises": ("die()", "def die():\n    raise ValueError"),
    "a function that exits": ("die()", "def die():\n    print('no')\n    sys.exit(1)"),
    "a return in a lock": ("with lock:\n    return ''", ""),
    "a return in an open file": ("with open('a') as f:\n    return f.read()", ""),
    "a return where warnings are caught": ("import warnings\nwith warnings.catch_warnings():\n    return ''", ""),
    "a check in a transaction": ("with db.transaction():\n    if q not in OK:\n        abort(400)", ""),
    "a name that stays": ("if not RUN:\n    return ''", "RUN = False"),
    "a check from elsewhere": ("check(q)", "from checks import check"),
    "a check of an object": ("checks.validate(q)", ""),
    "a check that raises": ("check(q)", "def check(x):\n    if x not in OK:\n        raise ValueError"),
    "a check that ends in an answer": ("check(q)", "def check(x):\n    if '/' in x:\n        abort(400)"),
    "a check that asserts": ("check(q)", "def check(x):\n    assert re.fullmatch('[a-z]+', x)"),
    "a check of each letter": (
        "check(q)",
        "def check(x):\n    for c in x:\n        if c not in OK:\n            raise ValueError",
    ),
    "a check of what it made": (
        "check(q)",
        "def check(x):\n    p = os.path.realpath(x)\n    if not p.startswith('/srv/'):\n        raise ValueError",
    ),
    "a check that returns before it raises": (
        "check(q)",
        "def check(x):\n    if x in OK:\n        return\n    raise ValueError",
    ),
    "a check that hands on": ("check(q)", "from checks import validate\ndef check(x):\n    validate(x)"),
    "a check that casts": ("check(q)", "def check(x):\n    int(x)"),
    "a check of all it is given": (
        "check(q)",
        "def check(*xs):\n    for x in xs:\n        if x not in OK:\n            raise ValueError",
    ),
    "a method that checks": (
        "v = Checker()\nv.check(q)",
        "class Checker:\n    def check(self, x):\n        if x not in OK:\n            raise ValueError",
    ),
}


@pytest.mark.parametrize(("insert", "module"), OFF.values(), ids=OFF)
def test_a_flow_is_ended_by(insert: str, module: str, follow: Follow) -> None:
    assert rules_of(follow, insert, module) == []


def test_a_field_that_a_method_sets_decides_no_branch(follow: Follow) -> None:
    code = """
        import os
        from flask import request
        class A:
            run = False
            def start(self):
                self.run = True
            def go(self):
                if not self.run:
                    return
                os.system('ls ' + request.args['q'])
    """
    assert [found.rule for found in follow(code)] == ["command-external"]


@pytest.mark.slow
def test_functions_that_call_each_other_a_thousand_times_end_within_the_budget(follow: Follow) -> None:
    follow(
        "import os\n"
        + "".join(
            f"def f{n}(q, a=1):\n    os.system(q)\n    return f{n * 7 % 900}(q + 'x') + f{(n * 13 + 1) % 900}(q)\n"
            for n in range(900)
        )
    )
