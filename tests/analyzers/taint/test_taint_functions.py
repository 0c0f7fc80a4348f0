"""Flows through functions, methods and classes of one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.analyzers.taint.conftest import Agree, Follow

HEAD = "import os\nfrom flask import request\n"

FLOWS = {
    "into a function": """
        def run(line):
            os.system(line)  # <<< command-external
        def view():
            run(request.args["a"])
    """,
    "into a function that stands below": """
        def view():
            run(line=request.args["a"])
        def run(line):
            os.system(line)  # <<< command-external
    """,
    "out of a function": """
        def wanted():
            return request.args["a"]
        def view():
            os.system(wanted())  # <<< command-external
    """,
    "through a function": """
        def changed(text, more="x"):
            return "ls " + text
        def view():
            os.system(changed(request.args["a"]))  # <<< command-external
            os.system(changed("x", request.args["a"]))
    """,
    "through two functions": """
        def outer(a):
            inner(a + "x")
        def inner(b):
            os.system(b)  # <<< command-external
        def view():
            outer(request.args["a"])
    """,
    "a function that makes it harmless": """
        def clean(text):
            return str(int(text))
        def view():
            os.system(clean(request.args["a"]))
    """,
    "a function that returns something else": """
        def known(text):
            return text in KNOWN
        def view():
            os.system(str(known(request.args["a"])))
    """,
    "a generator": """
        def parts(text):
            for part in text.split():
                yield part
        def view():
            for part in parts(request.args["a"]):
                os.system(part)  # <<< command-external
    """,
    "a rest of arguments": """
        def run(*parts, **more):
            os.system(parts[0])
        def view():
            run("x", request.args["a"], b=request.args["b"])
    """,
    "a method": """
        class Runner:
            def run(self, line):
                os.system(line)  # <<< command-external
            def view(self):
                self.run(request.args["a"])
    """,
    "a method of a base": """
        class Base:
            def run(self, line):
                os.system(line)  # <<< command-external
        class Runner(Base):
            def view(self):
                self.run(request.args["a"])
    """,
    "a method of an object": """
        class Runner:
            def run(self, line):
                os.system(line)  # <<< command-external
        def view():
            runner = Runner()
            runner.run(request.args["a"])
    """,
    "a method of a class": """
        class Runner:
            @classmethod
            def run(cls, line):
                os.system(line)  # <<< command-external
        def view():
            Runner.run(request.args["a"])
    """,
    "a constructor": """
        class Runner:
            def __init__(self, line):
                os.system(line)  # <<< command-external
        def view():
            Runner(request.args["a"])
    """,
    "an attribute of an object": """
        class Page:
            def setup(self):
                self.line = request.args["a"]
                self.other = "ls"
            def show(self):
                os.system(self.line)  # <<< command-external
                os.system(self.other)
    """,
    "an attribute that is a path": """
        from pathlib import Path
        class Page:
            def __init__(self):
                self.base = Path("/srv")
                self.client = requests.Session()
            def show(self):
                (self.base / request.args["a"]).read_text()  # <<< path-external
    """,
    "a function inside another": """
        def view():
            line = request.args["a"]
            def run():
                os.system(line)  # <<< command-external
            run()
    """,
    "a function inside another that is called": """
        def view():
            def run(line):
                os.system(line)  # <<< command-external
            run(request.args["a"])
    """,
    "a function that calls itself": """
        def run(line, depth):
            if depth:
                run(line, depth - 1)
            os.system("ls " + line)  # <<< command-parameter
    """,
    "functions that call each other": """
        def one(line):
            return two(line)
        def two(line):
            return one(line)
        def view():
            os.system(one(request.args["a"]))  # <<< command-external
    """,
    "a function that hides an import": """
        from flask import Flask, redirect
        app = Flask(__name__)
        @app.get("/")
        def redirect():
            return redirect(request.args["a"])  # <<< redirect-external
    """,
    "a helper with constants alone": """
        def _run(line):
            os.system("ls " + line)
        def a():
            _run("x")
        def b():
            _run("y")
    """,
    "a helper with one that is open": """
        def _run(line):
            os.system("ls " + line)  # <<< command-parameter
        def a():
            _run("x")
        def b(text):
            _run(text)
    """,
    "an object that is given the request": """
        def view():
            wrapped = helpers.wrap_request(request)
            os.system(wrapped.get_value("a"))  # <<< command-external
            os.system(wrapped.get_safe_value("a"))
            os.system(find_user(request))
            os.system(clean_request(request))
    """,
    "a type in quotes, and one with a star": """
        from typing import Optional, Annotated
        def run(a: "int", b: Optional[int], c: Annotated[str, 1], d: list[str], e: Optional[list[int]]):
            os.system(f"ls {a}{b}{e}")
            os.system("ls " + c)  # <<< command-parameter
            os.system("ls " + d[0])  # <<< command-parameter
    """,
}


@pytest.mark.parametrize("code", FLOWS.values(), ids=FLOWS)
def test_a_flow_goes(code: str, agree: Agree) -> None:
    body = "\n".join(line.removeprefix("        ") for line in code.strip("\n").split("\n"))
    agree(HEAD + body)


def test_the_flow_names_the_functions_that_it_goes_through(follow: Follow) -> None:
    found = follow("""
        import os
        from flask import request
        def run(line):
            text = "ls " + line
            os.system(text)
        def view():
            name = request.args["a"]
            run(name)
    """)
    assert [(step.row, step.what) for step in found[0].flow] == [
        (7, "`request.args` comes from outside"),
        (7, "`name`"),
        (8, "into `run`"),
        (4, "`text`"),
        (5, "into `os.system`"),
    ]


def test_a_value_from_outside_is_told_before_the_parameter(follow: Follow) -> None:
    found = follow("""
        import os, sys
        from flask import request
        def run(line):
            os.system("ls " + line)
        def first():
            run(sys.argv[1])
        def view():
            run(request.args["a"])
        def other(name):
            run(name)
    """)
    assert [one.rule for one in found] == ["command-external"]


def test_a_parameter_is_named(follow: Follow) -> None:
    found = follow('import os\ndef run(name):\n    os.system("ls " + name)\n')
    assert found[0].message == "The parameter `name` reaches a command line, at `os.system`."
    assert found[0].flow[0].what == "`name` is chosen by the caller"


def test_many_parameters_of_one_function_end_somewhere(follow: Follow) -> None:
    lines = "".join(f'    os.system("ls " + p{number})\n' for number in range(60))
    parameters = ", ".join(f"p{number}" for number in range(60))
    assert len(follow(f"import os\ndef run({parameters}):\n{lines}")) == 40


def test_a_long_way_is_cut(follow: Follow) -> None:
    lines = "".join(f"    a{number + 1} = a{number} + 'x'\n" for number in range(30))
    found = follow(
        f"import os\nfrom flask import request\ndef view():\n    a0 = request.data\n{lines}    os.system(a30)\n"
    )
    assert found[0].row == 35
    assert len(found[0].flow) <= 12


def test_a_function_is_followed_before_the_one_whose_inner_function_calls_it(agree: Agree) -> None:
    agree("""
        from flask import Flask, request
        from shop.pages import page
        def routes(app: Flask) -> None:
            @app.get("/queue/<item>")
            def one(item: str):
                return _shown(item, request.args["state"])
            @app.get("/raw/<item>")
            def raw(item: str):
                return _bold(item)  # <<< xss-external
        def _shown(item: str, state: str):
            return page("item", item=item, state=state)
        def _bold(item: str):
            return f"<b>{item}</b>"
    """)
