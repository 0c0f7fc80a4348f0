"""The human queue: findings that a review was unsure of, for a person to confirm, dismiss or have looked at again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from flask import Blueprint, redirect, request
from werkzeug.exceptions import BadRequest, Forbidden, NotFound
from werkzeug.wrappers import Response as BaseResponse

from reviewbot.app.pages.parts import PagesParts, Viewer
from reviewbot.app.pages.render import page, problem
from reviewbot.app.pages.runs import PER_PAGE, key_of_request, next_page, the_viewer
from reviewbot.app.store.durable.human_queue import Decider, HumanQueue, LogEntry, QueueItem, Status
from reviewbot.app.store.durable.listing import MAX_KEY
from reviewbot.domain.errors import InputError
from reviewbot.report.findings.agent import place_of
from reviewbot.report.findings.view import details_of, title_of

STATUSES: Final[tuple[Status, ...]] = ("waiting", "confirmed", "dismissed", "asked again", "settled")
_POSITION_DIGITS: Final = 9

Decide = Callable[[str, Decider, str, int | None], LogEntry]


def queue_blueprint(parts: PagesParts) -> Blueprint:
    """`/queue` and its items."""
    blueprint = Blueprint("queue", __name__)
    queue = HumanQueue(parts.database)
    decisions: Mapping[str, Decide] = {
        "confirm": queue.confirm,
        "dismiss": queue.dismiss,
        "ask-again": queue.ask_again,
    }

    @blueprint.get("/queue", provide_automatic_options=False)
    def items() -> BaseResponse:
        viewer = the_viewer()
        status = _status(request.args.get("status", STATUSES[0]))
        rows = queue.list_items(viewer.readable, status, PER_PAGE + 1, key_of_request() or MAX_KEY)
        more = next_page(rows[PER_PAGE - 1].last.at, rows[PER_PAGE - 1].item) if len(rows) > PER_PAGE else ""
        cells = [(row, title_of(row.finding), place_of(row.finding)) for row in rows[:PER_PAGE]]
        return page(
            "queue",
            viewer,
            rows=cells,
            wanted=status,
            statuses=STATUSES,
            more=more,
            is_first="before" not in request.args,
            now=parts.database.now(),
        )

    @blueprint.get("/queue/<item>", provide_automatic_options=False)
    def one(item: str) -> BaseResponse:
        viewer = the_viewer()
        return _item_page(parts, queue, viewer, _readable(queue, viewer, item))

    @blueprint.post("/queue/<item>", provide_automatic_options=False)
    def decide(item: str) -> BaseResponse:
        viewer = the_viewer()
        found = _readable(queue, viewer, item)
        if not viewer.may_write(found.repository):
            raise Forbidden("To decide this you need write access to its repository.")
        act, seen = decisions.get(request.form.get("decision", "")), request.form.get("seen", "")
        if act is None or not (seen.isascii() and seen.isdigit() and len(seen) <= _POSITION_DIGITS):
            raise BadRequest("the form is incomplete")
        try:
            act(item, Decider(viewer.login, "page"), request.form.get("reason", ""), int(seen))
        except InputError as error:
            return problem("Nothing was decided", f"{error}.", 409, viewer, f"/queue/{item}")
        return redirect(f"/queue/{item}", 303)

    return blueprint


def _readable(queue: HumanQueue, viewer: Viewer, item: str) -> QueueItem:
    """An item of a repository that the viewer may read. Raises NotFound for every other one."""
    found = queue.get(item)
    if found is None or not viewer.may_read(found.repository):
        raise NotFound
    return found


def _item_page(parts: PagesParts, queue: HumanQueue, viewer: Viewer, item: QueueItem) -> BaseResponse:
    return page(
        "queue_item",
        viewer,
        item=item,
        title=title_of(item.finding),
        place=place_of(item.finding),
        details=details_of(item.finding),
        history=queue.history(item.item),
        may_decide=viewer.may_write(item.repository) and item.status in ("waiting", "asked again"),
        pull_url=f"{parts.web_url}/{item.name}/pull/{item.pull}",
        now=parts.database.now(),
    )


def _status(text: str) -> Status:
    found = next((each for each in STATUSES if each == text), None)
    if found is None:
        raise BadRequest("there is no such status")
    return found
