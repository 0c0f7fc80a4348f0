"""Map the name of a file to its language. The content is never looked at: tools decide by name, too."""

from __future__ import annotations

import re
from typing import Final

from reviewbot.domain.contracts import Kind
from reviewbot.tables import packaged_table

UNKNOWN: Final = "text"
"""A file whose name is unknown. It counts as code: what is unknown is looked at rather than skipped."""

_TABLE: Final = packaged_table("languages")
_SUFFIXES: Final[dict[str, str]] = {
    suffix: language for language, all_of in _TABLE["suffixes"].items() for suffix in all_of.split()
}

_NAMES: Final[dict[str, str]] = {
    name: language for language, all_of in _TABLE["names"].items() for name in all_of.split()
}

_REQUIREMENTS: Final = re.compile(
    r"(?:^|/)(?:[^/]{0,100}(?:requirements|constraints)[^/]{0,100}|requirements/[^/]{1,100})\.(?:txt|in)$"
)
"""Lists of packages to install; otherwise a name that ends like theirs is that of prose."""

WORKFLOW: Final = "workflow"
"""A program of GitHub Actions: YAML by its suffix, code by what it does."""

_WORKFLOW: Final = re.compile(r"(?:^|/)\.github/workflows/[^/]{1,200}\.ya?ml$")

_CONFIG: Final = frozenset(_TABLE["kinds"]["config"])
_PROSE: Final = frozenset(_TABLE["kinds"]["prose"])


def language_of(path: str) -> str:
    """Name the language of a file in lower case; "text" where its name is unknown."""
    name = path.rsplit("/", 1)[-1].lower()
    known = _NAMES.get(name)
    if known is not None:
        return known
    if _WORKFLOW.search(path.lower()):
        return WORKFLOW
    if _REQUIREMENTS.search(path.lower()):
        return "requirements"
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        return UNKNOWN
    # The template "a.blade.php" is no PHP.
    known = _SUFFIXES.get(f"{stem.rpartition('.')[2]}.{suffix}") or _SUFFIXES.get(suffix)
    if known is not None:
        return known
    # "Dockerfile.dev" and "Makefile.am" are of the kind that their first part says; "README.coffee" may be anything.
    language = _NAMES.get(stem, UNKNOWN)
    return UNKNOWN if language in _PROSE else language


def kind_of(language: str) -> Kind:
    """Tell what a language is for: code to run, configuration to obey, prose to read."""
    if language in _PROSE:
        return "prose"
    return "config" if language in _CONFIG else "code"
