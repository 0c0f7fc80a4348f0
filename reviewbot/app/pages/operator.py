"""Pages for those who run the App: failed and parked runs with a retry, costs, settings, and what people decided."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from typing import Final, NamedTuple
from uuid import uuid4

from flask import Blueprint, redirect, request
from werkzeug.exceptions import Forbidden, NotFound
from werkzeug.wrappers import Response as BaseResponse

from reviewbot.app.pages.costs import cost_table, dearest
from reviewbot.app.pages.parts import PagesParts
from reviewbot.app.pages.render import page, problem
from reviewbot.app.pages.runs import key_of_request, list_page, next_page, the_viewer
from reviewbot.app.store.durable.commands import CommandRecord, Commands
from reviewbot.app.store.durable.human_queue import HumanQueue
from reviewbot.app.store.durable.listing import MAX_KEY, RunFilter, RunListing, VisibleInstallations
from reviewbot.app.store.durable.runs import RunRecord
from reviewbot.app.triggers.values import Delivery, Trigger
from reviewbot.config.settings import DEFAULT, settings_in_force

logger = logging.getLogger("reviewbot.app.pages")

DAY_S: Final = 86_400.0
COST_DAYS: Final = 30
MAX_ROWS: Final = 100
"""Decisions of one page."""


class Decision(NamedTuple):
    """What a person decided, or what followed from it."""

    at: float
    actor: str
    what: str
    repository: int
    number: int
    where: str
    """The channel: a page, a comment, the command line, or a worker."""
    reason: str


def operator_blueprint(parts: PagesParts) -> Blueprint:
    """`/failed`, `/costs`, `/settings`, `/decisions`, and the retry of a run."""
    blueprint = Blueprint("operator", __name__)
    listing, commands = RunListing(parts.database), Commands(parts.database)

    @blueprint.get("/failed", provide_automatic_options=False)
    def failed() -> BaseResponse:
        viewer = the_viewer()
        return list_page(listing, viewer, RunFilter(states=("failed", "parked")), path="/failed", template="failed")

    @blueprint.post("/runs/<path:run>/retry", provide_automatic_options=False)
    def retry(run: str) -> BaseResponse:
        viewer = the_viewer()
        record = listing.run(viewer.readable, run)
        if record is None:
            raise NotFound
        if not viewer.may_write(record.repository):
            raise Forbidden("To retry a run you need write access to its repository.")
        if record.state not in ("failed", "parked"):
            return problem("Nothing to retry", "This run has not failed.", 409, viewer, "/failed")
        parts.accept(retry_of(record, viewer.login))
        pull = (record.repository, record.number)
        name = f"page:{record.run}:{record.ended}"
        commands.add(CommandRecord(name, record.installation, pull, "retry", viewer.login))
        logger.info("a run was ordered again", extra={"run": record.run})
        return redirect(f"/repositories/{record.repository}/pulls/{record.number}", 303)

    @blueprint.get("/costs", provide_automatic_options=False)
    def costs() -> BaseResponse:
        viewer = the_viewer()
        since = listing.now() - COST_DAYS * DAY_S
        found = listing.repositories(viewer.readable, since)
        spent = listing.worker_costs_of([each.repository for each in dearest(found)], since)
        return page(
            "costs",
            viewer,
            days=COST_DAYS,
            table=cost_table(found, listing.worker_costs(viewer.readable, since), spent),
        )

    @blueprint.get("/settings", provide_automatic_options=False)
    def settings() -> BaseResponse:
        viewer = the_viewer()
        if not viewer.sees_anything:
            raise NotFound
        return page("settings", viewer, rows=settings_in_force(parts.settings), default=DEFAULT)

    @blueprint.get("/decisions", provide_automatic_options=False)
    def decisions() -> BaseResponse:
        viewer = the_viewer()
        found = _decisions(parts, listing, viewer.readable, (key_of_request() or MAX_KEY)[0])
        rows, more = _one_page(sorted(found, key=lambda row: -row.at))
        names = {each.repository: each.name for each in listing.repositories(viewer.readable)}
        return page("decisions", viewer, rows=rows, more=more, is_first="before" not in request.args, names=names)

    return blueprint


def retry_of(record: RunRecord, actor: str) -> Delivery:
    """The order of another run on the head of one that failed; the same for two clicks on one button."""
    name = f"retry of {record.run}, which ended at {record.ended!r}"
    trigger = Trigger(
        kind="rerun",
        installation_id=record.installation,
        repository_id=record.repository,
        repository=record.name,
        number=record.number,
        head_sha=record.head,
        reason="a retry on the pages",
        delivery_id=uuid4().hex,
        actor=actor,
    )
    return Delivery(trigger.delivery_id, "retry", hashlib.sha256(name.encode()).hexdigest(), trigger)


def _one_page(rows: list[Decision]) -> tuple[list[Decision], str]:
    """The first rows, and the query for those after them; rows of one moment stand on one page."""
    if len(rows) <= MAX_ROWS:
        return rows, ""
    shown = [row for row in rows[:MAX_ROWS] if row.at > rows[MAX_ROWS].at] or rows[:MAX_ROWS]
    return shown, next_page(shown[-1].at, "-")


def _decisions(
    parts: PagesParts, listing: RunListing, scope: VisibleInstallations, before: float
) -> Iterator[Decision]:
    for item, entry in HumanQueue(parts.database).audit(scope, MAX_ROWS + 1, before):
        what = f"{entry.action.replace('_', ' ')}: {item.finding.title or item.finding.message}"
        yield Decision(entry.at, entry.actor, what, item.repository, item.pull, entry.channel, entry.reason)
    for row in listing.commands(scope, MAX_ROWS + 1, before):
        where = "page" if row.verb == "retry" else "comment"
        what = f"{row.verb} {row.finding[:8]}".rstrip()
        yield Decision(row.at, row.actor, what, row.repository, row.number, where, row.reason)
