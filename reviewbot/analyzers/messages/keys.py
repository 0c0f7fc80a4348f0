"""Read the keys of messages from files of JSON, YAML, Java properties and gettext, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_TEXT = 2_000_000
"""Characters of a file; a larger one is not read."""

_PATH = re.compile(
    r"(?i)(?:^|/)(?:locales?|i18n|lang|langs|languages|translations?|messages|l10n|nls|_locales)/(?:[^/]{1,100}/){0,4}[^/]{1,100}\.(?:json|ya?ml|properties)$"
    r"|(?:^|/)(?:messages|ApplicationResources)(?:_[A-Za-z_]{2,8})?\.properties$|\.pot?$"
)
_ENTRY = re.compile(r"""([ \t]{0,40})(?:"([^"\\]{1,200})"|'([^'\\]{1,200})'|([\w.-]{1,200}))\s{0,4}:(?=\s|$)""")
_PROPERTY = re.compile(r"[ \t]{0,40}([\w.-]{1,200})[ \t]{0,40}[=:]")
_PART = re.compile(r'(?:(msg\w{2,9})(?:\[\d\])?[ \t]{1,9})?"((?:[^"\\\n]|\\.){0,2000})"[ \t\r]{0,9}$')
_LOCALE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z]{2,4}){0,2}|default")
_OPAQUE = re.compile(r"(?m)^[ \t]*(?:<<:|[^\n#\"']{1,200}:[ \t]+[&*]\w)")
"""A part of a YAML file that stands elsewhere."""


def is_message_file(path: str) -> bool:
    """Whether a file of this name holds messages by key."""
    return _PATH.search(path) is not None


def is_catalog(path: str) -> bool:
    """Whether a file is one of gettext, in which the keys are texts."""
    return path.endswith((".po", ".pot"))


def source_files(path: str) -> Iterator[str]:
    """Yield the files that may have the messages of a file in the language in which a project writes them."""
    if path.endswith(".properties"):
        yield re.sub(r"_[A-Za-z]{2}(?:_[A-Za-z]{2,4})?(?=\.properties$)", "", path)
    for name in ("en", "en-US", "en_US", "en-us"):
        yield re.sub(r"(?<=[/.])[a-z]{2,3}(?:[-_][A-Za-z]{2,4}){0,2}(?=/[^/]{1,100}$|\.\w{2,5}$)", name, path)


def message_keys(path: str, text: str | None) -> dict[str, int] | None:
    """The dotted keys of a file with their 1-based lines, without the locale; None for a file not laid out in lines."""
    if not text or len(text) > MAX_TEXT:
        return None
    if path.endswith(".properties"):
        lines = enumerate(text.split("\n"), 1)
        return {match[1]: number for number, line in lines if (match := _PROPERTY.match(line))}
    if is_catalog(path):
        return {key: number for number, key in _catalog(text) if key}
    if _OPAQUE.search(text):
        return None
    return dict(_nested(text)) or None


def _nested(text: str) -> Iterator[tuple[str, int]]:
    above: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _ENTRY.match(line)
        if match is None:
            continue
        depth = len(match[1].expandtabs())
        while above and above[-1][0] >= depth:
            above.pop()
        above.append((depth, match[2] or match[3] or match[4]))
        names = [name for _, name in above]
        yield ".".join(names[1:] if len(names) > 1 and _LOCALE.fullmatch(names[0]) else names), number


def _catalog(text: str) -> Iterator[tuple[int, str]]:
    """Yield the texts that code may ask for: what is obsolete stands in comments."""
    word, begun, parts = "", 0, list[str]()
    for number, line in enumerate([*text.split("\n"), 'msgend ""'], 1):
        match = _PART.match(line)
        if match is None:
            continue
        if match[1]:
            if word in {"msgid", "msgid_plural"}:
                yield begun, "".join(parts)
            word, begun, parts = match[1], number, []
        parts.append(match[2])
