"""Find files that other users can change, predict or choose, and privileges that are kept or no longer checked."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.code_index import CodeIndex
from reviewbot.analyzers.security.words import argument, at, label, words
from reviewbot.tables import words_in

_OTHERS_WRITE = 0o002
_MAKES = {"os.mkdir": 1, "os.makedirs": 1, "os.open": 2}
"""Where the mode of a new file or folder stands."""

_OPENS = frozenset({"open", "io.open", "os.open", "codecs.open"})
_SHELLS = words_in("names/security", "shells")
_OPEN_MODES = frozenset({"777", "0777", "666", "0666", "a+w", "o+w", "a+rwx", "ugo+rwx"})
_LOOKS = frozenset({"name", "filter", "isfile", "isreg", "issym", "islnk", "isdir", "path"})
_KEEP_NAMES = frozenset({"join", "joinpath", "Path", "PurePath", "str", "format", "abspath", "realpath", "normpath"})
"""Functions that leave the name of a file as it is. One that is not at hand is taken to clean it."""


_RAISES = frozenset({"raise", "elevate", "gain", "acquire", "escalate", "enable", "regain"})
_DROPS = frozenset({"drop", "lower", "restore", "release", "relinquish", "reset", "disable", "revert"})
_PRIVILEGES = frozenset({"privilege", "privileges", "privs", "priv", "root", "capabilities"})
_GROUPS = frozenset({"os.setgid", "os.setegid", "os.setregid", "os.setresgid", "os.setgroups", "os.initgroups"})
_USERS = frozenset({"os.setuid", "os.setreuid", "os.setresuid"})
_RIGHTS = words_in("names/security", "rights")


def check_files(code: CodeIndex) -> Iterator[Found]:
    """Look at modes, temporary names, uploads and archives."""
    yield from _modes(code)
    yield from _temporary(code)
    yield from _uploads(code)
    yield from _members(code)
    for call in code.calls_to("os.path.commonprefix"):
        if any(isinstance(up, ast.Compare) for up in code.above(call)):
            yield at("prefix-of-paths", call)


def _modes(code: CodeIndex) -> Iterator[Found]:
    for call in code.calls_to("os.umask"):
        # Where its result is used the mask before is put back: to read it, one has to set it.
        if code.number(argument(call, 0)) == 0 and isinstance(code.parents.get(call), ast.Expr):
            yield at("open-umask", call)
    for call in code.calls_to(*_MAKES):
        if _is_open_mode(code, argument(call, _MAKES[code.name(call.func)], "mode")):
            yield at("open-mode", call, cause=argument(call, _MAKES[code.name(call.func)], "mode"))
    for call in code.of(ast.Call):
        name = code.name(call.func)
        changes = name.rsplit(".", 1)[-1] == "chmod" and name != "os.chmod"
        if changes and _is_open_mode(code, argument(call, 0, "mode")):
            yield at("world-writable", call)
        if name in _SHELLS and call.args and _opens_up(code, call.args[0]):
            yield at("world-writable", call)
    for call in code.calls_to("os.chmod", "os.fchmod"):
        parts = list(code.under(*(each for each in (argument(call, 1, "mode"),) if each is not None)))
        opened = any(code.name(part) == "stat.S_IWOTH" for part in parts)
        if opened and not any(isinstance(part, ast.Invert) for part in parts):
            yield at("world-writable", call)


def _is_open_mode(code: CodeIndex, mode: ast.expr | None) -> bool:
    number = code.number(mode)
    return number is not None and bool(number & _OTHERS_WRITE)


def _opens_up(code: CodeIndex, command: ast.expr) -> bool:
    found = code.value(command)
    if isinstance(found, ast.List | ast.Tuple):
        parts = [code.text(part) for part in found.elts]
    elif isinstance(found, ast.JoinedStr):
        parts = code.text(found.values[0]).split() if found.values else []
    else:
        parts = code.text(found).split()
    parts = parts[1:] if parts[:1] == ["sudo"] else parts
    return parts[:1] == ["chmod"] and any(part in _OPEN_MODES for part in parts[1:4])


def _temporary(code: CodeIndex) -> Iterator[Found]:
    """Look for a temporary name that is chosen first and opened later."""
    for call in code.calls_to("tempfile.mktemp"):
        above = code.parents.get(call)
        if isinstance(above, ast.Call) and code.name(above.func) in _OPENS:
            yield at("temporary-name-opened", call)
            continue
        target = above.targets[0] if isinstance(above, ast.Assign) else None
        if isinstance(target, ast.Name) and any(_is_opened(code, use) for use in code.uses(call, target.id)):
            yield at("temporary-name-opened", call)


def _is_opened(code: CodeIndex, use: ast.Name) -> bool:
    above = code.parents.get(use)
    return isinstance(above, ast.Call) and code.name(above.func) in _OPENS and above.args[:1] == [use]


def _uploads(code: CodeIndex) -> Iterator[Found]:
    """Look for uploads that are stored under the name that the client gave them."""
    for call in code.of(ast.Call):
        place = None
        if isinstance(call.func, ast.Attribute) and call.func.attr == "save" and call.args:
            if _is_upload(code, call.func.value):
                place = call.args[0]
        elif code.name(call.func) in _OPENS and call.args:
            mode = code.text(argument(call, 1, "mode"))
            place = call.args[0] if set(mode) & set("wax") else None
        if place is not None and _client_name(code, place):
            yield at("upload-under-its-name", call)


def _is_upload(code: CodeIndex, node: ast.expr) -> bool:
    """Whether an expression is a file of the request."""
    found = code.value(node)
    if isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute) and found.func.attr == "get":
        found = found.func.value
    if isinstance(found, ast.Subscript):
        found = found.value
    return isinstance(found, ast.Attribute) and found.attr in {"files", "FILES"}


def _client_name(code: CodeIndex, place: ast.expr) -> bool:
    """Whether a path holds the name of an upload as the client sent it."""
    stack, seen = [place], 0
    while stack and seen < 100:  # noqa: PLR2004 - a path has a few parts
        seen += 1
        node = code.value(stack.pop())
        match node:
            case ast.Attribute(attr="filename" | "name", value=held):
                if _is_upload(code, held) or (node.attr == "filename" and _is_upload_argument(code, held)):
                    return True
            case ast.Call() if code.name(node.func).rsplit(".", 1)[-1] in _KEEP_NAMES:
                stack += node.args
            case ast.BinOp():
                stack += [node.left, node.right]
            case ast.JoinedStr():
                stack += [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
            case ast.Tuple():
                stack += node.elts
            case _:
                continue
    return False


def _is_upload_argument(code: CodeIndex, node: ast.expr) -> bool:
    """Whether a name is an argument that is annotated as an upload."""
    function = code.function(node)
    if not isinstance(node, ast.Name) or function is None:
        return False
    every = [*function.args.args, *function.args.kwonlyargs]
    named = (each.annotation for each in every if each.arg == node.id)
    return any(code.name(note).rsplit(".", 1)[-1] == "UploadFile" for note in named)


def _members(code: CodeIndex) -> Iterator[Found]:
    """Look for archives of tar that are unpacked one by one without a look at the names."""
    for loop in code.of(ast.For):
        archive = loop.iter
        if (
            isinstance(archive, ast.Call)
            and isinstance(archive.func, ast.Attribute)
            and archive.func.attr == "getmembers"
        ):
            archive = archive.func.value
        if code.maker_of(archive) not in {"tarfile.open", "tarfile.TarFile", "tarfile.TarFile.open"}:
            continue
        made = code.value(archive)
        if isinstance(made, ast.Call) and code.text(argument(made, 0, "name")):
            continue  # an archive whose name is written in the code is the program's own
        looked = any(label(code, node) in _LOOKS for node in code.under(*loop.body) if isinstance(node, ast.Attribute))
        for node in code.under(*loop.body):
            extracts = (
                isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "extract"
            )
            if isinstance(node, ast.Call) and extracts and not looked and argument(node, None, "filter") is None:
                yield at("archive-member", node)


def loose_privileges(code: CodeIndex) -> Iterator[Found]:
    """Look at where privileges are taken, dropped and asked for."""
    for block in code.of(ast.Try):
        yield from _not_dropped(code, block.body, guarded=bool(block.finalbody))
    for function in code.functions():
        yield from _not_dropped(code, function.body, guarded=False)
        yield from _wrong_order(code, function.body)
    yield from _wrong_order(code, code.view.tree.body)
    for check in code.of(ast.Assert):
        if any(_names_right(node) for node in code.under(check.test)):
            yield at("right-asserted", check)


def _names_right(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr in _RIGHTS) or (
        isinstance(node, ast.Name) and node.id in _RIGHTS
    )


def _called(statement: ast.stmt) -> ast.Call | None:
    inner = statement.value if isinstance(statement, ast.Expr) else None
    return inner if isinstance(inner, ast.Call) else None


def _not_dropped(code: CodeIndex, body: Sequence[ast.stmt], *, guarded: bool) -> Iterator[Found]:
    """Look for privileges that stay raised where something between taking and dropping them fails."""
    raised: ast.Call | None = None
    between = 0
    for statement in body:
        call = _called(statement)
        change = _change(code, call) if call is not None else ""
        if change == "up":
            raised, between = call, 0
        elif change == "down":
            if raised is not None and between and not guarded:
                yield at("privileges-kept", raised)
            raised = None
        elif raised is not None:
            between += any(isinstance(node, ast.Call) for node in code.under(statement))


def _change(code: CodeIndex, call: ast.Call) -> str:
    """Whether a call takes ("up") or drops ("down") privileges."""
    name = code.name(call.func)
    if name in {"os.seteuid", "os.setegid"} and call.args:
        return "up" if code.number(call.args[0]) == 0 else "down"
    said = set(words(name.rsplit(".", 1)[-1]))
    if said & _PRIVILEGES:
        return "up" if said & _RAISES else "down" if said & _DROPS else ""
    return ""


def _wrong_order(code: CodeIndex, body: Sequence[ast.stmt]) -> Iterator[Found]:
    """Look for groups that are given up after the user: by then that is forbidden."""
    user_dropped = False
    for statement in body:
        call = _called(statement)
        name = code.name(call.func) if call is not None else ""
        if name in _USERS:
            user_dropped = True
        elif name in _GROUPS and user_dropped and call is not None:
            yield at("privileges-order", call)
