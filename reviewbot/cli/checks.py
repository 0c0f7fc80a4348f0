"""Check that the options of a review can be carried out, before any work begins."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from reviewbot.domain.errors import InputError


def check_together(arguments: argparse.Namespace) -> None:
    """Refuse what does not go together, by name. Raises InputError."""
    given = [arguments.diff is not None, arguments.git is not None, arguments.staged, arguments.pr is not None]
    if sum(given) > 1:
        raise InputError("only one of DIFF, --git RANGE, --staged and --pr says what to review")
    named = (*(arguments.workers or ()), *(arguments.results or ()))
    taken = [name for name in named if name == "-" or name.endswith((".diff", ".patch"))]
    if not any(given) and taken:
        raise InputError(f"{taken[0]!r} was taken for a name behind --worker or --results; give DIFF before these")
    if arguments.pr is not None and (arguments.title is not None or arguments.description is not None):
        raise InputError("--title and --description do not go with --pr: a pull request has its own")
    if arguments.full and arguments.pr is None:
        raise InputError("--full needs --pr: of another change nothing is known that models have read before")
    if arguments.pr is not None and arguments.repo is not None:
        raise InputError("--repo does not go with --pr: all of a pull request is read from its host, and no folder")
    if getattr(arguments, "post", False):
        if arguments.pr is None:
            raise InputError("--post needs --pr OWNER/REPO#N: there is nowhere else to post to")
        if arguments.estimate:
            raise InputError("--estimate reviews nothing, so there is nothing to --post; give only one of them")


def check_places(arguments: argparse.Namespace) -> None:
    """Find out before the work, and not after it, that there is nowhere to put its result. Raises InputError."""
    if arguments.resume and arguments.no_cache:
        raise InputError("--resume needs the progress that --no-cache does not keep; give only one of them")
    places = [path for path in (arguments.output, arguments.trace) if path is not None]
    read = [Path(arguments.diff)] if arguments.diff not in (None, "-") else []
    for path in places:
        try:
            _check_place(path)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror}") from None
    if len(places) > 1 or (places and read):
        names = {os.path.realpath(str(path).replace("\0", "")) for path in (*places, *read)}
        if len(names) < len(places) + len(read):
            raise InputError("DIFF, --output and --trace must name different files")


def _check_place(path: Path) -> None:
    """In a checkout the author of a change may have put a link, or a pipe that never ends, where a report goes."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file")
    if path.is_symlink() or (path.exists() and not path.is_file() and not path.is_char_device()):
        raise InputError(f"{path} is a link or no regular file; give the name of another file")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise InputError(f"cannot write {path}: no such folder, or no permission")
