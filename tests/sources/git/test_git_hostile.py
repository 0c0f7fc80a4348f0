"""Repositories whose own configuration, attributes and objects work against the reader."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from reviewbot.domain.errors import InputError
from reviewbot.sources.git.process import Git, find_program
from reviewbot.sources.git.repository import GitRepository


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A program that leaves a mark when it runs, whatever it is called for."""
    program = tmp_path / "canary"
    program.write_text(f"#!/bin/sh\necho ran >> '{tmp_path}/ran'\ncat\n")
    program.chmod(0o755)
    return program


def use_everything(repository: GitRepository, head: str) -> None:
    """Every way in which the repository is read."""
    repository.range_diff("HEAD~1..HEAD")
    repository.range_diff("HEAD~1...HEAD")
    repository.range_diff("HEAD")
    repository.staged_diff()
    repository.blob(head, "a.py")
    repository.blob(None, "a.py")
    repository.files_in(head, ".")


SETTINGS = (
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "merge.evil.driver",
    "core.fsmonitor",
    "core.sshCommand",
    "core.pager",
    "pager.diff",
    "core.editor",
    "core.askPass",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "credential.helper",
    "gpg.program",
    "uploadpack.packObjectsHook",
    "remote.origin.uploadpack",
    "remote.origin.vcs",
    "alias.diff-tree",
    "alias.cat-file",
    "interactive.diffFilter",
    "sequence.editor",
)


def test_no_program_of_the_repositorys_configuration_runs(repo: Any, canary: Path, tmp_path: Path) -> None:
    repo.write(".gitattributes", "* diff=evil filter=evil merge=evil\n")
    repo.commit(a_py="one\n")
    head = repo.commit(a_py="two\n")
    (repo.folder / ".git" / "info").mkdir(exist_ok=True)
    (repo.folder / ".git" / "info" / "attributes").write_text("* diff=evil filter=evil\n")
    for hook in ("post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc", "post-checkout"):
        path = repo.folder / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(canary.read_text())
        path.chmod(0o755)
    for name in SETTINGS:
        repo.git("config", name, str(canary))
    repo.git("config", "core.hooksPath", str(canary.parent))
    repo.git("config", "core.worktree", "/")
    (repo.folder / "a.py").touch()  # what would make git ask its monitor and its filters

    with GitRepository(repo.folder) as repository:
        use_everything(repository, head)

    assert not (tmp_path / "ran").exists()


def test_the_canary_would_sing_where_git_is_called_carelessly(repo: Any, canary: Path, tmp_path: Path) -> None:
    repo.commit(a_py="one\n")
    repo.commit(a_py="two\n")
    repo.git("config", "diff.external", str(canary))
    repo.git("diff", "HEAD~1")

    assert (tmp_path / "ran").exists()


def test_attributes_of_the_reviewed_tree_cannot_hide_a_file(repo: Any) -> None:
    repo.write(".gitattributes", "*.py -diff\n*.txt binary\n")
    repo.commit(a_py="one\n")
    repo.write("b.txt", "text\n")
    repo.commit(a_py="two\n")
    repo.write("a.py", "three\n")
    repo.git("add", "--all")

    with GitRepository(repo.folder) as repository:
        committed, staged = repository.range_diff("HEAD"), repository.staged_diff()

    assert b"-one\n+two\n" in committed.diff
    assert b"+text\n" in committed.diff
    assert b"-two\n+three\n" in staged.diff
    assert b"Binary" not in committed.diff + staged.diff


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.renames", "false"),
        ("diff.context", "0"),
        ("diff.interHunkContext", "50"),
        ("diff.orderFile", "/dev/zero"),
        ("diff.relative", "true"),
        ("diff.submodule", "log"),
        ("diff.ignoreSubmodules", "all"),
        ("diff.algorithm", "patience"),
        ("diff.wsErrorHighlight", "all"),
        ("color.ui", "always"),
        ("core.quotePath", "false"),
        ("core.bigFileThreshold", "1"),
        ("core.abbrev", "4"),
        ("diff.suppressBlankEmpty", "true"),
    ],
)
def test_settings_of_the_repository_do_not_change_the_diff(repo: Any, name: str, value: str) -> None:
    text = "".join(f"line {n}\n\n" for n in range(30))
    repo.commit(a_py=text, moved_py=text)
    repo.git("mv", "moved.py", "é.py")
    repo.commit(a_py=text.replace("line 5", "line five").replace("line 12", "line twelve"))
    with GitRepository(repo.folder) as repository:
        before = repository.range_diff("HEAD").diff

    repo.git("config", name, value)

    with GitRepository(repo.folder) as repository:
        assert repository.range_diff("HEAD").diff == before


def test_variables_of_the_caller_do_not_reach_git(repo: Any, canary: Path, tmp_path: Path, monkeypatch: Any) -> None:
    repo.commit(a_py="one\n")
    head = repo.commit(a_py="two\n")
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_ASKPASS", "PAGER"):
        monkeypatch.setenv(name, str(canary))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere")
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "ran"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "diff.noprefix")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")

    with GitRepository(repo.folder) as repository:
        use_everything(repository, head)
        assert b"--- a/a.py" in repository.range_diff("HEAD").diff

    assert not (tmp_path / "ran").exists()


def test_a_replaced_or_grafted_commit_is_shown_as_it_is(repo: Any) -> None:
    base = repo.commit(a_py="one\n")
    head = repo.commit(a_py="evil\n")
    repo.git("checkout", "--quiet", "--orphan", "other")
    harmless = repo.commit(a_py="harmless\n")
    repo.git("checkout", "--quiet", "main")
    repo.git("replace", head, harmless)
    (repo.folder / ".git" / "info").mkdir(exist_ok=True)
    (repo.folder / ".git" / "info" / "grafts").write_text(f"{head}\n")

    with GitRepository(repo.folder) as repository:
        found = repository.range_diff(head)
        assert repository.blob(head, "a.py") == "evil\n"

    assert found.base_sha == base
    assert b"+evil\n" in found.diff


def test_a_partial_clone_fetches_nothing(repo: Any, canary: Path, tmp_path: Path) -> None:
    repo.commit(a_py="one\n")
    head = repo.commit(a_py="two\n")
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("clone", "--quiet", "--no-checkout", "--filter=blob:none", repo.folder.as_uri(), str(tmp_path / "partial"))
    config = tmp_path / "partial" / ".git" / "config"
    with config.open("a") as stream:
        stream.write(f'[remote "origin"]\n\tuploadpack = {canary}\n[protocol "file"]\n\tallow = always\n')

    with GitRepository(tmp_path / "partial") as repository:
        assert repository.blob(head, "a.py") is None
        with pytest.raises(InputError, match="a partial clone"):
            repository.range_diff("HEAD")

    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_owner_is_read(repo: Any) -> None:
    head = repo.commit(a_py="one\n")
    for path in (repo.folder, repo.folder / ".git"):
        os.chown(path, 12345, 12345)

    with GitRepository(repo.folder) as repository:
        assert repository.range_diff("HEAD").head_sha == head


def test_submodule_commands_are_only_text(repo: Any, tmp_path: Path) -> None:
    base = repo.commit()
    repo.write(
        ".gitmodules", f'[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% {tmp_path}/ran\n\tupdate = !touch\n'
    )
    repo.git("add", ".gitmodules")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{base},x")
    repo.git("commit", "--quiet", "--message", "module")

    with GitRepository(repo.folder) as repository:
        diff = repository.range_diff("HEAD").diff

    assert f"+Subproject commit {base}\n".encode() in diff
    assert not (tmp_path / "ran").exists()


def test_a_repository_that_answers_too_much_is_refused(repo: Any, tmp_path: Path) -> None:
    repo.commit(a_py="x" * 5_000)
    git = Git(*find_program(os.environ["PATH"]), repo.folder / ".git", tmp_path, tmp_path / "none")

    with pytest.raises(InputError, match="git cat-file printed more than 0 MiB"):
        git.run("cat-file", "blob", "HEAD:a.py", limit=4_999)


@pytest.mark.parametrize("content", [b"100644", b"100644 a.py", b"100644 a.py\0short"])
def test_a_folder_that_is_spoiled_is_an_error_and_ends(repo: Any, content: bytes) -> None:
    store = ("hash-object", "-w", "--stdin", "--literally", "-t")
    tree = repo.git(*store, "tree", given=content)
    commit = repo.git(*store, "commit", given=b"tree " + tree.encode() + b"\n\nspoiled\n")

    with GitRepository(repo.folder) as repository, pytest.raises(InputError, match="missing or damaged"):
        repository.blob(commit, "a.py")


@pytest.mark.parametrize("content", [b"", b"no commit", b"tree 1", b"parent 1\n"])
def test_a_commit_that_is_spoiled_is_an_error(repo: Any, content: bytes) -> None:
    commit = repo.git("hash-object", "-w", "--stdin", "--literally", "-t", "commit", given=content)

    with GitRepository(repo.folder) as repository, pytest.raises(InputError, match="missing or damaged"):
        repository.blob(commit, "a.py")


def test_a_git_that_does_not_end_is_ended(tmp_path: Path) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nwhile :; do :; done\n")
    program.chmod(0o755)
    git = Git(str(program), os.environ["PATH"], tmp_path, tmp_path, tmp_path / "none")

    with pytest.raises(InputError, match="git rev-parse took longer than 0 s"):
        git.run("rev-parse", seconds=0.01)


def test_gits_own_words_are_made_safe_for_a_terminal(repo: Any) -> None:
    (repo.folder / ".git" / "config").write_bytes(b"[core]\n\trepositoryformatversion = \x1b[31m\x07\n")

    with GitRepository(repo.folder) as repository, pytest.raises(InputError) as caught:
        repository.range_diff("HEAD")

    assert str(caught.value).isprintable()
