"""One review for each file of pairs, shared by the tests of its pairs in all processes of a run."""

from __future__ import annotations

import fcntl
import pickle
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import pytest

from reviewbot.analyzers.catalog import all_tools
from tests.pairs.pair_cases import Answer, Pair, Side, all_pairs, answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    Answers = dict[tuple[str, Side], Answer]

PAIRS = {group: pairs for group, pairs in all_pairs().items() if pairs[0].tool in all_tools()}
"""By file. What a tool would tell that does not exist cannot be asked; a test says that there is no such file."""


@pytest.fixture(scope="session")
def answers_of(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Answers]:
    """What the product says of all pairs of a file, by name and side.

    Whichever process comes first to a file reviews it. So all of them begin with the files that none has begun with.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if hasattr(request.config, "workerinput") else base) / "pairs"
    folder.mkdir(exist_ok=True)
    wanted = dict.fromkeys(filter(None, (group_of(item) for item in request.session.items)))
    for group in wanted:
        with turn(folder, group, wait=False) as mine:
            if mine:
                answered(folder, group)
    known: dict[str, Answers] = {}

    def ask(group: str) -> Answers:
        if group not in known:
            with turn(folder, group, wait=True):
                known[group] = answered(folder, group)
        return known[group]

    return ask


def group_of(item: pytest.Item) -> str | None:
    """The file of pairs that a test is about."""
    params: Mapping[str, object] = getattr(getattr(item, "callspec", None), "params", {})
    pair = params.get("pair")
    return pair.group if isinstance(pair, Pair) else cast("str | None", params.get("group"))


@contextmanager
def turn(folder: Path, group: str, *, wait: bool) -> Iterator[bool]:
    """Have a file of pairs to this process alone; whether that could be had, where it does not `wait` for it."""
    with (folder / f"{group}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def answered(folder: Path, group: str) -> Answers:
    """The answers of a file of pairs, which is reviewed if no process has done that."""
    held = folder / f"{group}.pickle"
    if not held.exists():
        held.write_bytes(pickle.dumps(answers(PAIRS[group])))
    return cast("Answers", pickle.loads(held.read_bytes()))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test of a pair runs for every one of them, a test of a group for every file."""
    if "pair" in metafunc.fixturenames:
        pairs = [pair for of_group in PAIRS.values() for pair in of_group]
        metafunc.parametrize("pair", pairs, ids=[f"{pair.group}-{pair.rule}-{pair.name}" for pair in pairs])
    elif "group" in metafunc.fixturenames:
        metafunc.parametrize("group", list(PAIRS))
