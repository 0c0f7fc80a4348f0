"""`reviewbot new-worker`: write the card, the prompt and a labelled example of a new worker into a repository."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from reviewbot.cli.local_memory import find_top
from reviewbot.cli.output.writing import write_file
from reviewbot.config.messages import quote
from reviewbot.config.source import FOLDER
from reviewbot.domain.errors import ExitCode, InputError
from reviewbot.report.text import one_line
from reviewbot.review.cards import RESERVED, shipped_files
from reviewbot.tables import packaged_text

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
CASES = f"{FOLDER}/cases"
_PLACES = {
    "card.toml": f"{FOLDER}/workers/NAME.toml",
    "prompt.md": f"{FOLDER}/prompts/NAME.md",
    **{name: f"{CASES}/NAME/example/{name}" for name in ("change.diff", "meta.json", "golden.json", "script.json")},
}
"""Where each template goes, below the top of the repository."""

_NEXT = """\
Edit these files: they are about TODO comments without an owner until you do. The example is a file of Python, {name}_example.py:
for another language give it another name and other lines, in change.diff, golden.json and script.json alike. Then, without paying:

  reviewbot workers
  reviewbot eval {cases} --group {name} --repo . --engine scripted --script {case}/script.json --out {name}.jsonl --fresh --check
  ANTHROPIC_API_KEY=none reviewbot review {case}/change.diff --repo . --worker {name} security --dump-prompts prompts.{name}
"""  # noqa: E501 - commands to paste


def new_worker_command(arguments: argparse.Namespace) -> int:
    """Write the files and print what comes next. Raises InputError for a name that cannot be, and what is there."""
    name, top = arguments.name, find_top(arguments.repo or Path())
    if not _NAME.fullmatch(name) or name in RESERVED or f"workers/{name}.toml" in shipped_files():
        raise InputError(
            f"{quote(name)} cannot name a new worker: small letters, digits, - and _, and none that exists"
        )
    texts = {
        top / place.replace("NAME", name): packaged_text(f"new_worker/{template}").replace("NAME", name)
        for template, place in _PLACES.items()
    }
    if taken := [path for path in texts if path.exists() or path.is_symlink()]:
        raise InputError(f"{taken[0]} is there already; nothing was written")
    for path, text in texts.items():
        _make_folder(path.parent, top)
        write_file(path, text)
        sys.stdout.write(f"{one_line(str(path))}\n")
    case = f"{CASES}/{name}/example"
    sys.stdout.write("\n" + _NEXT.format(cases=CASES, name=name, case=case))
    return ExitCode.REVIEWED


def _make_folder(folder: Path, top: Path) -> None:
    """Make a folder below the top; none behind a link. Raises InputError."""
    if not folder.resolve().is_relative_to(top):
        raise InputError(f"{folder} is behind a link; nothing was written there")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make {folder}: {error.strerror}") from None
