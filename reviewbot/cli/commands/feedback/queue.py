"""`reviewbot queue`: the App's findings that wait for a person: list them, confirm, dismiss, or ask again."""

from __future__ import annotations

import argparse
import getpass
from collections.abc import Callable, Mapping
from contextlib import closing

from reviewbot.app.store.durable.human_queue import Decider, HumanQueue, LogEntry, QueueItem
from reviewbot.cli.commands.app.database import app_database
from reviewbot.cli.output.writing import say, write_records
from reviewbot.domain.errors import ExitCode, InputError
from reviewbot.report.findings.view import title_of
from reviewbot.report.text import one_line

DECISIONS = ("confirm", "dismiss", "ask-again")
_HEAD = ("ITEM", "STATUS", "PULL REQUEST", "PLACE", "CERTAIN", "TITLE", "BY", "REASON")
_NAME_DIGITS, _TITLE_CHARS = 12, 60


def queue_command(arguments: argparse.Namespace) -> int:
    """`reviewbot queue`. Raises InputError and ConfigError."""
    with closing(app_database()) as database:
        queue = HumanQueue(database)
        if arguments.item is None:
            items = queue.list_items(status=None if arguments.all else "waiting")
            write_records(arguments.format, map(_fields, items), _HEAD, *map(_row, items))
        else:
            _decide(queue, arguments)
    return ExitCode.REVIEWED


def _decide(queue: HumanQueue, arguments: argparse.Namespace) -> None:
    acts: Mapping[str, Callable[[str, Decider, str], LogEntry]] = dict(
        zip(DECISIONS, (queue.confirm, queue.dismiss, queue.ask_again), strict=True)
    )
    if arguments.decision is None or arguments.reason is None:
        raise InputError(f"say what is decided, and why: queue ITEM {'|'.join(DECISIONS)} REASON")
    found = [each for each in queue.list_items() if each.item.startswith(arguments.item)]
    if len(found) != 1:
        raise InputError(f"{'several items begin' if found else 'no item of the queue begins'} with {arguments.item}")
    who = Decider(arguments.author or getpass.getuser(), "command line")
    acts[arguments.decision](found[0].item, who, arguments.reason)
    say("decided; a worker carries it out, and `reviewbot queue --all` shows its result")


def _row(item: QueueItem) -> tuple[str, ...]:
    return (
        item.item[:_NAME_DIGITS],
        item.status,
        one_line(f"{item.name}#{item.pull}"),
        one_line(f"{item.finding.path}:{item.finding.line}"),
        str(item.finding.confidence),
        one_line(title_of(item.finding))[:_TITLE_CHARS],
        one_line(item.last.actor),
        one_line(item.last.reason)[:_TITLE_CHARS],
    )


def _fields(item: QueueItem) -> dict[str, object]:
    last = item.last._asdict()
    human = item.human.model_dump(mode="json")
    return {**item._asdict(), "status": item.status, "human": human, "last": last}
