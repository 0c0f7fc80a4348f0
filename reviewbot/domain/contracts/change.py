"""The change under review, and the parse state of each of its files."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from reviewbot.domain.contracts.base import Contract, Count, Kind, ParseState, Status, Text

TITLE, DESCRIPTION = "(title)", "(description)"
"""What stands in place of a path where something is about the title or the description of a change."""


class Hunk(Contract):
    r"""One hunk; `reviewbot.diff.rows` turns it into numbered lines.

    `body` holds the marked lines (" ", "+", "-", and "\\" for a missing newline) joined by "\n", without a last "\n".
    A line may hold "\r" or any other control character: only LF separates lines.
    """

    old_start: Count
    old_count: Count
    new_start: Count
    new_count: Count
    heading: str = ""
    body: str


class FileChange(Contract):
    """One file section of a diff. The same path may appear in two sections, as git writes a change of type."""

    path: str
    old_path: str | None = None
    """The name before; None where it is the same name."""
    status: Status
    language: str
    """Lower-case name of the language, "text" where unknown."""
    kind: Kind
    """What sort of text the language is, which decides who reads it."""
    mode: str | None = None
    """Git's mode of the new side, of the old one for a deleted file, where the diff tells it.

    "100644" is a file, "120000" a symlink, "160000" a submodule.
    """
    mode_changed: bool = False
    hunks: tuple[Hunk, ...] = ()
    added: Count = 0
    removed: Count = 0
    minified: bool = False
    """A line was longer than the limit and has been cut."""


class ParsedFile(Contract):
    """In which state parsing left one file; "read" means that every line of its section was read."""

    path: str
    state: ParseState
    reason: str = ""


class Theme(Contract):
    """Files of the change that belong together, and what they do."""

    title: Text
    files: Annotated[tuple[Text, ...], Field(max_length=1_000)]


class FileReadBefore(Contract):
    """A file of a change of which the review of an earlier head has read all but some lines."""

    path: str
    head: str
    """The commit at which the rest was read last."""
    again: tuple[tuple[Count, Count], ...] = ()
    """First and last lines of the new side that are to be read now, in order; none: the file stands as it was read."""
    pushed: tuple[Hunk, ...] = ()
    """What was pushed to the file since, whose lines readers are shown with marks; empty where `again` is."""


class StandingFinding(Contract):
    """Where the code of an open finding of an earlier head stands now."""

    path: str
    line: Count
    kind: str
    """As in the ledger: a model's cause, or a category."""


class ReadBefore(Contract):
    """How the change of a later head is read: what of it an earlier head's review has read, and what people know."""

    head: str = ""
    """The earlier head; empty where the change is read in full."""
    files: tuple[FileReadBefore, ...] = ()
    """A file that is not listed is read in full."""
    dependents: str = ""
    """Code that uses what was changed since, for its readers."""
    uses_shown: bool = False
    """Whether `dependents` and the change show each use of what was changed since."""
    claims: str = ""
    """What earlier heads' reviews said about the files that are shown now, with its state, for readers and judge."""
    unchanged: tuple[FileReadBefore, ...] = ()
    """Of each file the lines that an earlier head's review has read as they are, as `again` writes lines."""
    standing: tuple[StandingFinding, ...] = ()
    """Open findings of earlier heads: a claim that repeats one is not new."""
    note: str = ""
    """What the report says of it."""


class ChangeSet(Contract):
    """A whole change. `parsed[i]` is the state in which parsing left `files[i]`."""

    title: str = ""
    description: str = ""
    base_sha: str | None = None
    head_sha: str | None = None
    files: tuple[FileChange, ...] = ()
    parsed: tuple[ParsedFile, ...] = ()
    read_before: ReadBefore | None = None
    """None for the first head of a change, and where nothing is known of earlier ones."""

    @model_validator(mode="after")
    def _each_file_has_one_state(self) -> Self:
        if [f.path for f in self.files] != [p.path for p in self.parsed]:
            raise ValueError("parsed must name every file exactly once, in order")
        return self
