"""`/setup` in a real browser, from nothing to stored credentials, against a stand-in of GitHub's two sides.

    python -m tests.browser_setup [--screenshots DIR] [--chromium /usr/bin/chromium]

`make browser` installs what it needs, chromium and playwright; it is no part of `make test`. Starts `reviewbot serve`
in its own folder, clicks through, looks at what was stored, and fails for anything that the browser complains of.
"""

from __future__ import annotations

import argparse
import html
import importlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from reviewbot.app.runtime.credentials import read_credentials
from tests.webhooks import KEY, SECRET

CODE = "c0de-of-the-browser"
START_S = 30.0


class GitHub(ThreadingHTTPServer):
    """The page that a manifest is posted to, and the API that takes the code."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.manifest: dict[str, Any] = {}
        self.converted = 0

    @property
    def url(self) -> str:
        return f"http://localhost:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: GitHub

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == f"/app-manifests/{CODE}/conversions":
            self.server.converted += 1
            answer = {"id": 77, "slug": "my-reviewbot", "pem": KEY, "webhook_secret": SECRET, "client_secret": "unused"}
            return self._answer(201, json.dumps(answer), "application/json")
        self.server.manifest = json.loads(parse_qs(body.decode())["manifest"][0])
        state = parse_qs(urlsplit(self.path).query)["state"][0]
        back = html.escape(f"{self.server.manifest['redirect_url']}?code={CODE}&state={state}")
        page = (
            f'<link rel="icon" href="data:,"><h1>Stand-in of GitHub</h1><a id="create" href="{back}">Create the App</a>'
        )
        return self._answer(200, page, "text/html")

    def _answer(self, status: int, text: str, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


def main() -> int:
    """Click through; 1 where something is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screenshots", type=Path, default=Path(tempfile.gettempdir()) / "reviewbot-setup")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    arguments.screenshots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as state, GitHub() as github:
        threading.Thread(target=github.serve_forever, daemon=True).start()
        port = free_port()
        with subprocess.Popen(
            [sys.executable, "-m", "reviewbot", "serve", "--no-worker", "--port", str(port)],
            env={**os.environ, **environment(state, github)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as server:
            try:
                wait_for(port)
                complaints = click_through(printed_by(server), arguments)
            finally:
                server.terminate()
        complaints += verdict(Path(state), github)
    for complaint in complaints:
        print(f"WRONG: {complaint}")
    print(f"{'failed' if complaints else 'passed'}; screenshots in {arguments.screenshots}")
    return 1 if complaints else 0


def environment(state: str, github: GitHub) -> dict[str, str]:
    """A server that knows the stand-in only."""
    return {
        "REVIEWBOT_STATE_DIR": state,
        "REVIEWBOT_PUBLIC_URL": "https://reviews.example.org",
        "GITHUB_SERVER_URL": github.url,
        "GITHUB_API_URL": github.url,
    }


def printed_by(server: subprocess.Popen[bytes]) -> str:
    """The address for this machine that the server printed."""
    assert server.stdout is not None
    return next(line.strip().decode() for line in server.stdout if b"localhost" in line)


def click_through(address: str, arguments: argparse.Namespace) -> list[str]:
    """The way of a maintainer; what the browser complained of."""
    playwright = importlib.import_module("playwright.sync_api")  # no dependency of ours: only this program needs it
    complaints: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=arguments.chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 1150})
        page.on("console", lambda message: complaints.append(f"console: {message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"page: {error}"))
        page.on("requestfailed", lambda request: complaints.append(f"request: {request.url}"))
        page.goto(address)
        page.screenshot(path=arguments.screenshots / "1-start.png", full_page=True)
        page.fill("#name", "my-reviewbot")
        page.get_by_role("button", name="Use these").click()
        page.screenshot(path=arguments.screenshots / "2-chosen.png", full_page=True)
        page.get_by_role("button", name="Create the App on GitHub").click()
        page.click("#create")
        page.get_by_role("link", name="Install it").wait_for()
        page.screenshot(path=arguments.screenshots / "3-done.png", full_page=True)
        link = page.get_by_role("link", name="Install it").get_attribute("href")
        if not str(link).endswith("/apps/my-reviewbot/installations/new"):
            complaints.append(f"the install link is {link}")
        browser.close()
    return complaints


def verdict(state: Path, github: GitHub) -> list[str]:
    """What is not as it must be afterwards."""
    path = state / "credentials.json"
    found = read_credentials(path)
    wrong = []
    if (
        found is None
        or (found.app_id, found.slug) != (77, "my-reviewbot")
        or found.webhook_secrets != (SECRET.encode(),)
    ):
        wrong.append("the credentials were not stored")
    elif path.stat().st_mode & 0o777 != 0o600:
        wrong.append("others may read the credentials")
    if github.converted != 1:
        wrong.append(f"the code was exchanged {github.converted} times")
    if github.manifest.get("hook_attributes") != {"url": "https://reviews.example.org/webhook", "active": True}:
        wrong.append("the manifest has another webhook")
    return wrong


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(port: int) -> None:
    """Until the server answers."""
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(f"http://localhost:{port}/healthz").close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the server did not start")


if __name__ == "__main__":
    raise SystemExit(main())
