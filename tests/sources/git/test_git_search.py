"""Words in the files of a commit or of the index."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from reviewbot.context.word_search import MAX_LINE
from reviewbot.domain.ports import Occurrence, Snapshot
from reviewbot.sources.git.process import Git, find_program
from reviewbot.sources.git.repository import GitRepository
from reviewbot.sources.git.search import MAX_SEARCH_BYTES, log_file, search_tree
from reviewbot.sources.git.snapshot import GitSnapshot


def at_head(repository: GitRepository, base: str | None, head: str | None) -> Snapshot:
    return GitSnapshot(repository, base, head)


def test_whole_words_are_found_by_path_and_line(repo: Any) -> None:
    repo.write("a b.txt", "word\nwords\n")
    head = repo.commit(b_py="x = word(1)\nmy_word = 2\nword.word\n", a__c_py="# a word.\r\n")

    with GitRepository(repo.folder) as repository:
        found = at_head(repository, None, head).search("word", 10)

    assert found == (
        Occurrence("a b.txt", 1, "word"),
        Occurrence("a/c.py", 1, "# a word.\r"),
        Occurrence("b.py", 1, "x = word(1)"),
        Occurrence("b.py", 3, "word.word"),
    )


def test_at_most_so_many_lines_are_given(repo: Any) -> None:
    head = repo.commit(a_py="word\n" * 5)

    with GitRepository(repo.folder) as repository:
        snapshot = at_head(repository, None, head)
        assert [len(snapshot.search("word", limit) or ()) for limit in (0, 2, 5, 9)] == [0, 2, 5, 5]


@pytest.mark.parametrize("word", ["", "a b", "-e", "--help", "a.b", "1a", ".*", "a\nb", "a\0b", "x" * 201])
def test_only_identifiers_are_looked_for(repo: Any, word: str) -> None:
    head = repo.commit(a_py="a b -e --help a.b 1a .*\n" + "x" * 201)

    with GitRepository(repo.folder) as repository:
        assert at_head(repository, None, head).search(word, 5) == ()


def test_words_with_letters_outside_of_ascii_are_whole_words_too(repo: Any) -> None:
    head = repo.commit(a_py="größe = 1\ngrößer = 2\ngr = 3\n")

    with GitRepository(repo.folder) as repository:
        snapshot = at_head(repository, None, head)
        assert [each.line for each in snapshot.search("größe", 5) or ()] == [1]
        assert [each.line for each in snapshot.search("gr", 5) or ()] == [3]


def test_only_text_files_of_the_commit_are_searched(repo: Any) -> None:
    repo.write("binary", b"word\0\n")
    repo.write("odd\xff\n".encode("latin-1"), "word\n")
    (repo.folder / "link").symlink_to("word")
    repo.write(".gitattributes", "*.py binary\n")
    head = repo.commit(a_py="word\n")
    repo.write("later.py", "word\n")

    with GitRepository(repo.folder) as repository:
        found = at_head(repository, None, head).search("word", 10) or ()

    assert [each.path for each in found] == ["a.py", '"odd\\377\\n"']


def test_the_index_is_searched_where_it_is_the_new_side(repo: Any) -> None:
    base = repo.commit(a_py="word\n")
    repo.write("b.py", "word\n")
    repo.git("add", "b.py")
    repo.write("c.py", "word\n")

    with GitRepository(repo.folder) as repository:
        repository.staged_diff()
        found = at_head(repository, base, None).search("word", 10) or ()

    assert [each.path for each in found] == ["a.py", "b.py"]


def test_long_lines_are_cut_and_a_word_that_fills_too_much_is_not_known(repo: Any) -> None:
    line = "word " + "x" * MAX_LINE + "\n"
    short = repo.commit(a_py=line)
    flood = repo.commit(**{f"b{n}_py": "word " + "y" * (MAX_SEARCH_BYTES // 4) + "\n" for n in range(5)})

    with GitRepository(repo.folder) as repository:
        [found] = at_head(repository, None, short).search("word", 10) or ()
        assert len(found.text) == MAX_LINE
        assert at_head(repository, None, flood).search("word", 10) is None
        assert len(at_head(repository, None, flood).search("word", 2) or ()) == 2


def test_a_missing_object_means_that_absence_means_nothing(repo: Any) -> None:
    head = repo.commit(a_py="other\n", b_py="thing\n")
    blob = repo.git("rev-parse", "HEAD:a.py")
    (repo.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()

    with GitRepository(repo.folder) as repository:
        assert at_head(repository, None, head).search("word", 10) is None


def test_a_git_that_fails_tells_nothing(tmp_path: Path) -> None:
    program, search_path = find_program(os.environ["PATH"])
    nowhere = Git(program, search_path, tmp_path / "no", tmp_path, tmp_path / "index")

    assert search_tree(nowhere, "a" * 40, "word", 5) is None
    assert log_file(nowhere, "a" * 40, "a.py", 5, shallow=False) == ()
    assert log_file(nowhere, "a" * 40, "a\0.py", 5, shallow=False) == ()


def test_a_git_that_hangs_is_ended(tmp_path: Path) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    slow = Git(str(program), os.environ["PATH"], tmp_path, tmp_path, tmp_path / "index")

    assert search_tree(slow, "a" * 40, "word", 5, seconds=0.05) is None
    assert log_file(slow, "a" * 40, "a.py", 5, shallow=False, seconds=0.05) == ()


def test_no_program_of_the_repository_runs_when_it_is_searched(repo: Any, tmp_path: Path) -> None:
    program = tmp_path / "canary"
    program.write_text(f"#!/bin/sh\necho ran >> '{tmp_path}/ran'\ncat\n")
    program.chmod(0o755)
    repo.write(".gitattributes", "* diff=evil filter=evil\n")
    base = repo.commit(a_py="word\n")
    head = repo.commit(a_py="word\nword\n")
    for name in (
        "diff.evil.textconv",
        "diff.external",
        "filter.evil.smudge",
        "core.pager",
        "pager.grep",
        "gpg.program",
        "core.fsmonitor",
    ):
        repo.git("config", name, str(program))
    repo.git("config", "log.showSignature", "true")
    repo.git("config", "grep.patternType", "perl")

    with GitRepository(repo.folder) as repository:
        snapshot = at_head(repository, base, head)
        assert len(snapshot.search("word", 5) or ()) == 2
        assert len(snapshot.history("a.py", 5)) == 1

    assert not (tmp_path / "ran").exists()


def test_a_snapshot_is_searched_from_several_threads(repo: Any) -> None:
    base = repo.commit(a_py="word\n")
    head = repo.commit(a_py="word\nother\n")

    with GitRepository(repo.folder) as repository, ThreadPoolExecutor(8) as pool:
        snapshot = at_head(repository, base, head)
        found = list(pool.map(lambda word: snapshot.search(word, 5), ["word", "other", "none"] * 8))
        commits = list(pool.map(lambda _: snapshot.history("a.py", 5), range(8)))

    assert [len(each or ()) for each in found] == [1, 1, 0] * 8
    assert {each[0].sha for each in commits} == {base}
