"""Find parsers of XML that load other files, and markup that is cleaned by a pattern."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.facts import Facts
from reviewbot.analyzers.security.words import argument, at, is_open

_PARSERS = ("lxml.etree.XMLParser", "lxml.etree.ETCompatXMLParser", "lxml.etree.XMLPullParser", "lxml.etree.iterparse")
_READS = ("lxml.etree.fromstring", "lxml.etree.XML", "lxml.etree.parse", "lxml.etree.fromstringlist")
_FEATURES = frozenset({"feature_external_ges", "feature_external_pes"})
_FEATURE_TEXT = "http://xml.org/sax/features/external-"
_DANGEROUS = {"resolve_entities": True, "no_network": False, "load_dtd": True, "dtd_validation": True}
_CLEANED = re.compile(r"<\W{0,5}script", re.IGNORECASE)
_TOLERANT = re.compile(r"script[^>]{0,20}(?:\\s|\\b|\[\^>\])[^>]{0,10}>\)?\Z", re.IGNORECASE)
_REQUEST = frozenset(
    {"data", "body", "form", "args", "files", "values", "stream", "POST", "GET", "FILES", "get_data", "read"}
)


def unsafe_markup(facts: Facts) -> Iterator[Found]:
    """Look at parsers of XML and at patterns for tags of HTML."""
    for call in facts.calls(*_PARSERS):
        if any(k.arg in _DANGEROUS and facts.constant(k.value) is _DANGEROUS[k.arg] for k in call.keywords):
            yield at("external-entities", call)
        elif facts.constant(argument(call, None, "huge_tree")) is True:
            yield at("huge-documents", call)
    for call in facts.of(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "setFeature" and len(call.args) == len("xy"):
            yield from _feature(facts, call)
    for call in facts.calls(*_READS):
        # Before lxml 5 every entity was resolved by default, and after it those of the document itself still are.
        if argument(call, 1, "parser") is None and not is_open(call) and call.args and _is_sent(facts, call.args[0]):
            yield at("document-from-request", call)
    for call in facts.calls("re.sub", "re.subn"):
        yield from _cleaned(facts, call)


def _feature(facts: Facts, call: ast.Call) -> Iterator[Found]:
    feature, on = call.args
    named = facts.name(feature).rsplit(".", 1)[-1] in _FEATURES or facts.text(feature).startswith(_FEATURE_TEXT)
    if named and facts.constant(on) == 1:
        yield at("external-entities-feature", call)


def _is_sent(facts: Facts, node: ast.expr) -> bool:
    """Whether an expression is data of the request, at first sight."""
    found = facts.value(node)
    for _ in range(5):
        if isinstance(found, ast.Call):
            if facts.name(found.func) in {"io.BytesIO", "io.StringIO", "BytesIO", "StringIO"} and found.args:
                found = facts.value(found.args[0])
                continue
            found = found.func
        if isinstance(found, ast.Await):
            found = found.value
        elif isinstance(found, ast.Subscript):
            found = facts.value(found.value)
        elif isinstance(found, ast.Attribute):
            if facts.name(found.value).rsplit(".", 1)[-1] == "request" and found.attr in _REQUEST:
                return True
            found = facts.value(found.value)
    return False


def _cleaned(facts: Facts, call: ast.Call) -> Iterator[Found]:
    """Look for a pattern that takes scripts out of a text, and misses what browsers accept."""
    pattern, replacement = argument(call, 0, "pattern"), argument(call, 1, "repl")
    text = facts.text(pattern)[:500]
    if _CLEANED.search(text) and facts.constant(replacement) == "" and not _TOLERANT.search(text):
        yield at("script-tag-pattern", call)
