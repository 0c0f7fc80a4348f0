"""Lines at the foot of a terminal that are written again and again in the same place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

_TIMES_A_SECOND = 4


class _Console(Console):
    def show_cursor(self, show: bool = True) -> bool:  # noqa: ARG002, FBT001, FBT002 - the signature is rich's
        """Leave the cursor visible: a program that is killed could not show it again."""
        return False


class LiveLines:
    """Shows what `lines` gives, a few times a second, from a thread of its own, until `close` clears it."""

    def __init__(self, stream: TextIO, lines: Callable[[], list[str]]) -> None:
        def page() -> Text:
            return Text("\n", no_wrap=True, overflow="ellipsis").join(map(Text, lines()))

        console = _Console(file=stream, markup=False, emoji=False, highlight=False, legacy_windows=False)
        self._live = Live(
            get_renderable=page,
            console=console,
            refresh_per_second=_TIMES_A_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._live.start(refresh=True)

    def close(self) -> None:
        """Clear the lines."""
        self._live.stop()
