"""What an upstream server answers is not what the client of this one sent; what escapes a text has escaped it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.analyzers.taint.conftest import Agree

ANSWERS = {
    "a request that is made": 'client.request("GET", BASE, params=request.args)',
    "a post": 'client.post("/x", json=request.get_json())',
    "a pool that opens": 'pool.urlopen("GET", request.args["u"])',
    "a request that is sent": "client.send(request)",
    "a request that is forwarded": "upstream.forward(request)",
    "a request that a proxy takes": "proxy_request(request)",
    "a request that is handled": "self.inner.handle_request(request)",
    "a library": 'requests.get("https://up.example", params=request.args)',
}


@pytest.mark.parametrize("call", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_no_input(call: str, agree: Agree) -> None:
    agree(f"""
        import requests
        from flask import redirect, request
        def view(self, client, pool, upstream):
            answer = {call}
            open(answer.headers["content-disposition"])
            return redirect(answer.headers["location"])
    """)


READERS = {
    "a request that is read": "read_request(request)",
    "a request that is wrapped": "wrap_request(request)",
    "its parameters": "all_params(request)",
    "a wrapper of it": "request_wrapper(request)",
    "what was posted": "post_params(request)",
}


@pytest.mark.parametrize("call", READERS.values(), ids=READERS)
def test_what_is_read_of_a_request_is_input(call: str, agree: Agree) -> None:
    agree(f"""
        import os
        from flask import request
        def view():
            os.system({call}["next"])  # <<< command-external
    """)


def test_the_request_of_a_client_is_on_its_way_out(agree: Agree) -> None:
    agree("""
        import httpx
        from flask import redirect
        class Transport(httpx.BaseTransport):
            def handle_request(self, request):
                redirect(request.headers["next"])
        class Page(View):
            def get(self, request):
                redirect(request.headers["next"])  # <<< redirect-external
    """)


ESCAPES = {
    "brackets": 'def escape_sqlite(s):\n    return s if BORING.match(s) else "[{}]".format(s)',
    "doubled quotes": """def quote_identifier(name):\n    return '"' + name.replace('"', '""') + '"'""",
}


@pytest.mark.parametrize("function", ESCAPES.values(), ids=ESCAPES)
def test_a_function_of_the_file_that_quotes_has_quoted(function: str, agree: Agree) -> None:
    name = function.removeprefix("def ").partition("(")[0]
    agree(f"""
from flask import request
{function}
def run(db, table):
    db.execute("SELECT * FROM t WHERE a = " + {name}(request.args["t"]))
    db.execute("SELECT * FROM t WHERE a = " + {name}(table) + " OR b = " + {name}("c"))
    """)


def test_to_run_a_parameter_that_is_code_is_what_the_function_is_for(agree: Agree) -> None:
    agree("""
        from flask import request
        def run_cell(source_code):
            exec(source_code)  # <<< code-external
        def rerun_cell(source_code):
            exec(source_code)
        def configure(settings):
            exec(settings)  # <<< code-parameter
        def view():
            run_cell(request.form["cell"])
    """)


NO_ESCAPES = {
    "nothing is written": "def quote_identifier(name):\n    return str(name)",
    "quotes stand in what it says of itself": 'def quote_identifier(name):\n    """Put it in "q"."""\n    return name',
    "it says something else": """def cleaned(name):\n    return '"' + name + '"'""",
}


@pytest.mark.parametrize("function", NO_ESCAPES.values(), ids=NO_ESCAPES)
def test_a_function_that_only_says_that_it_quotes_has_not(function: str, agree: Agree) -> None:
    name = function.removeprefix("def ").partition("(")[0]
    agree(f"""
from flask import request
{function}
def run(db):
    db.execute("SELECT * FROM t WHERE a = " + {name}(request.args["t"]))  # <<< sql-external
    """)
