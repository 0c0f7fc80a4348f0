"""Classify a path: test code, an example, a program that is run by hand, or a prompt."""

from __future__ import annotations

import re

_TESTS = re.compile(
    r"(?:^|/)(?:(?:[\w.-]{1,60}[._-]|android|common|integration|jvm|unit)?tests?|testing|specs?|e2e|__tests__|fixtures|testdata)/",
    re.IGNORECASE,
)
_TEST_FILE = re.compile(
    r"(?:^|/)(?:test_[^/]{1,200}|conftest\.py|[^/]{1,200}[._-](?:tests?|specs?)\.[a-z]{1,5}|[^/]{1,200}Tests?\.[a-z]{1,5}|tests?\.rs)$"
)
_EXAMPLE = re.compile(r"(?:^|/)(?:examples?|samples?|demos?|docs?|tutorials?)/", re.IGNORECASE)
_BY_HAND = re.compile(
    r"(?:^|/)(?:scripts?|bin|tools?|examples?|demos?|benchmarks?|cli|commands?)/|(?:^|/)(?:cli|__main__|setup|manage)\.[a-z]{1,5}$",
    re.IGNORECASE,
)
_PROMPT = re.compile(
    r"(?:^|/)(?:[^/]{0,40}(?:prompt|jailbreak|injection|guardrail|red.?team)[^/]{0,200}|agents?|skills?|personas?|rules|evals?|instructions)(?:/|$)"
    r"|(?:^|/)(?:AGENTS|CLAUDE|GEMINI|SKILL|copilot-instructions)\.md$|(?:^|/)\.(?:cursorrules|windsurfrules|clinerules)$|\.mdc$",
    re.IGNORECASE,
)


def is_test(path: str) -> bool:
    """Whether the path is one of test code or of data for tests."""
    return bool(_TESTS.search(path) or _TEST_FILE.search(path))


def is_example(path: str) -> bool:
    """Whether the path is one of code that is there to be read."""
    return bool(_EXAMPLE.search(path))


def is_run_by_hand(path: str) -> bool:
    """Whether the path is one of a script or a command line, where printing is the point."""
    return bool(_BY_HAND.search(path))


def is_prompt(path: str) -> bool:
    """Whether the path is one of text for models, such as a program's own prompts and instructions for its agents."""
    return bool(_PROMPT.search(path))
