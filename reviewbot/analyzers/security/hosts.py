"""Find checks of an address that a hostile address passes as well."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.facts import Facts
from reviewbot.analyzers.security.words import at, label, words

_HOST = re.compile(r"\A(?:https?://)?(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,12}\Z")
_BARE_HOST = re.compile(r"\A(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,12}\Z")
_HOST_PATTERN = re.compile(
    r"https?:(?://|\\/\\/).{0,80}[a-z0-9)]\.(?:com|org|net|io|gov|edu|de|uk)(?![a-z.])", re.IGNORECASE
)
_FILES = (".py", ".json", ".txt", ".html", ".xml", ".csv", ".md", ".js", ".css", ".zip", ".gz", ".png", ".jpg", ".pdf")
_ADDRESSES = frozenset(
    {"url", "uri", "host", "hostname", "netloc", "domain", "referer", "referrer", "origin", "target", "next", "link",
     "redirect"}
)  # fmt: skip
_USES = frozenset({"redirect", "HttpResponseRedirect", "RedirectResponse", "urlopen", "urlretrieve"})
_CLIENTS = frozenset({"requests", "httpx", "urllib"})
_MATCHES = frozenset({"re.match", "re.search", "re.fullmatch", "re.compile"})


def weak_host_checks(facts: Facts) -> Iterator[Found]:
    """Look at the conditions under which an address is used."""
    for compare in facts.of(ast.Compare):
        if len(compare.ops) == 1 and isinstance(compare.ops[0], ast.In):
            text, address = facts.text(compare.left), compare.comparators[0]
            if _HOST.match(text) and not text.endswith(_FILES) and _is_address(facts, address):
                yield at(_weighed(facts, compare, address), compare)
    for call in facts.of(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"startswith", "endswith"} and call.args:
            yield from _edge(facts, call, call.func)
        elif facts.name(call.func) in _MATCHES and call.args and _HOST_PATTERN.search(facts.text(call.args[0])[:500]):
            yield at(_weighed(facts, call, call.args[1] if len(call.args) > 1 else None), call)


def _edge(facts: Facts, call: ast.Call, func: ast.Attribute) -> Iterator[Found]:
    text = facts.text(call.args[0])
    if func.attr == "endswith":
        # "evil-example.com" ends with "example.com"; with a dot or a slash in front it would not.
        open_end = bool(_BARE_HOST.match(text)) and not text.endswith(_FILES) and text.count(".") >= 1
    else:
        open_end = text.startswith(("http://", "https://")) and bool(_HOST.match(text))
    if open_end and _is_address(facts, func.value):
        yield at(_weighed(facts, call, func.value), call)


def _is_address(facts: Facts, node: ast.expr) -> bool:
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        node = node.func.value  # from url.lower() to url
    return bool(words(label(facts, node))) and words(label(facts, node))[-1] in _ADDRESSES


def _weighed(facts: Facts, check: ast.expr, address: ast.expr | None) -> str:
    """The rule for a check: surer where it decides about following the address that it looked at."""
    below: ast.AST = check
    names = {each.id for each in facts.under(address) if isinstance(each, ast.Name)} if address is not None else set()
    names |= {each.id for name in list(names) for value in facts.bindings(check, name) if value is not None
              for each in facts.under(value) if isinstance(each, ast.Name)}  # fmt: skip
    for up in facts.above(check):
        if isinstance(up, ast.If) and below is up.test:
            return "host-check" if _follows(facts, up.body, names) else "host-check-plain"
        if isinstance(up, ast.stmt):
            break
        below = up
    return "host-check-plain"


def _follows(facts: Facts, body: list[ast.stmt], names: set[str]) -> bool:
    for node in facts.under(*body):
        if not isinstance(node, ast.Call):
            continue
        name = facts.name(node.func)
        follows = name.rsplit(".", 1)[-1] in _USES or name.split(".", 1)[0] in _CLIENTS
        if follows and any(isinstance(each, ast.Name) and each.id in names for each in facts.under(*node.args)):
            return True
    return False
