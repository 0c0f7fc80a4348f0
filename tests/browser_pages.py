"""The pages of the App in a real browser: sign-in, every page empty, full and failing, keyboard, axe, screenshots.

    python -m tests.browser_pages [--screenshots DIR] [--chromium /usr/bin/chromium] [--axe FILE]

`make browser` installs what it needs; it is no part of `make test`. Starts `reviewbot serve --no-worker` on a database
that it fills, beside a stand-in of GitHub's sign-in, and fails for anything that the browser or axe complains of.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reviewbot.app.runtime.credentials import FILE_NAME, store_credentials
from reviewbot.app.store.durable.commands import CommandRecord, Commands
from reviewbot.app.store.durable.database import Database, open_database
from reviewbot.app.store.durable.human_queue import HumanQueue, LeavingReview, Left
from reviewbot.app.store.durable.runs import RunRecord, Runs, State, WorkerCost
from reviewbot.domain.contracts import HumanItem
from reviewbot.review.trace import read_trace, write_trace
from tests.browser_setup import wait_for
from tests.conftest import _finding as finding
from tests.oauth_host import CLIENT_ID, CLIENT_SECRET, OAuthHost, oauth_host
from tests.ports import free_port
from tests.webhooks import CREDENTIALS

ROOT = Path(__file__).parents[1]
TOKEN = "read-only-token-of-the-browser"
RUNS = 2_000
SHOP, HIDDEN = 1, 2
STATES: tuple[State, ...] = ("posted", "posted", "posted", "superseded", "refused", "failed", "parked", "waiting")
SIZES = {"wide": (1280, 900), "narrow": (380, 800)}
SERIOUS = ("serious", "critical")


@dataclass
class Complaints:
    """What is not as it must be, and what was looked at."""

    found: list[str] = field(default_factory=list)
    pages: int = 0
    rules: int = 0

    def check(self, holds: object, what: str) -> None:
        """Note what does not hold."""
        if not holds:
            self.found.append(what)


@dataclass(frozen=True)
class Tour:
    """A browser on one server."""

    browser: Any
    url: str
    host: OAuthHost
    axe: str
    shots: Path
    complaints: Complaints

    @contextmanager
    def person(self, *, dark: bool = False, size: str = "wide") -> Iterator[Any]:
        """A page of a new browser profile; everything on its console is a complaint, as is a failed request."""
        width, height = SIZES[size]
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        page = context.new_page()
        page.on("console", lambda message: self.note(page, f"console: {message.text}"))
        page.on("pageerror", lambda error: self.note(page, f"page: {error}"))
        page.on("requestfailed", lambda request: self.note(page, f"request: {request.url}"))
        yield page
        context.close()

    def note(self, page: Any, text: str) -> None:
        """Complain, but of an answer that this tour asked for."""
        if "status of 4" not in text and "status of 5" not in text:
            self.complaints.found.append(f"{page.url}: {text}")

    def sign_in(self, page: Any, path: str = "/") -> None:
        """Through the stand-in, which consents at once."""
        page.goto(f"{self.url}{path}")
        page.get_by_role("link", name="Sign in with GitHub").click()
        page.get_by_role("button", name="Sign out").wait_for()

    def look(self, page: Any, path: str, name: str = "") -> str:
        """Open a page, hold it against axe, and keep a picture; its text."""
        if path:
            page.goto(f"{self.url}{path}")
        self.complaints.pages += 1
        found = page.evaluate(f"{self.axe}; axe.run()") if self.axe else {"violations": [], "passes": []}
        self.complaints.rules = max(self.complaints.rules, len(found["passes"]))
        for each in found["violations"]:
            where = each["nodes"][0]["target"]
            self.complaints.check(
                each["impact"] not in SERIOUS, f"{page.url}: axe: {each['id']} at {where}: {each['help']}"
            )
        wider = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
        self.complaints.check(not wider, f"{page.url}: wider than the window")
        self.complaints.check(page.locator("h1").count() == 1, f"{page.url}: has no single heading")
        if name:
            page.screenshot(path=self.shots / f"{name}.png", full_page=True)
        return str(page.inner_text("body"))


def main() -> int:
    """The whole tour; 1 where something is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screenshots", type=Path, default=Path(tempfile.gettempdir()) / "reviewbot-pages")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--axe", type=Path, help="another axe.min.js than that of axe-playwright-python")
    arguments = parser.parse_args()
    arguments.screenshots.mkdir(parents=True, exist_ok=True)
    bundle = importlib.util.find_spec("axe_playwright_python")
    file = arguments.axe or (bundle and bundle.origin and Path(bundle.origin).with_name("axe.min.js"))
    axe = file.read_text("utf-8") if file else ""
    playwright = importlib.import_module("playwright.sync_api")  # no dependency of ours: only this program needs it
    complaints = Complaints()
    with oauth_host() as host, tempfile.TemporaryDirectory() as folder, playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=arguments.chromium, args=["--no-sandbox"])
        for name, act in (("empty", tour_empty), ("full", tour_full)):
            state = Path(folder) / name
            with served(state, host) as url:
                act(Tour(browser, url, host, axe, arguments.screenshots, complaints), state)
        browser.close()
    for complaint in dict.fromkeys(complaints.found):
        print(f"WRONG: {complaint}")
    rules = f"axe passed up to {complaints.rules} rules on each" if axe else "axe was not there"
    print(f"{complaints.pages} pages looked at, {rules}; {'failed' if complaints.found else 'passed'}; "
          f"screenshots in {arguments.screenshots}")  # fmt: skip
    return 1 if complaints.found else 0


def tour_empty(tour: Tour, state: Path) -> None:
    """A server without a run; a person with and one without a repository."""
    tour.host.account.installations = {1: {SHOP: ("acme/shop", True)}}
    with tour.person() as page:
        tour.look(page, "/sign-in", "sign-in")
        tour.sign_in(page)
        for path in ("/", "/runs", "/queue", "/failed", "/costs", "/settings", "/decisions", f"/repositories/{SHOP}"):
            tour.look(page, path, f"empty{path.replace('/', '-').rstrip('-')}")
        tour.look(page, "/runs/none", "not-found")
    tour.host.account.installations = {}
    with tour.person() as page:
        tour.sign_in(page)
        tour.complaints.check("No repository to show" in tour.look(page, "/", "empty-nobody"), "no empty state")


def tour_full(tour: Tour, state: Path) -> None:
    """2,000 runs: every page in two sizes and schemes, decisions, keyboard, rights, and what fails."""
    database = open_database(str(state / "app.sqlite"))
    run, hidden, item, hidden_item = fill(database)
    tour.host.account.installations = {1: {SHOP: ("acme/shop", True)}}
    paths = {
        "repositories": "/",
        "runs": "/runs",
        "pulls": f"/repositories/{SHOP}",
        "pull": f"/repositories/{SHOP}/pulls/7",
        "run": f"/runs/{run}",
        "run-waiting": f"/runs/review:{SHOP}:{1991 % 40 + 1}:{1991:040x}:p",
        "queue": "/queue",
        "item": f"/queue/{item}",
        "failed": "/failed",
        "costs": "/costs",
        "settings": "/settings",
        "decisions": "/decisions",
    }
    for scheme in ("light", "dark"):
        for size in SIZES:
            with tour.person(dark=scheme == "dark", size=size) as page:
                tour.sign_in(page)
                for name, path in paths.items():
                    tour.look(page, path, f"{name}-{scheme}-{size}")
                if "open-run" not in paths:
                    page.goto(f"{tour.url}{paths['run']}")
                    for each in page.locator("summary").all():
                        each.click()
                    tour.look(page, "", f"run-open-{scheme}-{size}")
    see_rights(tour, hidden, hidden_item)
    use_keyboard(tour)
    decide(tour, item)
    see_frame(tour)
    see_failures(tour, database, state)


def see_rights(tour: Tour, hidden: str, item: str) -> None:
    """A person sees nothing of another repository, and an id that exists is answered as one that does not."""
    with tour.person() as page:
        tour.sign_in(page)
        texts = [tour.look(page, path) for path in ("/", "/runs", "/queue", "/failed", "/costs", "/decisions")]
        tour.complaints.check(not any("secret/vault" in text for text in texts), "another repository is shown")
        for there, absent in (
            (f"/runs/{hidden}", "/runs/review:9:9:9:p"),
            (f"/repositories/{HIDDEN}", "/repositories/999"),
            (f"/queue/{item}", f"/queue/{'0' * 32}"),
        ):
            answers = [page.request.get(f"{tour.url}{path}") for path in (there, absent)]
            same = answers[0].text() == answers[1].text() and [each.status for each in answers] == [404, 404]
            tour.complaints.check(same, f"{there} does not look like what is not there")


def use_keyboard(tour: Tour) -> None:
    """The first key leads to the skip link, and every link and button can be reached with a visible focus."""
    with tour.person() as page:
        tour.sign_in(page, "/queue")
        page.goto(f"{tour.url}/queue")
        page.keyboard.press("Tab")
        first = page.evaluate("document.activeElement.className")
        tour.complaints.check(first == "skip", f"the first stop of the keyboard is {first!r}")
        seen = {first}
        for _ in range(60):
            page.keyboard.press("Tab")
            seen.add(page.evaluate("document.activeElement.outerHTML.slice(0, 200)"))
            ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            tour.complaints.check(
                ring != "none" or page.evaluate("document.activeElement === document.body"), "no focus ring"
            )
        total = page.locator("a, button").count()
        tour.complaints.check(len(seen) >= min(total, 40), f"the keyboard reached {len(seen)} of {total} places")


def decide(tour: Tour, item: str) -> None:
    """Confirm a finding and retry a run by their forms; a form without its token does nothing."""
    with tour.person() as page:
        tour.sign_in(page)
        page.goto(f"{tour.url}/queue/{item}")
        page.fill("#reason", "reproduced with two clients")
        page.get_by_role("button", name="Confirm: post it").click()
        tour.complaints.check("reproduced with two clients" in tour.look(page, "", "item-confirmed"), "not confirmed")
        page.goto(f"{tour.url}/failed")
        page.get_by_role("button", name="Retry").first.click()
        tour.look(page, "")
        answer = page.request.post(f"{tour.url}/queue/{item}", form={"decision": "dismiss", "reason": "x", "seen": "2"})
        tour.complaints.check(answer.status == 403, f"a form without its token was answered with {answer.status}")
        page.get_by_role("button", name="Sign out").click()
        page.goto(f"{tour.url}/runs")
        tour.complaints.check("Sign in" in tour.look(page, ""), "the session did not end")


def see_frame(tour: Tour) -> None:
    """No page can be put into a frame, not even into one of its own server."""
    with tour.person() as page:
        tour.sign_in(page)
        answer = page.request.get(f"{tour.url}/runs")
        policy = answer.headers["content-security-policy"]
        tour.complaints.check("frame-ancestors 'none'" in policy and "default-src 'none'" in policy, "the policy")
        tour.complaints.check("unsafe" not in policy and "script-src" not in policy, "the policy lets scripts in")
        context = tour.browser.new_context()
        other = context.new_page()
        other.set_content(f'<iframe src="{tour.url}/sign-in"></iframe>')
        other.wait_for_timeout(500)
        shown = any(frame.url.startswith(tour.url) and "Sign in" in frame.content() for frame in other.frames[1:])
        tour.complaints.check(not shown, "a page was shown in a frame")
        context.close()


def see_failures(tour: Tour, database: Database, state: Path) -> None:
    """GitHub away, then the database away."""
    with tour.person() as page:
        tour.sign_in(page)
        database.run("UPDATE reviewbot_sessions SET checked = 0")
        tour.host.is_away = True
        tour.complaints.check("GitHub does not answer" in tour.look(page, "/runs", "github-away"), "no word of GitHub")
        tour.look(page, "/sign-in")
        tour.host.is_away = False
        tour.sign_in(page) if "Sign in" in tour.look(page, "/") else None
        database.run("ALTER TABLE reviewbot_sessions RENAME TO reviewbot_sessions_away")
        text = tour.look(page, "/runs", "database-away")
        tour.complaints.check("The database does not answer" in text, "no word of the database")
        database.close()


def fill(database: Database) -> tuple[str, str, str, str]:
    """2,000 runs, the newest one with a trace, findings in the queue, decisions; names of what the tour opens."""
    runs, queue = Runs(database), HumanQueue(database)
    trace = a_trace()
    name = ""
    with batch(database):
        for number in range(RUNS):
            repository, owner = (HIDDEN, "secret/vault") if number % 10 == 9 else (SHOP, "acme/shop")
            name = add_run(runs, repository, owner, number, STATES[number % len(STATES)])
            database.run(
                "UPDATE reviewbot_runs SET created = created - ?, started = created - ? WHERE run = ?",
                (RUNS - number) * 600.0,
                (RUNS - number) * 600.0 - 3.0,
                name,
            )
        main = add_run(runs, SHOP, "acme/shop", 7, "posted", head="c" * 40)
        runs.cost(main, 0.1834, 48_211, trace, [WorkerCost("reader", 0.15, 40_000), WorkerCost("judge", 0.0334, 8_211)])
        at_work = f"review:{SHOP}:{1991 % 40 + 1}:{1991:040x}:p"
        events = read_trace(trace)
        runs.cost(at_work, 0.0, 0, write_trace(events[: len(events) * 2 // 3]))
        items = []
        for repository, owner in ((SHOP, "acme/shop"), (HIDDEN, "secret/vault")):
            found = finding(severity="critical", confidence=62, title=f"Two writers lose an update in {owner}",
                            message="Both read the total before either writes it. The later write wins.",
                            evidence="total = load()\nsave(total + amount)", path="shop/ledger.py")  # fmt: skip
            human = HumanItem(
                path=found.path, line=found.line, reason="the proof is outside of the change", finding=found
            )
            queue.put(LeavingReview(1, repository, 7, owner, "c" * 40, main), [Left((f"{repository:032x}",), human)])
            items.append(queue.list_items((repository,))[0].item)
        for number, verb in enumerate(("pause", "resume", "dismiss")):
            record = CommandRecord(
                f"c{number}", 1, (SHOP, 7), verb, "hubot", "ab" * 16, "a test server, not production"
            )
            Commands(database).add(record)
    hidden = f"review:{HIDDEN}:{9 % 40 + 1}:{9:040x}:p"
    return main, hidden, items[0], items[1]


@contextmanager
def batch(database: Database) -> Iterator[None]:
    """One transaction: 2,000 of them would each wait for the disk."""
    database.run("BEGIN")
    yield
    database.run("COMMIT")


def add_run(runs: Runs, repository: int, owner: str, number: int, state: State, head: str = "") -> str:
    """A run in a state, with a reason where it has one."""
    head = head or f"{number:040x}"
    pull = number if len(head) == 40 and head[0] == "c" else number % 40 + 1
    name = f"review:{repository}:{pull}:{head}:p"
    runs.add(
        RunRecord(name, 1, owner, repository, pull, head, number, "waiting", "", "", "", 0, 0, 0, "", 0, None, None)
    )
    runs.begin(name, "browser", "worker")
    if state != "waiting":
        reasons = {"failed": "the provider did not answer", "refused": "the pull request is a draft",
                   "parked": "its worker died 5 times over it", "superseded": "a newer head is known"}  # fmt: skip
        runs.end(name, state, reasons.get(state, ""))
    runs.cost(name, (number % 17) / 100, number * 37 % 90_000, "")
    return name


def a_trace() -> str:
    """A trace of the example, with calls of models added: a review without a key makes none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        command = [sys.executable, "-m", "reviewbot", "review", str(ROOT / "examples/orders/change.diff"), "--repo"]
        subprocess.run(
            [*command, ROOT / "examples/orders/base", "--trace", path, "--no-cache"],
            stdout=subprocess.DEVNULL,
            check=False,
        )
        events = read_trace(path.read_text("ascii"))
    at = int(events[-1]["at_ms"])
    calls = []
    for number, (purpose, start, took) in enumerate(
        (
            ("planner", 50, 900),
            ("reader", 950, 9_000),
            ("reader", 950, 12_500),
            ("reader", 1_000, 7_200),
            ("judge", 13_600, 4_100),
        )
    ):
        usage = {"input_tokens": 9_000 + number, "cached_tokens": 4_000, "output_tokens": 700, "cost_usd": 0.031}
        call = {"event": "call", "at_ms": at + start + took, "duration_ms": took, "purpose": purpose, "usage": usage}
        calls.append({**call, "subject": f"part {number}", "model": "a-model", "tier": "medium", "stop": "end"})
    return write_trace([*events, *sorted(calls, key=lambda call: int(str(call["at_ms"])))])


@contextmanager
def served(state: Path, host: OAuthHost) -> Iterator[str]:
    """`reviewbot serve --no-worker` with an App that people can sign in to."""
    port = free_port()
    url = f"http://localhost:{port}"
    store_credentials(state / FILE_NAME, replace(CREDENTIALS, client_id=CLIENT_ID, client_secret=CLIENT_SECRET))
    environ = {
        "REVIEWBOT_STATE_DIR": str(state),
        "REVIEWBOT_PUBLIC_URL": url,
        "REVIEWBOT_PAGES_TOKEN": TOKEN,
        "GITHUB_SERVER_URL": host.url,
        "GITHUB_API_URL": host.url,
    }
    command = [sys.executable, "-m", "reviewbot", "serve", "--no-worker", "--port", str(port)]
    with subprocess.Popen(command, env={**os.environ, **environ}, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(port)
            yield url
        finally:
            server.terminate()


if __name__ == "__main__":
    raise SystemExit(main())
