"""Words in the text files of a folder, as they stand after a change."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.context.word_search import MAX_LINE
from reviewbot.diff.parse import parse_diff
from reviewbot.domain.ports import Occurrence
from reviewbot.domain.repository_files import MAX_FILE_BYTES
from reviewbot.sources.folder.search import SKIPPED, Caps, FolderText
from reviewbot.sources.folder.snapshot import TreeSnapshot

CHANGE = (
    "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-old\n+word\n"
    "diff --git a/gone.py b/gone.py\ndeleted file mode 100644\n--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-word\n"
    "diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+word new\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    def make(**files: str | bytes) -> Path:
        for name, content in files.items():
            path = tmp_path / name.replace("__", "/").replace("_py", ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path

    return make


def found(text: FolderText, word: str = "word", limit: int = 50) -> list[tuple[str, int]]:
    return [(each.path, each.line) for each in text.search(word, limit) or ()]


@pytest.mark.parametrize("side", ["base", "head"])
def test_the_new_side_is_searched_wherever_the_folder_is(folder: Callable[..., Path], side: str) -> None:
    head = {"a_py": "word\n", "new_py": "word new\n"}
    root = folder(sub__b_py="one\nmy word\r\n", **(head if side == "head" else {"a_py": "old\n", "gone_py": "word\n"}))
    snapshot = TreeSnapshot.open(root, parse_diff(CHANGE.encode()))

    assert snapshot.search("word", 9) == (
        Occurrence("a.py", 1, "word"),
        Occurrence("new.py", 1, "word new"),
        Occurrence("sub/b.py", 2, "my word\r"),
    )
    assert snapshot.search("old", 9) == ()
    assert snapshot.history("a.py", 9) == ()


def test_a_line_counts_once_and_so_many_at_most(folder: Callable[..., Path]) -> None:
    text = FolderText(folder(a_py="word word\nwords\nword\n\nword"), {})

    assert found(text) == [("a.py", 1), ("a.py", 3), ("a.py", 5)]
    assert found(text, limit=2) == [("a.py", 1), ("a.py", 3)]
    assert text.search("word", 0) == ()


@pytest.mark.parametrize("word", ["", "a b", ".*", "a.b", "(", "x" * 201])
def test_only_identifiers_are_looked_for(folder: Callable[..., Path], word: str) -> None:
    assert FolderText(folder(a_py="a b .* a.b ("), {}).search(word, 5) == ()


def test_what_is_no_file_of_the_repositorys_own_is_not_searched(folder: Callable[..., Path]) -> None:
    inner = {f"{name}__a_py": "word\n" for name in SKIPPED if not name.startswith("__")}
    root = folder(b_py="word\n", binary=b"word\0", large=b"word\n" + b"x" * MAX_FILE_BYTES, **inner)
    (root / "__pycache__").mkdir()
    (root / "__pycache__" / "c.py").write_text("word")
    (root / ".a_cache").mkdir()
    (root / ".a_cache" / "d.py").write_text("word")

    assert found(FolderText(root, {})) == [("b.py", 1)]


def test_no_link_and_no_device_is_followed(folder: Callable[..., Path], tmp_path: Path) -> None:
    root = folder(in__b_py="word\n", out__secret="word\n") / "in"
    (root / "link.py").symlink_to(tmp_path / "out" / "secret")
    (root / "folder").symlink_to(tmp_path / "out")
    (root / "round").symlink_to(root)
    os.mkfifo(root / "pipe")

    assert found(FolderText(root, {})) == [("b.py", 1)]


def test_a_file_that_may_not_be_read_is_passed_over(folder: Callable[..., Path]) -> None:
    root = folder(a_py="word\n", b_py="word\n")
    (root / "a.py").chmod(0)

    paths = [path for path, _ in found(FolderText(root, {}))]

    assert paths == (["a.py", "b.py"] if os.geteuid() == 0 else ["b.py"])


@pytest.mark.parametrize("caps", [Caps(files=1), Caps(folders=1), Caps(depth=0), Caps(text_bytes=10)])
def test_of_a_folder_that_is_too_large_nothing_is_known(folder: Callable[..., Path], caps: Caps) -> None:
    root = folder(a_py="word\n", sub__b_py="word word\n")

    assert FolderText(root, {}, caps=caps).search("word", 5) is None
    assert found(FolderText(root, {})) == [("a.py", 1), ("sub/b.py", 1)]


def test_a_folder_that_is_gone_is_not_known(tmp_path: Path) -> None:
    assert FolderText(tmp_path / "no", {}).search("word", 5) is None


def test_a_long_line_is_cut(folder: Callable[..., Path]) -> None:
    text = FolderText(folder(a_py="word " + "x" * MAX_LINE, b_py="word " + "x" * MAX_LINE + "\n"), {})

    assert [len(each.text) for each in text.search("word", 5) or ()] == [MAX_LINE, MAX_LINE]


def test_each_file_is_read_once(folder: Callable[..., Path]) -> None:
    root = folder(a_py="word\n")
    text = FolderText(root, {})
    first = found(text)
    (root / "a.py").write_text("other\n")

    assert found(text) == first
    assert found(text, "other") == []


def test_several_threads_may_ask_at_once(folder: Callable[..., Path]) -> None:
    text = FolderText(folder(**{f"m{n}_py": "word\n" for n in range(30)}), {})

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: len(text.search("word", 50) or ()), range(16)))

    assert answers == [30] * 16


@given(st.lists(st.sampled_from(["word", "words", "x", " ", "\n", "\r\n", "é"]), max_size=30))
def test_lines_are_counted_as_git_counts_them(parts: list[str]) -> None:
    content = "".join(parts)
    lines = content.split("\n")
    text = FolderText(Path("/nowhere"), {})
    text._texts, text._read = {"a.py": content}, True

    for path, number in found(text):
        assert path == "a.py"
        assert "word" in lines[number - 1]


def test_of_a_checkout_only_tracked_files_are_read_listed_and_searched(folder: Callable[..., Path]) -> None:
    root = folder(a_py="old\n", sub__b_py="word\n", gone_py="word\n", **{".env": "word=secret\n"})
    snapshot = TreeSnapshot.open(root, parse_diff(CHANGE.encode()), frozenset({"a.py", "sub/b.py", "gone.py", "no.py"}))

    assert snapshot.files() == ("a.py", "new.py", "no.py", "sub/b.py")
    assert snapshot.head(".env") is snapshot.base(".env") is None
    assert snapshot.base("sub/b.py") == "word\n"
    assert [each.path for each in snapshot.search("word", 9) or ()] == ["a.py", "new.py", "sub/b.py"]
    assert dict(snapshot.contents([".env", "a.py", "sub/b.py", "no.py"])) == {"a.py": b"word\n", "sub/b.py": b"word\n"}
    assert snapshot.base_file(".env") == "word=secret\n"  # our own settings need not be tracked


def test_without_git_all_files_of_a_folder_are_listed_in_the_order_of_their_names(folder: Callable[..., Path]) -> None:
    snapshot = TreeSnapshot.open(folder(a_py="old\n", gone_py="word\n", b__c_py="x\n"), parse_diff(CHANGE.encode()))

    assert snapshot.files() == ("a.py", "b/c.py", "new.py")
