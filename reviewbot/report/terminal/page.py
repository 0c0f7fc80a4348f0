"""A page of styled text: lines that stay whole, and paragraphs that wrap between words.

Texts are literal: no markup, no emoji. Code, names and code spans are never broken: what is copied is what was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from reviewbot.domain.contracts import Finding
from reviewbot.report.text import clip_block, escape_runner_commands

# Names of the terminal's own colours, so that they fit its theme.
HEADING, LABEL, PLACE, PLAIN = "bold underline", "dim", "bold", ""
GUTTER, TAB = "| ", 4
MIN_WIDTH = 20
"""Below this an indented paragraph has no room left."""
CODE_LINES, CODE_CHARS = 12, 240
"""How much code one finding shows: a screen holds a few of them, and a minified line does not fill it."""

_WORD = re.compile(r"\s*(?:`[^`]{1,200}`|\S)+\s*")
"""A code span is one word."""


class Page:
    """Collects lines and renders them once. Texts passed in must already be visible (see `reviewbot.report.text`)."""

    def __init__(self, *, width: int, colour: bool, address_of: Callable[[Finding], str] | None = None) -> None:
        self._width = max(width, MIN_WIDTH)
        self._colour = colour
        self.address_of = address_of
        """Where the lines of a finding are, empty if nowhere; None where the terminal shows no links."""
        self._lines: list[tuple[tuple[str, str], ...]] = []

    def line(self, *parts: tuple[str, str]) -> None:
        """One line of (text, style) parts, never wrapped: what a program may look for stays in one piece."""
        self._lines.append(parts)

    def link(self, text: str, url: str) -> str:
        """The text, linked where the terminal can (OSC 8) and there is an address, with nothing in it that acts."""
        if self.address_of is None or not url or not (url.isascii() and url.isprintable()):
            return text
        return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\"

    def fits(self, *parts: tuple[str, str]) -> bool:
        """Whether the parts fit on one line."""
        return sum(_columns(text) for text, _ in parts) <= self._width

    def paragraph(
        self, text: str, style: str = PLAIN, *, indent: int = 0, lead: str = "", word: str = "", url: str = ""
    ) -> None:
        """Wrapped text; `lead` stands dimmed before its first line, and the other lines hang below the text.

        The first `word` of each row is a link to `url`.
        """
        room = max(self._width - indent - len(lead), MIN_WIDTH // 2)
        rows = (row for line in text.split("\n") for row in _wrap(line.expandtabs(TAB), room))
        for number, row in enumerate(rows):
            before = lead if number == 0 else " " * len(lead)
            self.line((" " * indent + before, LABEL), (row.rstrip().replace(word, self.link(word, url), 1), style))

    def code(self, text: str, *, indent: int, first_line: int | None = None, lead: str = "") -> None:
        """Code behind a gutter, with line numbers from `first_line`; long text is cut and says so."""
        rows = clip_block(text, lines=CODE_LINES, chars=CODE_CHARS).split("\n")
        digits = len(str(first_line + len(rows) - 1)) if first_line else 0
        for number, row in enumerate(rows):
            label = str(first_line + number) if first_line and number < CODE_LINES else ""
            before = lead if number == 0 else " " * len(lead)
            margin = " " * indent + before + (f"{label:>{digits}} " if digits else "")
            self.line((margin + GUTTER, LABEL), (row.expandtabs(TAB).rstrip(), PLAIN))

    def heading(self, text: str) -> None:
        """A section starts: a blank line, then the heading."""
        self.blank()
        self.line((text, HEADING))

    def blank(self) -> None:
        """An empty line."""
        self.line()

    def render(self) -> str:
        """The whole page, with a last LF; the runner of a CI service whose log it comes into obeys nothing in it."""
        if self._colour:
            text = _paint(self._lines)
        else:
            text = "".join("".join(part for part, _ in line) + "\n" for line in self._lines)
        return escape_runner_commands(text)


def _paint(lines: list[tuple[tuple[str, str], ...]]) -> str:
    """The lines with the terminal's sequences for their styles."""
    # Loading rich takes longer than a plain page: only colours need it, and the widths of other scripts.
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    # Everything that rich would otherwise read from the environment is said here.
    console = Console(
        width=MIN_WIDTH,
        height=25,
        force_terminal=True,
        color_system="standard",
        no_color=False,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )
    with console.capture() as capture:
        console.print(Text("\n").join(Text.assemble(*line) for line in lines), soft_wrap=True)
    return capture.get()


def _columns(text: str) -> int:
    """Of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - as above

    return cell_len(text)


def _wrap(line: str, room: int) -> Iterator[str]:
    """Yield the rows of one line, broken between words; a word that is longer than a row stands on one of its own."""
    row = ""
    for word in _WORD.findall(line):
        if row and _columns(row) + _columns(word.rstrip()) > room:
            yield row
            row = ""
        row += word
    yield row
