"""Where values do harm, and where the same calls do none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.analyzers.taint.conftest import Agree, Follow

HEAD = """
from flask import Flask, request
import os, subprocess, logging, re, pathlib
app = Flask(__name__)
"""

COMMANDS = {
    "a shell": 'subprocess.run("ls " + request.args["a"], shell=True)  # <<< command-external',
    "a shell that may be": 'subprocess.run("ls " + request.args["a"], shell=SHELL)  # <<< command-external',
    "no shell, but the program": 'subprocess.call(request.args["a"])  # <<< command-external',
    "no shell, by keyword": 'subprocess.Popen(args=request.args["a"], shell=False)  # <<< command-external',
    "the first of a list": 'subprocess.run([request.args["a"], "-l"])  # <<< command-external',
    "another one of a list": 'subprocess.run(["ls", request.args["a"]])',
    "an empty list": "subprocess.run([])",
    "no argument": "subprocess.run(**options)",
    "a shell by its path": 'subprocess.run(["/bin/bash", "-c", request.args["a"]])  # <<< command-external',
    "a shell that runs a file": 'subprocess.run(["bash", "x.sh", request.args["a"]])',
    "a program that is replaced": 'os.execv(request.args["a"], [])  # <<< command-external',
    "a program that is spawned": 'os.spawnl(os.P_WAIT, request.args["a"])  # <<< command-external',
    "a remote command": 'client.exec_command("ls " + request.args["a"])  # <<< command-external',
}
SQL = {
    "a statement": "db.execute(\"select '\" + request.args['a'])  # <<< sql-external",
    "something else that is executed": 'pool.execute("job-" + request.args["a"])',
    "a whole statement": 'db.execute(request.args["a"])  # <<< sql-external',
    "the orm": "User.objects.raw(\"select '%s'\" % request.args['a'])  # <<< sql-external",
    "a list of conditions": "User.objects.extra(where=[\"a='%s'\" % request.args['a']])  # <<< sql-external",
    "bound values": 'db.execute("select ?", [request.args["a"]])',
    "a text of the toolkit": 'db.execute(sqlalchemy.text("select " + request.args["a"]))  # <<< sql-external',
    "a template of a client": 'db.execute(sql.SQL("select {}").format(psycopg2.sql.Identifier(request.args["a"])))',
}
FILES = {
    "a file": 'open("/srv/" + request.args["a"])  # <<< path-external',
    "a path": 'pathlib.Path("/srv", request.args["a"]).read_text()  # <<< path-external',
    "a path by a slash": '(pathlib.Path("/srv") / request.args["a"]).unlink()  # <<< path-external',
    "a path that moves on": 'pathlib.Path("/srv").joinpath(request.args["a"]).resolve().touch()  # <<< path-external',
    "the name of a path": 'open("/srv/" + pathlib.Path(request.args["a"]).name)',
    "the folder of a path": 'pathlib.Path(request.args["a"]).parent.iterdir()  # <<< path-external',
    "two names": 'os.rename("/srv/" + request.args["a"], "b")  # <<< path-external',
    "what is written": 'open("/srv/a", "w").write(request.args["a"])',
    "a form that is saved": 'ModelForm(request.POST).save("x" + request.args["a"])',
    "an upload": 'request.files["a"].save("/srv/" + request.files["a"].filename)  # <<< path-external',
    "a name that was made safe": 'open("/srv/" + safe_name(request.args["a"]))',
}
PAGES = {
    "a table": 'make_response({"a": request.args["a"]})',
    "markup": 'markupsafe.Markup("<b>" + request.args["a"])  # <<< xss-external',
    "markup that escapes": 'markupsafe.Markup("<b>{}</b>").format(request.args["a"])',
    "a response": 'flask.Response("<b>" + request.args["a"])  # <<< xss-external',
    "a response of a type": 'flask.Response("<b>" + request.args["a"], mimetype="text/csv")',
    "a response of the type of pages": 'flask.Response(request.args["a"], mimetype="text/html")  # <<< xss-external',
    "a template without escaping": (
        'jinja2.Environment().get_template("a").render(a=request.args["a"])  # <<< xss-external'
    ),
    "a template with escaping": 'jinja2.Environment(autoescape=True).get_template("a").render(a=request.args["a"])',
    "a template that says it escapes nothing": (
        'jinja2.Environment(autoescape=False).get_template("a").render(a=request.args["a"])  # <<< xss-external'
    ),
    "a template from outside": (
        'jinja2.Environment(autoescape=True).from_string(request.args["a"])  # <<< template-external'
    ),
}
ADDRESSES = {
    "an address": 'requests.get(request.args["a"])  # <<< ssrf-external',
    "an address by its method": 'requests.request("GET", request.args["a"])  # <<< ssrf-external',
    "a session": 'requests.Session().post(request.args["a"])  # <<< ssrf-external',
    "a host": 'requests.get("https://" + request.args["a"] + "/x")  # <<< ssrf-external',
    "a part of a host": 'requests.get(f"https://{request.args["a"]}.example.com/")  # <<< ssrf-external'.replace(
        '["a"]', "['a']"
    ),
    "a path at a fixed host": 'requests.get("https://example.com/" + request.args["a"])  # <<< ssrf-path-external',
    "a path at a host from the settings": "requests.get(f\"{BASE}/{request.args['a']}\")  # <<< ssrf-path-external",
    "what is sent": 'requests.post("https://example.com/", data=request.data)',
    "a redirect": 'flask.redirect(request.args["a"])  # <<< redirect-external',
    "a redirect to the same page": "flask.redirect(request.full_path)",
    "a redirect below a fixed path": 'flask.redirect("/users/" + request.args["a"])',
    "a redirect to a route": 'flask.redirect(flask.url_for("user", name=request.args["a"]))',
    "a header": 'answer.headers.add("X-A", request.args["a"])  # <<< header-external',
    "a header from a header": 'answer.headers.add("X-A", request.headers["a"])',
    "a header that moves": 'answer.headers.add("Location", request.args["a"])  # <<< redirect-external',
    "the log": 'logging.info("seen %s", request.args["a"])  # <<< log-external',
    "a logger of an application": 'app.logger.error("seen %s" % request.args["a"])  # <<< log-external',
    "a header in the log": 'logging.info("seen %s", request.user_agent)',
    "the log with a repr": "logging.info(f\"seen {request.args['a']!r}\")",
    "the log with one line": 'logging.info("seen %s", request.args["a"].splitlines()[0])',
    "the log with something unseen": 'logging.info("seen %s", lookup_it(request.args["a"]))',
}
LOADERS = {
    "a pickle": "pickle.loads(request.data)  # <<< deserialization-external",
    "yaml without a loader": "yaml.load(request.data)  # <<< deserialization-external",
    "yaml with a safe loader": "yaml.load(request.data, yaml.CSafeLoader)",
    "yaml with a loader from elsewhere": "yaml.load(request.data, Loader=make_loader())",
    "yaml with a loader of the caller": "yaml.load(request.data, Loader=LOADERS[0][1])",
    "safe yaml": "yaml.safe_load(request.data)",
    "lxml": "lxml.etree.fromstring(request.data)  # <<< xxe-external",
    "lxml that resolves nothing": "lxml.etree.fromstring(request.data, lxml.etree.XMLParser(resolve_entities=False))",
    "lxml that may resolve": "lxml.etree.fromstring(request.data, lxml.etree.XMLParser())  # <<< xxe-external",
    "lxml with a parser from elsewhere": "lxml.etree.fromstring(request.data, parser=PARSER)",
    "a parser with its defaults": "xml.dom.minidom.parseString(request.data)",
    "a parser of events with its defaults": "xml.sax.make_parser().parse(request.data)",
    "json": "json.loads(request.data)",
    "a literal": 'eval(repr(request.args["a"]))',
    "code that is compiled and run": 'exec(compile(request.args["a"], "a", "exec"))  # <<< code-external',
    "code that is compiled alone": 'compile(request.args["a"], "a", "exec")',
    "text behind a content type that is no page's": (
        'self.set_header("Content-Type", "text/javascript")\n    self.finish(self.get_argument("a") + "()")'
    ),
    "a query with a text": 'users.find_one({"a": request.form["a"]})',
    "a query with anything": "users.find_one(request.json)  # <<< nosql-external",
    "a query with a filter": 'users.count_documents(filter=request.json["a"])  # <<< nosql-external',
    "a pattern": 're.match(request.args["a"], "x")  # <<< regex-external',
    "a text that is searched": 're.match("x", request.args["a"])',
    "a size": 'bytearray(int(request.args["a"]))  # <<< size-external',
    "a size that is no number": "bytearray(request.data)",
    "a name that is set": 'setattr(user, request.args["a"], 1)  # <<< attribute-external',
    "a value that is set": 'setattr(user, "a", request.args["a"])',
    "a format": 'request.args["a"].format(user)  # <<< format-external',
    "a key of a session": 'flask.session[request.args["a"]] = 1  # <<< session-key-external',
    "a value of a session": 'request.session["a"] = request.args["a"]  # <<< session-external',
    "an item of something else": 'table["a"] = request.args["a"]',
    "a header by its name": 'answer.headers["X-A"] = request.args["a"]  # <<< header-external',
    "a header that moves by its name": 'answer.headers["Location"] = request.args["a"]  # <<< redirect-external',
}
MODULES = """
import flask, requests, pickle, yaml, lxml.etree, xml.sax, xml.dom.minidom
import json, sqlalchemy, markupsafe, jinja2, psycopg2.sql
"""
ALL = {**COMMANDS, **SQL, **FILES, **PAGES, **ADDRESSES, **LOADERS}


@pytest.mark.parametrize("line", ALL.values(), ids=ALL)
def test_what_arrives_at(line: str, agree: Agree) -> None:
    agree(f"{HEAD}{MODULES}def view():\n    {line}\n")


@pytest.mark.parametrize(
    ("lines", "most"),
    [
        ("def view():\n    return make_response('a' + request.args['a'])", 100),
        ("def view():\n    return make_response('a' + request.json['a'])", 75),
        ("def view():\n    return inner(request.args['a'])\ndef inner(a):\n    os.system('ls ' + a)", 75),
        ("def view():\n    db.execute('select ' + request.args['a'])", 100),
        ("def view():\n    db.execute(request.args['a'])", 75),
        ("@app.get('/<name>')\ndef view(name):\n    os.system('ls ' + name)", 75),
        ("def view():\n    os.system('ls ' + request.args['a'])", 100),
    ],
)
def test_a_flow_that_goes_far_is_less_sure(lines: str, most: int, follow: Follow) -> None:
    assert [found.most for found in follow(f"{HEAD}{MODULES}from flask import make_response\n{lines}\n")] == [most]


PARAMETERS = {
    "a part of a statement": 'db.execute(f"select {name}")  # <<< sql-parameter',
    "a whole statement, which is what a wrapper takes": "db.execute(name)",
    "a text that is no statement": 'db.execute(f"{name}: x")',
    "a part of a command": 'os.system("ls " + name)  # <<< command-parameter',
    "a whole command, which is what a wrapper takes": "os.system(name)",
    "a command as a list": "subprocess.run(name)",
    "an expression": "eval(name)  # <<< code-parameter",
    "a compiled expression": 'compile(name, "a", "exec")',
    "a file": "open(name)",
    "a part of the name of a file": 'open("/srv/" + name)  # <<< path-parameter',
    "a module": "importlib.import_module(name)",
    "the log": "logging.info(name)",
    "through code that is not at hand": 'os.system("ls " + changed(name))',
}


@pytest.mark.parametrize("line", PARAMETERS.values(), ids=PARAMETERS)
def test_what_arrives_from_a_parameter(line: str, agree: Agree) -> None:
    agree(f"import os, subprocess, importlib, logging\ndef run(name):\n    {line}\n")


RETURNS = {
    "a text": 'return "<b>" + request.args["a"]  # <<< xss-external',
    "a table": 'return {"a": request.args["a"]}',
    "a list": 'return [request.args["a"]]',
    "a text with a status": 'return "<b>" + request.args["a"], 200  # <<< xss-external',
    "a text with a type": 'return request.args["a"], 200, {"Content-Type": "text/plain"}',
    "a template": 'return flask.render_template("a.html", a=request.args["a"])',
    "json": 'return flask.jsonify(a=request.args["a"])',
    "a file that was named": 'return open("/srv/" + request.args["a"]).read()  # <<< path-external',
    "a number": 'return "a" * int(request.args["a"])',
    "nothing": "return",
    "a part of an unknown list": "return request.args['a'], *more",
}


@pytest.mark.parametrize("line", RETURNS.values(), ids=RETURNS)
def test_what_a_page_returns(line: str, agree: Agree) -> None:
    agree(f"{HEAD}import flask\n@app.get('/a')\ndef view():\n    {line}\n")


def test_what_other_frameworks_return_is_json(agree: Agree) -> None:
    agree("""
        from fastapi import FastAPI
        app = FastAPI()
        @app.get("/a")
        def view(a: str):
            return "<b>" + a
    """)


def test_a_server_that_writes_a_page(agree: Agree) -> None:
    agree("""
        from http.server import BaseHTTPRequestHandler
        class Page(BaseHTTPRequestHandler):
            def do_GET(self):
                self.wfile.write(b"<b>" + self.path.encode())  # <<< xss-external
                self.wfile.write(packed(self.path))
                self.other.write(self.path)
    """)


def test_a_mail_whose_headers_are_text(agree: Agree) -> None:
    agree("""
        import smtplib
        from flask import request
        def view():
            server = smtplib.SMTP("localhost")
            server.sendmail("a", "b", "Subject: " + request.form["s"])  # <<< mail-external
            server.sendmail("a", request.form["to"], "Subject: x")
    """)


def test_an_archive_that_can_name_any_place(agree: Agree) -> None:
    agree("""
        import tarfile, zipfile
        from flask import request
        def view():
            with tarfile.open(fileobj=request.files["a"]) as tar:
                tar.extractall("/srv")  # <<< archive-external
                tar.extractall("/srv", filter="data")
            zipfile.ZipFile(request.files["a"].stream).extractall("/srv")
            with tarfile.open("themes.tar") as tar:
                tar.extractall("/srv")
    """)


def test_a_parser_that_is_told_to_fetch_what_a_document_names(agree: Agree) -> None:
    agree("""
        import xml.sax
        from xml.sax import handler
        from xml.dom import minidom
        from flask import request
        def view():
            parser = xml.sax.make_parser()
            parser.setFeature(handler.feature_namespaces, True)
            minidom.parseString(request.data, parser)
            parser.setFeature(handler.feature_external_ges, True)
            minidom.parseString(request.data, parser)  # <<< xxe-external
            make().setFeature(handler.feature_external_ges, True)
    """)


def test_other_parsers_and_patterns_by_what_made_them(agree: Agree) -> None:
    agree("""
        import re, os
        from pathlib import Path, PurePath
        from flask import request
        def view(wanted):
            pattern = re.compile(wanted)
            if pattern.match(request.args["a"]):
                os.system(request.args["a"])
            if pattern.fullmatch():
                pass
            os.system(re.sub("x", "y", request.args["a"]))  # <<< command-external
            os.system(os.path.join(request.args["a"]))  # <<< command-external
            open(PurePath(request.args["a"]).with_name("x"))  # <<< path-external
            os.system(str("x", request.args["a"]))  # <<< command-external
            os.system(list(request.args.values(), 1)[0])  # <<< command-external
            os.system(tuple()[0])
            open(request.args["a"].replace("<", ""))  # <<< path-external
            os.system(request.files.changed("x"))  # <<< command-external
    """)


def test_what_a_helper_returns_is_a_page_only_where_it_was_put_into_a_text(agree: Agree) -> None:
    agree("""
        from flask import Flask, jsonify, redirect, request
        app = Flask(__name__)
        def removed(json, location):
            return jsonify([{"location": location}]) if json else [{"location": location}]
        @app.post("/remove")
        def remove():
            return removed(False, request.form["location"])
        def greeting(name):
            return f"<b>{name}</b>"
        @app.get("/hello")
        def hello():
            return greeting(request.args["name"])  # <<< xss-external
    """)


def test_what_other_modules_make_of_a_request_is_no_page_made_of_it(agree: Agree) -> None:
    agree("""
        from flask import Flask, request
        from shop.pages import page, label_of
        app = Flask(__name__)
        @app.get("/queue/<item>")
        def one(item: str):
            return page("item", item=item)
        @app.get("/runs/<run>")
        def other(run: str):
            return _run_page(f"run {run}")
        def _run_page(title: str):
            return page("run", title=title)
        @app.get("/labels")
        def labels():
            name = label_of(request.args["name"])
            return f"<b>{name}</b>"
        @app.get("/plain")
        def plain():
            return f"<b>{request.args['name']}</b>"  # <<< xss-external
    """)


def test_an_answer_that_a_helper_of_the_file_writes_was_not_sent_by_the_client_if_another_module_made_it(
    agree: Agree,
) -> None:
    agree("""
        from http.server import BaseHTTPRequestHandler
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.answer(self.server.exchanged(self.path))
            def do_POST(self):
                self.answer(self.path)
            def answer(self, text):
                self.wfile.write(text.encode())  # <<< xss-external
    """)


def test_a_response_that_is_given_a_content_type_afterwards_is_a_page_only_if_that_is_one(agree: Agree) -> None:
    agree("""
        from flask import Flask, make_response, request
        app = Flask(__name__)
        @app.get("/plain")
        def plain():
            answer = make_response("ip: " + request.args["ip"])
            answer.mimetype = "text/plain"
            return answer
        @app.get("/json")
        def as_json():
            answer = make_response("{" + request.args["ip"])
            answer.headers["Content-Type"] = "application/json"
            return answer
        @app.get("/page")
        def as_page():
            answer = make_response("<b>" + request.args["ip"])  # <<< xss-external
            answer.mimetype = "text/html"
            return answer
    """)


def test_what_another_module_returns_may_be_an_open_file_that_is_sent(agree: Agree) -> None:
    agree("""
        from flask import request, send_file
        from shop.exports import dump_csv
        def export():
            return send_file(dump_csv(name=request.args["table"]))
        def download():
            return send_file("exports/" + request.args["name"])  # <<< path-external
    """)
