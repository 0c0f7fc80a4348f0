"""Render a template as a response: every value escaped, no script, nothing from elsewhere, never kept in a cache."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Final

from flask import Response
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from reviewbot.app.pages.parts import Viewer
from reviewbot.report.costs import seconds
from reviewbot.report.html.elements import prose
from reviewbot.report.text import visible
from reviewbot.tables import packaged_text
from reviewbot.wording import with_count

STYLE: Final = packaged_text("pages/style.css")
STYLE_PATH: Final = f"/assets/{hashlib.sha256(STYLE.encode()).hexdigest()[:16]}.css"
"""Its name changes with its content, so that a browser may keep it."""

POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

STATE_WORDS: Final = {
    "waiting": "Waiting",
    "running": "Running",
    "posted": "Posted",
    "refused": "Not reviewed",
    "superseded": "Superseded",
    "failed": "Failed",
    "parked": "Parked",
}


def page(template: str, viewer: Viewer | None = None, status: int = 200, **values: object) -> Response:
    """The response of `data/pages/TEMPLATE.html`."""
    text = _TEMPLATES.get_template(f"{template}.html").render(viewer=viewer, **values)
    response = Response(text, status, content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = POLICY
    return response


def problem(title: str, text: str, status: int, viewer: Viewer | None = None, way_out: str = "") -> Response:
    """A page that says what is wrong; `way_out`: the path of a page of the App that may help."""
    return page("problem", viewer, status, title=title, text=text, way_out=way_out)


def style() -> Response:
    """The one style sheet."""
    response = Response(STYLE, content_type="text/css; charset=utf-8")
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return response


def moment(at: float | None) -> str:
    """A time in UTC, to the minute."""
    return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")


def machine_moment(at: float) -> str:
    """A time for `<time datetime>`."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def age(at: float, now: float) -> str:
    """How long ago something was, in its largest unit."""
    passed = max(0.0, now - at)
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if passed >= size:
            return f"{with_count(int(passed // size), unit)} ago"
    return "just now"


def dollars(amount: float) -> str:
    """Money; a small amount is not shown as nothing."""
    return f"${amount:,.4f}" if 0 < amount < 0.01 else f"${amount:,.2f}"  # noqa: PLR2004 - a cent


def _shown(value: object) -> object:
    """Texts with their control and direction characters made visible; the template escapes them."""
    return visible(value) if type(value) is str else value


def _prose(text: str) -> Markup:
    """One line in which code spans are shown as code; everything in it is escaped."""
    return Markup(prose(text))  # noqa: S704 - the markup is made there, and of nothing else


_TEMPLATES = Environment(
    loader=FunctionLoader(lambda name: packaged_text(f"pages/{name}")),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_shown,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.globals.update(style_path=STYLE_PATH, STATE_WORDS=STATE_WORDS)
_TEMPLATES.filters.update(
    moment=moment,
    machine_moment=machine_moment,
    dollars=dollars,
    age=age,
    with_count=with_count,
    ms=seconds,
    prose=_prose,
)
