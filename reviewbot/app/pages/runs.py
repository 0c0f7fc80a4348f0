"""Pages of repositories, pull requests and runs."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlencode

from flask import Blueprint, g, request
from werkzeug.exceptions import BadRequest, NotFound
from werkzeug.wrappers import Response as BaseResponse

from reviewbot.app.pages.parts import PagesParts, Viewer
from reviewbot.app.pages.render import page
from reviewbot.app.pages.run_view import RunView, view_of_trace
from reviewbot.app.store.durable.listing import MAX_KEY, Key, RepositorySummary, RunFilter, RunListing
from reviewbot.app.store.durable.runs import STATES, RunRecord, State
from reviewbot.domain.errors import InputError

PER_PAGE: Final = 50
UNENDED: Final[tuple[State, ...]] = ("waiting", "running")
REFRESH_S: Final = 10
"""Of the page of a run that has not ended."""

MAX_TRACE_BYTES: Final = 16 * 2**20
"""Of a trace that a page shows. Reading it takes a processor, which deliveries need as well."""

_KEY = re.compile(r"(?P<at>[0-9]{1,12}(?:\.[0-9]{1,9})?)~(?P<name>[A-Za-z0-9:._-]{1,300})")
MAX_ID: Final = 2**62


def runs_blueprint(parts: PagesParts) -> Blueprint:
    """`/`, `/runs` and what is below `/repositories`."""
    blueprint = Blueprint("runs", __name__)
    listing = RunListing(parts.database)

    @blueprint.get("/", provide_automatic_options=False)
    def home() -> BaseResponse:
        viewer = the_viewer()
        found = {each.repository: each for each in listing.repositories(viewer.readable)}
        sign_in = parts.sign_in()
        install_url = f"{parts.web_url}/apps/{sign_in.credentials.slug}/installations/new" if sign_in else ""
        groups = _by_installation(viewer, found)
        return page("repositories", viewer, groups=groups, install_url=install_url, now=listing.now())

    @blueprint.get("/runs", provide_automatic_options=False)
    def runs() -> BaseResponse:
        viewer = the_viewer()
        states = _states(request.args.get("state", ""))
        return list_page(listing, viewer, RunFilter(states=states), title="Runs", path="/runs")

    @blueprint.get("/repositories/<int:repository>", provide_automatic_options=False)
    def pulls(repository: int) -> BaseResponse:
        viewer = the_viewer()
        name = _name_of(viewer, listing, repository)
        at, number = key_of_request() or (MAX_KEY[0], str(MAX_ID))
        if not number.isdecimal():
            raise BadRequest("this is no place in the list")
        rows = listing.pulls(repository, (at, int(number[:18])), PER_PAGE + 1)
        more = next_page(rows[PER_PAGE - 1].newest, str(rows[PER_PAGE - 1].number)) if len(rows) > PER_PAGE else ""
        return page(
            "pulls",
            viewer,
            repository=repository,
            name=name,
            rows=rows[:PER_PAGE],
            more=more,
            is_first="before" not in request.args,
            now=listing.now(),
        )

    @blueprint.get("/repositories/<int:repository>/pulls/<int:number>", provide_automatic_options=False)
    def pull(repository: int, number: int) -> BaseResponse:
        viewer = the_viewer()
        if number > MAX_ID:
            raise NotFound
        name = _name_of(viewer, listing, repository)
        path = f"/repositories/{repository}/pulls/{number}"
        which = RunFilter(repository, number)
        return list_page(listing, viewer, which, title=f"{name}#{number}", path=path)

    @blueprint.get("/runs/<path:run>", provide_automatic_options=False)
    def one(run: str) -> BaseResponse:
        viewer = the_viewer()
        record = listing.run(viewer.readable, run)
        if record is None:
            raise NotFound
        return _run_page(parts, viewer, record, _view(listing, record), listing.now())

    return blueprint


def the_viewer() -> Viewer:
    """Who asks; the request was let in already."""
    viewer: Viewer = g.viewer
    return viewer


def link_on_host(parts: PagesParts, url: str) -> str:
    """An address on the host that the App works for; empty for every other one."""
    return url if url.startswith(f"{parts.web_url}/") and url.isascii() and url.isprintable() else ""


def _run_page(parts: PagesParts, viewer: Viewer, record: RunRecord, found: RunView, now: float) -> BaseResponse:
    follows = record.state in UNENDED and "still" not in request.args
    shown = page(
        "run",
        viewer,
        run=record,
        view=found,
        follows=follows,
        refresh_s=REFRESH_S,
        may_retry=record.state in ("failed", "parked") and viewer.may_write(record.repository),
        review_url=link_on_host(parts, record.url),
        pull_url=f"{parts.web_url}/{record.name}/pull/{record.number}",
        now=now,
    )
    if follows:
        shown.headers["Refresh"] = str(REFRESH_S)
    return shown


def _view(listing: RunListing, record: RunRecord) -> RunView:
    try:
        return view_of_trace(listing.trace(record.run, MAX_TRACE_BYTES), running=record.state in UNENDED)
    except InputError as error:
        return RunView(missing=f"The trace cannot be shown: {error}.")


def list_page(
    listing: RunListing, viewer: Viewer, which: RunFilter, *, path: str, title: str = "", template: str = "runs"
) -> BaseResponse:
    """A page of runs, with the way to older ones."""
    rows = listing.runs(viewer.readable, which, key_of_request() or MAX_KEY, PER_PAGE + 1)
    more = next_page(rows[PER_PAGE - 1].created, rows[PER_PAGE - 1].run) if len(rows) > PER_PAGE else ""
    return page(
        template,
        viewer,
        title=title,
        path=path,
        which=which,
        states=STATES,
        rows=rows[:PER_PAGE],
        more=more,
        is_first="before" not in request.args,
        now=listing.now(),
    )


def _states(text: str) -> tuple[State, ...]:
    found = tuple(state for state in STATES if state == text)
    if text and not found:
        raise BadRequest("there is no such state")
    return found


def key_of_request() -> Key | None:
    """Where the page of a list begins. Raises BadRequest for what is no key."""
    text = request.args.get("before", "")
    if not text:
        return None
    found = _KEY.fullmatch(text)
    if found is None:
        raise BadRequest("this is no place in the list")
    return float(found["at"]), found["name"]


def next_page(at: float, name: str) -> str:
    """The query of the page that begins behind a row; what else was asked for stays."""
    kept = {key: value for key, value in request.args.items() if key in ("state", "status")}
    return urlencode({**kept, "before": f"{at!r}~{name}"})


def _name_of(viewer: Viewer, listing: RunListing, repository: int) -> str:
    """The name of a repository that the viewer may read. Raises NotFound for every other one."""
    if repository > MAX_ID or not viewer.may_read(repository):
        raise NotFound
    if viewer.repositories is not None:
        return viewer.repositories[repository].name
    found = listing.repositories((repository,))
    if not found:
        raise NotFound
    return found[0].name


def _by_installation(
    viewer: Viewer, found: dict[int, RepositorySummary]
) -> list[tuple[str, list[tuple[int, str, RepositorySummary | None]]]]:
    """Repositories by the account that has them, in the order of names; those without a run too."""
    names = {number: each.name for number, each in found.items()}
    names.update({number: each.name for number, each in (viewer.repositories or {}).items()})
    groups: dict[str, list[tuple[int, str, RepositorySummary | None]]] = {}
    for number, name in sorted(names.items(), key=lambda pair: pair[1].lower()):
        groups.setdefault(name.partition("/")[0], []).append((number, name, found.get(number)))
    return list(groups.items())
