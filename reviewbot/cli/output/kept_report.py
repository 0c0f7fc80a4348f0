"""Store reports of reviews without a model, so that the same review prints the same report and loads nothing else.

A report is found again by everything that it was made from: the program and what is installed beside it, the command
line, the environment, the user's settings file, the feedback of this machine, the folder, the width and colours of the
output, and the change: two commits and the state of the store that holds them, or the bytes of a diff that stands
alone. A folder beside a diff and an index have no name; what is reviewed there is reviewed each time.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from reviewbot.cli.reading import is_piped, read_diff
from reviewbot.cli.repository import find_repository
from reviewbot.config.providers import PROVIDERS
from reviewbot.config.user import read_user_file
from reviewbot.domain.errors import ConfigError
from reviewbot.fingerprint import digest_of, program_fingerprint
from reviewbot.journal.sqlite import SteadyJournal, default_path, read_entry
from reviewbot.report.terminal_style import style_of
from reviewbot.sources.git.repository import GitRepository

PREFIX = "review/"
"""How the keys begin."""

MAX_BYTES, MAX_ALL_BYTES = 1024 * 1024, 4 * 1024 * 1024
"""Of one report, and of all that are kept; the oldest go first."""

_NEVER = ("pr", "staged", "results", "script", "trace", "estimate", "dump_prompts", "resume", "no_cache", "post")
"""Options with which more is wanted than the report, or what is reviewed has no name."""

_OF_THE_SHELL = frozenset({"_", "OLDPWD", "PWD", "SHLVL"})
"""Variables that tell where the shell has been; the folder itself is a part of the key."""


class Asked(NamedTuple):
    """What is known of a review before anything of it is loaded."""

    diff: bytes | None = None
    """The diff that was handed in."""
    key: str | None = None
    """What its report is kept under; None: it is not kept."""
    ends: str | None = None
    """The two commits, as `IdentifiedSnapshot.identity` names them."""


class KeptReport(NamedTuple):
    """A report, and how its review ended."""

    text: str
    code: int
    said: tuple[str, ...]
    """Lines on standard error."""


def identify(arguments: argparse.Namespace, environ: Mapping[str, str]) -> Asked:
    """Read what the review is about. Raises InputError and ConfigError, as the review would."""
    diff = None if arguments.diff is None else read_diff(arguments.diff)
    with_models = any(provider.has_key(environ) for provider in PROVIDERS.values()) and arguments.engine != "analyzers"
    beside_folder = diff is not None and arguments.repo is not None
    if with_models or beside_folder or any(getattr(arguments, name) for name in _NEVER):
        return Asked(diff)
    try:
        here = os.getcwd()  # noqa: PTH109 - the same, and a text
    except OSError:  # the folder is gone
        return Asked(diff)
    if diff is None:
        with GitRepository(arguments.repo or Path()) as repository:
            branch = None if arguments.git is not None else repository.branch_range()
            base, head = repository.range_ends(arguments.git if branch is None else branch.text)
            ends = f"{base}..{head}"
            change = repr((ends, branch, repository.store_state(), is_piped()))
    else:
        ends = None
        change = f"{find_repository(Path())} {sha256(diff).hexdigest()}"
    key = digest_of(
        "1",
        program_fingerprint(),
        repr(sorted(vars(arguments).items())),
        repr(sorted((name, value) for name, value in environ.items() if name not in _OF_THE_SHELL)),
        repr(read_user_file(environ)),
        _feedback(environ),
        here,
        repr(style_of(sys.stdout, environ)),
        change,
    )
    return Asked(diff, key, ends)


def feedback_path(environ: Mapping[str, str]) -> Path:
    """The table that feedback of this machine gives, where it changes any number: it decides what a review says."""
    return default_path(environ).with_name("feedback.json")


def _feedback(environ: Mapping[str, str]) -> str:
    try:
        return sha256(feedback_path(environ).read_bytes()).hexdigest()
    except OSError:
        return ""


def find(asked: Asked, environ: Mapping[str, str]) -> KeptReport | None:
    """Find the stored report of the same review, or None. The review itself reports a journal that cannot be used.

    Raises ConfigError where there is no place for one.
    """
    if asked.key is None or (stored := read_entry(default_path(environ), PREFIX + asked.key)) is None:
        return None
    text, code, said = json.loads(stored)
    return KeptReport(text, code, tuple(said))


def keep(asked: Asked, report: KeptReport, journal: SteadyJournal) -> None:
    """Keep the report of a review, unless its journal was in trouble, which the report then says."""
    if asked.key is None or journal.trouble or journal.inner.set_aside is not None:
        return
    stored = json.dumps(report)
    if len(stored) <= MAX_BYTES:
        journal.put(PREFIX + asked.key, stored)
        with suppress(ConfigError):
            journal.inner.shrink(PREFIX, MAX_ALL_BYTES)
