"""Checks that end a flow, and checks that only look like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.analyzers.taint.conftest import Agree, Follow

HEAD = """
from flask import request
import os, re, urllib.parse, uuid, ipaddress, shlex
from urllib.parse import urlparse
from pathlib import Path
def view(flag):
    a = request.args['a']
"""
KINDS = {
    "command": ("os.system(a)", "command-external"),
    "path": ("open(a)", "path-external"),
    "redirect": ("flask.redirect(a)", "redirect-external"),
}

ENDS = {
    "a list": "if a not in ('x', 'y'):\n        return",
    "a list with an error": "if a not in ALLOWED:\n        raise ValueError(a)",
    "a list with an answer": "if a not in ALLOWED:\n        abort(400)",
    "a list that is asserted": "assert a in ALLOWED",
    "a list under another name": "b = a\n    if b not in ALLOWED:\n        return",
    "a list in one of two checks": "if flag or a not in ALLOWED:\n        return",
    "a list behind another name": "ok = a in ALLOWED\n    if not ok:\n        return",
    "a list in a loop": "while a not in ALLOWED:\n        a = 'x'",
    "one of two values": "if a != 'x' and a != 'y':\n        return",
    "an equal value": "if not a == 'x':\n        return",
    "an equal value on the left": "if 'x' != a:\n        return",
    "letters and digits": "if not a.isalnum():\n        return",
    "letters of a part": "if not a.strip().isdigit():\n        return",
    "a whole match": "if not re.fullmatch('[a-z]+', a):\n        return",
    "a match up to the end": "if not re.match(r'^[a-z]+$', a):\n        return",
    "a match that is kept": "m = re.fullmatch('[a-z]+', a)\n    if m is None or not m:\n        return",
    "a match of a compiled pattern": "p = re.compile('[a-z]+$')\n    if not p.match(a):\n        return",
    "a match that is bound": "if not (m := re.fullmatch('[a-z]+', a)):\n        return",
    "each letter": "if not all(c in LETTERS for c in a):\n        return",
    "a letter that is not allowed": "if any(c not in LETTERS for c in a):\n        return",
    "each letter asked": "if not all(c.isalnum() or c == '-' for c in a):\n        return",
    "a letter that is none": "if any(not (c.isalnum() and flag) for c in a):\n        return",
    "a letter asked for by name": "if not all(is_allowed(c) for c in a):\n        return",
    "a question that says so": "if not is_valid_name(a):\n        return",
    "a question by keyword": "if not is_allowed(name=a):\n        return",
    "a question for what is bad": "if is_forbidden(a):\n        return",
    "an answer that is kept": "ok = check.is_safe(a)\n    if not ok:\n        return",
    "a function that raises": "validate_name(a)",
    "a type": "if not isinstance(a, (int, float)):\n        return",
    "a cast": "a = str(int(a))",
    "a cast that raises": "try:\n        int(a)\n    except ValueError:\n        return",
    "an address that raises": "ipaddress.ip_address(a)",
    "an identifier": "a = uuid.UUID(a).hex",
    "an empty value": "if a:\n        return",
    "nothing": "if a is not None:\n        return",
    "a case": "match a:\n        case 'x' | 'y':\n            pass\n        case _:\n            return",
    "a name that says so": "a = sanitize_all(a)",
}


def test_a_flow_is_less_sure_where_a_function_asked_for_what_it_is(follow: Follow) -> None:
    checked = "    a = request.args['a']\n    if not is_md5(a):\n        return\n    os.system('ls ' + a)\n"
    code = f"{HEAD}def view():\n{checked}"

    assert [found.most for found in follow(code)] == [75]


@pytest.mark.parametrize("lines", ENDS.values(), ids=ENDS)
def test_a_flow_is_ended_by(lines: str, agree: Agree) -> None:
    agree(f"{HEAD}    {lines}\n    os.system(a)\n")


GOES_ON = {
    "a list that nothing follows from": "if a not in ALLOWED:\n        warn(a)",
    "a list of what is bad": "if a in FORBIDDEN:\n        return",
    "a text": "if a not in 'xyz':\n        return",
    "a list from outside": "if a not in request.args.getlist('b'):\n        return",
    "one of two that may hold": "if a == 'x' or flag:\n        pass",
    "a value from outside": "if a != request.args['b']:\n        return",
    "a match of the beginning": "if not re.match('[a-z]+', a):\n        return",
    "a search": "if not re.search('[a-z]+', a):\n        return",
    "none of the bad letters": "if any(c in a for c in ';|&'):\n        return",
    "no letter that is bad": "if not all(c != ';' for c in a):\n        return",
    "no letter of those that are bad": "if any(c in BAD for c in a):\n        return",
    "each letter or anything": "if not all(c in LETTERS or flag for c in a):\n        return",
    "conditions that go deep": f"if not all({'not ' * 30}c in LETTERS for c in a):\n        return",
    "each letter in the wrong direction": "if all(c in LETTERS for c in a):\n        return",
    "a question that says nothing": "if not is_long(a):\n        return",
    "the type of a text": "if not isinstance(a, str):\n        return",
    "a type that is missing": "if not isinstance(a):\n        return",
    "a length": "if len(a) > 10:\n        return",
    "an order": "if 'a' < a < 'z':\n        return",
    "three at once": "if not 'x' == a == flag:\n        return",
    "a value that is there": "if not a:\n        return",
    "a beginning": "if not a.startswith('ls '):\n        return",
    "the length of it": "len(a)",
    "a guarded case": "match a:\n        case b if b:\n            pass\n        case _:\n            return",
    "a name that says the opposite": "a = escape_html(a)",
}


@pytest.mark.parametrize("lines", GOES_ON.values(), ids=GOES_ON)
def test_a_flow_is_not_ended_by(lines: str, agree: Agree) -> None:
    agree(f"{HEAD}    {lines}\n    os.system(a)  # <<< command-external\n")


PATHS = {
    "a resolved path": "b = os.path.realpath(a)\n    if not b.startswith(BASE):\n        return",
    "a path that is resolved in the check": "b = a\n    if not os.path.realpath(b).startswith(BASE):\n        return",
    "a path object": "b = Path(a).resolve()\n    if not b.is_relative_to(BASE):\n        return",
    "a path object as text": "b = Path(a).resolve()\n    if not str(b).startswith(BASE):\n        return",
    "its parents": "b = Path(a).resolve()\n    if BASE not in b.parents:\n        return",
    "a path that raises": "b = Path(a).resolve()\n    b.relative_to(BASE)",
    "what both have": "b = os.path.abspath(a)\n    if os.path.commonpath([BASE, b]) != BASE:\n        return",
    "its folder": "b = os.path.abspath(a)\n    if os.path.dirname(b) != BASE:\n        return",
    "no way up behind a folder": "b = os.path.join(BASE, a)\n    if '..' in b:\n        return",
    "no way up in front of a folder": "if '..' in a:\n        return\n    b = BASE + '/' + a",
    "no way up in a path object": "if '..' in a:\n        return\n    b = Path(BASE) / a",
    "no way up in a part of one": "if '..' in a:\n        return\n    b = Path(BASE).joinpath(a)",
    "none of the ways up": "if any(c in a for c in ('..', '~')):\n        return\n    b = os.path.join(BASE, a)",
    "the last part": "b = os.path.basename(a)",
    "a name for files": "b = safe_filename(a)",
}


@pytest.mark.parametrize("lines", PATHS.values(), ids=PATHS)
def test_a_path_is_made_safe_by(lines: str, agree: Agree) -> None:
    agree(f"{HEAD}    {lines}\n    open(b)\n")


OPEN_PATHS = {
    "the beginning of a path that is not resolved": "b = BASE + a\n    if not b.startswith(BASE):\n        return",
    "a path that is resolved too late": (
        "b = a\n    if not b.startswith(BASE):\n        return\n    b = os.path.realpath(b)"
    ),
    "no way up from anywhere": "b = a\n    if '..' in b:\n        return",
    "no way up behind another name": "if '..' in a:\n        return\n    b = os.path.join(a, 'x')",
    "the root": "b = os.path.realpath(a)\n    if not b.startswith('/'):\n        return",
    "the root by name": "b = os.path.realpath(a)\n    if not b.startswith(os.sep):\n        return",
    "one of several roots": "b = os.path.realpath(a)\n    if not b.startswith(('/srv/', '/')):\n        return",
    "the end": "b = a\n    if not b.endswith('.txt'):\n        return",
    "a check of the other side": "b = os.path.realpath(a)\n    if b.startswith(BASE):\n        return",
}


@pytest.mark.parametrize("lines", OPEN_PATHS.values(), ids=OPEN_PATHS)
def test_a_path_is_not_made_safe_by(lines: str, agree: Agree) -> None:
    agree(f"{HEAD}    {lines}\n    open(b)  # <<< path-external\n")


PARSED = "u = urlparse(a)\n    if u.scheme != 'https' or u.netloc != 'example.com':\n        abort()"
ADDRESSES = {
    "its host": "if urlparse(a).netloc != 'example.com':\n        return",
    "its host among others": "u = urlparse(a)\n    if u.hostname not in HOSTS or u.scheme != 'https':\n        return",
    "no host": "u = urlparse(a)\n    if u.netloc:\n        return",
    "its beginning": "if not a.startswith('https://example.com/'):\n        return",
    "a function that knows": "if not url_has_allowed_host_and_scheme(a, HOSTS):\n        return",
    "the parsed address": f"{PARSED}\n    a = u.geturl()",
    "the parts of the address": f"{PARSED}\n    a = urllib.parse.urlunparse(u)",
    "another query": f"{PARSED}\n    a = u._replace(query=request.args['q']).geturl()",
    "a fixed beginning": "a = '/x/' + a",
}


@pytest.mark.parametrize("lines", ADDRESSES.values(), ids=ADDRESSES)
def test_an_address_is_made_safe_by(lines: str, agree: Agree) -> None:
    agree(f"{HEAD}    import flask\n    {lines}\n    return flask.redirect(a)\n")


OPEN_ADDRESSES = {
    "a beginning that fixes no host": "if not a.startswith('https://'):\n        return",
    "another host": f"{PARSED}\n    a = u._replace(netloc=request.args['q']).geturl()",
    "a parsed address": "a = urlparse(a).geturl()",
    "one slash": "if not a.startswith('/'):\n        return",
    "a host that is only looked at": "u = urlparse(a)\n    print(u.netloc)",
    "a beginning of an address": "a = 'https://' + a",
}


@pytest.mark.parametrize("lines", OPEN_ADDRESSES.values(), ids=OPEN_ADDRESSES)
def test_an_address_is_not_made_safe_by(lines: str, agree: Agree) -> None:
    agree(f"{HEAD}    import flask\n    {lines}\n    return flask.redirect(a)  # <<< redirect-external\n")


def test_a_literal_between_quotes_is_no_code(agree: Agree) -> None:
    agree("""
        from flask import request
        def view():
            a = request.args["a"]
            if "'" in a:
                return
            eval(a)  # <<< code-external
            b = request.args["b"]
            if not b.startswith("'") or not b.endswith("'") or "'" in b[1:-1]:
                return
            eval(b)
    """)


def test_a_check_is_good_for_its_own_kind(agree: Agree) -> None:
    agree("""
        import html, os, shlex
        from flask import request
        from markupsafe import Markup
        def view():
            a = html.escape(request.args["a"])
            Markup(a)
            os.system(a)  # <<< command-external
            b = shlex.quote(request.args["b"])
            Markup(b)  # <<< xss-external
            os.system(b)
    """)


def test_a_check_of_one_branch_is_good_there_alone(agree: Agree) -> None:
    agree("""
        import os
        from flask import request
        def view():
            a = request.args["a"]
            if a in ("x", "y"):
                os.system(a)
            elif a == "z":
                os.system(a)
            else:
                os.system(a)  # <<< command-external
            [os.system(b) for b in request.args.values() if b in ALLOWED]
            os.system(a) if a == "x" else None
            a == "x" and os.system(a)
    """)


def test_an_expression_can_be_checked_without_a_name(agree: Agree) -> None:
    agree("""
        import os
        from flask import request
        def view():
            if request.args["a"] in ALLOWED:
                os.system(request.args["a"])
                os.system(request.args["b"])  # <<< command-external
            os.system(request.args["a"])  # <<< command-external
            if not request.args["c"]:
                return
            os.system(request.args["c"])  # <<< command-external
            if request.args["d"] != "x":
                return
            os.system(request.args["d"])
    """)


def test_a_line_break_that_is_refused(agree: Agree) -> None:
    agree(r"""
        import logging
        from flask import request
        def view():
            a = request.args["a"]
            if "\n" in a:
                return
            logging.info(a)
    """)


def test_a_number_with_a_limit(agree: Agree) -> None:
    agree("""
        from flask import request
        def view():
            n = int(request.args["n"])
            if n > 100:
                return
            return list(range(n))
    """)


def test_what_an_object_may_hold_is_decided_by_its_type(agree: Agree) -> None:
    agree("""
        from flask import request
        def view():
            body = request.json
            name = body["name"]
            users.find_one({"name": name})  # <<< nosql-external
            if not isinstance(name, str):
                return
            users.find_one({"name": name})
    """)


def test_a_check_of_a_value_that_is_read_again_by_its_key_speaks_for_it(agree: Agree) -> None:
    agree("""
        from flask import redirect, request
        from shop.addresses import is_safe_url
        def login():
            if request.args.get("next") and is_safe_url(request.args.get("next")):
                return redirect(request.args.get("next"))
            if is_safe_url(request.args.get("back", "")):
                return redirect(request.args["back"])
            if is_safe_url(request.args.get("next")):
                return redirect(request.args.get("other"))  # <<< redirect-external
            return redirect(request.args.get("next"))  # <<< redirect-external
    """)
