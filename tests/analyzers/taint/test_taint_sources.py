"""Where values come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.analyzers.taint.conftest import Agree, Follow

REQUESTS = {
    "flask": """
        from flask import request
        import os
        def view():
            os.system(request.form["a"])  # <<< command-external
    """,
    "flask by its module": """
        import flask, os
        def view():
            os.system(flask.request.values.get("a"))  # <<< command-external
    """,
    "flask under another name": """
        from flask import request as asked
        import os
        def view():
            os.system(asked.cookies["a"])  # <<< command-external
    """,
    "django by the name of the parameter": """
        import os
        def view(request, pk):
            os.system(request.GET.get("a"))  # <<< command-external
    """,
    "django by the type of the parameter": """
        from django.http import HttpRequest
        import os
        def view(asked: HttpRequest):
            os.system(asked.POST["a"])  # <<< command-external
    """,
    "a class of views": """
        import os
        class Page(View):
            def post(self, request):
                os.system(self.request.POST["a"])  # <<< command-external
    """,
    "fastapi": """
        from fastapi import FastAPI, Request
        import os
        app = FastAPI()
        @app.post("/a")
        async def view(asked: Request):
            os.system((await asked.body()).decode())  # <<< command-external
    """,
    "tornado": """
        from tornado.web import RequestHandler
        import os
        class Page(RequestHandler):
            def get(self):
                os.system(self.get_argument("a"))  # <<< command-external
    """,
    "what the program keeps in a request": """
        from aiohttp import web
        from bottle import request as asked
        import os
        def view(request):
            os.system(request["user"])
            os.system(request.get(USER))
            os.system(request.query["a"])  # <<< command-external
            os.system(asked.get(USER))
            os.system(asked[USER])
            os.system(asked.get())
    """,
    "the page that a link was on": """
        from flask import redirect, request
        def view():
            redirect(request.referrer)
            redirect(request.headers["Referer"])
            redirect(request.headers.get("Referer", "/"))
            redirect(request.headers.get("X-To"))  # <<< redirect-external
    """,
    "the items of a request itself": """
        from bottle import request
        import os
        def view():
            os.system(request["a"])  # <<< command-external
    """,
    "the method get of a request itself": """
        from bottle import request
        import os
        def view():
            os.system(request.get("a"))  # <<< command-external
    """,
    "the server of the standard library": """
        from http.server import BaseHTTPRequestHandler
        import os
        class Page(BaseHTTPRequestHandler):
            def do_GET(self):
                os.system(self.path)  # <<< command-external
    """,
    "a socket": """
        import os, socket
        def serve(conn):
            os.system(conn.recv(100).decode())  # <<< command-external
    """,
    "a platform's event": """
        import os
        def lambda_handler(event, context):
            os.system(event["body"])  # <<< command-external
    """,
    "somebody who types": """
        import os
        os.system(input("what? "))  # <<< command-local
    """,
    "standard input line by line": """
        import os, sys
        for line in sys.stdin:
            os.system(line)  # <<< command-local
    """,
    "code that is typed": """
        eval(input("what? "))  # <<< code-external
    """,
    "the arguments of the program": """
        import os, sys
        os.system("ls " + sys.argv[1])  # <<< command-local
    """,
    "arguments that were parsed": """
        import argparse, os
        parser = argparse.ArgumentParser()
        args = parser.parse_args()
        os.system("ls " + args.folder)  # <<< command-local
    """,
    "the environment": """
        from os import environ, system, getenv
        system("ls " + environ["A"])  # <<< command-local
        system("ls " + environ.get("A"))  # <<< command-local
        system("ls " + getenv("A"))  # <<< command-local
    """,
    "a parameter": """
        import os
        def run(name, *rest, **more):
            os.system("ls " + name)  # <<< command-parameter
            os.system("ls " + rest[0])
            os.system("ls " + more["a"])
    """,
}


@pytest.mark.parametrize("code", REQUESTS.values(), ids=REQUESTS)
def test_a_value_is_known_to_come_from(code: str, agree: Agree) -> None:
    agree(code)


HARMLESS = {
    "another module called request": """
        import urllib.request as request
        import os
        os.system(request.data)
    """,
    "a request of a client, with members that many things have": """
        import os
        def send(req):
            os.system(req.headers["a"])
    """,
    "a connection without sockets": """
        import os
        def serve(conn):
            os.system(conn.recv())
    """,
    "a local name that hides a function": """
        import os
        def view():
            input = lambda question: "ls"
            os.system(input("what? "))
    """,
    "a parameter with the type of a number": """
        import os
        def view(number: int, maybe: int | None, other: "float"):
            os.system(f"ls {number} {maybe} {other}")
    """,
    "an attribute of a parameter": """
        import os
        def run(options):
            os.system("ls " + options.folder)
    """,
    "a setting of the request": """
        from flask import request
        import os
        def view():
            os.system("ls " + request.method)
    """,
}


@pytest.mark.parametrize("code", HARMLESS.values(), ids=HARMLESS)
def test_a_value_is_not_taken_for_one_from_outside_in(code: str, agree: Agree) -> None:
    agree(code)


ROUTES = {
    "flask with a path": """
        from flask import Flask
        app = Flask(__name__)
        @app.route("/f/<path:name>")
        def view(name):
            return {"text": open(name).read()}  # <<< path-external
    """,
    "flask with a name, which has no slash": """
        from flask import Flask
        import os
        app = Flask(__name__)
        @app.route("/f/<name>")
        def view(name):
            os.system("ls " + name)  # <<< command-external
            return {"text": open(name).read()}
    """,
    "flask with a number": """
        from flask import Flask
        import os
        app = Flask(__name__)
        @app.get("/f/<int:name>")
        def view(name):
            os.system("ls " + name)
    """,
    "flask with a parameter that is no part of the route": """
        from flask import Flask
        import os
        app = Flask(__name__)
        @app.get("/f")
        @with_user
        def view(user):
            os.system("ls " + user)
    """,
    "fastapi asks for it in the query": """
        from fastapi import Depends, FastAPI
        import os
        app = FastAPI()
        @app.get("/f/{name}")
        def view(name: str, page: int, word: str = "", user=Depends(current), *, more=Depends(other)):
            os.system("ls " + name)  # <<< command-external
            os.system(f"ls {page}")
            os.system("ls " + word)  # <<< command-external
            os.system("ls " + user)
            os.system("ls " + more)
    """,
    "fastapi with a path": """
        from fastapi import FastAPI
        app = FastAPI()
        @app.get("/f/{name:path}")
        def view(name: str):
            return open(name).read()  # <<< path-external
    """,
    "a route that is no constant": """
        from flask import Flask
        import os
        app = Flask(__name__)
        @app.route(ROUTE)
        def view(name):
            os.system("ls " + name)
    """,
    "a method get that is no route": """
        import os
        @cache.get("key")
        @cached
        @registry.route
        def view(name):
            os.system("ls " + name)  # <<< command-parameter
    """,
}


@pytest.mark.parametrize("code", ROUTES.values(), ids=ROUTES)
def test_the_parameters_of_a_route_come_from_outside(code: str, agree: Agree) -> None:
    agree(code)


def test_the_path_of_a_route_without_parts_is_constant(agree: Agree) -> None:
    agree("""
        from flask import Flask, request
        import os
        app = Flask(__name__)
        @app.get("/a/b")
        def fixed():
            os.system("ls " + request.path.split("/")[1])
        @app.get("/a/<string:b>")
        def open_route(b):
            os.system("ls " + request.path.split("/")[1])  # <<< command-external
    """)


def test_in_a_hunk_the_name_is_enough(agree: Agree) -> None:
    agree('import os\ndef view():\n    os.system("ls " + request.data)  # <<< command-external\n', whole=False)


def test_in_a_whole_file_a_member_must_be_one_of_a_request_alone(agree: Agree) -> None:
    agree("""
        import os
        def view():
            os.system("ls " + request.data)
            os.system(request.GET["a"])  # <<< command-external
    """)


def test_the_flow_begins_with_the_source(follow: Follow) -> None:
    found = follow("""
        import os
        from flask import request
        def view():
            name = request.args.get("name")
            line = "ls " + name
            os.system(line)
    """)
    assert [(step.row, step.what) for step in found[0].flow] == [
        (4, "`request.args` comes from outside"),
        (4, "`name`"),
        (5, "`line`"),
        (6, "into `os.system`"),
    ]
    assert found[0].message == "A value from outside reaches a command line, at `os.system`."
