"""Escape text for the place where it is shown: all text in a review may come from a change or from a model.

Pure functions of text. `visible` is the base of all others; what it returns holds no character that a terminal or a
browser obeys or hides. `md`, `md_code`, `md_cell` and `md_block` are for GitHub's Markdown, `label` for file names.
"""

from __future__ import annotations

import re

from reviewbot.tables import words_in

BLOCK_INFOS = words_in("names/markdown", "block_infos")
"""The info strings that a fence may carry. GitHub acts on others: suggestion, mermaid, math, geojson, stl."""

_NAME_CHARS = 300
_LOOK_AHEAD = 4
"""How many times its limit a text may be long before the rest is not looked at: blanks collapse."""

# How commands begin that the runners of CI services find in a log. GitHub's `::set-output name=a::b` is first in its
# line, behind blanks and colours; its older `##[add-mask]a`, Azure's `##vso[` and TeamCity's `##teamcity[` need not be.
_COMMAND = re.compile(
    r"(?P<start>(?:^|\r)[^\S\r\n]*(?:\x1b\[[0-9;]*m[^\S\r\n]*)*)::|##(?=[A-Za-z]{0,20}\[)", re.MULTILINE
)

_ZWJ = "\u200d"
# Characters that count as printable and show nothing: joiners, fillers, and selectors, in whose runs data can hide.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_SELECTOR = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_EMOJI = re.compile("[\u00a9\u00ae\u203c-\u3299\ufe0f\U0001f000-\U0001faff]")
_BACKTICKS = re.compile(r"`+")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_PUNCTUATION = re.compile(r"[\\*_\[\]~#]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;", "`": "&#96;"}
# What GitHub turns into something else after the Markdown is rendered, where a backslash no longer helps: mentions and
# mail addresses, references to issues, commits and advisories, addresses, mathematics, emoji, slash commands.
_ACTS = re.compile(
    r"""@ | \$ | :// | www\. | (?:mailto|xmpp): | \#\w | \b(?:GH|CVE|GHSA)-\w | :[\w+-]+: | ^[(\["'.,;]*/
    | (?<![0-9a-z])[0-9a-f]{7,64}(?![0-9a-z])""",
    re.IGNORECASE | re.VERBOSE,
)
# Brackets, quotes and full stops around a word need not be inside its code span.
_WRAPPED = re.compile(r"""^([(\["']*)(.+?)([)\]"'.,;!?]*)$""")
# What is read as the start of a block, or as a command to another bot, at the start of a line.
_STARTS_BLOCK = re.compile(r"[-+=]|\d{1,9}(?=[.)])")
_STARTS_COMMAND = re.compile(r"[!/.]?(?:bors|homu|jenkins|recheck|retest)\b", re.IGNORECASE)


def visible(text: str) -> str:
    r"""Show what hides or acts: control, format, private, unassigned and surrogate characters, and line separators.

    They become `\x1b` below U+0100 and `<U+202E>` above. LF, TAB, spaces of any width, letters of all scripts,
    combining marks and whole emoji sequences stay.
    """
    plain = text.replace("\n", "")
    if plain.isascii() and plain.isprintable():
        return text
    return "\n".join(_visible_line(line) for line in text.split("\n"))


def escape_runner_commands(text: str) -> str:
    r"""Escape what a CI runner would obey in its log: `\x3a:set-output` in place of `::set-output`, `#\x23[add-mask]`.

    For whole texts that may come into a log, as the last step: wrapping moves words to the start of a line.
    """
    return _COMMAND.sub(lambda found: r"#\x23" if found[0] == "##" else rf"{found['start']}\x3a:", text)


def escape_command_text(text: str) -> str:
    """A message as a workflow command takes it: the runner takes these escapes back out."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_command_property(text: str) -> str:
    """A property of a workflow command likewise."""
    return escape_command_text(text).replace(":", "%3A").replace(",", "%2C")


def one_line(text: str) -> str:
    """`visible`, with runs of blanks and line ends as one space, and none at the ends."""
    return " ".join(visible(re.sub(r"\r+(?=\n|\Z)", "", text)).split())


def short_line(text: str, limit: int) -> str:
    """`one_line`, cut to `limit` characters; no more than needed of a very long text is looked at."""
    start = one_line(text[: _LOOK_AHEAD * limit])
    return clip(start + " ..." if len(text) > _LOOK_AHEAD * limit else start, limit)


def block(text: str) -> str:
    """`visible` for several lines: CR LF is one line end, and blank lines at both ends go."""
    return re.sub(r"\A(?:[ \t]*\n)+", "", visible(text.replace("\r\n", "\n")).rstrip())


def label(name: str) -> str:
    r"""A file name: `visible`, with LF and TAB shown as `\n` and `\t`, spaces kept."""
    return visible(name).replace("\n", "\\n").replace("\t", "\\t") or "(no name)"


def short_label(name: str) -> str:
    """`label`; a very long name loses its middle: its end tells most."""
    half = _NAME_CHARS // 2
    return label(name if len(name) <= _NAME_CHARS else f"{name[:half]}...{name[-half:]}")


def clip(text: str, limit: int) -> str:
    """Cut text that is longer than `limit` characters (at least 4), and end it with "..."."""
    return text if len(text) <= limit else text[: limit - 4].rstrip() + " ..."


def clip_block(text: str, *, lines: int, chars: int) -> str:
    """`block`, cut to so many lines of so many characters; a last line says how many lines are left out."""
    rows = block(text).split("\n")
    shown = [clip(row, chars) for row in rows[:lines]]
    if left := len(rows) - len(shown):
        shown.append(f"... {left} more {'line' if left == 1 else 'lines'}")
    return "\n".join(shown)


def md(text: str) -> str:
    """One line of prose for Markdown, in which nothing acts; code spans in it stay code spans.

    A word that GitHub would act on after rendering is put into a code span, where it does not.
    """
    line = one_line(text)
    pieces: list[str] = []
    position = 0
    for span in _CODE_SPAN.finditer(line):
        pieces += _prose(line[position : span.start()], at_start=position == 0)
        pieces.append(md_code(span[2]))
        position = span.end()
    return _join([*pieces, *_prose(line[position:], at_start=position == 0)])


def md_code(text: str) -> str:
    """A code span on one line. Its fence is longer than any run of backticks inside."""
    line = label(one_line(text) if "\n" in text else text)
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(line)), default=0))
    # A space at both ends is no part of the code. GitHub reads "$`" and "`$" as mathematics.
    pad = " " if line.strip(" ") and (line[0] in "` $" or line[-1] in "` $") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def md_cell(text: str) -> str:
    """`md_code` for a cell of a table, where a pipe ends the cell even inside a code span."""
    return "&#124;".join(md_code(part) if part else "" for part in label(text).split("|"))


def md_prose_cell(text: str) -> str:
    """`md` for a cell of a table: a pipe in a code span would end the cell, and what is behind it would act."""
    return " &#124; ".join(md(part) for part in text.split("|"))


def md_block(text: str, info: str, *, indent: str = "") -> str:
    """A fenced block, each line of it after `indent`. An info string outside `BLOCK_INFOS` becomes "text"."""
    content = block(text)
    fence = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(content)), default=0))
    lines = (fence + (info if info in BLOCK_INFOS else "text"), *content.split("\n"), fence)
    return "\n".join(indent + line for line in lines)


def _visible_line(line: str) -> str:
    if line.isprintable() and not _BLANK.search(line):
        return line
    return "".join(char if _may_stay(line, index, char) else _escape_char(char) for index, char in enumerate(line))


def _may_stay(line: str, index: int, char: str) -> bool:
    before = line[index - 1] if index else ""
    if char == _ZWJ:
        return bool(_EMOJI.match(before) and _EMOJI.match(line, index + 1))
    if _SELECTOR.match(char):
        # One selector after a sign that can have variants; after a letter of ASCII or a selector it only hides data.
        return bool(before) and (before > "\x7f" or before in "#*0123456789") and not _SELECTOR.match(before)
    return char == "\t" or (not _BLANK.match(char) and (char.isprintable() or (char.isspace() and _is_space(char))))


def _is_space(char: str) -> bool:
    """Whether it is a blank of some width (Zs). `str.isspace` also holds for separators of lines and records."""
    return char not in "\x1c\x1d\x1e\x1f\x85\u2028\u2029" and (char == "\xa0" or char > "\xff")


def _escape_char(char: str) -> str:
    return f"\\x{ord(char):02x}" if char < "\u0100" else f"<U+{ord(char):04X}>"


def _prose(text: str, *, at_start: bool) -> list[str]:
    """Pieces of Markdown for text outside code spans; the first of a line is also kept from starting a block."""
    pieces: list[str] = []
    for word in re.split("( )", text):
        at_start_of_line = at_start and not pieces
        if _ACTS.search(word) or (at_start_of_line and _STARTS_COMMAND.match(word)):
            opening, core, closing = _WRAPPED.findall(word)[0]
            pieces += [_escape_markdown(opening), md_code(core), _escape_markdown(closing)]
        elif at_start_of_line and (start := _STARTS_BLOCK.match(word)):
            mark = start.end() if start[0].isdigit() else 0
            pieces.append(_escape_markdown(word[:mark]) + "\\" + word[mark] + _escape_markdown(word[mark + 1 :]))
        elif word:
            pieces.append(_escape_markdown(word))
    return pieces


def _escape_markdown(word: str) -> str:
    return "".join(_ENTITIES.get(char, char) for char in _PUNCTUATION.sub(r"\\\g<0>", word))


def _join(pieces: list[str]) -> str:
    """Concatenate; two code spans that touch would become one, so a space keeps them apart."""
    out = ""
    for piece in pieces:
        out += " " + piece if out.endswith("`") and piece.startswith("`") else piece
    return out
