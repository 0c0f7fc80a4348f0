"""The characters that hide something, and where a script or an emoji needs the same ones. From Unicode 15."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

OVERRIDES = frozenset("\u202d\u202e")
"""They turn any text around, letters of Latin too; no source code needs them."""

_OPENERS = "\u202a\u202b\u202d\u202e"
_ISOLATES = "\u2066\u2067\u2068"
_POP, _POP_ISOLATE = "\u202c", "\u2069"
EMBEDDINGS = frozenset(_OPENERS + _ISOLATES + _POP + _POP_ISOLATE)

LEFT_TO_RIGHT = frozenset("\u202a\u2066\u2068" + _POP + _POP_ISOLATE)
"""What turns nothing around in a text without letters that are written from right to left."""

MARKS = frozenset("\u200e\u200f\u061c")
"""They lend a direction to what has none, beside text from right to left."""

JOINERS = frozenset("\u200c\u200d")
SELECTORS = frozenset(map(chr, range(0xFE00, 0xFE10)))
INVISIBLE = frozenset(
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060\u2061\u2062\u2063\u2064\u3164\ufeff\uffa0"
) | frozenset(map(chr, range(0x206A, 0x2070)))

CONTROLS = frozenset(map(chr, [*range(9), *range(0x0E, 0x1C), 0x0D, 0x7F, *range(0x80, 0x85), *range(0x86, 0xA0)]))
"""Without the tab and the form feed, which source may have; a carriage return at the end is cut off before."""

SEPARATORS = frozenset("\x0b\x1c\x1d\x1e\x1f\x85\u2028\u2029")
"""What some programs take for the end of a line and others do not."""

SUSPECT = re.compile(
    "[\x00-\x08\x0b\x0d-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef]"
)
"""Any character that this module knows something of; all others need no second look."""

TAGS = re.compile(
    "(?P<flag>\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,16}\U000e007f)"
    "|[\U000e0000-\U000e007f]{1,4000}"
    "|(?!\ufe0f{2,4000}(?![\ufe00-\ufe0f\U000e0100-\U000e01ef]))[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,4000}"
)
"""Flags of regions are written in tag characters, behind a black flag. Everything else in them is hidden text, and so
are several selectors in a row: sixteen and two hundred and forty of them are enough for any byte. The one of emoji
(U+FE0F) alone says nothing, however often it stands: keyboards repeat it."""

_TAG_BLOCK = 0xE0000
_SELECTOR_BYTES = ((0xFE00, 0), (0xE0100, 16))

_LAST_SELECTOR = 0xE01EF
_JOINING_SCRIPTS = ((0x0600, 0x11FF), (0x1780, 0x18AF), (0xFB50, 0xFEFE))
"""Arabic with its forms, the scripts of South Asia and its neighbours, Mongolian."""

_GREEK_AND_CYRILLIC = range(0x0370, 0x0530)

_HIDING = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})

_LATIN = str.maketrans(
    "\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0456\u0458\u0455\u04bb\u0501\u051b\u051d"  # Cyrillic aceopxy...
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405"
    "\u03bf\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",  # Greek
    "aceopxyijshdqw" + "ABEKMHOPCTXIJS" + "oABEZHIKMNOPTYX",
)
_ALIKE = frozenset(map(chr, _LATIN))
"""Letters of Cyrillic and Greek with the shape of a Latin one. Small Greek letters that formulas use are not among
them: a name such as `\u03bd_max` is meant."""

_HASH = frozenset(
    {"python", "ruby", "shell", "perl", "r", "yaml", "toml", "elixir", "makefile", "dockerfile", "nim", "julia"}
)
_SLASHES = frozenset(
    {"javascript", "jsx", "typescript", "tsx", "java", "c", "cpp", "csharp", "go", "rust", "kotlin", "swift", "scala",
     "php", "dart", "groovy", "solidity", "zig", "css", "objectivec", "fsharp"}
)  # fmt: skip
_INNER_COMMENT = re.compile(r"\s*\*(?:[\s/]|\Z)")
"""A line of a comment that began further up, as documentation is written."""

_DASHES = frozenset({"sql", "lua", "haskell", "ada"})


def escape_hidden(text: str) -> str:
    r"""The text with every character that hides something written as its number, such as "\u202e"; tabs stay."""
    return "".join(char if char == "\t" or not _hides(char) else _number(char) for char in text)


def _hides(char: str) -> bool:
    if " " <= char <= "~":
        return False
    if char in INVISIBLE or char in SELECTORS or _TAG_BLOCK <= ord(char) <= _LAST_SELECTOR:
        return True
    return unicodedata.category(char) in _HIDING


def _number(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004 - Python's own forms


def tagged_text(characters: str) -> str:
    """What tag characters or a row of selectors say."""
    said = []
    for char in characters:
        code = ord(char)
        if _TAG_BLOCK <= code < _TAG_BLOCK + 0x80:
            said.append(chr(code - _TAG_BLOCK))
        else:
            start, offset = _SELECTOR_BYTES[code >= _TAG_BLOCK]
            said.append(chr(code - start + offset))
    return "".join(said)


def holds_rtl(text: str) -> bool:
    """Whether a text has letters that are written from right to left."""
    return any(unicodedata.bidirectional(char) in {"R", "AL"} for char in text if char > "\u0590" and char not in MARKS)


def is_balanced(controls: str) -> bool:
    """Whether everything that the controls open is closed, in order."""
    open_: list[str] = []
    for char in controls:
        if char in _OPENERS or char in _ISOLATES:
            open_.append(_POP_ISOLATE if char in _ISOLATES else _POP)
        elif not open_ or open_.pop() != char:
            return False
    return not open_


def is_joining(text: str, at: int) -> bool:
    """Whether a joiner stands between two emoji, or beside a letter of a script that joins letters."""
    before = text[at - 1] if at else ""
    if before in SELECTORS or "\U0001f3fb" <= before <= "\U0001f3ff":
        before = text[at - 2] if at > 1 else ""
    after = text[at + 1 : at + 2]
    if before and after and _is_picture(before) and _is_picture(after):
        return True
    return any(_joins(char) for char in (before, after) if char)


def is_out_of_place(text: str, at: int) -> bool:
    """Whether a character without a shape stands where no script and no emoji needs it."""
    char = text[at]
    if char in JOINERS:
        return not is_joining(text, at)
    if char in MARKS:
        return not holds_rtl(text)
    if char in SELECTORS:
        # Behind a letter it selects nothing; behind a digit it makes a key of it, with U+20E3 next.
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        if char == "\ufe0f" and _is_picture(text[at + 1 : at + 4].lstrip(char)[:1] or " "):
            return False
        return before.isascii() and (before.isalnum() or before == "_") and after != "\u20e3"
    return char in INVISIBLE


def _is_picture(char: str) -> bool:
    return unicodedata.category(char) in {"So", "Sk"} or char in "\u2640\u2642\u2695\u2764\u27a1\u2194\u2195\u2b1b"


def _joins(char: str) -> bool:
    """Whether a letter, or a mark on one, is of Arabic or of a script of South Asia and its neighbours."""
    code = ord(char)
    return any(first <= code <= last for first, last in _JOINING_SCRIPTS)


def is_look_alike(word: str) -> str:
    """Classify the letters of a word.

    Returns:
        "alike" for letters that look like Latin ones and no others, "mixed" for such ones among Latin letters, "other"
        for a word that has other letters of Cyrillic or Greek and no Latin one, and "" for everything else.
    """
    alike = any(char in _ALIKE for char in word)
    latin = any("a" <= char <= "z" or "A" <= char <= "Z" for char in word)
    other = any(char not in _ALIKE and ord(char) in _GREEK_AND_CYRILLIC for char in word)
    if other:
        return "" if latin else "other"
    if alike:
        return "mixed" if latin else "alike"
    return ""


def in_latin(text: str) -> str:
    """The text with the Latin letter in place of each of Cyrillic and Greek that looks like one."""
    return text.translate(_LATIN)


def text_mask(line: str, language: str, *, open_quote: str = "") -> bytearray:
    """For each character of a line whether it stands in quotes or in a comment, as far as the line alone tells.

    `open_quote`: the quotes of a text that an earlier line began.
    """
    if open_quote:
        closed = line.find(open_quote)
        end = len(line) + 1 if closed < 0 else closed + len(open_quote)
        return bytearray(b"\x01" * end) + (text_mask(line[end:], language) if closed >= 0 else b"")
    if language in _SLASHES and _INNER_COMMENT.match(line):
        return bytearray(b"\x01" * (len(line) + 1))
    mask = bytearray(len(line) + 1)
    starts = _comment_starts(language)
    quote, escaping = "", False
    for at, (char, after) in enumerate(pairwise(f"{line} ")):
        if quote:
            mask[at] = 1
            quote = "" if char == quote and not escaping else quote
            escaping = char == "\\" and not escaping
        elif char in "\"'`":
            quote, escaping = char, False
        elif char in starts or char + after in starts:
            mask[at:] = b"\x01" * (len(mask) - at)
            break
    return mask


def _comment_starts(language: str) -> frozenset[str]:
    if language in _HASH:
        return frozenset("#")
    if language in _SLASHES:
        return frozenset({"//", "/*"})
    return frozenset({"--"}) if language in _DASHES else frozenset()
