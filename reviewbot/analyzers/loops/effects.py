"""Recognise calls that leave the process: requests, programs and files."""

from __future__ import annotations

import ast
from typing import NamedTuple

from reviewbot.analyzers.loops.kinds import kind_of
from reviewbot.analyzers.loops.names import chain_of, qualified
from reviewbot.analyzers.loops.places import Loop, Scope
from reviewbot.context.python_text import dotted

_VERBS = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "request"})
REQUESTS = (
    frozenset({f"{module}.{verb}" for module in ("requests", "httpx") for verb in _VERBS})
    | {"urllib.request.urlopen", "urllib.request.urlretrieve", "requests.request"}
)  # fmt: skip
PROGRAMS = frozenset(
    {f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "getoutput", "Popen")}
    | {"os.system", "os.popen"}
)
_TABLES = frozenset({"pandas.read_csv", "pandas.read_excel", "pandas.read_parquet", "pandas.read_json", "numpy.load"})
_PARSERS = frozenset(
    {"json.loads", "yaml.safe_load", "yaml.load", "tomllib.loads", "xml.etree.ElementTree.fromstring", "ast.parse"}
)
_OF_A_PATH = frozenset({"read_text", "read_bytes"})
_WRITING = frozenset("wax+")


class Opened(NamedTuple):
    """A file that is the same one in each turn of a loop."""

    name: str
    sure: bool
    """It is read, and written nowhere in the loop."""


def request(call: ast.Call, scope: Scope) -> str:
    """The name of a call that sends a request over HTTP and takes its answer; empty for any other."""
    if qualified(call.func, scope.imports) in REQUESTS:
        return dotted(call.func)
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _VERBS:
        return ""
    return chain_of(call.func).text if kind_of(scope, call.func.value) in {"http", "http-async"} else ""


def program(call: ast.Call, scope: Scope) -> str:
    """The name of a call that starts a program; empty for any other."""
    return dotted(call.func) if qualified(call.func, scope.imports) in PROGRAMS else ""


def opened(call: ast.Call, scope: Scope, loop: Loop) -> Opened | None:
    """A file that a call opens or reads, if it is the same in each turn."""
    name = dotted(call.func)
    is_open = (name == "open" and not scope.bound("open")) or qualified(call.func, scope.imports) in {
        "io.open",
        *_TABLES,
    }
    if is_open and call.args:
        if not loop.same_in_each_turn(call.args[0]):
            return None
        return Opened(f"{name}(…)", sure=not _mode(call) & _WRITING)
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _OF_A_PATH:
        return None
    path = call.func.value
    made_here = (
        isinstance(path, ast.Call) and qualified(path.func, scope.imports) == "pathlib.Path" and len(path.args) == 1
    )
    part = path.args[0] if made_here and isinstance(path, ast.Call) else path
    known = made_here or kind_of(scope, path) == "path"
    return Opened(f"{call.func.attr}()", sure=True) if known and loop.same_in_each_turn(part) else None


def parsed(call: ast.Call, scope: Scope, loop: Loop) -> str:
    """The name of a call that parses one and the same text in each turn; empty for any other."""
    name = qualified(call.func, scope.imports)
    if name not in _PARSERS or not call.args or isinstance(call.args[0], ast.Constant):
        return ""
    return dotted(call.func) if loop.same_in_each_turn(call.args[0]) else ""


def _mode(call: ast.Call) -> frozenset[str]:
    """The letters of the mode that a file is opened in; "w" where that is no literal."""
    given = [keyword.value for keyword in call.keywords if keyword.arg == "mode"] or call.args[1:2]
    if not given or dotted(call.func).rpartition(".")[2] != "open":
        return frozenset()
    value = given[0].value if isinstance(given[0], ast.Constant) else "w"
    return frozenset(str(value))
