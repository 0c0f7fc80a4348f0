"""Check that an instruction of a proposed plan says something that the worker's prompt does not imply.

An instruction to look away is a fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from posixpath import basename, splitext

MIN_WORDS = 6
"""Of an instruction; below that it names no place and no kind of defect, or not both."""

MIN_TELLING_WORDS = 3
"""Words of an instruction that are not among the empty ones."""

MIN_STEM_CHARS = 5
"""Characters of a file's name without its ending that may stand for it; shorter ones are words of any sentence."""

MAX_FOCUS = 600
"""Characters of an instruction that a worker is shown; what needs more is two tasks."""

EMPTY_WORDS = frozenset({
    "a", "about", "added", "all", "also", "an", "and", "any", "are", "as", "at", "be", "best", "bug", "bugs", "by",
    "can", "careful", "carefully", "change", "changed", "changes", "changeset", "check", "clean", "code", "commit",
    "complete", "correct", "correctly", "correctness", "could", "defect", "defects", "detail", "diff", "each",
    "ensure", "entire", "error", "errors", "every", "everything", "examine", "file", "files", "find", "fine",
    "following", "for", "from", "general", "good", "has", "have", "hunk", "hunks", "in", "inspect", "into", "is",
    "issue", "issues", "it", "its", "kind", "line", "lines", "logic", "look", "looking", "make", "may", "might",
    "new", "no", "of", "on", "or", "other", "others", "over", "overall", "part", "performance", "please", "possible",
    "potential", "practices", "problem", "problems", "proper", "properly", "pull", "quality", "read", "request",
    "review", "reviewer", "scan", "security", "see", "should", "some", "style", "such", "sure", "that", "the",
    "their", "them", "there", "these", "they", "thing", "things", "this", "thorough", "thoroughly", "those",
    "through", "to", "up", "usual", "verify", "very", "vulnerabilities", "vulnerability", "was", "well", "were",
    "what", "whatever", "where", "whether", "which", "whole", "with", "work", "works", "would", "wrong", "you",
    "your",
})  # fmt: skip
"""Words that fit every change alike."""

DEFECT_KIND = re.compile(
    r"\b(?:un)?(?:inject|overflow|underflow|race|deadlock|null\b|none\b|nil\b|off[- ]by[- ]one|leak|n\+1|quadratic"
    r"|unbounded|time-?out|retr(?:y|ie)|rollback|rolled back|transaction|encod|decod|escap|travers|permission"
    r"|authori[sz]|authenti|owner|token|secret|credential|password|signature|certificate|hash|time ?zone"
    r"|round(?:ing|ed)|precision|currenc|cache|stale|await|blocking|lock|boundar|bounds|empty|negative|zero"
    r"|duplicat|idempoten|ordering|migrat|default|caller|return value|return type|exception|swallow|unhandled"
    r"|validat|saniti[sz]|ssrf|xss|csrf|redirect|deseriali|quer(?:y|ies)|per (?:item|row|element|request)|pagina"
    r"|concurren|thread|shared state|resource|clos(?:e|ing)|clean-?up|regex|backtrack|convention|naming|backward"
    r"|compatib|deprecat|rename|invert|swapped|unit)",
    re.IGNORECASE,
)
"""Kinds of defects, and what they hang on."""

SYMBOL = re.compile(
    r"`[^`]+`|\b\w+\(|\b[a-z0-9]+_\w+|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*|\b[a-z_]{3,}\.[a-z_]{3,}"
)
"""A name of the code."""

LOOK_AWAY = re.compile(
    r"\b(?:ignore|disregard|skip|overlook|look away"
    r"|(?:do not|don't|no need to|need not|without) (?:review|report|look|flag|mention|check|comment|raise)\w*"
    r"|pre-?approved?|lgtm|(?:was|is|are|were|been) (?:approved|audited)|already (?:reviewed|audited|approved)"
    r"|(?:no|zero|0|without|empty|few(?:er)?|any) (?:findings?|hints?|issues?|reports?|lists?|answers?)"
    r"|(?:empty|blank) (?:list|array|answer|result)|(?:answer|respond|reply|return|output|finish|stop) (?:at once|with"
    r"|immediately|early|now)|hints? (?:is|are|as|be|were) (?:refuted|wrong|false)|refute (?:all|every|each|the)"
    r"|(?:all|every|each) hints?|confidence (?:of )?(?:0|zero|below|under)|nothing to (?:review|report|find))\b",
    re.IGNORECASE,
)
"""A plan says where to look and never where not to: that would drop a task without dropping it."""

_WORD = re.compile(r"[^\W\d_][\w'+-]*")


def looks_away(text: str) -> bool:
    """Whether a text says what to leave out or what to answer, and not where to look."""
    return LOOK_AWAY.search(text) is not None


def vagueness(text: str, files: Iterable[str]) -> str | None:
    """What is wrong with an instruction about these files, in words that follow "its instruction"; None: nothing."""
    words = [word.lower() for word in _WORD.findall(text)]
    if len(words) < MIN_WORDS:
        return f"has fewer than {MIN_WORDS} words"
    if looks_away(text):
        return "tells the worker to look away; say where to look"
    names = [name.lower() for path in files for name in _names(path)]
    bare = text.lower()
    for name in names:
        bare = bare.replace(name, " ")
    if len(set(_WORD.findall(bare)) - EMPTY_WORDS) < MIN_TELLING_WORDS:
        return "fits every change alike; say what to look for, and where"
    if any(name in text.lower() for name in names) or SYMBOL.search(text) or DEFECT_KIND.search(text):
        return None
    return "names no file, no symbol and no kind of defect"


def _names(path: str) -> Iterator[str]:
    """What a file is called, the longest name first."""
    name = basename(path)
    stem = splitext(name)[0]
    yield from filter(None, (path, name))
    if len(stem) >= MIN_STEM_CHARS:
        yield stem


def one_line(text: str) -> str:
    """Words of a model as one line that a worker may be shown: no control characters, and not endless."""
    printable = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(printable.split())[:MAX_FOCUS]
