"""Width and colours of terminal output, decided from the stream and the environment that are handed in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple, TextIO

DEFAULT_WIDTH, MAX_WIDTH = 80, 120
"""Columns where the width is not known, and the most: longer lines of prose are hard to read."""

_LINKING = (
    "ALACRITTY_WINDOW_ID",
    "GHOSTTY_RESOURCES_DIR",
    "KITTY_WINDOW_ID",
    "KONSOLE_VERSION",
    "WEZTERM_PANE",
    "WT_SESSION",
)
_LINKING_PROGRAMS, _LINKING_VTE = frozenset({"ghostty", "iTerm.app", "vscode", "WezTerm"}), 5000
"""How terminals that show links are known: by a variable of theirs, by their name, by the version of their library."""
_NOT_LINKING = ("CI", "TMUX", "STY")
"""Of these, some pass the sequence on as text."""


class TerminalStyle(NamedTuple):
    """Width and colour of terminal output."""

    width: int
    """Columns."""
    colour: bool
    links: bool = False
    """Whether the terminal shows a text with an address as a link (OSC 8)."""


def style_of(stream: TextIO, environ: Mapping[str, str]) -> TerminalStyle:
    """Width from COLUMNS, then from the terminal. NO_COLOR beats FORCE_COLOR, which beats TERM=dumb and "no tty"."""
    width = min(_columns(stream, environ), MAX_WIDTH)
    return TerminalStyle(width, _wants_colour(stream, environ), _shows_links(stream, environ))


def _columns(stream: TextIO, environ: Mapping[str, str]) -> int:
    said = environ.get("COLUMNS", "")
    if said.isascii() and said.isdigit() and int(said[:6]) > 0:
        return int(said[:6])
    return terminal_width(stream)


def terminal_width(stream: TextIO) -> int:
    """Columns of the terminal behind a stream; 80 where there is none or it does not know."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or DEFAULT_WIDTH
    except (OSError, ValueError):
        # No file behind the stream (io.UnsupportedOperation is both), closed, or no terminal.
        return DEFAULT_WIDTH


def _wants_colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    if environ.get("NO_COLOR"):
        return False
    if forced := environ.get("FORCE_COLOR"):
        return forced.lower() not in ("0", "false")
    return environ.get("TERM") != "dumb" and stream.isatty()


def _shows_links(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether a terminal is there that is known to show links; FORCE_HYPERLINK decides where it is set."""
    if not stream.isatty() or environ.get("TERM") == "dumb":
        return False
    if forced := environ.get("FORCE_HYPERLINK"):
        return forced != "0"
    if any(environ.get(name) for name in _NOT_LINKING):
        return False
    vte = environ.get("VTE_VERSION", "")
    known = environ.get("TERM_PROGRAM") in _LINKING_PROGRAMS or any(environ.get(name) for name in _LINKING)
    return known or (vte.isascii() and vte.isdigit() and int(vte[:6]) >= _LINKING_VTE)


def write(stream: TextIO, text: str) -> None:
    """Write a report; what the stream's encoding lacks becomes an escape instead of an error."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
