"""Archives of commits, hostile ones among them: only the bytes of regular files come out, within bounds."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.errors import HostError, HostMissingError
from reviewbot.domain.repository_files import MAX_FILE_BYTES
from reviewbot.hosts.github.client import GithubClient
from reviewbot.hosts.github.files.archive import ArchiveError, files_of, is_known, read_archive
from tests.github_api import FakeGitHub
from tests.github_api.routes import Reply


def packed(*members: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=form) as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def member(name: str, content: bytes = b"", **fields: Any) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, content


def pieces(data: bytes, size: int = 1_000) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def test_the_contents_of_regular_files_come_out_in_order() -> None:
    data = packed(member("r/a.py", b"one"), member("r/b", b"x" * 70_000), member("r/empty"), member("r/c", b"y" * 512))

    assert list(files_of(pieces(data, 7))) == [b"one", b"x" * 70_000, b"", b"y" * 512]


def test_names_are_never_looked_at_and_nothing_is_followed() -> None:
    data = packed(
        member("../../etc/passwd", b"1"),
        member("/etc/shadow", b"2"),
        member("a\0b", b"3"),
        member("n" * 3_000, b"4", pax_headers={"comment": "c" * 10_000}),
        member("link", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        member("hard", type=tarfile.LNKTYPE, linkname="../x"),
        member("device", type=tarfile.CHRTYPE),
        member("pipe", type=tarfile.FIFOTYPE),
        member("folder", type=tarfile.DIRTYPE),
        member("last", b"5"),
    )

    assert list(files_of(iter([data]))) == [b"1", b"2", b"3", b"4", b"5"]


def test_long_names_of_an_older_form_are_passed_over() -> None:
    data = packed(member("n" * 400, b"1"), member("m", b"2"), form=tarfile.GNU_FORMAT)

    assert list(files_of(iter([data]))) == [b"1", b"2"]


def test_files_that_are_too_large_are_passed_over() -> None:
    data = packed(member("big", b"x" * (MAX_FILE_BYTES + 1)), member("small", b"1"))

    assert list(files_of(pieces(data))) == [b"1"]


def test_a_size_beyond_octal_digits_is_read(tmp_path: Any) -> None:
    header = bytearray(tarfile.TarInfo("a").tobuf())
    header[124:136] = b"\x80" + (3).to_bytes(11, "big")
    data = gzip.compress(bytes(header) + b"abc".ljust(512, b"\0") + b"\0" * 1_024)

    assert list(files_of(iter([data]))) == [b"abc"]


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.6, 0.9])
def test_an_archive_that_ends_in_the_middle_is_refused(keep: float) -> None:
    data = packed(*(member(f"f{number}", bytes([number]) * 5_000) for number in range(40)))

    with pytest.raises(ArchiveError, match="ends in the middle"):
        list(files_of(pieces(data[: int(len(data) * keep)])))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"x" * 2_000, "no tar file"),
        (b"", "ends in the middle"),
        (b"x", "ends in the middle"),
    ],
    ids=["text", "nothing", "one byte"],
)
def test_what_is_no_archive_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(ArchiveError, match=why):
        list(files_of(iter([gzip.compress(data)])))
    with pytest.raises(ArchiveError, match="not packed as gzip"):
        list(files_of(iter([b"PK\3\4" + data])))


class Zeros:
    """A gzip stream of zeros without end, in bounded memory: a bomb."""

    def __init__(self, header: bytes) -> None:
        self._packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
        self._first = self._packer.compress(header)
        self.given = 0

    def __iter__(self) -> Iterator[bytes]:
        yield self._first
        while True:
            piece = self._packer.compress(b"\0" * 2**20) + self._packer.flush(zlib.Z_SYNC_FLUSH)
            self.given += len(piece)
            yield piece


@pytest.mark.slow
def test_a_bomb_is_stopped_at_a_bound_and_held_in_little_memory() -> None:
    header = bytearray(tarfile.TarInfo("bomb").tobuf())
    header[124:136] = b"\x80" + (2**60).to_bytes(11, "big")
    bomb = Zeros(bytes(header))

    with pytest.raises(ArchiveError, match="unpacks to more than 64 MiB"):
        list(files_of(iter(bomb), max_bytes=2**26))

    assert bomb.given < 2**20


def test_entries_without_end_are_stopped() -> None:
    header = tarfile.TarInfo("a").tobuf()

    with pytest.raises(ArchiveError, match="more than 3 entries"):
        list(files_of(iter([gzip.compress(header * 9)]), max_entries=3))


@given(st.binary(max_size=3_000), st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data: bytes, tail: bytes) -> None:
    for content in (data, gzip.compress(data), packed(member("a", b"x" * 600))[:-20] + tail):
        try:
            list(files_of(iter([content])))
        except ArchiveError:
            continue


@pytest.mark.parametrize(
    ("address", "api", "known"),
    [
        ("https://codeload.github.com/o/r/legacy.tar.gz/x", "https://api.github.com", True),
        ("https://api.github.com/x", "https://api.github.com", True),
        ("https://codeload.acme.ghe.com/x", "https://api.acme.ghe.com", True),
        ("https://ghe.example/_codeload/x", "https://ghe.example/api/v3", True),
        ("https://codeload.ghe.example/x", "https://ghe.example/api/v3", True),
        ("http://codeload.github.com/x", "https://api.github.com", False),
        ("https://codeload.github.com.evil.example/x", "https://api.github.com", False),
        ("https://codeload.github.com:8443/x", "https://api.github.com", False),
        ("https://codeload.github.com@evil.example/x", "https://api.github.com", False),
        ("https://evil.example/x", "https://ghe.example/api/v3", False),
        ("https://169.254.169.254/latest", "https://api.github.com", False),
        ("", "https://api.github.com", False),
        ("//evil.example", "https://api.github.com", False),
    ],
)
def test_archives_are_fetched_from_githubs_own_hosts_alone(address: str, api: str, known: bool) -> None:  # noqa: FBT001 - an expectation
    assert is_known(address, api) is known


def read(client: GithubClient, commit: str, left: Callable[[], float] = lambda: 60.0) -> list[bytes]:
    return list(read_archive(client, "acme/shop", commit, left))


def test_an_archive_is_fetched_without_the_token(github_api: FakeGitHub, client: GithubClient, shop: Any) -> None:
    head = shop.git("rev-parse", "HEAD")

    assert read(client, head) == [b"a shop\n", b"".join(b"line %d\n" % n for n in range(1, 41))]
    assert [path.split("/")[1] for path in github_api.paths("GET")] == ["repos", "_codeload"]
    github_api.check()


def test_a_redirect_to_another_host_is_not_followed(github_api: FakeGitHub, client: GithubClient, shop: Any) -> None:
    github_api.refuse("GET", "/tarball/", Reply(302, None, {"location": "https://evil.example/x"}))

    with pytest.raises(ArchiveError, match="a host that is not its own"):
        read(client, shop.git("rev-parse", "HEAD"))
    assert len(github_api.recorded) == 1


def test_a_redirect_that_leads_on_is_not_followed(github_api: FakeGitHub, client: GithubClient, shop: Any) -> None:
    github_api.refuse("GET", "/_codeload/", Reply(302, None, {"location": "https://evil.example/x"}))

    with pytest.raises(ArchiveError, match="the answer is 302"):
        read(client, shop.git("rev-parse", "HEAD"))


def test_an_answer_in_place_of_the_redirect_is_refused(github_api: FakeGitHub, client: GithubClient, shop: Any) -> None:
    github_api.refuse("GET", "/tarball/", Reply(200, {}))

    with pytest.raises(HostError, match="not with another address"):
        read(client, shop.git("rev-parse", "HEAD"))


def test_a_commit_that_github_does_not_know_is_said(client: GithubClient, shop: Any) -> None:
    with pytest.raises(HostMissingError):
        read(client, "0" * 40)


@pytest.mark.parametrize("reply", [Reply(500, {}), Reply(200, lost=True)])
def test_an_outage_of_the_other_host_is_said(
    github_api: FakeGitHub, client: GithubClient, shop: Any, reply: Reply
) -> None:
    github_api.refuse("GET", "/_codeload/", reply)

    with pytest.raises(ArchiveError, match="did not come"):
        read(client, shop.git("rev-parse", "HEAD"))


def test_no_time_left_ends_it(github_api: FakeGitHub, client: GithubClient, shop: Any) -> None:
    with pytest.raises(ArchiveError, match="no time left"):
        read(client, shop.git("rev-parse", "HEAD"), lambda: 0.0)
    ticks = iter([9.0, 0.0])
    with pytest.raises(ArchiveError, match="no time left"):
        read(client, shop.git("rev-parse", "HEAD"), lambda: next(ticks))
