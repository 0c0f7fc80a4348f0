from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.app.runtime.logs import LineFormatter, configure_logs, run_named

KEY = (
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nQ2hhbmdlZGxpbmVvZmFrZXk3Nzc3\n"
    "-----END PRIVATE KEY-----\n"
)


def line_of(message: object, *arguments: object, hidden: tuple[str, ...] = (), **extra: Any) -> dict[str, Any]:
    record = logging.getLogger("reviewbot.test").makeRecord(
        "reviewbot.test", logging.INFO, "file.py", 1, message, arguments, None, extra=extra
    )
    text = LineFormatter(lambda: hidden).format(record)
    assert text.isascii()
    assert "\n" not in text
    loaded = json.loads(text)
    assert isinstance(loaded, dict)
    return loaded


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level, raising = list(root.handlers), root.level, logging.raiseExceptions
    made = io.StringIO()
    configure_logs(made)
    yield made
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.raiseExceptions = raising


def test_a_line_says_when_who_and_what() -> None:
    line = line_of("taken %s", "up", delivery="d-1")

    assert list(line)[:5] == ["at", "level", "logger", "run", "message"]
    assert (line["level"], line["logger"], line["message"], line["delivery"]) == (
        "info",
        "reviewbot.test",
        "taken up",
        "d-1",
    )
    assert line["at"].endswith("Z")


def test_the_run_stands_in_every_line_also_of_threads_and_tasks() -> None:
    async def inside() -> tuple[object, object]:
        return (await asyncio.to_thread(line_of, "x"))["run"], await asyncio.create_task(_now())

    async def _now() -> object:
        return line_of("x")["run"]

    with run_named("review:1:7"):
        assert asyncio.run(inside()) == ("review:1:7", "review:1:7")
        assert line_of("x")["run"] == "review:1:7"
        assert line_of("x", run="other")["run"] == "other"
    assert line_of("x")["run"] is None


def test_secrets_are_masked_wherever_they_stand() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    line = line_of(
        "with %s", token, reason=f"x{KEY}y", hidden=("webhook-secret-1234", KEY), given="a webhook-secret-1234 b"
    )

    text = json.dumps(line)
    assert token not in text
    assert "webhook-secret-1234" not in text
    assert "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" not in text
    assert line["given"] == "a **** b"


def test_a_single_line_of_a_key_is_a_secret_too() -> None:
    assert line_of("Q2hhbmdlZGxpbmVvZmFrZXk3Nzc3", hidden=(KEY,))["message"] == "****"


def test_a_secret_is_masked_before_a_long_text_is_cut() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    line = line_of("y" * 1_990 + " " + token)

    assert "a1B2" not in line["message"]
    assert len(line["message"]) < 2_010


@given(st.text())
def test_no_text_makes_a_second_line_or_steers_a_terminal(text: str) -> None:
    line = line_of("%s", text, given=text)

    assert isinstance(line["message"], str)


def test_numbers_stay_numbers_and_the_rest_becomes_text() -> None:
    line = line_of("x", count=3, share=0.5, none=None, yes=True, endless=float("inf"), path=("a", 1))

    assert (line["count"], line["share"], line["none"], line["yes"]) == (3, 0.5, None, True)
    assert (line["endless"], line["path"]) == ("inf", "('a', 1)")


def test_a_caller_cannot_replace_what_we_say_ourselves_and_cannot_break_us() -> None:
    line = line_of("%d of them", "no number", at="never", level="none")

    assert line["message"] == "%d of them"
    assert line["level"] == "info"
    assert line["at"] != "never"


def test_an_error_is_told_by_its_kind_and_place_and_not_by_its_words(stream: io.StringIO) -> None:
    try:
        int("code of a customer")
    except ValueError:
        logging.getLogger("reviewbot.app.web").exception("it broke")

    line = json.loads(stream.getvalue())
    assert line["error"] == "ValueError"
    assert line["where"][0].endswith("test_an_error_is_told_by_its_kind_and_place_and_not_by_its_words")
    assert "customer" not in stream.getvalue()


def test_libraries_are_heard_through_us_and_from_warnings_on(stream: io.StringIO) -> None:
    logging.getLogger("waitress").addHandler(logging.StreamHandler(stream))
    configure_logs(stream, level="DEBUG")
    logging.getLogger("waitress").info("chatter")
    logging.getLogger("waitress").warning("trouble")
    logging.getLogger("reviewbot.app.worker").debug("detail")

    assert [json.loads(line)["message"] for line in stream.getvalue().splitlines()] == ["trouble", "detail"]
