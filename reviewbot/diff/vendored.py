"""Tell by its path and its text whether a file was copied from another project or written by a program.

All of this comes from the author of a change. So no file is spared a review for it: such files are read last, and what
rules of logic, performance and style say of them is held back. The signs stand in `data/names/vendored.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import pairwise

from reviewbot.tables import packaged_table, pattern_in, words_in

MARKER_LINES = 5
"""A generator writes its marker at the top of a file; further down the words are prose."""
MARKER_WIDTH = 300
"""Columns of a line in which the marker is looked for."""
HEAD_LINES = 40
"""Of a file, in which libraries say what they are."""
PACKED_CHARS = 200
PACKED_SPACES = 0.05
"""A line of so many characters with a smaller share of spaces was written by a minifier, or holds data."""

_MINIFIED_CHARS, _CHARS_A_MARK = 500, 50
"""A line of so many characters is packed code where a `;` or `{` stands in each fifty of them."""
_RELEASE = re.compile(r"[a-z]{2,40}-v?\d+\.\d+\.\d+", re.IGNORECASE)
"""A folder as an archive of a release unpacks to."""
_OWN_VERSIONS = re.compile(r"api|release|version|migrat|schema|upgrade|update", re.IGNORECASE)
_VERSION = re.compile(r"[-_.]?v?\d+(?:\.\d+)*(?:[-_.]?(?:min|full|custom|all))?$")
_SCRIPTS = (".js", ".mjs", ".cjs")


def copy_sign(path: str, top: Sequence[str]) -> str | None:
    """Why a file looks copied or made by a program, or None; `top` are its first lines, as far as known."""
    if sign := _sign_of_path(path):
        return sign
    marker = pattern_in("names/vendored", "marker")
    if any(marker.search(line[:MARKER_WIDTH]) for line in top[:MARKER_LINES]):
        return "it says so in its first lines"
    if any(_is_minified(line) for line in top[:HEAD_LINES]):
        return "a minifier wrote its first lines"
    return _sign_of_head("\n".join(line[:MARKER_WIDTH] for line in top[:HEAD_LINES]))


def is_packed(line: str) -> bool:
    """Whether a line was written by a minifier: long, and with next to no spaces."""
    return len(line) >= PACKED_CHARS and line.count(" ") < PACKED_SPACES * len(line)


def _is_minified(line: str) -> bool:
    """Whether a line is packed code, and not a long text or data."""
    marks = line.count(";") + line.count("{") if len(line) >= _MINIFIED_CHARS else 0
    return marks * _CHARS_A_MARK >= len(line) > 0 and is_packed(line)


def _sign_of_path(path: str) -> str | None:
    *folders, name = path.split("/")
    copies = words_in("names/vendored", "folders")
    if folder := next((each for each in folders if each.lower() in copies), None):
        return f"vendored, below {folder}/"
    if any(fnmatchcase(name, glob) for glob in packaged_table("names/vendored")["generated"]):
        return "by its name"
    if folder := next((each for each in folders if _is_library(each)), None):
        return f"a library, below {folder}/"
    if folder := next((each for each in folders if _RELEASE.fullmatch(each) and not _OWN_VERSIONS.search(each)), None):
        return f"an unpacked release, below {folder}/"
    stem, dot, ending = name.rpartition(".")
    if ending == "py" and (package := _python_package(folders, stem)):
        return f"a copy of the package {package}"
    if f"{dot}{ending}" in _SCRIPTS and (_is_library(stem) or stem.startswith(("jquery.", "jquery-"))):
        return "a library by its name"
    return None


def _python_package(folders: Sequence[str], stem: str) -> str | None:
    """The known package or module that stands right below a folder for libraries."""
    holders, packages = words_in("names/vendored", "library_folders"), words_in("names/vendored", "python_packages")
    for holder, package in pairwise(folders):
        if holder.lower() in holders and package.lower() in packages:
            return package
    held = bool(folders) and folders[-1].lower() in holders
    return stem if held and stem.lower() in words_in("names/vendored", "python_modules") else None


def _is_library(name: str) -> bool:
    return _VERSION.sub("", name.lower()) in words_in("names/vendored", "libraries")


def _sign_of_head(head: str) -> str | None:
    titled = pattern_in("names/vendored", "titled").search(head)
    if (
        (titled and pattern_in("names/vendored", "licence").search(head))
        or pattern_in("names/vendored", "banner").search(head)
        or pattern_in("names/vendored", "publishers").search(head)
    ):
        return "its head is that of a published library"
    return "a bundler wrote it" if pattern_in("names/vendored", "bundled").search(head) else None
