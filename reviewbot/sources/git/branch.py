"""What the branch that is checked out has beyond its upstream, or beyond the default branch.

`parse_range` reads the notation of a range of commits; git resolves the names of revisions in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from reviewbot.domain.errors import InputError
from reviewbot.sources.git.process import GitResult

Run = Callable[..., GitResult]
"""Runs one git command."""

_REMOTES, _HEADS = "refs/remotes/", "refs/heads/"
_USUAL = ("main", "master")
_OTHERWISE = (
    "--git HEAD reviews the last commit, --git RANGE others, --staged what is staged, "
    "and `git diff | reviewbot review -` what is not"
)

HEAD = "HEAD"


class BranchRange(NamedTuple):
    """The commits of a branch that its base lacks."""

    text: str
    """As `GitRepository.range_diff` takes it."""
    branch: str
    """Its name; "HEAD" where no branch is checked out."""
    base: str
    """The name of what it is compared with, such as "origin/main"."""
    commits: int


def find_branch_range(names: Run, objects: Run) -> BranchRange:
    """Look for the base of the branch that is checked out.

    That is its upstream. Where this is the same branch on a remote, everything that would be merged is asked for, so
    that the default branch comes first; else the default branch is taken where there is no upstream, or nothing more
    than it has.

    Args:
        names: git on the repository itself, which looks names up.
        objects: git on its objects alone, which counts commits.

    Raises:
        InputError: there is no commit, nothing to compare with, or nothing beyond it.
    """
    head = names("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    if head.code:
        raise InputError("nothing is committed here yet; --staged reviews what is staged")
    branch = _line(names("symbolic-ref", "--quiet", "HEAD"))
    short = branch.removeprefix(_HEADS) or "HEAD"
    candidates = list(_bases(names, branch))
    bases = list(dict.fromkeys(base for base in candidates if base != branch))
    for base in bases:
        found = names("rev-parse", "--verify", "--quiet", f"{base}^{{commit}}")
        count = objects("rev-list", "--count", f"{found.line}..{head.line}") if found.code == 0 else found
        if count.code == 0 and count.line not in ("", "0"):
            return BranchRange(f"{base}...HEAD", short, _short(base), int(count.line))
    if candidates and not bases:
        raise InputError(f"{short} is the default branch and has no upstream to compare it with; {_OTHERWISE}")
    if not bases:
        raise InputError(f"{short} has no upstream, and there is no default branch to compare it with; {_OTHERWISE}")
    raise InputError(f"{short} has no commit that {_short(bases[0])} lacks; {_OTHERWISE}")


def _bases(names: Run, branch: str) -> Iterator[str]:
    """Full names of what the branch may be compared with, the best first."""
    upstream = _line(names("rev-parse", "--symbolic-full-name", "--verify", "--quiet", "@{upstream}")) if branch else ""
    default = _default_branch(names)
    own = upstream.startswith(_REMOTES) and _short(upstream).partition("/")[2] == branch.removeprefix(_HEADS)
    yield from filter(None, (default, upstream) if own else (upstream, default))


def _default_branch(names: Run) -> str:
    """Where a remote's HEAD points, of "origin" before others; else the usual names, on a remote before here."""
    heads = names("for-each-ref", "--format=%(refname) %(symref)", f"{_REMOTES}*/HEAD").line
    pairs = dict(line.split(" ", 1) for line in heads.split("\n") if " refs/" in line)
    if pairs:
        return pairs.get(f"{_REMOTES}origin/HEAD") or next(iter(pairs.values()))
    usual = [f"{place}{name}" for place in (f"{_REMOTES}origin/", _HEADS) for name in _USUAL]
    return next((ref for ref in usual if names("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").code == 0), "")


def _line(found: GitResult) -> str:
    return found.line if found.code == 0 and found.line.startswith("refs/") else ""


def _short(ref: str) -> str:
    return ref.removeprefix(_REMOTES).removeprefix(_HEADS)


class Range(NamedTuple):
    """The two ends. `base` is None for a single revision; then its first parent is meant."""

    base: str | None
    head: str
    from_merge_base: bool = False


def parse_range(text: str) -> Range:
    """Take `A..B`, `A...B` or `A` apart. Raises InputError for a text that no revision can be."""
    dots = next((dots for dots in ("...", "..") if dots in text), None)
    if dots is None:
        return Range(None, _checked(text, text))
    base, _, head = text.partition(dots)
    return Range(_checked(base or HEAD, text), _checked(head or HEAD, text), from_merge_base=dots == "...")


def _checked(name: str, text: str) -> str:
    if not name.strip() or name.startswith(("-", ".")) or not name.isprintable():
        raise InputError(f"{ascii(text)[:100]} is no range of commits; write A..B, A...B or one commit")
    return name
