"""Classify a path: product, test code, an example, the tooling of developers, a program run by hand, or a prompt."""

from __future__ import annotations

import re
from typing import Literal

Place = Literal["product", "tests", "examples", "tooling"]
"""What the code of a file is for. A defect outside the product reaches none of its users."""

_TESTS = re.compile(
    r"(?:^|/)(?:(?:[\w.-]{1,60}[._-]|android|common|integration|jvm|unit)?tests?|testing|specs?|e2e|acceptance|cypress|__tests__|__mocks__|mocks?|(?:[\w.-]{0,60}[._-])?fixtures?|test[_-]?(?:apps?|cases?|data|utils?|helpers?|support))/|^t/",
    re.IGNORECASE,
)
_TEST_FILE = re.compile(
    r"(?:^|/)(?:test[_-][^/]{1,200}|conftest\.py|[^/]{1,200}[._-](?:tests?|specs?)\.[a-z]{1,5}|[^/]{1,200}Tests?\.[a-z]{1,5}|tests?\.[a-z]{1,5})$"
)
_EXAMPLE = re.compile(
    r"(?:^|/)(?:(?:examples?|samples?|demos?|docs|tutorials?|user[_-]guide)(?:[_-][\w-]{1,30})?|[\w.-]{1,60}[._-](?:examples?|samples?|demos?))/|^doc/",
    re.IGNORECASE,
)
_TOOLING = re.compile(
    r"^(?:(?:packages|apps|libs|crates|modules|services)/[^/]{1,100}/)?(?:scripts?|tools?|tooling|contrib|dev|devtools|ci)/"
    r"|(?:^|/)(?:hack|benchmarks?|bench|jmh|fuzz|\.(?:ci|circleci|devcontainer|docker|vagrant))/"
    r"|(?:^|/)scripts?/(?:[^/]{1,100}/){0,8}[^/]{1,200}\.(?:py|sh|bash|rb|pl|ps1|bat|ya?ml|toml|ini)$"
    r"|/\.(?:travis|gitlab-ci|appveyor)\.ya?ml$",
    re.IGNORECASE,
)
"""`scripts` further down is a folder of the browser's code in many projects: there the ending decides. Services read
their files at the top of a repository alone."""
_BY_HAND = re.compile(
    r"(?:^|/)(?:scripts?|bin|tools?|examples?|demos?|benchmarks?|cli|commands?)/|(?:^|/)(?:cli|__main__|setup|manage)\.[a-z]{1,5}$",
    re.IGNORECASE,
)
_PROMPT = re.compile(
    r"(?:^|/)(?:[^/]{0,40}(?:prompt|jailbreak|injection|guardrail|red.?team)[^/]{0,200}|agents?|skills?|personas?|rules|evals?|instructions)(?:/|$)"
    r"|(?:^|/)(?:AGENTS|CLAUDE|GEMINI|SKILL|copilot-instructions)\.md$|(?:^|/)\.(?:cursorrules|windsurfrules|clinerules)$|\.mdc$",
    re.IGNORECASE,
)

_TRANSLATION = re.compile(
    r"(?:^|/)(?:values-[a-z]{2,3}(?:-r[A-Z]{2})?|values-b\+[\w+]{2,20}|[a-z]{2,3}(?:[-_][A-Za-z]{2,4})?\.lproj)/[^/]{1,200}$"
    r"|(?:^|/)(?:locales?|i18n|langs?|languages?|translations?|l10n|_locales)/(?:[^/]{1,100}/){0,4}[^/]{1,200}\.(?:json|ya?ml|xml|properties|ini|toml|csv)$"
    r"|(?:^|/)fastlane/metadata/|\.(?:pot?|xlf|xliff|arb|strings|resx)$"
)


def is_test(path: str) -> bool:
    """Whether the path is one of test code or of data for tests."""
    return bool(_TESTS.search(path) or _TEST_FILE.search(path))


def is_example(path: str) -> bool:
    """Whether the path is one of code that is there to be read."""
    return bool(_EXAMPLE.search(path))


def place_of(path: str) -> Place:
    """What the code of a file is for, as far as its path tells."""
    if is_test(path):
        return "tests"
    if is_example(path):
        return "examples"
    return "tooling" if _TOOLING.search(path) else "product"


def is_run_by_hand(path: str) -> bool:
    """Whether the path is one of a script or a command line, where printing is the point."""
    return bool(_BY_HAND.search(path))


def is_prompt(path: str) -> bool:
    """Whether the path is one of text for models, such as a program's own prompts and instructions for its agents."""
    return bool(_PROMPT.search(path))


def is_translation(path: str) -> bool:
    """Whether the path is one of texts that a program shows to people in some language."""
    return bool(_TRANSLATION.search(path))
