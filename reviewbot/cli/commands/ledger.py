"""`reviewbot ledger` and `reviewbot dismiss`: show what is remembered of findings, and decide against one."""

from __future__ import annotations

import argparse
import datetime as dt
import getpass
import os
import re
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from reviewbot import wiring
from reviewbot.cli.local_memory import about, branch_key, find_top, read_ledger
from reviewbot.cli.output.writing import say, write_file, write_table
from reviewbot.cli.running import run_to_end
from reviewbot.config.messages import quote
from reviewbot.domain.contracts.ledger import Ledger, Record
from reviewbot.domain.errors import ConfigError, ExitCode, InputError
from reviewbot.hosts.registry import resolve_pull
from reviewbot.memory.decisions import FILE_NAME, Decision, check_decision, format_entry, read_decisions
from reviewbot.publish.marker import Signer
from reviewbot.publish.rebuild_ledger import remember
from reviewbot.report.text import one_line
from reviewbot.strict_json import write_json

_HEAD = ("STATE", "FINDING", "PLACE", "SEVERITY", "SINCE", "AT", "WHO", "TITLE", "REASON")
_SHORT_SHA, _TITLE_CHARS = 10, 60
_DIGITS = 32
_NAME = re.compile(r"[0-9a-f]{8,32}")
"""Digits of a fingerprint that name a finding of the ledger."""


def ledger_command(arguments: argparse.Namespace) -> int:
    """`reviewbot ledger`. Raises HostError, InputError and ConfigError."""
    ledger = local_ledger(arguments.repo or Path()) if arguments.pr is None else _of_pull(arguments.pr)
    if arguments.format == "json":
        sys.stdout.write(ledger_json(ledger))
        return ExitCode.REVIEWED
    if not ledger.records:
        say("no finding is remembered")
        return ExitCode.REVIEWED
    write_table(_HEAD, *(_row(record) for record in ledger.records))
    return ExitCode.REVIEWED


def ledger_json(ledger: Ledger) -> str:
    """A ledger as JSON, without what only the next review needs."""
    kept = ledger.model_dump(mode="json", exclude={"seen": True, "seen_last": True, "heads": {"__all__": {"lacking"}}})
    return write_json(kept, indent=2) + "\n"


def dismiss_command(arguments: argparse.Namespace) -> int:
    """`reviewbot dismiss`. Raises InputError and ConfigError."""
    say(decide(arguments))
    return ExitCode.REVIEWED


def decide(arguments: argparse.Namespace) -> str:
    """Write the decision that the arguments of `dismiss` name, and say where. Raises InputError and ConfigError."""
    top = find_top(arguments.repo or Path())
    ledger = local_ledger(arguments.repo or Path())
    decision = check_decision(about(_decision(arguments, ledger), ledger))
    path = top / FILE_NAME
    before = _read_decisions(path)
    after = f"{before}{chr(10) if before and not before.endswith(chr(10)) else ''}{format_entry(decision)}"
    _check_addition(path, before, after)
    path.parent.mkdir(exist_ok=True)
    write_file(path, after)
    return f"{path} has the decision; it counts once the base branch has it"


def _read_decisions(path: Path) -> str:
    """The text of the file of decisions; empty where there is none. Raises InputError."""
    if path.parent.is_symlink() or path.is_symlink():
        raise InputError(f"{path} is behind a link; write the decision by hand")
    if path.parent.exists() and not path.parent.is_dir():
        raise InputError(f"{path.parent} is no folder, and {path.name} belongs into one; move it away")
    if not path.exists():
        return ""
    if not path.is_file():
        raise InputError(f"{path} is no file; move it away")
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path} is no text in UTF-8; write the decision by hand") from None


def _check_addition(path: Path, before: str, after: str) -> None:
    """Raise ConfigError where a file is broken, or would not hold one decision more."""
    today = dt.datetime.now(dt.UTC).date()
    known, notes = read_decisions(before or None, today)
    if broken := next((note for note in notes if "entry" not in note), ""):
        raise ConfigError(broken)
    decisions, notes = read_decisions(after, today)
    if len(decisions) != len(known) + 1:
        raise ConfigError(f"the decision cannot be added to {path}: {notes[-1]}")


def _decision(arguments: argparse.Namespace, ledger: Ledger) -> Decision:
    author = arguments.author or os.environ.get("GIT_AUTHOR_NAME", "") or getpass.getuser()
    decision = Decision(author, arguments.reason, until=_date(arguments.until), path=arguments.path or "")
    target = str(arguments.target)
    if not _NAME.fullmatch(target):
        return decision._replace(rule=target)
    found = {record.name for record in ledger.records if any(name.startswith(target) for name in record.names)}
    if len(found) > 1:
        raise InputError(f"several findings begin with {target}; give more digits")
    if not found and len(target) < _DIGITS:
        raise InputError(f"no finding of this branch begins with {target}; `reviewbot ledger PR` has all digits")
    return decision._replace(finding=found.pop() if found else target)


def _date(text: str | None) -> dt.date | None:
    try:
        return None if text is None else dt.date.fromisoformat(text)
    except ValueError:
        raise InputError(f"--until {quote(text)} is no date, such as 2027-01-31") from None


def local_ledger(folder: Path) -> Ledger:
    """What is remembered of the branch that is checked out there. Raises InputError."""
    key = branch_key(folder)
    if not key:
        raise InputError(f"{folder} is in no git repository; name one with --repo DIR, or a pull request")
    with ExitStack() as closing:
        return read_ledger(closing.enter_context(wiring.open_journal(os.environ)), key)


def _of_pull(text: str) -> Ledger:
    named = resolve_pull(text)
    try:
        signer = Signer.from_environment(os.environ)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    with named.open_host(os.environ) as host:
        pull = host.pull_request(named.name.repository, named.name.number)
        found = run_to_end(partial(remember, pull, signer, host.reviews(pull)))
    for note in found.notes:
        say(note)
    return found.ledger


def _row(record: Record) -> tuple[str, ...]:
    return (
        record.state,
        record.name,
        one_line(f"{record.path}:{record.line}"),
        record.severity,
        record.since[:_SHORT_SHA],
        record.head[:_SHORT_SHA],
        one_line(record.who),
        one_line(record.title)[:_TITLE_CHARS],
        one_line(record.reason)[:_TITLE_CHARS],
    )
