"""The import contract: a package without a layer is refused, and so is an import against the order of the layers.

Of the tests: no test module is imported; what several of them share is in a module of its own, as tests/README.md says.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
[LAYERS] = [each for each in CONFIG["contracts"] if each.get("exhaustive")]
NAMES = [name.strip() for layer in LAYERS["layers"] for name in layer.split("|")]

Lint = Callable[[], tuple[int, str]]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with an empty module for each layer, under the contract of this one."""
    folder = tmp_path / "reviewbot"
    folder.mkdir()
    for name in ["__init__", *NAMES]:
        (folder / f"{name}.py").write_text("")
    rows = [f"{key} = {json.dumps(value)}" for key, value in LAYERS.items()]
    head = '[tool.importlinter]\nroot_package = "reviewbot"\n\n[[tool.importlinter.contracts]]\n'
    (tmp_path / "pyproject.toml").write_text(head + "\n".join(rows) + "\n")
    return folder


@pytest.fixture
def lint(package: Path) -> Lint:
    def run() -> tuple[int, str]:
        program = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
        command = [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, '.'); {program}"]
        done = subprocess.run(command, cwd=package.parent, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


def test_every_package_has_a_layer_and_every_layer_a_package() -> None:
    there = {
        path.stem for path in (ROOT / "reviewbot").iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
    }

    assert there - {"__init__", *LAYERS["exhaustive_ignores"]} == set(NAMES)


def test_the_layers_alone_hold(lint: Lint) -> None:
    assert lint()[0] == 0


def test_a_new_package_is_refused_until_it_has_a_layer(package: Path, lint: Lint) -> None:
    (package / "novelty").mkdir()
    (package / "novelty/__init__.py").write_text("")

    code, said = lint()

    assert code == 1
    assert "reviewbot.novelty" in said


def test_an_import_of_a_higher_layer_is_refused(package: Path, lint: Lint) -> None:
    (package / f"{NAMES[-1]}.py").write_text(f"import reviewbot.{NAMES[0]}\n")

    assert lint()[0] == 1


def imported_modules(text: str) -> set[str]:
    """The modules that a text of Python may import, by their full names."""
    nodes = list(ast.walk(ast.parse(text)))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {
        name
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for name in (str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names))
    }


def is_test_module(name: str) -> bool:
    """Whether pytest collects it."""
    return name.startswith("tests.") and name.rpartition(".")[2].startswith("test_")


def test_no_module_imports_a_test_module() -> None:
    files = [path for folder in ("tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")]
    found = {path: set(filter(is_test_module, imported_modules(path.read_text("utf-8")))) for path in files}

    assert len(files) > 100
    assert {str(path.relative_to(ROOT)): names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "text", ["from tests.app.test_a import until", "from tests.app import test_a", "import tests.test_a as other"]
)
def test_each_form_of_an_import_of_a_test_module_is_seen(text: str) -> None:
    assert any(map(is_test_module, imported_modules(f"def f():\n    {text}\n")))
