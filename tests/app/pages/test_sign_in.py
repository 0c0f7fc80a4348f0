"""Sign-in, sessions, and what a person sees of repositories that they may not read."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from reviewbot.app.pages.limits import ATTEMPTS, WINDOW_S, AttemptLimit
from reviewbot.app.pages.sessions import CHECKED_S, LIFETIME_S, derive
from reviewbot.app.pages.sign_in import SESSION, VISIT, safe_path
from reviewbot.app.store.durable.database import Database
from tests.app.pages.conftest import PUBLIC, TOKEN, A, B, Site, form_token
from tests.oauth_host import CLIENT_SECRET
from tests.still_clock import Moment

PRIVATE = ("/", "/runs", f"/repositories/{A}", f"/repositories/{A}/pulls/7", f"/runs/review:{A}:7:{'a' * 40}:p")


def test_a_person_signs_in_and_sees_their_repositories_alone(site: Site) -> None:
    site.add_run()
    site.add_run(repository=B)

    home = site.sign_in()

    assert home.status_code == 200
    assert "octo/one" in home.text
    assert "octocat" in home.text
    assert "other/two" not in home.text


@pytest.mark.parametrize("path", PRIVATE)
def test_without_a_session_every_page_leads_to_the_sign_in_and_back(path: str, site: Site) -> None:
    site.add_run()

    answer = site.get(path)

    assert answer.status_code == 303
    assert answer.headers["Location"] == f"/sign-in?next={quote(path, safe='')}"
    assert site.sign_in(path).status_code == 200


def test_what_a_person_may_not_read_is_answered_as_what_does_not_exist(site: Site) -> None:
    hidden = site.add_run(repository=B)
    site.sign_in()

    for there, absent in (
        (f"/runs/{hidden}", "/runs/review:99:7:nothing:p"),
        (f"/repositories/{B}", "/repositories/99"),
        (f"/repositories/{B}/pulls/7", "/repositories/99/pulls/7"),
    ):
        forbidden, missing = site.get(there), site.get(absent)
        assert (forbidden.status_code, forbidden.text) == (missing.status_code, missing.text)
        assert forbidden.status_code == 404
    assert "other/two" not in site.get("/runs").text


def test_a_person_without_any_repository_sees_an_empty_page(site: Site) -> None:
    site.host.account.installations = {}
    site.add_run()

    assert "No repository to show" in site.sign_in().text
    assert "octo/one" not in site.get("/runs").text


def test_a_session_cookie_is_closed_to_scripts_and_other_sites_and_new_with_each_sign_in(site: Site) -> None:
    site.sign_in()
    first = site.client.get_cookie(SESSION, "reviews.example.org")
    leaving = site.get("/sign-in/github")
    back = urlsplit(site.host.consent(leaving.headers["Location"]))
    done = site.get(f"{back.path}?{back.query}")
    second = site.client.get_cookie(SESSION, "reviews.example.org")

    [header] = [each for each in done.headers.getlist("Set-Cookie") if each.startswith(SESSION)]
    assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= set(header.split("; "))
    assert "Domain" not in header
    assert first is not None
    assert second is not None
    assert first.value != second.value
    site.client.set_cookie(SESSION, first.value, domain="reviews.example.org", secure=True)
    assert site.get("/").status_code == 303, "the session of before has ended"


def test_a_state_of_another_browser_and_a_code_of_another_verifier_are_refused(site: Site) -> None:
    leaving = site.get("/sign-in/github")
    back = urlsplit(site.host.consent(leaving.headers["Location"]))
    site.client.delete_cookie(VISIT, domain="reviews.example.org")

    assert site.get(f"{back.path}?{back.query}").status_code == 403

    site.get("/sign-in/github")
    assert site.get(f"{back.path}?{back.query}").status_code == 403, "its state belongs to the cookie of before"
    assert site.host.requests == [], "the state alone decides, before the host is asked"
    own = parse_qs(urlsplit(site.get("/sign-in/github").headers["Location"]).query)["state"][0]
    code = parse_qs(back.query)["code"][0]
    stolen = site.get(f"/sign-in/callback?code={code}&state={quote(own)}")
    assert stolen.status_code == 403, "the host compares the verifier of this browser with the challenge of the other"
    assert site.get("/").status_code == 303


@pytest.mark.parametrize("code", ["", "x" * 300, "a b", "\u00e9"])
def test_what_is_no_code_is_not_sent_to_the_host(code: str, site: Site) -> None:
    state = parse_qs(urlsplit(site.get("/sign-in/github").headers["Location"]).query)["state"][0]

    answer = site.get(f"/sign-in/callback?code={quote(code)}&state={quote(state)}")

    assert answer.status_code == 403
    assert site.host.requests == []


@pytest.mark.parametrize(
    "text",
    [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "/a\nb",
        "javascript:alert(1)",
        "",
        "/%0a\u00e9",
        "/\t/x",
    ],
)
def test_a_sign_in_leads_to_pages_of_this_server_alone(text: str, site: Site) -> None:
    assert safe_path(text) == "/"
    leaving = site.get(f"/sign-in/github?next={quote(text)}")
    back = urlsplit(site.host.consent(leaving.headers["Location"]))
    assert site.get(f"{back.path}?{back.query}").headers["Location"] == "/"


def test_no_state_can_be_given_another_target(site: Site) -> None:
    state = parse_qs(urlsplit(site.get("/sign-in/github?next=/runs").headers["Location"]).query)["state"][0]

    assert state.endswith("./runs")
    assert site.get(f"/sign-in/callback?code=c&state={state.partition('.')[0]}./elsewhere").status_code == 403
    assert site.host.requests == []


def test_the_database_holds_neither_a_cookie_nor_a_token(site: Site, database: Database) -> None:
    site.sign_in()
    site.sign_in_with_token()
    cookie = site.client.get_cookie(SESSION, "reviews.example.org")
    [token] = site.host.tokens

    kept = repr(database.run("SELECT * FROM reviewbot_sessions"))

    assert cookie is not None
    assert not [secret for secret in (cookie.value, token, TOKEN, CLIENT_SECRET) if secret in kept]


def test_a_session_ends_after_its_time_and_with_the_sign_out(site: Site, moment: Moment, database: Database) -> None:
    home = site.sign_in()
    assert site.post("/sign-out", form_token="another").status_code == 403
    cookie = site.client.get_cookie(SESSION, "reviews.example.org")
    assert site.post("/sign-out", form_token=form_token(home)).status_code == 303
    assert cookie is not None
    site.client.set_cookie(SESSION, cookie.value, domain="reviews.example.org", secure=True)
    assert site.get("/").status_code == 303

    site.sign_in()
    moment.now += LIFETIME_S + 1
    assert site.get("/").status_code == 303
    site.sign_in()
    assert len(database.run("SELECT 1 FROM reviewbot_sessions")) == 1, "those that have ended are removed"


def test_rights_are_asked_for_again_after_some_minutes(site: Site, moment: Moment) -> None:
    site.add_run()
    site.sign_in()
    site.host.account.installations = {}
    assert site.get(f"/repositories/{A}").status_code == 200

    moment.now += CHECKED_S + 1

    assert site.get(f"/repositories/{A}").status_code == 404


def test_where_the_host_is_away_nothing_is_shown(site: Site, moment: Moment) -> None:
    site.add_run()
    site.sign_in()
    moment.now += CHECKED_S + 1
    site.host.is_away = True

    away = site.get(f"/repositories/{A}")

    assert away.status_code == 503
    assert away.headers["Retry-After"] == "30"
    assert "octo/one" not in away.text
    site.host.is_away = False
    assert site.get(f"/repositories/{A}").status_code == 200
    moment.now += CHECKED_S + 1
    site.host.revoke()
    assert site.get(f"/repositories/{A}").status_code == 303, "a token that was taken back ends the session"


def test_the_read_only_token_shows_everything_and_only_when_it_is_exact(site: Site) -> None:
    site.add_run(repository=B)

    for wrong in ("", TOKEN[:-1], TOKEN + "x", "\u00e9", "\x00"):
        assert site.sign_in_with_token(wrong).status_code == 403
    assert site.sign_in_with_token().status_code == 303
    assert "other/two" in site.get("/").text


def test_another_read_only_token_ends_the_sessions_of_the_one_before(make_site: Callable[..., Site]) -> None:
    site = make_site()
    site.sign_in_with_token()
    later = make_site(token="another-token-of-the-operator")
    cookie = site.client.get_cookie(SESSION, "reviews.example.org")
    assert cookie is not None
    later.client.set_cookie(SESSION, cookie.value, domain="reviews.example.org", secure=True)

    assert site.get("/").status_code == 200
    assert later.get("/").status_code == 303
    without = make_site(token=None)
    assert 'name="token"' not in without.get("/sign-in").text
    visit = without.client.get_cookie(VISIT, "reviews.example.org")
    assert visit is not None
    assert without.post("/sign-in/token", token="", form_token=derive(visit.value, "form")).status_code == 403


def test_a_form_of_another_site_signs_no_reader_in(site: Site) -> None:
    assert site.post("/sign-in/token", token=TOKEN, form_token="guess").status_code == 403
    site.get("/sign-in")
    assert site.post("/sign-in/token", token=TOKEN).status_code == 403


def test_without_a_client_secret_the_pages_are_closed_and_say_what_opens_them(make_site: Callable[..., Site]) -> None:
    closed = make_site(sign_in=lambda: None, token=None).get("/sign-in")
    by_token = make_site(sign_in=lambda: None).get("/sign-in")

    assert "REVIEWBOT_CLIENT_ID" in closed.text
    assert "<form" not in closed.text
    assert "Sign in with GitHub" not in by_token.text
    assert 'name="token"' in by_token.text
    assert make_site(sign_in=lambda: None).get("/sign-in/github").status_code == 404


def test_attempts_to_sign_in_are_limited_by_address_and_window() -> None:
    moment = Moment()
    limit = AttemptLimit(moment)

    assert [limit.take("a") for _ in range(ATTEMPTS + 1)] == [*[True] * ATTEMPTS, False]
    assert limit.take("b")
    moment.now += WINDOW_S + 1
    assert limit.take("a")
    assert sum(limit.take(str(number)) for number in range(1_000)) < 200, "of all addresses together"


def test_too_many_attempts_are_refused_for_a_while(site: Site) -> None:
    answers = [site.sign_in_with_token("wrong").status_code for _ in range(ATTEMPTS + 1)]

    assert answers == [*[403] * ATTEMPTS, 429]


def test_addresses_that_a_client_makes_up_do_not_get_around_the_limit(make_site: Callable[..., Site]) -> None:
    for proxies, told in ((0, "{}"), (1, "{}, 198.51.100.7"), (2, "{}, 198.51.100.7, 10.0.0.1")):
        site = make_site(proxies=proxies)
        page = form_token(site.get("/sign-in"))
        form = {"token": "wrong", "form_token": page, "next": "/"}

        answers = [
            site.client.post(
                "/sign-in/token",
                base_url=PUBLIC,
                data=form,
                headers={"X-Forwarded-For": told.format(f"203.0.113.{number}")},
            ).status_code
            for number in range(ATTEMPTS + 1)
        ]

        assert answers == [*[403] * ATTEMPTS, 429], proxies


def test_people_behind_a_proxy_are_counted_apart(make_site: Callable[..., Site]) -> None:
    site = make_site(proxies=1)
    form = {"token": "wrong", "form_token": form_token(site.get("/sign-in")), "next": "/"}

    for number in range(ATTEMPTS + 1):
        said = {"X-Forwarded-For": f"made up, 203.0.113.{number}"}
        answer = site.client.post("/sign-in/token", base_url=PUBLIC, data=form, headers=said)
        assert answer.status_code == 403


def test_private_pages_carry_headers_that_close_them(site: Site) -> None:
    home = site.sign_in()
    style = site.get(home.text.partition('rel="stylesheet" href="')[2].partition('"')[0])

    policy = home.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; ")
    assert "frame-ancestors 'none'" in policy
    assert "script" not in policy
    assert home.headers["Cache-Control"] == "no-store"
    assert home.headers["X-Frame-Options"] == "DENY"
    assert home.headers["X-Content-Type-Options"] == "nosniff"
    assert home.headers["Referrer-Policy"] == "no-referrer"
    assert "<script" not in home.text
    assert " style=" not in home.text
    assert style.content_type == "text/css; charset=utf-8"
    assert "immutable" in style.headers["Cache-Control"]
    assert PUBLIC not in home.text
