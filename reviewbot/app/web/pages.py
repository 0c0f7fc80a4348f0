"""The setup pages: plain HTML, no script, nothing from elsewhere, every value escaped."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, TypedDict

from markupsafe import Markup

# The App's permissions and events: the content of `app.yaml`, and the manifest that GitHub is sent.
#
# https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest

PERMISSIONS: Final[Mapping[str, str]] = {
    "contents": "read",
    "pull_requests": "write",
    "checks": "write",
    "metadata": "read",
}
"""Reactions and labels of pull requests come with `pull_requests`, so that `issues` is not asked for."""

EVENTS: Final = (
    "pull_request",
    "issue_comment",
    "pull_request_review_comment",
    "pull_request_review_thread",
    "check_run",
    "check_suite",
    "installation",
    "installation_repositories",
)

SENT_ANYWAY: Final = frozenset({"installation", "installation_repositories"})
"""Every App gets these. GitHub refuses a manifest that names them: "Default events unsupported: installation"."""

DESCRIPTION: Final = "Reviews pull requests: one review, what it looked at, and what it did not."


class Hook(TypedDict):
    """Where events go."""

    url: str
    active: bool


class Manifest(TypedDict):
    """What the host is sent, as JSON values."""

    name: str
    url: str
    description: str
    hook_attributes: Hook
    redirect_url: str
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
        "public": False,
        "default_permissions": dict(PERMISSIONS),
        "default_events": [event for event in EVENTS if event not in SENT_ANYWAY],
    }


STYLE = """
:root { color-scheme: light dark; --line: #8886; --strong: #1f6feb; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
p.lead { margin-top: 0; opacity: .8; }
ol { padding-left: 1.25rem; }
section { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem 1.25rem; margin: 1.25rem 0; }
label { display: block; margin: .75rem 0 .2rem; font-weight: 600; }
input { font: inherit; width: 100%; padding: .45rem .6rem; border: 1px solid var(--line); border-radius: .375rem; }
small { opacity: .8; }
button, a.button { display: inline-block; font: inherit; font-weight: 600; margin-top: 1rem; padding: .5rem 1rem; }
button, a.button { border: 1px solid var(--strong); border-radius: .375rem; background: var(--strong); color: #fff; }
button, a.button { text-decoration: none; cursor: pointer; }
button.second { background: transparent; color: inherit; border-color: var(--line); }
table { border-collapse: collapse; } td { padding: .15rem 1rem .15rem 0; }
code { font-size: .95em; overflow-wrap: anywhere; }
.bad { border-color: #d1242f; }
"""

_STYLE_HASH = base64.b64encode(sha256(STYLE.encode()).digest()).decode()


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
    wrong = Markup('<section class="bad"><p>{}</p></section>').format(page.problem) if page.problem else Markup("")
    go = Markup("") if page.manifest is None else _creation(page, page.manifest)
    return _page("Set up reviewbot", Markup("{}{}{}{}").format(_INTRODUCTION, wrong, _section(go), _options(page)))


def _creation(page: StartPage, manifest: Manifest) -> Markup:
    other = page.configured is not None and manifest["url"] != page.configured
    warning = Markup(
        "<p><b>These addresses were entered here; REVIEWBOT_PUBLIC_URL is <code>{}</code>.</b></p>"
    ).format(page.configured)
    return Markup(
        '<form action="{}" method="post"><input type="hidden" name="manifest" value="{}">'
        "<p>The App <b>{}</b> of <b>{}</b> gets these addresses:</p><table>"
        "<tr><td>its events go to</td><td><code>{}</code></td></tr>"
        "<tr><td>the code for its private key goes to</td><td><code>{}</code></td></tr>"
        "<tr><td>its home page is</td><td><code>{}</code></td></tr></table>{}"
        "<button>Create the App on GitHub</button></form>"
    ).format(
        page.target,
        json.dumps(manifest),
        manifest["name"],
        page.values["organisation"] or "your own account",
        manifest["hook_attributes"]["url"],
        manifest["redirect_url"],
        manifest["url"],
        warning if other else Markup(""),
    )


def done_page(slug: str, kept: str, install_url: str) -> str:
    """The last page: where the credentials are, and where the App is installed."""
    body = Markup(
        '<p class="lead">The App <b>{}</b> is yours. Its credentials are {}.</p>'
        "<section><p>One thing is left: say which repositories it reviews.</p>"
        '<a class="button" href="{}">Install it</a></section>'
        "<p><small>This page cannot be opened again: from now on, setup is closed.</small></p>"
    ).format(slug, kept, install_url)
    return _page("reviewbot is set up", body)


def problem_page(problem: str) -> str:
    """What went wrong, and a way back."""
    body = Markup('<section class="bad"><p>{}</p></section><a class="button" href="/setup">Begin again</a>').format(
        problem
    )
    return _page("Setup did not finish", body)


_INTRODUCTION = Markup(
    '<p class="lead">Three clicks: create the App here, confirm it on GitHub, choose its repositories.</p>'
    "<p>It asks for these permissions and no more:</p><table>{}</table>"
).format(
    Markup("").join(
        Markup("<tr><td>{}</td><td>{}</td></tr>").format(name.replace("_", " "), level)
        for name, level in PERMISSIONS.items()
    )
)


def _section(content: Markup) -> Markup:
    return Markup("<section>{}</section>").format(content) if content else Markup("")


def _options(page: StartPage) -> Markup:
    return Markup(
        '<form action="/setup" method="post"><input type="hidden" name="form_token" value="{form_token}">'
        "<section><h2>Addresses</h2>"
        '<label for="public_url">Address of this server, as GitHub reaches it</label>'
        '<input id="public_url" name="public_url" type="url" required value="{public_url}" '
        'placeholder="https://reviews.example.org">'
        '<label for="name">Name of the App</label>'
        '<input id="name" name="name" required maxlength="34" value="{name}">'
        "<small>Unique on all of GitHub.</small>"
        '<label for="organisation">Organisation that owns it</label>'
        '<input id="organisation" name="organisation" maxlength="39" value="{organisation}">'
        "<small>Empty: your own account.</small><br>"
        '<button class="second">Use these</button></section></form>'
    ).format(form_token=page.form_token, **page.values)


def _page(title: str, body: Markup) -> str:
    return str(
        Markup(
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{}</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
            "<style>{}</style></head><body><h1>{}</h1>{}</body></html>"
        ).format(title, Markup(STYLE), title, body)  # noqa: S704 - our own constant
    )
