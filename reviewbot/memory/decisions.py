"""`.reviewbot/decisions.toml`: what people decided about findings, as data of the base side of a change.

    [[decision]]
    finding = "d6cc44e3717c28155e56e2ab0166b7fa"    # or a rule = "S608", with path = "tests/*" for some files alone
    author = "jo"
    reason = "the table is filled by us alone"
    until = 2027-01-31                              # optional
    about = "SQL is built from user input (app/db.py, load)"    # optional, for people

A decision about a finding ends when the code of the finding changes: its fingerprint is another one then.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

from reviewbot.config.globs import glob_fault, matches_glob
from reviewbot.config.messages import check_size, quote, read_toml
from reviewbot.config.source import BaseSide
from reviewbot.domain.contracts import Finding
from reviewbot.domain.contracts.ledger import Origin, Record
from reviewbot.domain.errors import ConfigError
from reviewbot.memory.fingerprints import kind_of
from reviewbot.memory.states import US, Event
from reviewbot.redact.mask import redact

FILE_NAME = ".reviewbot/decisions.toml"
MAX_DECISIONS = 1_000

_FINDING = re.compile(r"[0-9a-f]{32}")
_RULE = re.compile(r"[A-Za-z0-9_.:/@-]{1,80}")
_KEYS = frozenset({"finding", "rule", "path", "author", "reason", "until", "about"})
_TEXT_CHARS = 500


class Decision(NamedTuple):
    """One decision against a finding, or against a rule in some files."""

    author: str
    reason: str
    finding: str = ""
    """Its fingerprint; in a comment about a finding for which the ledger has no room, the start of that."""
    rule: str = ""
    path: str = ""
    """A glob; empty: every file."""
    until: dt.date | None = None
    about: str = ""
    source: str = FILE_NAME
    """Where it was made."""

    def covers(self, names: Collection[str], kinds: Collection[str], path: str) -> bool:
        """Whether it is about a finding that has, or had, these names, is of this rule or category, and stands here."""
        if self.finding:
            return any(name.startswith(self.finding) for name in names)
        return bool(self.rule) and self.rule in kinds and (not self.path or matches_glob(self.path, path))


def decisions_of(base: BaseSide | None, today: dt.date) -> tuple[tuple[Decision, ...], tuple[str, ...]]:
    """The decisions of the base side of a change, and notes as `read_decisions` gives them."""
    return read_decisions(None if base is None else base.base_file(FILE_NAME), today)


def read_decisions(text: str | None, today: dt.date) -> tuple[tuple[Decision, ...], tuple[str, ...]]:
    """The decisions of a file that hold today, and a note for each entry that does not count."""
    if text is None:
        return (), ()
    try:
        check_size(FILE_NAME, text)
        entries = read_toml(FILE_NAME, text).get("decision", [])
    except ConfigError as error:
        return (), (f"decisions about findings do not count: {error}",)
    if not isinstance(entries, list) or len(entries) > MAX_DECISIONS:
        return (), (f"{FILE_NAME}: decisions do not count: they are no list of at most {MAX_DECISIONS} [[decision]]",)
    decisions: list[Decision] = []
    notes: list[str] = []
    for number, entry in enumerate(entries, 1):
        try:
            decision = _decision(entry)
        except ConfigError as error:
            notes.append(f"{FILE_NAME}: entry {number} does not count: {error}")
            continue
        if decision.until is not None and decision.until < today:
            notes.append(f"{FILE_NAME}: entry {number} by {decision.author} ended on {decision.until}")
        else:
            decisions.append(decision)
    return tuple(decisions), tuple(notes)


def format_entry(decision: Decision) -> str:
    """One entry of the file, to be put at its end."""
    named = [("finding", decision.finding), ("rule", decision.rule), ("path", decision.path)]
    named += [("author", decision.author), ("reason", decision.reason)]
    rows = [f"{key} = {_toml_text(value)}" for key, value in named if value]
    rows += [f"until = {decision.until.isoformat()}"] if decision.until else []
    rows += [f"about = {_toml_text(decision.about)}"] if decision.about else []
    return "\n".join(["[[decision]]", *rows, ""])


def check_decision(decision: Decision) -> Decision:
    """The decision, if the file may hold it. Raises ConfigError."""
    return _decision({key: value for key, value in decision._asdict().items() if value and key in _KEYS})


def _decision(entry: object) -> Decision:
    if not isinstance(entry, dict):
        raise ConfigError("it is no table")
    if unknown := sorted(set(entry) - _KEYS):
        raise ConfigError(f"{quote(unknown[0])} is no key of a decision")
    texts = {key: _text(entry, key) for key in _KEYS - {"until"}}
    if bool(texts["finding"]) == bool(texts["rule"]):
        raise ConfigError("it needs either `finding` or `rule`")
    if texts["finding"] and (not _FINDING.fullmatch(texts["finding"]) or texts["path"]):
        raise ConfigError("`finding` is a fingerprint of 32 hexadecimal digits, without `path`")
    if texts["rule"] and not _RULE.fullmatch(texts["rule"]):
        raise ConfigError(f"{quote(texts['rule'])} is no name of a rule")
    if texts["path"] and (fault := glob_fault(texts["path"]) or _outside(texts["path"])):
        raise ConfigError(f"`path` {fault}")
    if missing := next((key for key in ("author", "reason") if not texts[key]), ""):
        raise ConfigError(f"it has no `{missing}`")
    until = entry.get("until")
    if until is not None and type(until) is not dt.date:
        raise ConfigError("`until` is a date, such as 2027-01-31")
    return Decision(until=until, **texts)


def _outside(pattern: str) -> str:
    """Why a glob can match no file of the repository; empty where it can. Paths of a change have one form alone."""
    if pattern.startswith("/") or "\\" in pattern or not {"..", "."}.isdisjoint(pattern.split("/")):
        return "must name files from the top of the repository, with / and without . or .. as a part"
    return ""


def _text(entry: dict[str, Any], key: str) -> str:
    value = entry.get(key, "")
    if not isinstance(value, str) or len(value) > _TEXT_CHARS:
        raise ConfigError(f"`{key}` is no text of at most {_TEXT_CHARS} characters")
    return redact(" ".join(value.split()))


def _toml_text(text: str) -> str:
    """A basic string of TOML, ASCII alone."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(each if " " <= each <= "~" else _escape(each) for each in escaped) + '"'


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\U{code:08x}"


Covering = Callable[[Finding, Collection[str]], Decision | None]


def covering(decisions: Iterable[Decision]) -> Covering:
    """A function that finds the first decision about a finding and its names."""
    every = tuple(decisions)

    def find(finding: Finding, names: Collection[str]) -> Decision | None:
        kinds = (finding.rule, finding.category, kind_of(finding))
        return next((each for each in every if each.covers(names, kinds, finding.path)), None)

    return find


def dismissal(decision: Decision, head: str, at: str) -> Event:
    """A decision as what happens to the finding that it covers."""
    origin: Origin = "decisions" if decision.source == FILE_NAME else "comment"
    return Event("dismissed", f"{decision.reason} ({decision.source})", decision.author, head, at, origin)


def reinstated(head: str, at: str) -> Event:
    """What happens to a finding when the decision against it is withdrawn, or has ended."""
    return Event("reinstated", "the decision against it does not stand any more", US, head, at)


def event_of_unseen(record: Record, decisions: Iterable[Decision], head: str, at: str) -> Event | None:
    """What the decisions of now make of a record that a review does not report; None: nothing."""
    every, kinds = tuple(decisions), (record.rule, record.kind)
    standing = next((each for each in every if each.covers(record.names, kinds, record.path)), None)
    if record.is_open:
        return None if standing is None else dismissal(standing, head, at)
    # A rule may have covered a category that the record does not keep: what was decided then tells which it was.
    made = {(f"{each.reason} ({each.source})", each.author) for each in every}
    is_withdrawn = standing is None and record.origin == "decisions" and (record.reason, record.who) not in made
    return reinstated(head, at) if record.state == "dismissed" and is_withdrawn else None
