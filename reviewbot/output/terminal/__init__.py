"""Review -> terminal. The only folder that knows rich, and it loads it for colours and for wide characters."""

from __future__ import annotations

from reviewbot.output.terminal.look import Look, look_of, write
from reviewbot.output.terminal.report import render_terminal

__all__ = ["Look", "look_of", "render_terminal", "write"]
