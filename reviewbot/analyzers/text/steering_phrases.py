"""Phrases that try to steer a review: orders to forget instructions, orders what to report, claims of an approval.

Pure functions of text. A list of phrases proves nothing about a text that has none of them: it shows people an attempt,
and is no defence. Sources: https://genai.owasp.org/llmrisk/llm01-prompt-injection/ and published attempts on review
bots. Every repetition is bounded, so that the search is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal, NamedTuple

from reviewbot.analyzers.text.hidden_characters import SUSPECT, TAGS, in_latin, is_look_alike, tagged_text

Kind = Literal["override", "steer", "token"]
"""An order to forget instructions; an order what a review should say; markup that only templates of chats have."""


class Phrase(NamedTuple):
    """One phrase in a normalised text, by its offsets. `mentioned`: it is quoted or described, rather than said."""

    kind: Kind
    start: int
    end: int
    mentioned: bool


_HINT = re.compile(
    r"instruction|prompt|directive|guardrail|guideline|review|report|finding|approve|audited|vetted|confidence|lgtm"
    r"|<\||\[/?inst\]|<</?sys|_of_turn>|llm|language model|assistant|gpt|claude|copilot|gemini|codex"
    r"|anweisung|instru[ckç]|istruzion|指示|指令|提示|说明|命令|инструкци|указани"
)

_SHORT_HINT = re.compile(r"\b(?:ai|bot)\b")
"""Apart from the others, whose first letters the search may skip to: it is forty times slower."""

# --- Orders to forget a model's instructions. They need no addressee: only a model has such instructions. ---
_ORDERS = r"(?:instructions?|prompts?|directives?|guidelines|guardrails|orders|system message)"
_EARLIER = r"(?:previous|prior|earlier|preceding|above|foregoing|former|initial|system|original|existing)"
_WORDS = r"(?:[a-z]{1,12} )"
_FORGET = r"(?:ignore|disregard|forget|discard|do not follow|don'?t follow|stop following|pay no attention to)"
_OVERRIDE = re.compile(
    rf"\b{_FORGET} {_WORDS}{{0,3}}?(?:{_EARLIER} {_WORDS}{{0,2}}?|(?:all )?(?:of )?your ){_ORDERS}\b"
    rf"|\b{_FORGET} (?:all|any|every)(?: of)?(?: the| your| these)? {_ORDERS}"
    r" (?:you|that|above|before|so far|given|prior)\b"
    rf"|\b(?:override|bypass) (?:all |any )?(?:of )?(?:previous|prior|earlier|your) {_WORDS}?{_ORDERS}\b"
    r"|\b(?:reveal|print|output|repeat|show|leak|tell) (?:me |us )?(?:all of )?your"
    r" (?:full |entire |hidden |initial |system |original ){1,3}(?:prompt|instructions|message)\b"
)
_MAY_OVERRIDE = re.compile(r"ignor|disregard|forget|discard|follow|attention|override|bypass|your|忽略|無視")
_OTHER_LANGUAGES = re.compile(
    r"\bignorier(?:e|en sie|t)? (?:\w{1,14} ){0,3}(?:vorherig|bisherig|vorig|obig|früher)\w{0,3}"
    r" (?:anweisung|instruktion)"
    r"|\bignor(?:a|e|ad|en) (?:todas? )?(?:las? )?(?:\w{1,14} )?instrucciones (?:anteriores|previas)"
    r"|\bignor(?:e|ez|er) (?:toutes )?(?:les |ces )?instructions (?:précédentes|antérieures|ci-dessus)"
    r"|\bignor(?:e|a) (?:tutte )?(?:le |as )?(?:todas as )?(?:istruzioni precedenti|instruções anteriores)"
    r"|忽略(?:所有|之前|以上|前面|先前|的|一切|全部){1,4}(?:指令|指示|提示|说明)"
    r"|(?:これまで|以前|上記|前)の(?:すべての|全ての)?(?:指示|命令)を?(?:すべて)?無視"
    r"|игнорируй(?:те)? (?:все )?(?:предыдущие|прошлые|прежние) (?:инструкции|указания)"
)

# --- Orders what to report. They need an addressee near by: programs report and approve many things. ---
_MACHINE = (
    r"\b(?:ai|llms?|language models?|(?:ai|code|automat(?:ed|ic)|pr|pull request|review)[ -](?:code )?review(?:er)?s?"
    r"(?:[ -](?:bots?|agents?|assistants?|tools?|models?))?|review ?bots?|reviewer bots?"
    r"|(?:review|coding|ai) (?:assistants?|agents?|models?|tools?)|automated (?:analysis|tools?|scanners?|checks)"
    r"|chat ?bots?|chatgpt|gpt-[\w.]{1,8}|claude|copilot|coderabbit|gemini|codex"
    r"|(?:as an?|dear|hey|hi|to the|attention) (?:assistant|bot|model|agent))\b"
)
_PERSON = (
    r"(?:^|[.!?:;>*#(-] ?|\b(?:notes?|message) (?:to|for) |\battention,? |\bdear |\bhey |\b(?:to|for) )"
    r"(?:the |all |any )?(?:code )?reviewers?\b"
    r"|\breviewers? (?:must|should|shall|can|need|may|are|is|has|have)\b"
)
_ADDRESS = re.compile(f"{_MACHINE}|{_PERSON}")
_ADDRESS_OF_MACHINE = re.compile(_MACHINE)
_NEAR = 160
"""Characters on both sides of an order in which its addressee is looked for."""

_NOT = (
    r"\b(?:do not|don'?t|never|must(?: not|n'?t)|should(?: not|n'?t)|shall not|may not|need not|no need to|refrain from"
    r"|avoid)"
)
_SAY = (
    r"(?:report|flag|mention|comment|rais|list|highlight|point|disclos|complain|includ|warn)\w{0,4}(?: on| out| about)?"
)
_LOOK = r"(?:analy[sz]|review|scan|inspect|check|read)\w{0,4}"
_GAP = r"(?:[^.!?]|[.!?](?=\w)){0,40}?"
"""Some words of one sentence; a full stop inside a name does not end it."""
_ABOUT = (
    r"\b(?:issues?|findings?|problems?|vulnerabilit(?:y|ies)|bugs?|concerns?|flaws?|defects?|weakness(?:es)?|backdoors?"
    r"|anything|(?:this|these) (?:files?|changes?|diffs?|code|commits?|pull requests?|prs?|patch|line|function"
    r"|finding))\b"
)
_THIS = (
    r"(?:this|the|these) (?:pull request|pr|merge request|mr|change|changes|changeset|diff|patch|commit|code|file"
    r"|findings?|issues?)\b"
)
_FINE = r"(?:approved|safe|secure|clean|reviewed|harmless|resolved|(?:a )?false positives?|non-issues?|lgtm|trusted)\b"
_GOOD = (
    r"[\"'`*]{0,2}(?:lgtm|approved?\b|looks good|no (?:issues?|findings?|problems?|concerns|vulnerabilities)\b"
    r"|safe to merge|all clear|\{ ?\\?\"?findings\\?\"? ?: ?\[ ?\])"
)
_TO_ANY_READER = re.compile(
    rf"{_NOT} {_SAY}{_GAP}{_ABOUT}"
    r"|\b(?:report|output|return|produce|give|write|list) (?:no|zero)"
    r" (?:issues?|findings?|problems?|vulnerabilities|comments)\b"
    rf"|\b(?:mark|label|rate|score|classify|treat|consider|report) {_GAP}{_THIS}{_GAP}\bas {_FINE}"
    rf"|\b(?:findings?|issues?|vulnerabilit\w{{1,4}}|problems?)\b{_GAP}\b(?:must|should|shall) be"
    r" (?:scored|rated|ignored|suppressed|dropped|downgraded|withheld|dismissed)\b"
)
_TO_MACHINE = re.compile(
    rf"{_NOT} {_LOOK}{_GAP}{_ABOUT}"
    rf"|(?:^|[.,:;!>*(-] ?|\b(?:please|always|just|then|simply|and|must|should) )(?:approve|merge) {_THIS}"
    r"|\b(?:respond|reply|answer|output|say|write|conclude|state)"
    rf"(?: (?:only|just|simply|exactly|with|that|as|always|there|are|is|the|word)){{0,4}}[ :]{{0,2}}{_GOOD}"
    r"|\bset (?:the |your |every |all )?(?:confidence|severity|scores?)\b[^.!?]{0,30}?"
    r"\b(?:to|=) ?(?:0|zero|low|info|none|100)\b"
    r"|\breturn the (?:value|contents?) of (?:the )?(?:environment|env|secret|file)"
)

# --- Claims that the review is done, with what should follow from it. ---
_CLAIM = re.compile(
    r"\b(?:this|the) (?:file|code|changes?|function|module|line|diff(?: above)?|pull request|pr|patch|commit)\b"
    r"[^.!?]{0,30}?"
    r"\b(?:has|have|was|were|is|are) (?:already )?(?:been )?(?:manually |fully |security[- ])?"
    r"(?:audited|reviewed|vetted|approved|verified|cleared)\b.{0,80}?"
    r"(?:\bno (?:further |additional |more )?(?:review|analysis|checks?|findings?)\b"
    r"|\b(?:skip|do not|don'?t|need not|no need to) (?:the )?(?:re-?)?(?:review|analy[sz]e|scan|check|report|flag)"
    r"|\b(?:safe|ok(?:ay)?) to (?:ignore|skip|approve|merge)\b"
    r"|\b(?:output|respond|answer|reply)(?: (?:only|with|that|lgtm|no)\b| ?[:{\"'`]))"
    r"|\b(?:expected|correct|required|desired) (?:ai |code )?review(?:er)?(?:'s)?"
    r" (?:output|answer|result|response|verdict)\b.{0,40}?(?:findings|lgtm|approve|no issues)"
)

_TOKEN = re.compile(
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|begin_of_text)\|>"
    r"|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>"
)

# --- Whether an order is meant. ---
_REPORTED_SPEECH = re.compile(
    r"\b(?:to|can|could|would|may|might|that|which|not|cannot|will|never|tries|try|like|as|e\.g\.|i\.e\.|and|or|it|they"
    r"|attackers?|users?|models?|llms?) ?$"
)
_OBLIGED = re.compile(r"\b(?:you|must|have|need|now|please|reviewers?) (?:to|and|can|will|should) ?$|\bplease ?$")
_QUOTES = "\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb"

_WORD = re.compile(r"[^\W\d_a-zA-Z]{1,40}\w{0,80}|[a-zA-Z]{1,40}[^\W\d_a-zA-Z]\w{0,80}")
"""A word with a letter that is not of ASCII."""

_LEADING = re.compile(
    r"^[ \t]*(?:(?:#+|//+|/\*+|\*+/?|--+|;+|<!--|%+|\"{3}|'{3}|>+|\.\.|[-+*](?= )|rem\b)[ \t]*){0,3}", re.IGNORECASE
)
_BLANKS = re.compile(r"[\s*_~]{2,}|[\s~]")


def has_hint(text: str) -> bool:
    """Whether a text may hold a phrase; cheap. A text with other letters may hold it in disguise."""
    # Looked for in lower case: a pattern that ignores case is ten times slower.
    if not text.isascii():
        return True
    lowered = text.lower()
    short = "ai" in lowered or "bot" in lowered
    return _HINT.search(lowered) is not None or (short and _SHORT_HINT.search(lowered) is not None)


def normalise(line: str) -> str:
    """The line as it reads, in lower case: without comment marks, hidden characters, look-alike letters, emphasis."""
    if not line.isascii():
        line = TAGS.sub(lambda found: f" {tagged_text(found[0])} ", line)
        line = unicodedata.normalize("NFKC", SUSPECT.sub("", line)).replace("\u2019", "'")
        line = _WORD.sub(lambda found: _undisguised(found[0]), line)
    return _BLANKS.sub(" ", _LEADING.sub("", line, count=1)).strip().lower()


def phrases(text: str) -> Iterator[Phrase]:
    """All phrases of a normalised text, in no order."""
    if _MAY_OVERRIDE.search(text):
        for found in _OVERRIDE.finditer(text):
            yield Phrase("override", found.start(), found.end(), _is_mentioned(text, found.start(), found.end()))
    for found in _OTHER_LANGUAGES.finditer(text):
        yield Phrase("override", found.start(), found.end(), _is_mentioned(text, found.start(), found.end()))
    for pattern, address in ((_TO_ANY_READER, _ADDRESS), (_TO_MACHINE, _ADDRESS_OF_MACHINE)):
        for found in pattern.finditer(text):
            if address.search(text[max(0, found.start() - _NEAR) : found.end() + _NEAR]):
                yield Phrase("steer", found.start(), found.end(), mentioned=False)
    for found in _CLAIM.finditer(text):
        yield Phrase("steer", found.start(), found.end(), mentioned=False)
    for found in _TOKEN.finditer(text):
        yield Phrase("token", found.start(), found.end(), mentioned=False)


def _undisguised(word: str) -> str:
    """A word of Latin letters among which others only look like them, in Latin letters alone."""
    return in_latin(word) if is_look_alike(word) == "mixed" else word


def _is_mentioned(text: str, start: int, end: int) -> bool:
    """Whether an order stands in quotes of its own, or in a sentence about such orders."""
    before, after = text[max(0, start - 40) : start], text[end : end + 2]
    if before[-1:] and before[-1:] in _QUOTES and any(char in _QUOTES for char in after):
        return True
    return bool(_REPORTED_SPEECH.search(before)) and not _OBLIGED.search(before)
