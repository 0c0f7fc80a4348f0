"""A page of styled text: lines that stay whole, and paragraphs that wrap. Texts are literal: no markup, no emoji."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from reviewbot.output.text import clip_block, escape_runner_commands

if TYPE_CHECKING:
    from rich.text import Text

# Names of the terminal's own colours, so that they fit its theme.
HEADING, LABEL, PLACE, PLAIN = "bold underline", "dim", "bold", ""
GUTTER, TAB = "| ", 4
MIN_WIDTH = 20
"""Below this an indented paragraph has no room left."""
CODE_LINES, CODE_CHARS = 12, 240
"""How much code one finding shows: a screen holds a few of them, and a minified line does not fill it."""


class Page:
    """Collects lines and renders them once. Texts passed in must already be visible (see `reviewbot.output.text`)."""

    def __init__(self, *, width: int, colour: bool) -> None:
        # Loading rich costs start-up time that --help need not pay.
        from rich.cells import chop_cells  # noqa: PLC0415  see above
        from rich.console import Console  # noqa: PLC0415  see above
        from rich.text import Text  # noqa: PLC0415  see above

        self._out = StringIO()
        self._width = max(width, MIN_WIDTH)
        # Everything that rich would otherwise read from the environment is said here.
        self._console = Console(
            file=self._out,
            width=self._width,
            height=25,
            force_terminal=colour,
            color_system="standard" if colour else None,
            no_color=False,
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
            _environ={},
        )
        self._chop, self._text = chop_cells, Text
        self._lines: list[Text] = []

    def line(self, *parts: tuple[str, str]) -> None:
        """One line of (text, style) parts, never wrapped: what a program may look for stays in one piece."""
        self._lines.append(self._text.assemble(*parts))

    def fits(self, *parts: tuple[str, str]) -> bool:
        """Whether the parts fit on one line."""
        return self._text.assemble(*parts).cell_len <= self._width

    def paragraph(self, text: str, style: str = PLAIN, *, indent: int = 0, lead: str = "") -> None:
        """Wrapped text; `lead` stands dimmed before its first line, and the other lines hang below the text."""
        room = max(self._width - indent - len(lead), MIN_WIDTH // 2)
        for number, row in enumerate(self._text(text, style=style).wrap(self._console, room, tab_size=TAB)):
            before = lead if number == 0 else " " * len(lead)
            row.rstrip()
            self._lines.append(self._text.assemble((" " * indent + before, LABEL), row))

    def code(self, text: str, *, indent: int, first_line: int | None = None, lead: str = "") -> None:
        """Code behind a gutter, with line numbers from `first_line`; long text is cut and says so."""
        rows = clip_block(text, lines=CODE_LINES, chars=CODE_CHARS).split("\n")
        digits = len(str(first_line + len(rows) - 1)) if first_line else 0
        for number, row in enumerate(rows):
            label = str(first_line + number) if first_line and number < CODE_LINES else ""
            before = lead if number == 0 else " " * len(lead)
            self._code_row(row.expandtabs(TAB), " " * indent + before + (f"{label:>{digits}} " if digits else ""))

    def _code_row(self, row: str, before: str) -> None:
        """Code breaks at the last column, not between words: blanks in it mean something."""
        room = max(self._width - len(before) - len(GUTTER), MIN_WIDTH // 2)
        for number, part in enumerate(self._chop(row, room) or [""]):
            margin = before if number == 0 else " " * len(before)
            self._lines.append(self._text.assemble((margin + GUTTER, LABEL), part.rstrip()))

    def heading(self, text: str) -> None:
        """A section starts: a blank line, then the heading."""
        self.blank()
        self.line((text, HEADING))

    def blank(self) -> None:
        """An empty line."""
        self.line()

    def render(self) -> str:
        """The whole page, with a last LF; the runner of a CI service whose log it comes into obeys nothing in it."""
        self._console.print(self._text("\n").join(self._lines), soft_wrap=True)
        return escape_runner_commands(self._out.getvalue())
