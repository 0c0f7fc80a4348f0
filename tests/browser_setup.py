"""An App from nothing to a signed-in person who decides, in a real browser, against a stand-in of GitHub.

    python -m tests.browser_setup [--screenshots DIR] [--chromium /usr/bin/chromium]

`make browser` installs what it needs, chromium and playwright; it is no part of `make test`. Starts `reviewbot serve`
with its worker in an empty folder, makes and installs the App, has a pull request opened and reviewed, signs in,
decides on the finding that waits for a person, signs out, and fails for anything that the browser complains of.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reviewbot.app.runtime.credentials import FILE_NAME, read_credentials
from tests.app_host import INSTALLATION, AppHost, app_host
from tests.git_repo import GitRepo
from tests.github_api import Pull
from tests.github_api.apps import APP_ID, AppGithub, a_key
from tests.oauth_host import CLIENT_ID, CLIENT_SECRET
from tests.ports import free_port
from tests.webhooks import SECRET, pull_event

START_S = 30.0
REVIEW_S = 90.0
"""For a review, and for a decision that a worker looks for now and then."""

BEFORE = "def pay(order):\n    return order\n"
UNSURE = "import os\n\nfrom shop import command\n\n\ndef pay(order):\n    os.system(command(order))\n    return order\n"
"""A critical finding that is left to a person: its rule is right in 70 of 100 cases."""


def main() -> int:
    """Click through; 1 where something is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screenshots", type=Path, default=Path(tempfile.gettempdir()) / "reviewbot-setup")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    arguments.screenshots.mkdir(parents=True, exist_ok=True)
    pem = a_key()
    with tempfile.TemporaryDirectory() as folder, AppGithub(pem) as api, app_host(api, pem) as host:
        state, port = Path(folder) / "state", free_port()
        repo = GitRepo(Path(folder) / "shop")
        repo.commit({"pay.py": BEFORE})
        repo.commit({"pay.py": UNSURE}, branch="feature")
        api.add_repository("acme/shop", repo.folder)
        with (
            (arguments.screenshots / "serve.log").open("wb") as log,
            subprocess.Popen(
                [sys.executable, "-m", "reviewbot", "serve", "--port", str(port)],
                env={**os.environ, **environment(state, host, port)},
                stdout=subprocess.PIPE,
                stderr=log,
            ) as server,
        ):
            try:
                wait_for(port)
                complaints = click_through(printed_by(server), f"http://localhost:{port}", host, arguments)
            finally:
                server.terminate()
        complaints += verdict(state, host)
    for complaint in complaints:
        print(f"WRONG: {complaint}")
    print(f"{'failed' if complaints else 'passed'}; screenshots in {arguments.screenshots}")
    return 1 if complaints else 0


def environment(state: Path, host: AppHost, port: int) -> dict[str, str]:
    """A server that knows the stand-in only, and that it reaches."""
    return {
        "REVIEWBOT_STATE_DIR": str(state),
        "REVIEWBOT_PUBLIC_URL": f"http://localhost:{port}",
        "REVIEWBOT_ENGINE": "analyzers",
        "GITHUB_SERVER_URL": host.url,
        "GITHUB_API_URL": host.url,
    }


def printed_by(server: subprocess.Popen[bytes]) -> str:
    """The address for this machine that the server printed."""
    assert server.stdout is not None
    return next(line.strip().decode() for line in server.stdout if b"localhost" in line)


def click_through(address: str, url: str, host: AppHost, arguments: argparse.Namespace) -> list[str]:
    """The way of a maintainer; what the browser complained of."""
    playwright = importlib.import_module("playwright.sync_api")  # no dependency of ours: only this program needs it
    complaints: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=arguments.chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 1150})
        page.on("console", lambda message: complaints.append(f"console: {message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"page: {error}"))
        page.on("requestfailed", lambda request: complaints.append(f"request: {request.url}"))

        def keep(name: str) -> None:
            page.screenshot(path=arguments.screenshots / f"{name}.png", full_page=True)

        try:
            make_app(page, address, keep)
            pull = open_pull(host)
            until(lambda: bool(pull.reviews), "the review")
            look_around(page, url, keep)
            until(lambda: bool(pull.comments or pull.conversation), "the comment that was confirmed")
        except (AssertionError, playwright.Error) as error:
            keep("failed")
            complaints.append(f"{page.url}: {error}")
        browser.close()
    return complaints


def make_app(page: Any, address: str, keep: Callable[[str], None]) -> None:
    """From the address that the server printed to an App that is installed."""
    page.goto(address)
    keep("1-start")
    page.fill("#name", "reviewbot")
    page.get_by_role("button", name="Use these").click()
    keep("2-chosen")
    page.get_by_role("button", name="Create the App on GitHub").click()
    page.click("#create")
    page.get_by_role("link", name="Install it").wait_for()
    keep("3-done")
    page.get_by_role("link", name="Install it").click()
    page.get_by_role("button", name="Install").click()
    page.get_by_role("link", name="Sign in with GitHub").wait_for()
    keep("4-installed")


def open_pull(host: AppHost) -> Pull:
    """A pull request, and the event of it."""
    pull = host.api.open_pull("acme/shop", "main", "feature", title="Pay by command")
    repository = {"id": pull.repository.repository_id, "full_name": "acme/shop", "private": False}
    about: dict[str, Any] = {"repository": repository, "installation": {"id": INSTALLATION}, "number": pull.number}
    told = pull_event("opened", head=pull.head_sha, **about)
    told["pull_request"]["number"] = pull.number
    host.deliver("pull_request", told)
    return pull


def look_around(page: Any, url: str, keep: Callable[[str], None]) -> None:
    """Sign in, follow the links to the run, decide in the queue, sign out."""
    page.goto(f"{url}/")
    page.get_by_role("link", name="Sign in with GitHub").click()
    page.get_by_role("link", name="acme/shop").first.wait_for()
    keep("5-repositories")
    page.get_by_role("link", name="Runs").click()
    keep("6-runs")
    page.locator("main a[href*='/runs/']").first.click()
    page.get_by_role("heading", level=1).wait_for()
    until(lambda: bool(page.reload()) and "Posted" in page.inner_text("main"), "the run to say that it posted")
    keep("7-run")
    page.get_by_role("link", name="Queue").first.click()
    page.locator("main a[href*='/queue/']").first.click()
    page.fill("#reason", "the name of the order is typed by a customer")
    keep("8-queue")
    page.get_by_role("button", name="Confirm: post it").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in*")  # a page asked for before would cut the redirection off, which counts as failed
    page.goto(f"{url}/runs")
    page.get_by_role("link", name="Sign in with GitHub").wait_for()
    assert "acme/shop" not in page.inner_text("body"), "runs are shown to nobody"
    keep("9-signed-out")


def verdict(state: Path, host: AppHost) -> list[str]:
    """What is not as it must be afterwards."""
    path = state / FILE_NAME
    found = read_credentials(path)
    wrong = list(host.api.problems)
    if found is None or (found.app_id, found.slug, found.webhook_secrets, found.client_id, found.client_secret) != (
        *(APP_ID, "reviewbot", (SECRET.encode(),)),
        *(CLIENT_ID, CLIENT_SECRET),
    ):
        wrong.append("the credentials were not stored")
    elif path.stat().st_mode & 0o777 != 0o600:
        wrong.append("others may read the credentials")
    if host.converted != 1:
        wrong.append(f"the code was exchanged {host.converted} times")
    if host.delivered != [("installation.created", 202), ("pull_request.opened", 202)]:
        wrong.append(f"the deliveries were {host.delivered}")
    return wrong


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + REVIEW_S
    while not holds():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.2)


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
