"""Recognise calls that leave the process: requests, programs, files and queries of a database.

Queries are known by the names that the common database libraries use.
"""

from __future__ import annotations

import ast
import re
from typing import Literal, NamedTuple

from reviewbot.analyzers.loops.kinds import kind_of
from reviewbot.analyzers.loops.name_chains import Chain, chain_of, qualify
from reviewbot.analyzers.loops.places import Loop, LoopScope
from reviewbot.analyzers.loops.walk import Site
from reviewbot.context.python_text import dotted_name
from reviewbot.tables import words_in

_VERBS = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "request"})
REQUESTS = (
    frozenset({f"{module}.{verb}" for module in ("requests", "httpx") for verb in _VERBS})
    | {"urllib.request.urlopen", "urllib.request.urlretrieve", "requests.request"}
)  # fmt: skip
PROGRAMS = words_in("names/loops", "programs")
_TABLES = frozenset({"pandas.read_csv", "pandas.read_excel", "pandas.read_parquet", "pandas.read_json", "numpy.load"})
_PARSERS = words_in("names/loops", "parsers")
_OF_A_PATH = frozenset({"read_text", "read_bytes"})
_WRITING = frozenset("wax+")

_EVALUATED = words_in("names/loops", "evaluated")
"""Methods of a manager or queryset that ask at once; the others only put a query together."""

_LAZY = frozenset({"all", "filter", "exclude", "values", "values_list", "order_by", "select_related", "distinct"})
_CONSUMERS = frozenset({"list", "tuple", "set", "len", "sorted", "sum", "max", "min", "dict", "any", "all", "bool"})
_FETCHED = words_in("names/loops", "fetched")
"""Ends of a chain behind `query` that ask."""

_STATEMENTS = frozenset({"execute", "fetch", "fetchrow", "fetchval", "fetch_one", "fetch_all", "scalar", "scalars"})
_DOCUMENTS = words_in("names/loops", "documents")
_CURSORS = frozenset({"cursor", "cur", "curs"})
_CONNECTIONS = _CURSORS | {"conn", "connection", "con", "session", "db", "database", "tx", "transaction", "engine"}
_BUILDERS = frozenset({"select", "insert", "update", "delete", "text"})

_DATA_STATEMENT = re.compile(r"\s{0,50}(?:select|insert|update|delete|replace|with|merge)\b", re.IGNORECASE)
_ROWS_CHOSEN = re.compile(r"\b(?:where|values)\b", re.IGNORECASE)

_Text = Literal["fixed", "built", "other"]


class Opened(NamedTuple):
    """A file that is the same one in each turn of a loop."""

    name: str
    sure: bool
    """It is read, and written nowhere in the loop."""


def request(call: ast.Call, scope: LoopScope) -> str:
    """The name of a call that sends a request over HTTP and takes its answer; empty for any other."""
    if qualify(call.func, scope.imports) in REQUESTS:
        return dotted_name(call.func)
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _VERBS:
        return ""
    return chain_of(call.func).text if kind_of(scope, call.func.value) in {"http", "http-async"} else ""


def program(call: ast.Call, scope: LoopScope) -> str:
    """The name of a call that starts a program; empty for any other."""
    return dotted_name(call.func) if qualify(call.func, scope.imports) in PROGRAMS else ""


def opened_file(call: ast.Call, scope: LoopScope, loop: Loop) -> Opened | None:
    """A file that a call opens or reads, if it is the same in each turn."""
    name = dotted_name(call.func)
    is_open = (name == "open" and not scope.bindings_of("open")) or qualify(call.func, scope.imports) in {
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
        isinstance(path, ast.Call) and qualify(path.func, scope.imports) == "pathlib.Path" and len(path.args) == 1
    )
    part = path.args[0] if made_here and isinstance(path, ast.Call) else path
    known = made_here or kind_of(scope, path) == "path"
    return Opened(f"{call.func.attr}()", sure=True) if known and loop.same_in_each_turn(part) else None


def parse_call(call: ast.Call, scope: LoopScope, loop: Loop) -> str:
    """The name of a call that parses one and the same text in each turn; empty for any other."""
    name = qualify(call.func, scope.imports)
    if name not in _PARSERS or not call.args or isinstance(call.args[0], ast.Constant):
        return ""
    return dotted_name(call.func) if loop.same_in_each_turn(call.args[0]) else ""


def _mode(call: ast.Call) -> frozenset[str]:
    """The letters of the mode that a file is opened in; "w" where that is no literal."""
    given = [keyword.value for keyword in call.keywords if keyword.arg == "mode"] or call.args[1:2]
    if not given or dotted_name(call.func).rpartition(".")[2] != "open":
        return frozenset()
    value = given[0].value if isinstance(given[0], ast.Constant) else "w"
    return frozenset(str(value))


class DatabaseQuery(NamedTuple):
    """A call that asks a database. `sure`: it does, and what is asked differs only in values."""

    name: str
    sure: bool


def query(site: Site, loop: Loop) -> DatabaseQuery | None:
    """What a call in a loop asks a database; None where nothing says that it does."""
    call, scope = site.node, site.place.scope
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    chain = chain_of(call.func)
    if "objects" in chain.names[:-1] and chain.root[:1].isupper():
        evaluated = chain.last in _EVALUATED or (chain.last in _LAZY and is_queryset(site))
        return DatabaseQuery(chain.text, sure=True) if evaluated else None
    if "query" in chain.names[:-1] and chain.last in _FETCHED:
        return DatabaseQuery(chain.text, sure=True) if _is_orm(chain) else None
    if chain.last in _STATEMENTS and call.args:
        return _statement(call, chain, scope, loop)
    if chain.last in _DOCUMENTS and len(chain.names) > 1:
        return DatabaseQuery(chain.text, sure=True)
    if chain.last == "get" and chain.owner == "session" and _is_model(call):
        return DatabaseQuery(chain.text, sure=True)
    return None


def is_queryset(site: Site) -> bool:
    """Whether a node is gone over, or read as a whole, right where it stands."""
    parent, node = site.parent, site.node
    if isinstance(parent, ast.For | ast.AsyncFor):
        return parent.iter is node
    if isinstance(parent, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return any(part.iter is node for part in parent.generators)
    return isinstance(parent, ast.Call) and dotted_name(parent.func) in _CONSUMERS


def _is_orm(chain: Chain) -> bool:
    """Whether `query` is that of an ORM, and not a part of a request's address."""
    at = chain.names.index("query")
    before = chain.names[at - 1] if at else chain.root
    return (before in {"session", "db"} and "query" in chain.called) or chain.root[:1].isupper()


def _is_model(call: ast.Call) -> bool:
    first = dotted_name(call.args[0]).rpartition(".")[2] if len(call.args) > 1 else ""
    return first[:1].isupper() and not first.isupper()


def _statement(call: ast.Call, chain: Chain, scope: LoopScope, loop: Loop) -> DatabaseQuery | None:
    """A statement that is handed to a cursor or a connection."""
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    known = kind_of(scope, receiver) in {"cursor", "database"}
    owner = chain.owner.lstrip("_")
    if not known and owner not in _CONNECTIONS:
        return None
    text = _text_of(call.args[0], scope, loop)
    if text == "other":
        return None
    # Another connection in each turn is another database: its statements cannot become one.
    return DatabaseQuery(chain.text, sure=text == "fixed" and chain.root not in loop.bound)


def _text_of(node: ast.expr, scope: LoopScope, loop: Loop) -> _Text:
    """fixed: a statement about data that is the same in each turn, but for its values. built: its text may differ."""
    if isinstance(node, ast.Constant):
        said = isinstance(node.value, str) and _DATA_STATEMENT.match(node.value)
        return "fixed" if said else "other"
    if isinstance(node, ast.Call) and dotted_name(node.func).rpartition(".")[2] == "text" and node.args:
        return _text_of(node.args[0], scope, loop)
    if isinstance(node, ast.Call):
        return "fixed" if chain_of(node).root in _BUILDERS else "other"
    if isinstance(node, ast.JoinedStr | ast.BinOp):
        return _built(node)
    values = [binding.value for binding in scope.bindings_of(dotted_name(node))]
    if values and loop.same_in_each_turn(node):
        texts = [value for value in values if isinstance(value, ast.Constant)]
        return _text_of(texts[0], scope, loop) if len(texts) == len(values) else "built"
    return "other"


def _built(node: ast.JoinedStr | ast.BinOp) -> _Text:
    """A text put together: what stands before its first part that is no literal tells what the part is."""
    before = ""
    for part in node.values if isinstance(node, ast.JoinedStr) else (node.left,):
        if not isinstance(part, ast.Constant) or not isinstance(part.value, str):
            break
        before += part.value
    if not _DATA_STATEMENT.match(before):
        return "other"
    return "fixed" if _ROWS_CHOSEN.search(before) else "built"
