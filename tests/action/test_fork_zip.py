"""Tests of the archive: one regular file of the right name comes out of it, and nothing else ever does."""

from __future__ import annotations

import stat
import struct
import zipfile
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.action.artifact import FILE_NAME, MAX_BYTES
from reviewbot.action.artifact_zip import MAX_ZIP_BYTES, unpacked
from reviewbot.errors import ArtifactError
from tests.fork_cases import an_archive, an_entry, zipped

FREE = 64 * 1024


def refusal(data: bytes, most: int = MAX_BYTES) -> str:
    with pytest.raises(ArtifactError) as caught:
        unpacked(data, FILE_NAME, most)
    return str(caught.value)


def with_size(data: bytes, size: int) -> bytes:
    """The archive with another uncompressed size in its directory."""
    at = data.rindex(b"PK\x01\x02")
    return data[: at + 24] + struct.pack("<I", size) + data[at + 28 :]


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_only_file_comes_out(compression: int) -> None:
    assert unpacked(zipped((an_entry(compression=compression), b"{}")), FILE_NAME, 100) == b"{}"


def test_a_mode_of_no_kind_is_a_file() -> None:
    assert unpacked(zipped((an_entry(mode=0), b"{}")), FILE_NAME, 100) == b"{}"


@pytest.mark.parametrize(
    "name",
    [
        f"../{FILE_NAME}",
        f"/{FILE_NAME}",
        f"a/{FILE_NAME}",
        f"./{FILE_NAME}",
        f"..\\{FILE_NAME}",
        f"C:\\{FILE_NAME}",
        FILE_NAME.upper(),
        f"{FILE_NAME} ",
        ".git/hooks/pre-commit",
        "\u202ejson",
    ],
)
def test_any_other_name_is_refused(name: str) -> None:
    told = refusal(zipped((an_entry(name), b"{}")))
    assert told == "the file in its archive has another name than it should have"


def test_a_name_that_goes_on_behind_a_nul_is_refused() -> None:
    data = zipped((an_entry(f"{FILE_NAME}X.sh"), b"{}")).replace(b"X.sh", b"\0.sh")
    assert "another name" in refusal(data)


def test_a_folder_is_refused() -> None:
    assert "another name" in refusal(zipped((an_entry(f"{FILE_NAME}/"), b"")))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_a_link_and_every_other_kind_is_refused(kind: int) -> None:
    told = refusal(zipped((an_entry(mode=kind | 0o777), b"/proc/self/environ")))
    assert told == "the entry in its archive is a link or no regular file"


def test_several_entries_are_refused() -> None:
    assert "2 entries" in refusal(zipped((an_entry(), b"{}"), (an_entry("more.json"), b"{}")))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_name_twice_is_refused() -> None:
    assert "2 entries" in refusal(zipped((an_entry(), b"{}"), (an_entry(), b"[]")))


def test_no_entry_is_refused() -> None:
    assert refusal(zipped()) == "it is no zip archive"


def test_a_bomb_is_refused_before_it_is_inflated() -> None:
    told = refusal(zipped((an_entry(), b" " * (MAX_BYTES - 1))))
    assert told == "its file grows more than 200 times when it is unpacked"


@pytest.mark.parametrize(("size", "fits"), [(FREE, True), (FREE + 1, False)])
def test_a_small_file_may_compress_as_well_as_it_likes(size: int, *, fits: bool) -> None:
    data = zipped((an_entry(), b" " * size))

    if fits:
        assert len(unpacked(data, FILE_NAME, MAX_BYTES)) == size
    else:
        assert refusal(data) == "its file grows more than 200 times when it is unpacked"


def test_a_large_file_that_compresses_as_lists_do_comes_out() -> None:
    text = b"".join(b'{"path": "src/%d.py"}' % number for number in range(20_000))

    assert unpacked(zipped((an_entry(), text)), FILE_NAME, MAX_BYTES) == text


def test_an_archive_of_just_the_longest_length_is_read() -> None:
    text = random_bytes(MAX_ZIP_BYTES - len(zipped((an_entry(compression=zipfile.ZIP_STORED), b""))))
    data = zipped((an_entry(compression=zipfile.ZIP_STORED), text))

    assert len(data) == MAX_ZIP_BYTES
    assert unpacked(data, FILE_NAME, MAX_BYTES) == text


def random_bytes(count: int) -> bytes:
    """The same ones each time, which do not compress."""
    return Random(7).randbytes(count)


def test_a_file_that_says_that_it_is_larger_is_refused() -> None:
    assert refusal(zipped((an_entry(), b" " * (MAX_BYTES + 1)))) == "its file is larger than 2 MiB"


def test_a_file_that_lies_about_its_size_is_refused() -> None:
    data = with_size(zipped((an_entry(), b" " * 10_000_000)), 10)
    assert refusal(data) == "its zip archive is damaged"


def test_a_file_over_the_limit_is_refused() -> None:
    assert refusal(zipped((an_entry(), b"12345")), most=4) == "its file is larger than 0 MiB"


def test_too_large_an_archive_is_refused() -> None:
    assert refusal(b"PK\x03\x04" + b"x" * MAX_ZIP_BYTES) == "its archive is larger than 2 MiB"


@pytest.mark.parametrize("data", [b"", b"{}", b"MZ" + an_archive(), an_archive()[30:]])
def test_what_is_no_archive_from_its_first_byte_on_is_refused(data: bytes) -> None:
    assert refusal(data) == "it is no zip archive"


@pytest.mark.parametrize("cut", [5, 40, 100])
def test_a_torn_archive_is_refused(cut: int) -> None:
    assert refusal(an_archive()[:-cut]) == "its zip archive is damaged"


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_another_compression_is_refused(compression: int) -> None:
    assert "compressed in a way" in refusal(zipped((an_entry(compression=compression), b"{}")))


def test_an_encrypted_entry_is_refused() -> None:
    data = bytearray(an_archive())
    at = data.rindex(b"PK\x01\x02")
    data[at + 8] |= 1
    assert "encrypted" in refusal(bytes(data))


@given(st.binary(max_size=400))
def test_no_bytes_raise_another_error(data: bytes) -> None:
    with pytest.raises(ArtifactError):
        unpacked(b"PK\x03\x04" + data, FILE_NAME, 1_000)


@given(st.data())
def test_a_changed_byte_raises_no_other_error(data: st.DataObject) -> None:
    archive = bytearray(an_archive())
    for _ in range(data.draw(st.integers(1, 4))):
        archive[data.draw(st.integers(0, len(archive) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ArtifactError):
        assert len(unpacked(bytes(archive), FILE_NAME, MAX_BYTES)) <= MAX_BYTES
