from __future__ import annotations

import io
import os
import pty

import pytest

from reviewbot.report.terminal_style import style_of, terminal_width, write


class Tty(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "colour"),
    [
        ({}, True),
        ({"NO_COLOR": ""}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": "False"}, False),
    ],
)
def test_a_terminal_is_coloured_unless_the_environment_says_no(environ: dict[str, str], *, colour: bool) -> None:
    assert style_of(Tty(), environ).colour is colour


@pytest.mark.parametrize(
    ("environ", "colour"), [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": ""}, False)]
)
def test_a_file_is_plain_unless_colour_is_forced(environ: dict[str, str], *, colour: bool) -> None:
    assert style_of(io.StringIO(), environ).colour is colour


@pytest.mark.parametrize(
    ("columns", "width"),
    [
        ("1", 1), ("60", 60), ("119", 119), ("120", 120), ("121", 120), ("500", 120), ("9" * 5_000, 120),
        ("0", 80), ("-1", 80), ("+9", 80), ("x", 80), ("", 80), ("²", 80), ("٣", 80),
    ],
)  # fmt: skip
def test_the_width_comes_from_the_environment_first(columns: str, width: int) -> None:
    assert style_of(io.StringIO(), {"COLUMNS": columns}).width == width


def test_the_width_of_a_real_terminal_is_asked_for() -> None:
    leader, follower = pty.openpty()
    with os.fdopen(follower, "w") as stream, os.fdopen(leader):
        assert terminal_width(stream) == 80


@pytest.mark.parametrize(
    ("environ", "links"),
    [
        ({}, False),
        ({"KITTY_WINDOW_ID": "1"}, True),
        ({"TERM_PROGRAM": "vscode"}, True),
        ({"TERM_PROGRAM": "Apple_Terminal"}, False),
        ({"VTE_VERSION": "7003"}, True),
        ({"VTE_VERSION": "4999"}, False),
        ({"VTE_VERSION": "x"}, False),
        ({"KITTY_WINDOW_ID": "1", "TMUX": "/tmp/1"}, False),
        ({"KITTY_WINDOW_ID": "1", "CI": "true"}, False),
        ({"KITTY_WINDOW_ID": "1", "TERM": "dumb"}, False),
        ({"KITTY_WINDOW_ID": "1", "FORCE_HYPERLINK": "0"}, False),
        ({"TMUX": "/tmp/1", "FORCE_HYPERLINK": "1"}, True),
    ],
)
def test_links_are_for_terminals_that_are_known_to_show_them(environ: dict[str, str], *, links: bool) -> None:
    assert style_of(Tty(), environ).links is links
    assert not style_of(io.StringIO(), environ).links


def test_a_closed_stream_has_the_default_width() -> None:
    stream = io.StringIO()
    stream.close()

    assert terminal_width(stream) == 80


def test_what_an_encoding_lacks_is_written_as_an_escape() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")

    write(stream, "é 漢 \udc80 ok\n")
    stream.flush()

    assert raw.getvalue() == b"\\xe9 \\u6f22 \\udc80 ok\n"


def test_a_stream_without_encoding_gets_the_text() -> None:
    stream = io.StringIO()

    write(stream, "é\n")

    assert stream.getvalue() == "é\n"
