"""The folder with the files of repositories: what is kept, by whom, and for how long."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from reviewbot.domain.repository_files import MAX_FILE_BYTES
from reviewbot.sources.blobs import segment
from reviewbot.sources.blobs.segment import ROWS_PER_TURN, hash_of
from reviewbot.sources.blobs.store import MAX_AGE_S, MAX_SEGMENTS, BlobFolder, BlobStore, BusyError
from reviewbot.threads import in_thread


def sha(content: bytes, algorithm: str = "sha1") -> str:
    return hashlib.new(algorithm, b"blob %d\0" % len(content) + content).hexdigest()


def add(folder: BlobFolder, *contents: bytes, seconds: float = 1.0) -> set[str]:
    wanted = [sha(content) for content in contents]
    with folder.adding(wanted, seconds) as addition:
        for content in contents:
            addition.keep(content)
    return addition.left


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "trees")


def test_what_was_added_is_read_by_its_hash_also_by_another_process(store: BlobStore, tmp_path: Path) -> None:
    files = [b"", b"one\n", b"\0binary", b"x" * 100_000]
    assert add(store.repository("api", 1), *files) == set()

    again = BlobStore(tmp_path / "trees").repository("api", 1)
    assert [again.read(sha(content)) for content in files] == files
    assert again.missing([*map(sha, files), "0" * 40]) == {"0" * 40}
    assert again.read("f" * 40) is None
    assert again.read("f" * 64) is None


def test_repositories_do_not_see_each_others_files(store: BlobStore) -> None:
    add(store.repository("api", 1), b"secret")

    assert store.repository("api", 2).read(sha(b"secret")) is None
    assert store.repository("other", 1).read(sha(b"secret")) is None


def test_only_what_is_wanted_is_kept_and_only_its_hash_says_so(store: BlobStore) -> None:
    folder = store.repository(1)
    with folder.adding([sha(b"wanted"), sha(b"x" * (MAX_FILE_BYTES + 1))], 1) as addition:
        assert not addition.keep(b"other")
        assert not addition.keep(b"x" * (MAX_FILE_BYTES + 1))
        assert addition.keep(b"wanted")
        assert not addition.keep(b"wanted")
        assert addition.left == {sha(b"x" * (MAX_FILE_BYTES + 1))}
    assert folder.read(sha(b"wanted")) == b"wanted"
    assert folder.read(sha(b"other")) is None


def test_longer_hashes_are_those_of_sha_256(store: BlobStore) -> None:
    name = sha(b"content", "sha256")
    assert hash_of(b"content", [name]) == name
    folder = store.repository(1)
    with folder.adding([name], 1) as addition:
        assert addition.keep(b"content")
    assert folder.read(name) == b"content"


def test_an_addition_that_breaks_off_keeps_what_it_has(store: BlobStore) -> None:
    folder = store.repository(1)
    wanted = [sha(b"one"), sha(b"two")]

    def break_off() -> None:
        with folder.adding(wanted, 1) as addition:
            addition.keep(b"one")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        break_off()
    assert store.repository(1).missing(wanted) == {sha(b"two")}


def test_nothing_added_leaves_nothing_behind(store: BlobStore, tmp_path: Path) -> None:
    assert add(store.repository(1)) == set()

    assert [path.name for path in (tmp_path / "trees").rglob("*") if path.is_file()] == ["lock"]


def test_a_second_one_waits_and_finds_what_the_first_has_added(store: BlobStore) -> None:
    first, second = store.repository(1), store.repository(1)
    asked: list[set[str]] = []

    def one(folder: BlobFolder) -> None:
        with folder.adding([sha(b"one")], 60) as addition:
            asked.append(set(addition.left))
            time.sleep(0.02)
            addition.keep(b"one")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, (first, second)))

    assert asked == [{sha(b"one")}, set()]
    assert first.read(sha(b"one")) == second.read(sha(b"one")) == b"one"


def test_who_waits_too_long_is_told_that_another_one_is_at_it(store: BlobStore) -> None:
    with store.repository(1).adding([], 1), pytest.raises(BusyError, match="another review is fetching"):
        add(store.repository(1), b"x", seconds=0)


def test_another_process_that_holds_a_repository_is_waited_for(store: BlobStore, tmp_path: Path) -> None:
    store.repository(1)
    code = (
        "import sys, time; from pathlib import Path; from reviewbot.sources.blobs.store import BlobStore\n"
        "with BlobStore(Path(sys.argv[1])).repository(1).adding([], 1):\n print(flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "trees")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout
        child.stdout.readline()
        with pytest.raises(BusyError):
            add(store.repository(1), b"x", seconds=0)
        child.kill()
    assert add(store.repository(1), b"x", seconds=60) == set()


def test_many_small_additions_are_joined_and_what_is_not_wanted_any_more_goes(store: BlobStore, tmp_path: Path) -> None:
    folder = store.repository(1)
    reader = store.repository(1)
    add(reader, b"old")
    for number in range(MAX_SEGMENTS):
        add(folder, b"%d" % number)

    assert len(list((tmp_path / "trees").rglob("*.sqlite"))) == 1
    assert folder.missing([sha(b"%d" % (MAX_SEGMENTS - 1))]) == set()
    assert folder.read(sha(b"old")) is None
    assert reader.read(sha(b"old")) == b"old"  # it has it open


def test_the_repository_that_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "trees", max_bytes=2_500_000)
    for number in range(3):
        add(store.repository(number), bytes([number]) * 1_000_000)
        for lock in (tmp_path / "trees").glob("*/lock"):
            os.utime(lock, (lock.stat().st_mtime - 10, lock.stat().st_mtime - 10))
    gone = [number for number in range(3) if store.repository(number).missing([sha(bytes([number]) * 1_000_000)])]

    assert gone == [0]


def test_a_repository_that_nobody_used_for_a_week_goes(store: BlobStore, tmp_path: Path) -> None:
    add(store.repository("old"), b"old")
    for lock in (tmp_path / "trees").glob("*/lock"):
        os.utime(lock, (lock.stat().st_mtime - MAX_AGE_S - 9,) * 2)
    add(store.repository("new"), b"new")

    assert len(list((tmp_path / "trees").iterdir())) == 1
    assert store.repository("new").read(sha(b"new")) == b"new"


def test_a_repository_that_is_being_added_to_is_never_removed(tmp_path: Path) -> None:
    store = BlobStore(tmp_path / "trees", max_bytes=5_000)
    held = store.repository("held")
    with held.adding([sha(b"h" * 4_000)], 1) as addition:
        addition.keep(b"h" * 4_000)
        add(store.repository("other"), b"o" * 4_000)

        assert len(list((tmp_path / "trees").iterdir())) == 2

    assert held.read(sha(b"h" * 4_000)) is not None


def test_a_repository_that_was_removed_meanwhile_is_begun_anew(store: BlobStore, tmp_path: Path) -> None:
    folder = store.repository(1)
    add(folder, b"one")
    [inner] = (tmp_path / "trees").iterdir()
    for path in inner.iterdir():
        path.unlink()
    inner.rmdir()

    assert folder.read(sha(b"one")) == b"one"
    assert add(folder, b"two") == set()
    assert folder.missing([sha(b"one")]) == {sha(b"one")}


def test_only_we_may_enter_the_folders(store: BlobStore, tmp_path: Path) -> None:
    (tmp_path / "trees").chmod(0o755)
    BlobStore(tmp_path / "trees")
    add(store.repository(1), b"x")

    root = tmp_path / "trees"
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in (root, *root.iterdir())} == {0}


def test_a_link_or_the_folder_of_another_user_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(OSError, match="not a folder of our own"):
        BlobStore(tmp_path / "link")
    if os.geteuid() == 0:
        os.chown(tmp_path / "real", 12_345, 12_345)
        with pytest.raises(OSError, match="not a folder of our own"):
            BlobStore(tmp_path / "real")


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 500])
def test_a_damaged_segment_is_removed_and_fetched_again(store: BlobStore, tmp_path: Path, damage: bytes) -> None:
    add(store.repository(1), b"one")
    [path] = (tmp_path / "trees").rglob("*.sqlite")
    path.write_bytes(damage)

    folder = store.repository(1)
    assert folder.missing([sha(b"one")]) == {sha(b"one")}
    assert not path.exists()
    assert add(folder, b"one") == set()


def test_a_file_that_was_altered_on_the_disk_is_not_handed_out(store: BlobStore, tmp_path: Path) -> None:
    add(store.repository(1), b"the right content", b"another file")
    [path] = (tmp_path / "trees").rglob("*.sqlite")
    path.write_bytes(path.read_bytes().replace(b"the right content", b"the wrong content"))

    folder = store.repository(1)
    assert folder.read(sha(b"the right content")) is None
    assert folder.read(sha(b"another file")) == b"another file"


def test_a_segment_that_is_cut_short_while_it_is_open_gives_nothing(store: BlobStore, tmp_path: Path) -> None:
    folder = store.repository(1)
    add(folder, b"x" * 1_000)
    [path] = (tmp_path / "trees").rglob("*.sqlite")
    os.truncate(path, 10)

    assert folder.read(sha(b"x" * 1_000)) is None


class CountingExpression:
    """An expression that every file matches; `at_first` runs as the first one is looked at."""

    def __init__(self, at_first: Callable[[], object] = lambda: None) -> None:
        self.files = 0
        self._at_first = at_first

    def search(self, content: bytes, start: int = 0) -> re.Match[bytes] | None:
        del start
        self.files += 1
        if self.files == 1:
            self._at_first()
        return re.search(b"", content)


@pytest.fixture
def large(store: BlobStore) -> tuple[BlobFolder, set[str]]:
    """A folder with a segment that is read in three turns, and the hashes of its files."""
    contents = [b"%d" % number for number in range(2 * ROWS_PER_TURN + 1)]
    folder = store.repository(1)
    add(folder, *contents)
    return folder, set(map(sha, contents))


def test_a_second_scan_goes_through_while_a_first_one_is_half_way(large: tuple[BlobFolder, set[str]]) -> None:
    folder, wanted = large
    first, second = CountingExpression(), CountingExpression()
    scan = folder.scan(first, wanted, crlf=False)
    found = {next(scan)}

    assert first.files == ROWS_PER_TURN
    assert set(folder.scan(second, wanted, crlf=False)) == wanted
    assert folder.read(sha(b"1")) == b"1"
    assert first.files == ROWS_PER_TURN
    assert found | set(scan) == wanted


def test_a_thread_that_waits_reads_before_the_one_that_scans_goes_on(large: tuple[BlobFolder, set[str]]) -> None:
    folder, wanted = large
    seen: list[int] = []
    second = CountingExpression(lambda: seen.append(first.files))

    def scan_beside() -> None:
        pool.submit(lambda: list(folder.scan(second, wanted, crlf=False)))
        while not segment._NEXT.locked():
            time.sleep(0.001)

    first = CountingExpression(scan_beside)
    with ThreadPoolExecutor() as pool:
        assert set(folder.scan(first, wanted, crlf=False)) == wanted
    assert seen == [ROWS_PER_TURN]


def test_a_scan_whose_hits_are_not_wanted_any_more_ends_with_its_turn(large: tuple[BlobFolder, set[str]]) -> None:
    folder, wanted = large
    begun, go_on, ended = Event(), Event(), Event()

    def wait() -> None:
        begun.set()
        go_on.wait()

    expression = CountingExpression(wait)

    def scan() -> None:
        try:
            list(folder.scan(expression, wanted, crlf=False))
        finally:
            ended.set()

    async def cancel() -> None:
        task = asyncio.create_task(in_thread(scan))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()
        await asyncio.to_thread(ended.wait)

    asyncio.run(cancel())
    assert expression.files == ROWS_PER_TURN


def test_a_segment_of_another_user_is_not_read(store: BlobStore, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make one")
    add(store.repository(1), b"one")
    [path] = (tmp_path / "trees").rglob("*.sqlite")
    os.chown(path, 12_345, 12_345)

    assert store.repository(1).read(sha(b"one")) is None


def test_what_a_killed_process_left_is_removed(store: BlobStore, tmp_path: Path) -> None:
    store.repository(1)
    [inner] = (tmp_path / "trees").iterdir()
    (inner / "left.part").write_bytes(b"half")
    (inner / "of_an_older_version.blobs").write_bytes(b"x")
    add(store.repository(1), b"one")

    assert sorted(path.suffix for path in inner.iterdir()) == ["", ".sqlite"]


def test_more_than_the_folder_may_hold_is_refused_before_it_is_fetched(tmp_path: Path) -> None:
    folder = BlobStore(tmp_path / "trees", max_bytes=1_000).repository(1)
    folder.check_space(1_000)

    with pytest.raises(OSError, match="too much for"):
        folder.check_space(1_001)
    with pytest.raises(OSError, match="too much for"):
        BlobStore(tmp_path / "trees", max_bytes=2**62).check_space(2**61)
