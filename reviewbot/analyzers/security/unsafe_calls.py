"""Find calls of known functions that one argument makes unsafe: `calls` in `data/names/security.toml`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.code_index import CodeIndex
from reviewbot.analyzers.security.passwords import holds_password
from reviewbot.analyzers.security.words import argument, at, is_open, is_static
from reviewbot.tables import packaged_table


def unsafe_calls(code: CodeIndex) -> Iterator[Found]:
    """Look at keys, modes, salts, rounds and algorithms that are handed to functions of cryptography."""
    for row in packaged_table("names/security")["calls"]:
        for call in code.calls_to(*row["names"]):
            given = argument(call, row.get("position"), *row.get("argument", ()))
            if "password" in row and not _is_password(code, argument(call, *row["password"])):
                continue
            if _is_unsafe(code, given, row) and not (row.get("closed") and is_open(call)):
                yield at(row["rule"], call, row.get("message", "").format(code.number(given)))


def _is_password(code: CodeIndex, given: ast.expr | None) -> bool:
    """Whether a password is stretched: how keys and seeds are, is written in the protocol of a wallet or a device."""
    return given is None or holds_password(code, given) or isinstance(code.value(given), ast.Constant)


def _is_unsafe(code: CodeIndex, given: ast.expr | None, row: Mapping[str, Any]) -> bool:
    """Whether the argument of a call is what its row speaks of."""
    if "below" in row:
        number = code.number(given)
        return number is not None and number < int(row["below"])
    if "text" in row:
        return code.text(given).lower() == str(row["text"])
    if "named" in row:
        return code.name(given).endswith(str(row["named"]))
    # Protocols ask for a vector of zeroes, where a key is for one message.
    zeroes = row["rule"] == "static-iv" and any(
        isinstance(part, ast.Constant) and isinstance(part.value, bytes) and not part.value.strip(b"\0")
        for part in code.under(*filter(None, [code.value(given)]))
    )
    return "always" in row or (is_static(code, given) and not zeroes)
