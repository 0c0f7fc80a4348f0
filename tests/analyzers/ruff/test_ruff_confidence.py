"""What stands around a report of ruff and makes it less believable."""

from __future__ import annotations

import pytest

from reviewbot.analyzers.core.changed_lines import ChangedLine, ShownLines
from reviewbot.analyzers.ruff.confidence import ReportContext, doubt_of
from reviewbot.analyzers.ruff.run import RuffDiagnostic


def doubted(code: str, text: str) -> int:
    """How far a report on the last line of a text is trusted at most."""
    shown = {number: ChangedLine(number, line, added=True) for number, line in enumerate(text.split("\n"), 1)}
    last = max(shown)
    return doubt_of(
        RuffDiagnostic(code, "a message", last, last, last, whole=True), shown[last], ReportContext(ShownLines(shown))
    ).most


SWITCHED = (
    'if os.environ.get("ATTACH"):\n    debugpy.wait_for_client()',
    "def main(args):\n    if args.debug:\n        start()\n        breakpoint()",
    "if one:\n    pass\nelif settings.PDB:\n\n    with log():\n        pdb.set_trace()",
)


@pytest.mark.parametrize("text", SWITCHED)
def test_a_debugger_behind_a_switch_is_doubted(text: str) -> None:
    assert doubted("T100", text) == 50


NOT_SWITCHED = (
    "breakpoint()",
    "def debug():\n    breakpoint()",
    "if debug:\n    pass\nbreakpoint()",
    "if debug:\n    pass\ndef total(orders):\n    if orders:\n        breakpoint()",
)


@pytest.mark.parametrize("text", NOT_SWITCHED)
def test_a_debugger_that_starts_by_itself_is_not(text: str) -> None:
    assert doubted("T100", text) == 100
