"""`reviewbot workers` and `reviewbot schema`: list the workers, print a JSON Schema. Neither needs a change."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from reviewbot import wiring
from reviewbot.cli.repository import find_repository
from reviewbot.config.schema import settings_schema
from reviewbot.domain.contracts import Contract, Plan, Review, WorkerCard
from reviewbot.domain.errors import ExitCode
from reviewbot.report.terminal_style import style_of, write
from reviewbot.report.workers_report import render_workers
from reviewbot.strict_json import write_json

SCHEMAS: dict[str, type[Contract]] = {"review": Review, "plan": Plan, "card": WorkerCard}


def workers_command(arguments: argparse.Namespace) -> int:
    """`reviewbot workers`."""
    folder = arguments.repo or find_repository(Path())
    base = None if folder is None else wiring.tree_of(folder)
    worker_set = wiring.limit_workers(wiring.load_workers(base), wiring.settings_for(base, os.environ, {}))
    if arguments.format == "json":
        cards = [{"origin": worker_set.origin[card.name], **card.model_dump(mode="json")} for card in worker_set.cards]
        sys.stdout.write(write_json(cards, indent=2) + "\n")
        return ExitCode.REVIEWED
    write(sys.stdout, render_workers(worker_set, width=style_of(sys.stdout, os.environ).width))
    return ExitCode.REVIEWED


def schema_command(arguments: argparse.Namespace) -> int:
    """`reviewbot schema`."""
    sys.stdout.write(schema_text(arguments.contract))
    return ExitCode.REVIEWED


def schema_text(contract: str) -> str:
    """The JSON Schema of "review", "plan", "card" or "settings", as it is printed and stored."""
    body = settings_schema() if contract == "settings" else SCHEMAS[contract].model_json_schema()
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **body}
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"
