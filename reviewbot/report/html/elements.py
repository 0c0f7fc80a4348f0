"""Build HTML from values: every text is escaped, unless it is HTML that was built here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape as escape_markup

from reviewbot.report.text import block, one_line, visible

_CODE_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")


class Html(str):
    """HTML that was built by this module. Its texts are escaped already."""

    __slots__ = ()


Child = Html | str | None


def escape(text: str) -> str:
    """A text with nothing in it that acts: no markup, and no command that a CI runner would obey in its log."""
    return escape_markup(visible(text)).replace("##", "#&#35;").replace("::", ":&#58;")


def element(tag: str, *children: Child, **attributes: str | None) -> Html:
    """An element; an attribute `class_` is called class, and one that is None is left out. None is no child."""
    named = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Html(f"<{tag}{named}>{join(children)}</{tag}>")


def join(children: Iterable[Child], between: str = "") -> Html:
    """Several as one; texts among them are escaped, also `between`."""
    parts = (child if isinstance(child, Html) else escape(child) for child in children if child is not None)
    return Html(escape(between).join(parts))


def prose(text: str) -> Html:
    """One line of text, in which code spans are shown as code."""
    pieces: list[Child] = []
    position, line = 0, one_line(text)
    for span in _CODE_SPAN.finditer(line):
        pieces += [line[position : span.start()], element("code", span[1])]
        position = span.end()
    return join([*pieces, line[position:]])


def link(text: Child, url: str) -> Html:
    """A link where there is an address, else the text alone. The address is made by `findings.links`."""
    return element("a", text, href=url, rel="noreferrer") if url else join([text])


def code_block(text: str) -> Html | None:
    """Code as it stands; None where there is none."""
    return element("pre", element("code", block(text))) if block(text) else None


def diff_block(old: str, new: str) -> Html | None:
    """Lines that go and lines that come, each with its sign, so that colours alone tell nothing."""
    rows = [element("del", f"- {row}\n") for row in block(old).split("\n") if block(old)]
    rows += [element("ins", f"+ {row}\n") for row in block(new).split("\n") if block(new)]
    return element("pre", element("code", *rows)) if rows else None


def table(heads: Iterable[str], rows: Iterable[Iterable[Child]]) -> Html:
    """A table with a row of headings."""
    head = element("tr", *(element("th", each, scope="col") for each in heads))
    body = (element("tr", *(element("td", cell) for cell in row)) for row in rows)
    return element(
        "div", element("table", element("thead", head), element("tbody", *body)), class_="wide", tabindex="0"
    )


def fold(
    title: Child, *children: Child, id_: str | None = None, class_: str | None = None, is_open: bool = False
) -> Html:
    """A section that opens on a click or with the keyboard, without a script."""
    return element(
        "details", element("summary", title), *children, id_=id_, class_=class_, open_="" if is_open else None
    )
