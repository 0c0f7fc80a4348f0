"""The setup pages, and the manifest that GitHub is sent. Plain HTML, no script, every value escaped.

The manifest has the App's permissions and events, as `app.yaml` has them:
https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, TypedDict

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from reviewbot.tables import packaged_table, packaged_text

PERMISSIONS: Final[Mapping[str, str]] = packaged_table("names/app")["permissions"]
"""Reactions and labels of pull requests come with `pull_requests`, so that `issues` is not asked for."""

EVENTS: tuple[str, ...] = tuple(packaged_table("names/app")["events"])

SENT_ANYWAY: Final = frozenset({"installation", "installation_repositories"})
"""Every App gets these. GitHub refuses a manifest that names them: "Default events unsupported: installation"."""

DESCRIPTION: Final = "Reviews pull requests: one review, what it looked at, and what it did not."


class Hook(TypedDict):
    """Where events go."""

    url: str
    active: bool


class Manifest(TypedDict):
    """The manifest of the App for GitHub, as JSON values."""

    name: str
    url: str
    description: str
    hook_attributes: Hook
    redirect_url: str
    callback_urls: list[str]
    """Where people come back to who sign in to the pages."""
    setup_url: str
    """Where people come to who have installed it: the pages, which ask them to sign in."""
    public: bool
    default_permissions: dict[str, str]
    default_events: list[str]


def manifest(name: str, public_url: str, callback_url: str) -> Manifest:
    """The manifest of one installation's App.

    Args:
        name: unique on the whole host; at most 34 characters.
        public_url: where the host reaches this server.
        callback_url: where the browser comes back to with the code.
    """
    return {
        "name": name,
        "url": public_url,
        "description": DESCRIPTION,
        "hook_attributes": {"url": f"{public_url}/webhook", "active": True},
        "redirect_url": callback_url,
        "callback_urls": [f"{public_url}/sign-in/callback"],
        "setup_url": f"{public_url}/",
        "public": False,
        "default_permissions": dict(PERMISSIONS),
        "default_events": [event for event in EVENTS if event not in SENT_ANYWAY],
    }


_STYLE = packaged_text("setup/style.css")
_TEMPLATES = Environment(
    loader=FunctionLoader(lambda name: packaged_text(f"setup/{name}")), autoescape=True, undefined=StrictUndefined
)

_STYLE_HASH = base64.b64encode(sha256(_STYLE.encode()).digest()).decode()


def policy(form_target: str) -> str:
    """The Content-Security-Policy of these pages: this style, this icon, forms to us and to the host."""
    return (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; img-src data:; form-action 'self' {form_target}; "
        "frame-ancestors 'none'; base-uri 'none'"
    )


@dataclass(frozen=True)
class StartPage:
    """What the first page shows."""

    values: Mapping[str, str]
    """The fields of its form: public_url, name, organisation."""
    form_token: str
    configured: str | None
    """The address of this server that the operator configured."""
    manifest: Manifest | None = None
    """None where `values` do not make one yet."""
    target: str = ""
    """Where the manifest is posted to."""
    problem: str = ""


def start_page(page: StartPage) -> str:
    """The first page. It names each address that the manifest carries."""
    carried = json.dumps(page.manifest)
    return _page("start", "Set up reviewbot", page=page, manifest_json=carried, permissions=PERMISSIONS)


def final_page(slug: str, kept: str, install_url: str) -> str:
    """The last page: where the credentials are, and where the App is installed."""
    return _page("done", "reviewbot is set up", slug=slug, kept=kept, install_url=install_url)


def problem_page(problem: str) -> str:
    """The page that says what went wrong, with a link back."""
    return _page("problem", "Setup did not finish", problem=problem)


def _page(template: str, title: str, **values: object) -> str:
    style = Markup(_STYLE)  # noqa: S704 - our own constant
    return _TEMPLATES.get_template(f"{template}.html").render(title=title, style=style, **values)
