"""Read checkstyle's XML, which linters of many languages write. One with a DTD is refused: it may hold entities."""

from __future__ import annotations

from collections import defaultdict
from xml.parsers import expat

from reviewbot.analyzers.imported.results import MAX_RESULTS, Omission, ProgramRun, Result, collect_run, to_level
from reviewbot.domain.errors import InputError

_TOOL = "checkstyle"
_OWN = "com.puppycrawl."
"""How the sources of checkstyle's own rules begin."""
_MAX_LINE_DIGITS = 9

_Row = tuple[str, dict[str, str]]
"""The name of a file, and the attributes of an error in it."""


def read_checkstyle(name: str, data: bytes) -> list[ProgramRun]:
    """The runs of a document, one for each program that its sources name ("ShellCheck.SC2086"). Raises InputError."""
    rows: dict[str, list[_Row]] = defaultdict(list)
    roots: list[str] = []
    file = ""

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal file
        roots[:] = roots or [tag]
        if tag == "file":
            file = attributes.get("name", "")
        elif tag == "error":
            of_tool = rows[_split(attributes.get("source", ""))[0]]
            # What is behind the bound is counted, and not kept.
            of_tool.append((file, attributes if len(of_tool) < MAX_RESULTS else {}))

    def refuse(*_: object) -> None:
        raise InputError(f"{name!r} has a document type declaration; give checkstyle's XML without one")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(data, True)  # noqa: FBT003 - positional only
    except expat.ExpatError as error:
        raise InputError(f"{name!r} is no XML that can be read: {error}") from None
    if roots != [_TOOL]:
        raise InputError(f"{name!r} is XML of another format; of XML only checkstyle's is read")
    return [collect_run(tool, given, _result) for tool, given in sorted(rows.items())] or [ProgramRun(_TOOL, ())]


def _split(source: str) -> tuple[str, str]:
    """The program and the rule of a source."""
    program, _, rest = source.partition(".")
    if source.startswith(_OWN) or not rest:
        program = _TOOL
    return program, source.rpartition(".")[2]


def _result(row: _Row) -> Result | Omission:
    file, attributes = row
    number = attributes.get("line", "")
    line = int(number) if number.isascii() and number.isdigit() and len(number) <= _MAX_LINE_DIGITS else 0
    if not line or not file:
        return "without a line"
    rule = _split(attributes.get("source", ""))[1]
    return Result(rule, to_level(attributes.get("severity", "")), attributes.get("message") or rule, file, line, line)
