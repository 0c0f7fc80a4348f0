"""The names of all rules that our analyzers report, with the category of each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.ruff.run import SYNTAX
from reviewbot.analyzers.text import debug_statements, merge_conflicts, secrets

_SYNTAX_CATEGORY = "syntax"


@cache
def known_rules() -> Mapping[str, str]:
    """The category of each rule. Rules of ruff that only a repository's own configuration selects are not included."""
    tables = sorted(each.name for each in (files("reviewbot") / "data" / "rules").iterdir())
    found = {
        rule.code: rule.category
        for table in tables
        if table.endswith(".toml")
        for rule in packaged_rules(table.removesuffix(".toml")).rules.values()
    }
    own = {**secrets.RULES, **debug_statements.RULES, **merge_conflicts.RULES, SYNTAX: _SYNTAX_CATEGORY}
    return {**own, **found}
