"""Pages of repositories, pull requests and runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewbot.app.pages.runs import MAX_TRACE_BYTES, PER_PAGE
from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.sql import Row, Value
from reviewbot.domain.errors import ConfigError
from reviewbot.review.trace import write_trace
from tests.app.pages.conftest import HOSTILE, A, B, Site
from tests.command_line import Run
from tests.still_clock import Moment

DIFF = b"""\
diff --git a/tool.py b/tool.py
new file mode 100644
--- /dev/null
+++ b/tool.py
@@ -0,0 +1,6 @@
+import sqlite3
+
+
+def find(connection: sqlite3.Connection, name=[]):
+    name.append(f"SELECT {undefined_name}")
+    return connection.execute("SELECT * FROM t WHERE n = '%s'" % input())
"""


@pytest.fixture
def trace(run: Run, tmp_path: Path) -> str:
    """A trace of a small change, reviewed without models."""
    path = tmp_path / "trace.json"
    assert run("review", "-", "--trace", path, "--no-cache", stdin=DIFF).code == 0
    return path.read_text()


def links_of(text: str) -> list[str]:
    return re.findall(r'<th scope="row"><a href="([^"]+)"', text)


def test_an_empty_server_says_how_a_run_begins(site: Site) -> None:
    home = site.sign_in().text
    assert "no run yet" in home
    assert f'href="{site.host.url}/apps/reviewbot/installations/new"' in home
    assert "A run begins" in site.get("/runs").text
    assert "A run begins" in site.get(f"/repositories/{A}").text


def test_runs_are_paged_by_key_and_each_is_shown_once(site: Site, moment: Moment) -> None:
    ordered = []
    for number in range(PER_PAGE * 2 + 3):
        moment.now += number % 2  # two at a time are of one moment
        ordered.append(site.add_run(number + 1))
    site.add_run(repository=B)
    site.sign_in()
    seen: list[str] = []
    path = "/runs"
    while path:
        page = site.get(path)
        seen += links_of(page.text)
        older = re.search(r'href="([^"]+)">Older', page.text)
        path = older[1] if older else ""

    assert len(seen) == len(set(seen)) == len(ordered)
    assert all(f"review:{A}:" in each.replace("%3A", ":") for each in seen)


def test_pull_requests_are_paged_too(site: Site, moment: Moment) -> None:
    for number in range(PER_PAGE + 2):
        moment.now += 1
        site.add_run(number + 1)
    site.sign_in()
    first = site.get(f"/repositories/{A}")
    older = re.search(r'href="([^"]+)">Older', first.text)

    assert older is not None
    rest = site.get(older[1])
    assert links_of(rest.text) == [f"/repositories/{A}/pulls/{number}" for number in (2, 1)]
    assert "Newest" in rest.text


def test_runs_can_be_asked_for_by_state(site: Site) -> None:
    site.add_run(1)
    failed = site.add_run(2, state="failed", reason="it broke")
    site.sign_in()

    found = links_of(site.get("/runs?state=failed").text)

    assert [each.replace("%3A", ":") for each in found] == [f"/runs/{failed}"]
    assert site.get("/runs?state=unknown").status_code == 400


@pytest.mark.parametrize("key", ["x", "1~", "nan~a", "1e9~a", "1~a' OR 1=1", "\u0661~a", "1~" + "a" * 400])
def test_what_is_no_key_of_a_list_is_refused(key: str, site: Site) -> None:
    site.sign_in()

    assert site.get("/runs").status_code == 200
    for path in ("/runs", f"/repositories/{A}"):
        assert (
            site.client.get(path, query_string={"before": key}, base_url="https://reviews.example.org").status_code
            == 400
        )


@pytest.mark.parametrize("number", ["0", "-1", "99999999999999999999999", "1.5", "x"])
def test_odd_ids_are_not_found(number: str, site: Site) -> None:
    site.sign_in()

    assert site.get(f"/repositories/{number}").status_code == 404
    assert site.get(f"/repositories/{A}/pulls/99999999999999999999999").status_code == 404


def test_a_run_is_shown_with_its_timeline_and_the_path_of_each_finding(site: Site, trace: str) -> None:
    name = site.add_run()
    site.runs.cost(name, 0.25, 1_000, trace)
    site.sign_in()

    page = site.get(f"/runs/{name}").text

    assert "$0.25" in page
    assert "Timeline" in page
    assert "All steps (" in page
    assert page.count("<rect") > 3
    assert "Shown (" in page
    assert "the threshold of" in page
    assert 'class="severity critical"' in page


def test_the_page_of_a_run_that_has_not_ended_is_loaded_again_until_it_has_or_the_reader_stops_it(site: Site) -> None:
    name = site.add_run(state="waiting")
    site.sign_in()

    following, still = site.get(f"/runs/{name}"), site.get(f"/runs/{name}?still=1")
    site.runs.end(name, "posted", "", "")
    ended = site.get(f"/runs/{name}")

    assert following.headers["Refresh"] == "10"
    assert 'href="?still=1"' in following.text
    assert "when the review has ended" in following.text
    assert 'href="?"' in still.text
    assert "Refresh" not in still.headers
    assert "Refresh" not in ended.headers
    assert "loaded again" not in ended.text


def test_a_run_that_goes_on_has_a_timeline_of_what_it_did_so_far(site: Site) -> None:
    name = site.add_run(state="running")
    usage = {"input_tokens": 4_000, "output_tokens": 30, "cost_usd": 0.02}
    events: list[dict[str, object]] = [
        {"event": "task_started", "at_ms": 10, "task_id": "logic:a.py", "worker": "logic", "attempt": 1},
        {"event": "step", "at_ms": 900, "task_id": "logic:a.py", "action": "done"},
        {"event": "call", "at_ms": 2_000, "purpose": "reader", "subject": "logic", "duration_ms": 800, "usage": usage},
        {"event": "task_started", "at_ms": 2_100, "task_id": "security:a.py", "worker": "security", "attempt": 1},
    ]
    site.runs.cost(name, 0.0, 0, write_trace(events))
    site.sign_in()
    page = site.get(f"/runs/{name}")

    assert page.headers["Refresh"] == "10"
    assert "2.1 s so far, 1 call, 4,000 tokens in, 30 out, $0.02." in page.text
    assert page.text.count('<rect class="running"') == 1
    assert "at work" in page.text
    assert "cut off" not in page.text
    assert "when the review has ended" in page.text
    assert "<dt>Cost</dt>" not in page.text

    site.runs.end(name, "failed", "it broke off", "")
    ended = site.get(f"/runs/{name}").text
    assert ended.count('<rect class="failed"') == 1
    assert "cut off" in ended


def test_the_reasons_of_a_page_are_those_that_explain_prints(site: Site, trace: str, run: Run, tmp_path: Path) -> None:
    name = site.add_run()
    site.runs.cost(name, 0.0, 0, trace)
    site.sign_in()
    page = site.get(f"/runs/{name}").text
    heading = re.search(r"</span> (tool\.py:\d+)(?:-\d+)? shown", page)
    assert heading is not None

    explained = run("explain", tmp_path / "trace.json", heading[1]).out

    why = re.search(r"Shown because \d+% sure is at least \d+, the threshold of \w+\.", " ".join(explained.split()))
    assert why is not None
    assert why[0] in page


@pytest.mark.parametrize("broken", ["", "{}", "no JSON", '{"trace_version":"2","events":[{"event":1}]}'])
def test_a_run_whose_trace_cannot_be_read_is_shown_all_the_same(broken: str, site: Site) -> None:
    name = site.add_run(state="failed", reason="the model did not answer")
    site.runs.cost(name, 0.0, 0, broken)
    site.sign_in()

    page = site.get(f"/runs/{name}")

    assert page.status_code == 200
    assert "the model did not answer" in page.text
    assert "trace" in page.text


def test_a_trace_that_is_too_large_is_named_and_not_read(site: Site) -> None:
    name = site.add_run()
    site.runs.cost(name, 0.0, 0, " " * (MAX_TRACE_BYTES + 1))
    site.sign_in()

    assert "it has more than 16 MiB" in site.get(f"/runs/{name}").text


def test_a_run_shows_the_settings_that_it_had_with_their_source(
    site: Site, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trace.json"
    monkeypatch.setenv("REVIEWBOT_MAX_FINDINGS", "3")
    assert run("review", "-", "--trace", path, "--no-cache", stdin=DIFF).code == 0
    name = site.add_run()
    site.runs.cost(name, 0.0, 0, path.read_text())
    site.sign_in()

    page = site.get(f"/runs/{name}").text

    assert "<code>max_findings</code>" in page
    assert '<td data-name="Source">REVIEWBOT_MAX_FINDINGS</td>' in page
    assert "<code>deadline_s</code>" not in page


def test_hostile_texts_become_no_markup_and_no_link(site: Site) -> None:
    name = site.add_run(state="failed", reason=HOSTILE, url="javascript:alert(1)", name='o/"><img src=x>')
    site.sign_in()

    for path in ("/", "/runs", f"/runs/{name}"):
        page = site.get(path).text
        assert "<script" not in page
        assert "<img" not in page
        assert "javascript:" not in page
        assert "\u202e" not in page
        assert "\x1b" not in page


def test_where_the_database_is_away_a_page_says_so(site: Site, database: Database) -> None:
    site.sign_in()
    database.close()

    away = site.get("/runs")

    assert away.status_code == 503
    assert "The database does not answer" in away.text
    assert "sqlite" not in away.text


class _RefusesNul:
    """A database that takes no NUL in a text, as Postgres."""

    def __init__(self, database: Database) -> None:
        self.now, self.close, self._run = database.now, database.close, database.run

    def run(self, statement: str, *values: Value) -> list[Row]:
        if any("\0" in each for each in values if isinstance(each, str)):
            raise ConfigError("text fields cannot contain NUL")
        return self._run(statement, *values)


@pytest.mark.parametrize("path", ["/runs/%00", "/runs/a%00b", "/queue/%00"])
def test_an_id_with_a_nul_is_not_found_and_no_fault_of_the_database(
    path: str, make_site: Callable[..., Site], database: Database
) -> None:
    site = make_site(database=_RefusesNul(database))
    site.sign_in()

    assert site.get(path).status_code == 404
