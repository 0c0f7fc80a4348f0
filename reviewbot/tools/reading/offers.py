"""Which worker may read what. Two workers that read alike have a tool each, with a scope of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewbot.tools.reading import reads
from reviewbot.tools.reading.arguments import Parameter
from reviewbot.tools.reading.tool import ReadingTool
from reviewbot.tools.reading.view import BESIDE, EVERYTHING, OWN, PROGRAM

if TYPE_CHECKING:
    from reviewbot.ports import OwnTool

_NAME = Parameter("name", "name", "The name of a function, class, method or variable, such as total or Shop.total.")
_NEAR = Parameter("path", "path", "The file in which the name is used; files near it come first.")
_FILE = Parameter("path", "path", "The file, by its path in the repository.")
_SIDE = Parameter("side", "side", "head: as the change leaves it; base: as it was before.")
_AROUND = Parameter(
    "around", "quote", "One line of the file, word for word, without a mark; or a name that stands in it."
)

_READING = (
    ReadingTool(
        "trace-value",
        "Where the value of a name comes from: the lines that assign it around a quoted line, the function around that "
        "line, and who calls the function. For following input from outside to a dangerous place.",
        (_FILE, _AROUND, _NAME),
        EVERYTHING,
        reads.trace,
    ),
    ReadingTool(
        "security-definition",
        "The code of a function, class or constant: whether it checks, escapes or validates what it is given.",
        (_NAME, _NEAR),
        EVERYTHING,
        reads.definition,
    ),
    ReadingTool(
        "logic-definition",
        "The code of a function, class or constant: what it promises, takes, returns and raises.",
        (_NAME, _NEAR),
        EVERYTHING,
        reads.definition,
    ),
    ReadingTool(
        "logic-callers",
        "Every use of a name in the whole repository, tests included: who relies on it, and how.",
        (_NAME, _NEAR),
        EVERYTHING,
        reads.callers,
    ),
    ReadingTool(
        "logic-file",
        "Up to 200 lines of a file around a quoted line, before or after the change.",
        (_FILE, _SIDE, _AROUND),
        EVERYTHING,
        reads.part_of_file,
    ),
    ReadingTool(
        "logic-history",
        "The commits that last touched a line of a file of this task, as it was before the change: why it is as it is.",
        (_FILE, _AROUND),
        OWN,
        reads.history,
    ),
    ReadingTool(
        "performance-definition",
        "The code of a function, class or constant outside of tests: what a call of it costs.",
        (_NAME, _NEAR),
        PROGRAM,
        reads.definition,
    ),
    ReadingTool(
        "performance-callers",
        "Who calls a name outside of tests: whether it runs once, for each request, or in a loop.",
        (_NAME, _NEAR),
        PROGRAM,
        reads.callers,
    ),
    ReadingTool(
        "style-siblings",
        "How other files of the same folder write a word: their lines with it.",
        (_NAME, _FILE),
        BESIDE,
        reads.siblings,
    ),
    ReadingTool(
        "style-conventions",
        "The repository's written rules that apply to a path, in full.",
        (_FILE,),
        BESIDE,
        reads.conventions,
    ),
)


def reading_tools() -> dict[str, OwnTool]:
    """Every tool for reading, by its name."""
    return {tool.name: tool for tool in _READING}
