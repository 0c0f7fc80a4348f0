"""Imports of well-known names for a hunk: those that it speaks of, and no others."""

from __future__ import annotations

import ast

import pytest

from reviewbot.analyzers.python.assignments import IMPORTS, imports_of


def bound(text: str) -> dict[str, str]:
    """The names that a hunk gets, and what each of them is."""
    found: dict[str, str] = {}
    for node in imports_of(text):
        assert isinstance(node, ast.Import | ast.ImportFrom)
        source = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        found.update({alias.asname or alias.name: f"{source}{alias.name}" for alias in node.names})
    return found


ALWAYS = bound("")


def spoken_of(text: str) -> dict[str, str]:
    return {name: full for name, full in bound(text).items() if name not in ALWAYS}


def test_the_frameworks_are_always_there() -> None:
    assert {full.partition(".")[0] for full in ALWAYS.values()} == {"aiohttp", "django", "flask"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x = 1", {}),
        ("os.system(x)", {"os": "os"}),
        ("x = subprocess.run(y)", {"subprocess": "subprocess"}),
        ("Popen(x)", {"Popen": "subprocess.Popen"}),
        ("ET.parse(x)", {"ET": "xml.etree.ElementTree"}),
        ("urllib.request.urlopen(x)", {"urllib.request": "urllib.request", "urlopen": "urllib.request.urlopen"}),
        ("Path(x) / md5(y)", {"Path": "pathlib.Path", "md5": "hashlib.md5"}),
        ("ossify(sysx)", {}),
        ("x.os", {"os": "os"}),
    ],
)
def test_a_hunk_gets_the_names_that_stand_in_it(text: str, wanted: dict[str, str]) -> None:
    assert spoken_of(text) == wanted


def test_a_text_with_all_names_gets_all_imports() -> None:
    every = {alias.name for node in ast.walk(ast.parse(IMPORTS)) for alias in getattr(node, "names", [])}

    got = {alias.name for node in imports_of(IMPORTS) for alias in getattr(node, "names", [])}

    assert got == every


def test_all_of_them_stand_in_the_first_row() -> None:
    assert {node.lineno for node in imports_of(IMPORTS)} == {1}
    assert "\n" not in IMPORTS


def test_what_is_said_of_a_hunk_can_be_run_through_a_compiler() -> None:
    tree = ast.Module(imports_of("os.path, Popen, ET"), [])

    assert compile(tree, "hunk", "exec").co_names
