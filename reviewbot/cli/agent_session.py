"""What a coding agent asks of one repository: review a change, explain a finding of the last review, dismiss, list.

Each answer is a text. A change comes from the root folder and the repository around it; no reviewed code is executed.
"""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from reviewbot.cli.commands.ledger import decide, ledger_json, local_ledger
from reviewbot.cli.commands.review import review_command
from reviewbot.cli.commands.traces.replay import events_of
from reviewbot.cli.local_memory import find_top
from reviewbot.config.messages import quote
from reviewbot.delivery.explain_place import account_of
from reviewbot.domain.errors import InputError
from reviewbot.report.terminal.explanation import render_explanation
from reviewbot.review.trace import Event

_WIDTH = 100
_AUTHOR = "a coding agent"
"""Who decides where no person is named: the reader of a decision must see that none was."""


class AgentSession:
    """The tools of one agent on one root folder. Calls may come from several threads; one is carried out at a time."""

    def __init__(
        self, root: Path, parse: Callable[[Sequence[str]], argparse.Namespace], options: Sequence[str] = ()
    ) -> None:
        """`parse` reads a command line, `options` are those of every review. Raises InputError for no folder."""
        if not root.is_dir():
            raise InputError(f"{root} is no folder; name the repository with --repo DIR")
        self._root = root.resolve()
        self._parse = parse
        self._options = tuple(options)
        self._lock = threading.Lock()
        self._events: list[Event] = []

    def review(
        self,
        *,
        diff: str = "",
        diff_file: str = "",
        git_range: str = "",
        staged: bool = False,
        folder: str = ".",
        alone: bool = False,
    ) -> str:
        """JSON lines: the verdict, then each finding with a prompt. Raises ReviewbotError."""
        given = [bool(diff), bool(diff_file), bool(git_range), staged]
        if sum(given) > 1:
            raise InputError("give only one of diff, diff_file, git_range and staged")
        if alone and not (diff or diff_file):
            raise InputError("alone is about a diff or a diff_file: a range and what is staged have a repository")
        repository = self._inside(folder)
        words = [] if alone else [f"--repo={repository}"]
        words += [f"--git={git_range}"] if git_range else []
        words += ["--staged"] if staged else []
        with self._lock, TemporaryDirectory(prefix="reviewbot-") as kept:
            if diff:
                (Path(kept) / "change.diff").write_bytes(diff.encode("utf-8", "surrogateescape"))
                words.append(f"{kept}/change.diff")
            elif diff_file:
                words.append(str(self._inside(diff_file)))
            report, trace = Path(kept) / "report", Path(kept) / "trace"
            places = ["--format=agent", f"--output={report}", f"--trace={trace}"]
            review_command(self._parse(["review", *self._options, *places, *words]))
            self._events = events_of(trace)
            return report.read_text("utf-8")

    def explain(self, place: str) -> str:
        """What the last review says of PATH:LINE, or of a finding by its fingerprint. Raises ReviewbotError."""
        if not self._events:
            raise InputError("there is no review yet in this session; call review first")
        return render_explanation(account_of(self._events, place), width=_WIDTH, colour=False)

    def dismiss(self, finding: str, reason: str, path: str = "", until: str = "", author: str = _AUTHOR) -> str:
        """Write a decision into `.reviewbot/decisions.toml` of the work tree. Raises ReviewbotError."""
        self._inside(str(find_top(self._root)))
        fields = {"path": path or None, "until": until or None, "author": author, "repo": self._root}
        with self._lock:
            return decide(argparse.Namespace(target=finding, reason=reason, **fields))

    def ledger(self) -> str:
        """What is remembered of the findings of the branch that is checked out, as JSON. Raises ReviewbotError."""
        return ledger_json(local_ledger(self._root))

    def _inside(self, name: str) -> Path:
        """A folder or file below the root, with its links followed. Raises InputError for any other."""
        found = Path(os.path.realpath(self._root / name.replace("\0", "")))
        if not found.is_relative_to(self._root):
            raise InputError(f"{quote(name)} is outside of {self._root}, the folder that this server was started for")
        return found
