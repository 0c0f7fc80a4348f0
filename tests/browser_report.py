"""The HTML report in a real browser: opened from disk with the network off, small, and with 2,000 findings.

    python -m tests.browser_report [--screenshots DIR] [--chromium /usr/bin/chromium]

`make browser` installs what it needs; it is no part of `make test`. Fails where the page asks for anything but itself,
where the browser complains, where axe-core finds something serious, where the keyboard or the paper misses a part, and
where opening 2,000 findings takes the page more than a second of a processor: the time on a clock is printed beside it.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from reviewbot.domain.contracts import HumanItem, Review
from reviewbot.memory.fingerprints import of_review
from reviewbot.report.formats import FORMATS, ReportInput

EXAMPLE = Path(__file__).parents[1] / "examples/orders"
FINDINGS, MAX_MS, TIMES = 2_000, 1_000.0, 5
GRAVE = frozenset({"serious", "critical"})
_EMPTY = "<!doctype html><html lang=en><title>empty</title><body><p>empty</p></body></html>"
_PAINTED = (
    "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"
)


def example_review() -> Review:
    """The review of the example, with a finding for a person and every kind of fold."""
    command = [
        sys.executable,
        "-m",
        "reviewbot",
        "review",
        str(EXAMPLE / "change.diff"),
        "--repo",
        str(EXAMPLE / "base"),
    ]
    done = subprocess.run([*command, "--format", "json", "--no-cache"], check=True, capture_output=True, text=True)
    known = {name: value for name, value in json.loads(done.stdout).items() if name in Review.model_fields}
    review = Review.model_validate_json(json.dumps(known))
    item = review.findings[0]
    return review.model_copy(
        update={
            "human": (HumanItem(path=item.path, line=item.line, reason="critical and unsure", finding=item),),
            "about": ("Orders get `refunds`, exports and a search.",),
            "notes": ("A note of the run.",),
        }
    )


def large_review(review: Review) -> Review:
    """The same with 2,000 findings."""
    findings = tuple(
        review.findings[number % len(review.findings)].model_copy(update={"line": number + 1, "end_line": number + 1})
        for number in range(FINDINGS)
    )
    return review.model_copy(update={"findings": findings})


class Pages:
    """Opens files with the network off, and keeps what went wrong."""

    def __init__(self, browser: Any, screenshots: Path) -> None:
        self.browser = browser
        self.screenshots = screenshots
        self.complaints: list[str] = []
        self.cpu_ms = 0.0
        """What the thread of the last page took of a processor until it was painted."""

    def open(self, path: Path, *, scheme: str = "light", width: int = 1_000, bypass_csp: bool = False) -> Any:
        """A page on a file; its context is the reader's: offline."""
        context = self.browser.new_context(
            offline=True, color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=bypass_csp
        )
        page = context.new_page()
        page.on("console", lambda message: self.complaints.append(f"console: {message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(f"page: {error}"))
        page.on("request", lambda request: self._only(request.url, path))
        session = context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(path.as_uri())
        page.evaluate(_PAINTED)
        metrics = session.send("Performance.getMetrics")["metrics"]
        self.cpu_ms = 1_000 * next(each["value"] for each in metrics if each["name"] == "TaskDuration")
        return page

    def _only(self, url: str, path: Path) -> None:
        if url != path.as_uri():
            self.complaints.append(f"the page asks for {url}")

    def check(self, holds: bool, words: str) -> None:  # noqa: FBT001 - a condition
        """Keep what does not hold."""
        if not holds:
            self.complaints.append(words)


def check_access(pages: Pages, path: Path, axe: str) -> None:
    """What axe-core finds, in light and dark, wide and narrow, with every fold open; and that nothing is cut off."""
    for scheme in ("light", "dark"):
        for width in (1_000, 380):
            page = pages.open(path, scheme=scheme, width=width, bypass_csp=True)
            page.screenshot(path=pages.screenshots / f"report-{scheme}-{width}.png", full_page=True)
            page.evaluate("() => document.querySelectorAll('details').forEach(each => each.open = true)")
            page.evaluate(axe)
            found = page.evaluate("() => axe.run().then(result => result.violations)")
            for each in found:
                if each["impact"] in GRAVE:
                    pages.complaints.append(f"axe, {scheme}, {width}: {each['id']}: {each['nodes'][0]['html'][:200]}")
            wide = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
            pages.check(wide <= 0, f"{scheme}, {width}: the page is {wide} px wider than the window")
            page.context.close()


def check_keyboard(pages: Pages, path: Path) -> None:
    """Tab reaches the first finding, Enter closes and opens it, and the focus can be seen."""
    page = pages.open(path)
    page.keyboard.press("Tab")
    state = "() => [document.activeElement.tagName, document.activeElement.parentElement.open]"
    before = page.evaluate(state)
    page.keyboard.press("Enter")
    after = page.evaluate(state)
    pages.check((before, after) == (["SUMMARY", True], ["SUMMARY", False]), f"keyboard: {before}, then {after}")
    outline = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    pages.check(outline != "none", "the focus cannot be seen")
    page.context.close()


def check_print(pages: Pages, path: Path) -> None:
    """On paper every fold is open."""
    page = pages.open(path)
    page.evaluate("() => document.querySelectorAll('details').forEach(each => each.open = false)")
    page.emulate_media(media="print")
    page.screenshot(path=pages.screenshots / "report-print.png", full_page=True)
    hidden = page.evaluate(
        "() => [...document.querySelectorAll('dl, table')]"
        ".filter(each => !each.checkVisibility() || !each.offsetHeight).length"
    )
    pages.check(hidden == 0, f"{hidden} parts are missing on paper")
    page.context.close()


def opening_ms(pages: Pages, path: Path) -> tuple[float, float]:
    """Milliseconds until the page is painted: of a processor, and on a clock; the medians of a few times."""
    cpu, clock = [], []
    for _ in range(TIMES):
        page = pages.open(path)
        cpu.append(pages.cpu_ms)
        # A busy machine may not have painted it yet when it has loaded.
        painted = page.wait_for_function("() => performance.getEntriesByType('paint').at(-1)?.startTime")
        clock.append(float(painted.json_value()))
        page.context.close()
    return statistics.median(cpu), statistics.median(clock)


def checks(pages: Pages, folder: Path, axe: str) -> Iterator[str]:
    """Run all of them; gives lines about what was measured."""
    review = example_review()
    written = {"example": review, "large": large_review(review)}
    files = {name: folder / f"{name}.html" for name in (*written, "empty")}
    for name, each in written.items():
        files[name].write_text(FORMATS["html"].render(ReportInput(each, of_review(each))), encoding="utf-8")
    files["empty"].write_text(_EMPTY)
    check_access(pages, files["example"], axe)
    check_keyboard(pages, files["example"])
    check_print(pages, files["example"])
    empty, example, large = (opening_ms(pages, files[name]) for name in ("empty", "example", "large"))
    pages.check(large[0] <= MAX_MS, f"{FINDINGS} findings take {large[0]:.0f} ms of a processor")
    size = files["large"].stat().st_size / 1e6
    for name, (cpu, clock) in (("an empty page", empty), ("the example", example), (f"{size:.1f} MB", large)):
        yield f"{name}: {cpu:.0f} ms of a processor, painted first after {clock:.0f} ms"


def main() -> int:
    """Open the report; 1 where something is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screenshots", type=Path, default=Path(tempfile.gettempdir()) / "reviewbot-report")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    arguments.screenshots.mkdir(parents=True, exist_ok=True)
    # No dependencies of ours: only this program needs them.
    sync_playwright: Callable[[], Any] = importlib.import_module("playwright.sync_api").sync_playwright
    bundle = importlib.util.find_spec("axe_playwright_python")
    assert bundle is not None
    assert bundle.origin is not None
    axe = Path(bundle.origin).with_name("axe.min.js").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=arguments.chromium, args=["--no-sandbox"])
        pages = Pages(browser, arguments.screenshots)
        for line in checks(pages, Path(folder), axe):
            print(line)
        browser.close()
    for complaint in pages.complaints:
        print(f"WRONG: {complaint}")
    print(f"{'failed' if pages.complaints else 'passed'}; screenshots in {arguments.screenshots}")
    return 1 if pages.complaints else 0


if __name__ == "__main__":
    raise SystemExit(main())
