"""What the tests of the diff front share: a real git repository, and the hostile corpus with its own judges."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.git_repo import GitRepo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

HOSTILE = Path(__file__).resolve().parent.parent / "hostile"
MODULES = ("protocol", "check_diffs", "generate_big", "mutate", "fuzz_git_names")


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., bytes]:
    """Run git in a fresh repository at `tmp_path`, free of the user's settings; gives what it printed."""

    return GitRepo(tmp_path).output


@pytest.fixture
def commit(git: Callable[..., bytes]) -> Callable[[], None]:
    """Commit all that is in the working tree."""

    def run() -> None:
        git("add", "-A")
        git("commit", "-q", "-m", "x", "--allow-empty")

    return run


@pytest.fixture(scope="session")
def hostile() -> Iterator[dict[str, ModuleType]]:
    """The programs of the hostile corpus as modules. They import each other by bare names, as programs do."""
    sys.path.insert(0, str(HOSTILE))
    try:
        yield {name: importlib.import_module(name) for name in MODULES}
    finally:
        sys.path.remove(str(HOSTILE))
        for name in MODULES:
            sys.modules.pop(name, None)


@pytest.fixture
def in_process(hostile: dict[str, ModuleType]) -> Callable[[str, list[str]], int]:
    """Run one of the fuzzers with our parser called in this process: a thousand starts of Python would take minutes."""
    from reviewbot.diff.parser.protocol import answer  # noqa: PLC0415 - the corpus itself does not need it

    def parser(_: str, data: bytes, timeout: float = 0, filename: str | None = None) -> tuple[dict[str, Any], float]:
        return answer(data, filename), 0.0

    def run(name: str, arguments: list[str]) -> int:
        module = hostile[name]
        own, argv = vars(module)["run_parser"], sys.argv
        vars(module)["run_parser"] = parser
        sys.argv = [name, "--parser", "in process", *arguments]
        try:
            status = module.main()
        finally:
            vars(module)["run_parser"], sys.argv = own, argv
        assert isinstance(status, int)
        return status

    return run
