"""Who is let into the setup and how long; what stands on its pages; and what the server shows of proxies."""

from __future__ import annotations

import base64
import html
import http.client
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape
from werkzeug.test import TestResponse

from reviewbot.app.runtime.credentials import Credentials
from reviewbot.app.store.inbox.counters import COUNTERS, Tally
from reviewbot.app.web.metrics import ACK_BUCKETS
from reviewbot.app.web.pages import StartPage, final_page, manifest, policy, problem_page, start_page
from reviewbot.app.web.parts import MAX_BODY_BYTES, SetupParts
from reviewbot.app.web.server import HEADER_BYTES, WebServer
from reviewbot.app.web.setup import LIFETIME_S, MAX_STATES, SetupSessions
from tests.webhooks import CREDENTIALS, Service, pull_event, service

TOKEN = "a-token-that-was-printed"
PUBLIC = "https://reviews.example.org"
EVIL = """"><script>alert('&')</script>"""


@dataclass
class Ways:
    """A setup at an enterprise's own GitHub, and the codes that came back from it."""

    codes: list[str] = field(default_factory=list)

    def convert(self, code: str) -> Credentials:
        self.codes.append(code)
        return CREDENTIALS

    def parts(self) -> SetupParts:
        return SetupParts(self.convert, lambda _: EVIL, TOKEN, "https://ghe.example.org", PUBLIC)


@pytest.fixture
def ways() -> Ways:
    return Ways()


@pytest.fixture
def target(ways: Ways, tmp_path: Path) -> Iterator[Service]:
    made = service(tmp_path, credentials=lambda: None, setup=ways.parts())
    yield made
    made.inbox.close()


@pytest.fixture
def client(target: Service) -> FlaskClient:
    """The browser that was let in."""
    made = target.app.test_client()
    assert get(made, f"/setup?token={TOKEN}").status_code == 303
    return made


def get(client: FlaskClient, path: str, **headers: str) -> TestResponse:
    given = {"Host": "localhost:8000", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return client.get(path, headers=given, environ_overrides={"REMOTE_ADDR": "127.0.0.1"})


def test_a_guess_does_not_use_the_token_up() -> None:
    sessions = SetupSessions(TOKEN)

    assert [sessions.admit(guess) for guess in ("", "x", TOKEN[:-1], TOKEN + "x", "\ud800")] == [None] * 5
    browser = sessions.admit(TOKEN)
    assert browser is not None
    assert [sessions.find(each) is not None for each in (browser, "", TOKEN)] == [True, False, False]
    assert sessions.admit(TOKEN) is None


def test_a_state_is_good_to_the_last_second_of_its_hour_and_once() -> None:
    now = [100.0]
    sessions = SetupSessions(TOKEN, lambda: now[0])
    states = [sessions.begin("b") for _ in range(2)]
    now[0] += LIFETIME_S

    assert (sessions.finish(states[0], "b"), sessions.finish(states[0], "b")) == (True, False)
    now[0] += 0.5
    assert not sessions.finish(states[1], "b")


def test_of_the_states_that_were_begun_only_the_oldest_is_dropped() -> None:
    sessions = SetupSessions(TOKEN)
    states = [sessions.begin("b") for _ in range(MAX_STATES)]
    assert len(set(states)) == MAX_STATES
    one_more = sessions.begin("b")

    assert [sessions.finish(each, "b") for each in (*states, one_more)] == [False, *[True] * MAX_STATES]


def test_who_shows_anothers_state_spends_it() -> None:
    sessions = SetupSessions(TOKEN)
    state = sessions.begin("mine")

    assert [sessions.finish(state, browser) for browser in ("\ud800", "mine")] == [False, False]


def test_who_is_turned_away_is_told_what_opens_the_door(target: Service, client: FlaskClient) -> None:
    stranger = target.app.test_client()
    closed, spent = get(stranger, "/setup"), get(stranger, f"/setup?token={TOKEN}")

    assert closed.json == {
        "error": "Forbidden",
        "reason": "open it with the address that the server printed when it started; it is good once",
    }
    assert spent.json == {"error": "Forbidden", "reason": "this token is not the one, or was used before"}
    assert not [page for page in (closed, spent) if "Set-Cookie" in page.headers]


@pytest.mark.parametrize(
    ("headers", "secure"),
    [
        ({}, False),
        ({"X_Forwarded_Proto": "https"}, True),
        ({"X_Forwarded_Proto": "http"}, False),
        ({"X_Forwarded_For": "8.8.8.8"}, False),
    ],
)
def test_the_pass_goes_over_tls_alone_where_a_proxy_ends_it(
    headers: dict[str, str], target: Service, *, secure: bool
) -> None:
    answer = get(target.app.test_client(), f"/setup?token={TOKEN}", **headers)
    cookie = answer.headers["Set-Cookie"]

    assert answer.status_code == 303
    assert ("Secure" in cookie, f"Max-Age={LIFETIME_S}" in cookie, "HttpOnly" in cookie) == (secure, True, True)
    assert (TOKEN in cookie, TOKEN in answer.text) == (False, False)


def test_the_pass_is_renewed_with_each_look_and_stays_the_same(client: FlaskClient) -> None:
    cookies = [get(client, "/setup").headers["Set-Cookie"].partition(";")[0] for _ in range(2)]

    assert cookies[0] == cookies[1]


@pytest.mark.parametrize(
    ("entered", "status", "said"),
    [
        ({"name": "n" * 34}, 303, "n" * 34),
        ({"name": "n" * 34 + "x"}, 303, "n" * 34),
        ({"organisation": "o" * 39}, 303, f"/organizations/{'o' * 39}/settings/apps/new?state="),
        ({"organisation": "o"}, 303, "/organizations/o/settings/apps/new?state="),
        ({"organisation": "-o"}, 400, "The organisation must be its name in addresses"),
        ({"organisation": "o-"}, 400, "The organisation must be its name in addresses"),
        ({"organisation": "o/x"}, 400, "The organisation must be its name in addresses"),
        ({"name": "-n"}, 400, "The name must have at most 34 letters, digits, blanks, dots and dashes"),
        ({"name": ""}, 400, "The name must have at most 34 letters, digits, blanks, dots and dashes"),
        ({"name": "n\n"}, 400, "The name must have at most 34 letters, digits, blanks, dots and dashes"),
        ({"public_url": "x"}, 400, "The address of this server must be an address such as"),
        ({"public_url": f"https://{'a' * 250}/{'b' * 60}"}, 303, f"https://{'a' * 250}/{'b' * 41}/webhook"),
    ],
)
def test_what_was_entered_is_taken_within_its_limits_or_refused_in_words(
    entered: dict[str, str], status: int, said: str, client: FlaskClient
) -> None:
    token = re.search(r'name="form_token" value="([^"]+)"', get(client, "/setup").text)
    assert token is not None
    form = {"public_url": PUBLIC, "name": "n", "organisation": "", "form_token": token[1], **entered}
    answer = client.post("/setup", data=form, headers={"Host": "localhost:8000"})
    page = get(client, "/setup") if status == 303 else answer

    assert (answer.status_code, said in page.text) == (status, True)
    assert ('name="manifest"' in page.text) == (status == 303)


def test_a_name_is_proposed_that_is_free_on_the_host(client: FlaskClient) -> None:
    assert re.search(r'name="name" required maxlength="34" value="reviewbot-[0-9a-f]{6}"', get(client, "/setup").text)


def test_an_enterprises_own_host_is_where_everything_goes(client: FlaskClient, ways: Ways) -> None:
    page = get(client, "/setup")
    action = re.search(r'action="(https://[^"]+)"', page.text)
    state = re.search(r"state=([\w-]+)", page.text)
    assert action is not None
    assert state is not None
    done = get(client, f"/setup/callback?state={state[1]}")

    assert action[1].startswith("https://ghe.example.org/settings/apps/new?state=")
    assert "form-action 'self' https://ghe.example.org;" in page.headers["Content-Security-Policy"]
    assert page.headers["Referrer-Policy"] == "strict-origin"
    assert 'href="https://ghe.example.org/apps/reviewbot/installations/new"' in done.text
    assert (ways.codes, str(escape(EVIL)) in done.text, EVIL in done.text) == ([""], True, False)


def test_an_answer_that_nobody_asked_for_is_told_as_a_page(client: FlaskClient) -> None:
    page = get(client, "/setup/callback?state=x&code=y")

    assert (page.status_code, page.content_type) == (403, "text/html; charset=utf-8")
    assert "This answer does not belong to a setup that was begun here." in page.text


VALUES = {"public_url": EVIL, "name": EVIL, "organisation": EVIL}
PAGES: list[Callable[[], str]] = [
    lambda: start_page(StartPage(VALUES, EVIL, EVIL, problem=EVIL)),
    lambda: start_page(StartPage(VALUES, EVIL, EVIL, manifest(EVIL, EVIL, EVIL), EVIL)),
    lambda: final_page(EVIL, EVIL, EVIL),
    lambda: problem_page(EVIL),
]


@pytest.mark.parametrize("page", PAGES)
def test_no_value_becomes_markup_on_any_page(page: Callable[[], str]) -> None:
    assert "<script" not in page()
    assert str(escape(EVIL)) in page()


@given(st.text())
def test_the_manifest_comes_out_of_its_field_as_it_went_in(name: str) -> None:
    made = manifest(name, PUBLIC, f"{PUBLIC}/setup/callback")
    page = start_page(StartPage({"public_url": PUBLIC, "name": "n", "organisation": ""}, "t", None, made))
    found = re.search(r'name="manifest" value="([^"]*)"', page)

    assert found is not None
    assert json.loads(html.unescape(found[1])) == made


def test_the_policy_allows_the_style_that_is_sent_and_no_other(client: FlaskClient) -> None:
    page = get(client, "/setup")
    style = page.text.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(sha256(style.encode()).digest()).decode()

    assert f"style-src 'sha256-{digest}';" in page.headers["Content-Security-Policy"]
    assert policy("https://a.example").endswith("frame-ancestors 'none'; base-uri 'none'")


@pytest.mark.parametrize(("age", "status"), [(9.9, 200), (10.0, 200), (10.1, 503)])
def test_a_queue_may_be_as_old_as_was_said_and_no_older(age: float, status: int, tmp_path: Path) -> None:
    class Waiting:
        def put(self, _: object) -> str:
            return "new"

        def lag(self) -> tuple[int, float]:
            return 3, age

    target = service(tmp_path, inbox=Waiting(), ready_max_age_s=10.0)
    answer = target.get("/readyz")
    target.inbox.close()

    assert (answer.status_code, answer.json and answer.json["queue"]) == (status, {"waiting": 3, "oldest_s": age})
    assert answer.json is not None
    assert answer.json["status"] == ("ok" if status == 200 else "unavailable")
    assert "workers" not in answer.json


def test_every_counter_of_the_workers_is_shown_with_its_labels_in_order(tmp_path: Path) -> None:
    values = {label: f"the-{label}" for _, labels in COUNTERS.values() for label in labels}
    tallies = tuple(
        Tally(name, {label: values[label] for label in labels}, 2.0)
        for name, (_, labels) in COUNTERS.items()
        if not name.startswith("run_seconds")
    )
    ends = ("5", "30", "+Inf", "120")
    runs = tuple(Tally("run_seconds", {"le": end}, float(n)) for n, end in enumerate(ends))
    target = service(tmp_path, tallies=lambda: (*tallies, *runs, Tally("run_seconds_sum", {}, 9.0)))
    text = target.get("/metrics").text
    target.inbox.close()

    for tally in tallies:
        result = ",".join(f'{label}="{values[label]}"' for label in sorted(tally.labels))
        assert f"reviewbot_{tally.name}_total{{{result}}} 2.0" in text
    assert re.findall(r'run_seconds_bucket\{le="([^"]+)"\}', text) == ["5", "30", "120", "+Inf"]
    assert "reviewbot_run_seconds_sum 9.0" in text


def test_before_the_first_run_no_time_of_one_is_shown(target: Service) -> None:
    target.send(pull_event())
    text = target.get("/metrics").text

    assert "reviewbot_run_seconds_bucket" not in text
    assert [float(end) for end in re.findall(r'ack_seconds_bucket\{le="([^"+]+)"\}', text)] == list(ACK_BUCKETS)
    assert 'reviewbot_http_errors_total{status="503"} 1.0' in text


def test_a_token_for_metrics_is_shown_whole_and_as_bearer(tmp_path: Path) -> None:
    target = service(tmp_path, metrics_token="a-token-for-metrics")
    given = ["Bearer a-token-for-metric", "bearer a-token-for-metrics", "a-token-for-metrics", "Bearer \u00e9"]
    answers = [target.get("/metrics", Authorization=each) for each in given]
    target.inbox.close()

    assert [answer.status_code for answer in answers] == [403] * 4
    assert answers[0].json is not None
    assert answers[0].json["reason"].endswith("or for who has REVIEWBOT_METRICS_TOKEN")


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    target = service(tmp_path_factory.mktemp("served"))
    server = WebServer(target.app, "127.0.0.1", 0)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield server.port
    server.stop()
    thread.join(60)
    target.inbox.close()
    assert not thread.is_alive()


@pytest.mark.parametrize("name", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "Via"])
def test_whom_a_proxy_speaks_for_is_from_elsewhere_over_the_wire_too(name: str, port: int) -> None:
    """The server must not drop what says so."""
    statuses = []
    for headers in ({}, {name: "for=8.8.8.8"}):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/metrics", headers={"Host": f"localhost:{port}", **headers})
        statuses.append(connection.getresponse().status)
        connection.close()

    assert statuses == [200, 403]


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (f"POST /webhook HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: {MAX_BODY_BYTES}", b"100"),
        (f"POST /webhook HTTP/1.1\r\nHost: a\r\nContent-Length: {MAX_BODY_BYTES + 1}", b"413"),
        (f"GET /healthz HTTP/1.1\r\nHost: a\r\nX: {'a' * (HEADER_BYTES - 100)}", b"200"),
        (f"GET /healthz HTTP/1.1\r\nHost: a\r\nX: {'a' * HEADER_BYTES}", b"431"),
    ],
)
def test_what_is_just_small_enough_is_let_in_and_what_is_not_is_not(head: str, status: bytes, port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(f"{head}\r\n\r\n".encode())

        assert client.makefile("rb").readline().split()[1] == status
