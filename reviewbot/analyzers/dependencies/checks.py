"""Judge a dependency by what its manifest says: its name, where it comes from, and what the lock file has of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice

from reviewbot.analyzers.dependencies.manifests import Dependency
from reviewbot.tables import packaged_table

MIN_NAME = 5
"""Characters. A shorter popular name has too many neighbours."""

MAX_KNOWN = 40
"""Other packages of a manifest that are looked for in its lock file."""

_WORKSPACES = frozenset({"npm", "cargo"})
"""Ecosystems in which one lock file may be for manifests of several folders."""

_LOCAL = re.compile(
    r"^(?:workspace|file|link|portal|catalog|patch|npm|jsr|\.{0,2}/)[:/]?|\bpath\b|\bworkspace\b|replace|\$ref"
)
_PLAIN = re.compile(r"\bhttp://(?!localhost|127\.)|\bgit://(?!localhost)")
_FROM_GIT = re.compile(
    r"git\+|\bgit://|\.git\b|^(?:github|gitlab|bitbucket):|^[\w.-]+/[\w.-]+(?:#.*)?$|\b(?:git|github)[\"']?\s?(?::|=>)\s?[\"']"
)
_FIXED = re.compile(
    r"\b(?:rev|ref|tag|commit)[\"']?\s?(?::|=>|=)\s?[\"']|[#@][0-9a-f]{7,40}\b|[#@](?:semver:|v?\d)|tags/|/archive/|@[\w.-]*\d+\.\d+"
)


def lies_elsewhere(dependency: Dependency) -> bool:
    """Whether a package comes from the tree itself, under another name, or is replaced."""
    return _LOCAL.search(dependency.spec) is not None


def is_fetched_in_the_clear(dependency: Dependency) -> bool:
    """Whether an attacker on the network can put another package in its place."""
    return _PLAIN.search(dependency.spec) is not None


def follows_a_branch(dependency: Dependency) -> bool:
    """Whether it is whatever stands on a branch of a repository when it is fetched."""
    return _FROM_GIT.search(dependency.spec) is not None and _FIXED.search(dependency.spec) is None


def imitated(ecosystem: str, name: str) -> str:
    """The popular package whose name is one edit away from this one, which is not known itself; empty for none."""
    plain = _normal(name)
    popular, known = _known_names(ecosystem)
    if plain in popular or plain in known:
        return ""
    return next((said for each, said in popular.items() if len(each) >= MIN_NAME and is_one_edit(each, plain)), "")


@cache
def _known_names(ecosystem: str) -> tuple[dict[str, str], frozenset[str]]:
    table = packaged_table("dependencies")
    popular, known = (table[key][ecosystem].split() for key in ("popular", "known"))
    return {_normal(each): each for each in popular}, frozenset(map(_normal, known))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.lower())


def is_one_edit(one: str, other: str) -> bool:
    """Whether one character is put in, left out or replaced, or two beside each other are swapped."""
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    start = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    a, b = one[start:], other[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[:2] == b[:2][::-1] and a[2:] == b[2:])


def unlocked_in(
    ecosystem: str,
    dependency: Dependency,
    known: Iterable[Dependency],
    path: str,
    text_of: Callable[[str], str | None],
) -> str:
    """The lock file of a manifest that does not have a new package; empty where one does, or there is none.

    `known` are the other packages of the manifest: a lock file that lacks one of them is not that of this manifest.
    """
    if lies_elsewhere(dependency):
        return ""
    names = packaged_table("dependencies")["locks"][ecosystem]
    # Of a workspace the lock file may lie above, and an old one beside the manifest.
    beside = f"{path.rpartition('/')[0]}/".lstrip("/")
    folders = _folders_above(path) if ecosystem in _WORKSPACES else [beside]
    locks = {lock: text_of(lock) for folder in folders for name in names for lock in [f"{folder}{name}"]}
    texts = {lock: text for lock, text in locks.items() if text is not None}
    whole = "\n".join(texts.values())
    others = [each for each in islice(known, MAX_KNOWN) if not lies_elsewhere(each)]
    if not others or _is_in(ecosystem, dependency, whole):
        return ""
    return next(iter(texts), "") if all(_is_in(ecosystem, each, whole) for each in others) else ""


def locked_as_before(
    ecosystem: str, before: Dependency, now: Dependency, path: str, text_of: Callable[[str], str | None]
) -> str:
    """The one lock file that asks for a package as its manifest did, and not as that does now; empty for none."""
    if lies_elsewhere(before) or lies_elsewhere(now) or not before.spec or not now.spec:
        return ""
    tables = packaged_table("dependencies")
    folders = _folders_above(path) if ecosystem in _WORKSPACES else [f"{path.rpartition('/')[0]}/".lstrip("/")]
    places = [(f"{folder}{name}", name) for folder in folders for name in tables["locks"][ecosystem]]
    locks = [(place, name, text) for place, name in places if (text := text_of(place)) is not None]
    if len(locks) != 1 or locks[0][1] not in tables["asked"]:
        return ""
    place, name, text = locks[0]
    old, new = (_asks_for(tables["asked"][name], each, text) for each in (before, now))
    # A release gives packages of the tree itself new versions, without a lock file.
    return place if old and not new and not _asks_for(tables["asked"]["own"], now, text) else ""


def _asks_for(pattern: str, dependency: Dependency, lock: str) -> bool:
    spec = dependency.spec.split("//")[0].strip() if dependency.spec.startswith("v") else dependency.spec
    wanted = pattern.replace("NAME", re.escape(dependency.name)).replace("SPEC", re.escape(spec))
    return re.search(wanted, lock) is not None


def _is_in(ecosystem: str, dependency: Dependency, lock: str) -> bool:
    version = dependency.spec.split()[:1] if ecosystem == "go" else []
    # Registries take one of these marks for another; the lock file may be written with any.
    spelled = r"\s".join(re.sub(r"\\?[-_.]", "[-_.]", re.escape(each)) for each in (dependency.name, *version))
    return re.search(rf"(?<![\w.-]){spelled}(?![\w-])", lock, re.IGNORECASE) is not None


def _folders_above(path: str) -> Iterator[str]:
    folder = path.rpartition("/")[0]
    while folder:
        yield f"{folder}/"
        folder = folder.rpartition("/")[0]
    yield ""
