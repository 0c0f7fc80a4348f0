"""Open the stores for files of repositories on this machine, and find files that a checkout has already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from reviewbot.domain.errors import ConfigError, InputError
from reviewbot.hosts.base import Workspace
from reviewbot.hosts.github.files.whole_tree import TreeStore
from reviewbot.sources.blobs.store import MAX_STORE_BYTES, BlobStore
from reviewbot.sources.git.repository import GitRepository

FOLDER, MEBIBYTES = "REVIEWBOT_CACHE_DIR", "REVIEWBOT_CACHE_MIB"
"""The operator's words for where they are kept, and how much of them."""

_HOMES = (
    ("REVIEWBOT_STATE_DIR", "trees"),
    ("XDG_CACHE_HOME", "reviewbot/trees"),
    ("HOME", ".cache/reviewbot/trees"),
)
"""Where they are kept else: below the first of these that is a folder."""

_STRANGE = 200
"""Files after which a checkout is taken for one of another repository where it had none of them."""

_MAX_MIB = 1_000_000


def store_opener(space: Workspace, *repository: object) -> Callable[[], TreeStore]:
    """A function that opens the store for the files of the repository that these words name; it raises OSError.

    Raises ConfigError.
    """
    max_bytes, checkout = _max_bytes(space.environ), space.checkout

    def open_place() -> TreeStore:
        try:
            store = BlobStore(_folder(space.environ, space.closing), max_bytes)
        except OSError:
            store = BlobStore(_temporary(space.closing), max_bytes)
        kept = store.repository(*repository)
        return TreeStore(kept) if checkout is None else TreeStore(kept, lambda wanted: checkout_files(checkout, wanted))

    return open_place


def _folder(environ: Mapping[str, str], closing: ExitStack) -> Path:
    """As the environment says, else a folder for this run alone."""
    if given := environ.get(FOLDER, ""):
        return Path(given).absolute()
    for variable, below in _HOMES:
        home = Path(environ.get(variable, ""))
        if home.is_absolute() and home.is_dir():
            return home / below
    return _temporary(closing)


def _temporary(closing: ExitStack) -> Path:
    return Path(closing.enter_context(TemporaryDirectory(prefix="reviewbot-trees-", ignore_cleanup_errors=True)))


def _max_bytes(environ: Mapping[str, str]) -> int:
    text = environ.get(MEBIBYTES, "")
    if not text:
        return MAX_STORE_BYTES
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= _MAX_MIB):
        raise ConfigError(f"{MEBIBYTES} must be a whole number from 1 to {_MAX_MIB:,}")
    return int(text) << 20


def checkout_files(checkout: Path, wanted: Iterable[str]) -> Iterator[bytes]:
    """Yield those of the files with these hashes that a checkout has in its git folder."""
    try:
        with GitRepository(checkout) as repository:
            found = 0
            for asked, sha in enumerate(wanted):
                content = repository.read_object(sha)
                if content is not None:
                    found += 1
                    yield content
                elif not found and asked > _STRANGE:
                    return
    except (InputError, OSError):
        return  # no checkout, or no git
