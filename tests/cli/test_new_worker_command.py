"""`reviewbot new-worker`, and the page that says how a worker is added, step by step as it stands there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.command_line import Run
from tests.git_repo import GitRepo

PAGE = Path(__file__).parents[2] / "docs" / "add-a-worker.md"
CARD = Path(".reviewbot/workers/todo.toml")
SCRIPT = Path(".reviewbot/cases/todo/example/script.json")


def steps() -> list[list[str]]:
    """The words of each command of the page, without the key and the program's name."""
    text = PAGE.read_text().partition("<!-- steps:start -->")[2].partition("<!-- steps:end -->")[0]
    commands = [shlex.split(line) for line in text.strip().splitlines()]
    return [words[words.index("reviewbot") + 1 :] for words in commands]


def test_the_steps_of_the_page_add_a_worker_without_a_key(
    run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, workers, evaluate, prompts = steps()

    written = run(*new)
    assert written.code == 0
    assert "The example is a file of Python, todo_example.py" in written.out
    for command in (evaluate, prompts):
        assert shlex.join(command) in written.out
    assert "todo (from the repository)" in run(*workers).out
    assert "1 of 1 labelled defect found, 0 findings beside them" in run(*evaluate).out
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    assert run(*prompts).code == 0
    assert "`2-reader-todo.txt`" in PAGE.read_text()
    sent = (repository / "prompts.todo" / "2-reader-todo.txt").read_text()
    assert "Added lines with a TODO comment that names no owner" in sent
    assert "# TODO: negative prices" in sent


@pytest.mark.parametrize(
    ("path", "old", "new", "said"),
    [
        (CARD, 'applies_to = ["@code"]', 'applies_to = ["*.sql"]', "0 of 1 labelled defect found, 0 findings"),
        (CARD, "threshold = 80", "threshold = 95", "0 of 1 labelled defect found, 0 findings"),
        (SCRIPT, "# TODO: negative", "# TODO: positive", "0 of 1 labelled defect found, 0 findings"),
    ],
)
def test_the_example_shows_what_is_wrong_with_a_worker(
    run: Run, repository: Path, path: Path, old: str, new: str, said: str
) -> None:
    create, _, evaluate, _ = steps()
    run(*create)
    file = repository / path
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))

    assert said in run(*evaluate).out


@pytest.mark.parametrize("name", ["Todo", "1st", "a b", "../x", "security", "judge", "x" * 41])
def test_a_name_that_cannot_be_is_refused(run: Run, repository: Path, name: str) -> None:
    ended = run("new-worker", name)

    assert ended.code == 2
    assert "cannot name a new worker" in ended.err
    assert not (repository / ".reviewbot").exists()


def test_what_is_there_is_not_overwritten(run: Run, repository: Path) -> None:
    run("new-worker", "todo")
    (repository / CARD).write_text("mine")

    ended = run("new-worker", "todo")

    assert (ended.code, (repository / CARD).read_text()) == (2, "mine")
    assert re.search(r"todo\.toml is there already; nothing was written", ended.err)


def test_nothing_is_written_behind_a_link(run: Run, repository: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repository / ".reviewbot").symlink_to(tmp_path / "elsewhere")

    ended = run("new-worker", "todo")

    assert ended.code == 2
    assert "is behind a link" in ended.err
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(run: Run, repository: Path) -> None:
    (repository / ".reviewbot").write_text("a file")

    ended = run("new-worker", "todo")

    assert ended.code == 2
    assert "cannot make" in ended.err


def test_another_repository_can_be_named(run: Run, home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    GitRepo(other).commit({"a.py": "x = 1\n"})

    assert run("new-worker", "todo", "--repo", other).code == 0
    assert (other / CARD).is_file()
    assert run("new-worker", "todo").code == 2, "the folder that it stands in is no repository"
    assert not list(home.iterdir())
