"""Where a repository keeps its parts, and the private git directory through which its objects are read.

The author of the repository chose what lies in its git directory: a link would hand on a file of this machine, a device
would fill the disk, and a pipe would wait for ever. So only regular files of bounded size are copied from it, opened
without following links or waiting.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from reviewbot.domain.errors import InputError

MAX_INDEX_BYTES = 512 * 1024 * 1024
"""Of an index and its shared parts together. The index of a million files has some hundred megabytes."""

MAX_SHALLOW_BYTES = 4 * 1024 * 1024
"""Of the list where history was cut off: sixty thousand commits."""

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_PIECE = 1024 * 1024
_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def copy_index(index: Path, beside: Path, copy: Path, private: Path) -> None:
    """Copy an index to a file, and the shared parts that lie in a folder into a private one.

    Raises:
        FileNotFoundError: there is no index.
        InputError: a part is no regular file, they are too large together, or one cannot be read or written.
    """
    try:
        left = MAX_INDEX_BYTES - _copied(index, copy, MAX_INDEX_BYTES)
        for shared in sorted(beside.glob("sharedindex.*")):
            left -= _copied(shared, private / shared.name, left)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(f"the index cannot be read: {error.strerror or type(error).__name__}") from None


def read_shallow(file: Path) -> bytes | None:
    """The commits where history was cut off, one on each line; None where it was not.

    A line that is no commit is left out: git would repeat it when it complains. Raises InputError.
    """
    try:
        descriptor = _opened(file)
        with os.fdopen(descriptor, "rb") as stream:
            data = stream.read(MAX_SHALLOW_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or type(error).__name__}") from None
    if len(data) > MAX_SHALLOW_BYTES:
        raise InputError(f"{file} is larger than {MAX_SHALLOW_BYTES >> 20} MiB; clone the repository again")
    return b"".join(line + b"\n" for line in data.split(b"\n") if _COMMIT.fullmatch(line))


def _copied(source: Path, target: Path, most: int) -> int:
    """Copy a file of at most so many bytes, and give how many they were."""
    with os.fdopen(_opened(source), "rb") as given, target.open("wb") as taken:
        size = 0
        while piece := given.read(_PIECE):
            size += len(piece)
            if size > most:
                raise InputError(f"the index is larger than {MAX_INDEX_BYTES >> 20} MiB; name a range instead")
            taken.write(piece)
    return size


def _opened(file: Path) -> int:
    """A descriptor of a regular file. Raises OSError."""
    # Asked first, for some devices do something when they are opened; and once more of what was opened.
    if stat.S_ISREG(file.lstat().st_mode):
        descriptor = os.open(file, _FLAGS)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
    raise OSError(errno.EINVAL, "it is no regular file")


_MAX_POINTER_BYTES = 8_192
"""Of a `.git` file or `commondir`: one path."""


@dataclass(frozen=True)
class GitLocation:
    """The git directory of a work tree, and the one that it shares objects with (the same but for linked ones)."""

    git_dir: Path
    common_dir: Path

    @property
    def objects(self) -> Path:
        """The object store."""
        return self.common_dir / "objects"

    @property
    def is_shallow(self) -> bool:
        """Whether history was cut off when it was cloned."""
        return (self.common_dir / "shallow").is_file()


def find_place(start: Path) -> GitLocation:
    """Look for the repository that holds a folder, upwards. Raises InputError where there is none.

    Git's own search would refuse a repository of another owner, which every container meets. That check protects from
    programs that a configuration names, and none of those can start here.
    """
    found = _search(start)
    if found is None:
        raise InputError(f"{start} is not inside a git repository; go into one, or hand in a diff")
    return found[1]


def find_work_tree(start: Path) -> tuple[str, GitLocation] | None:
    """The repository whose work tree holds a folder, and the way from its top to the folder.

    None where there is no such work tree. Raises InputError where the folders cannot be searched.
    """
    found = _search(start)
    if found is None or found[1].git_dir == found[0]:
        return None
    return os.path.relpath(_absolute(start), found[0]), found[1]


def _search(start: Path) -> tuple[Path, GitLocation] | None:
    """The nearest folder that is a git directory or has one."""
    folder = _absolute(start)
    try:
        if not folder.is_dir():
            raise InputError(f"{start} is no folder; name a folder inside a git repository")
        for candidate in (folder, *folder.parents):
            for git_dir in (_linked(candidate / ".git"), candidate):
                if place := _place_at(git_dir):
                    return candidate, place
    except OSError as error:
        raise InputError(f"{start} cannot be searched for a git repository: {error.strerror}") from None
    return None


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links, git's search does not


def make_private(folder: Path, place: GitLocation, object_format: str) -> Path:
    """Make a bare git directory in an empty folder. It sees the objects of a place, and nothing else of it.

    Raises InputError where the place says in no way of git's where its history was cut off.
    """
    private = folder / "git"
    (private / "refs").mkdir(parents=True)
    (private / "objects" / "info").mkdir(parents=True)
    (private / "HEAD").write_text("ref: refs/heads/none\n")
    config = "[core]\n\tbare = true\n\trepositoryformatversion = 1\n[extensions]\n"
    if object_format != "sha1":
        config += f"\tobjectFormat = {object_format}\n"
    (private / "config").write_text(config)
    (private / "objects" / "info" / "alternates").write_bytes(_c_quoted(os.fsencode(place.objects)) + b"\n")
    shallow = read_shallow(place.common_dir / "shallow")
    if shallow is not None:
        (private / "shallow").write_bytes(shallow)
    return private


def _linked(entry: Path) -> Path:
    """The git directory that a `.git` entry stands for: itself, or where the file points to."""
    if not entry.is_file():
        return entry
    text = _pointer(entry)
    return entry.parent / text.removeprefix("gitdir: ") if text.startswith("gitdir: ") else entry


def _place_at(git_dir: Path) -> GitLocation | None:
    if not (git_dir / "HEAD").is_file():
        return None
    link = git_dir / "commondir"
    common_dir = git_dir / _pointer(link) if link.is_file() else git_dir
    if not ((common_dir / "objects").is_dir() and (common_dir / "refs").is_dir()):
        return None
    return GitLocation(git_dir, common_dir)


def _pointer(file: Path) -> str:
    with file.open("rb") as stream:
        return os.fsdecode(stream.read(_MAX_POINTER_BYTES).rstrip(b"\r\n"))


def _c_quoted(path: bytes) -> bytes:
    """A path as the list of alternates takes it, whatever characters it holds."""
    for plain, escaped in ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n")):
        path = path.replace(plain, escaped)
    return b'"' + path + b'"'
