"""The key under which a run's progress is kept: two runs with the same key are the same run."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from reviewbot import __version__
from reviewbot.config import Settings
from reviewbot.config.settings import KEYS
from reviewbot.domain.errors import InputError
from reviewbot.domain.ports import WorkerSet
from reviewbot.wiring.change_sources import Subject


def run_id(
    subject: Subject, worker_set: WorkerSet, settings: Settings, script: Path | None, extra: Sequence[str] = ()
) -> str:
    """Equal exactly where a finished task of one run may stand in another: same input, workers, rules and version.

    `extra` is what else the answers of tools depend on.
    """
    digest = hashlib.sha256()
    parts = [
        __version__,
        # Of two versions of Python one may parse what the other does not.
        platform.python_version(),
        metadata.version("ruff"),
        *extra,
        subject.digest,
        # What a model answers depends on which one it is; what it was asked is in each task's own key.
        repr({name: getattr(settings, name) for name, key in KEYS.items() if key.affects == "task"}),
        "" if script is None else hashlib.sha256(read_script(script)).hexdigest(),
    ]
    for card in worker_set.cards:
        parts += [card.model_dump_json(exclude={"threshold"}), worker_set.prompts[card.name]]
    for part in parts:
        digest.update(part.encode("utf-8", "replace") + b"\0")
    return digest.hexdigest()[:32]


def digests(results: Sequence[tuple[str, bytes]]) -> list[str]:
    """One for each log that was handed in."""
    return [hashlib.sha256(data).hexdigest() for _, data in results]


def read_script(path: Path) -> bytes:
    """The answers of the scripted engine. Raises InputError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the script {path}: {error.strerror}") from None
