"""Imports by an alias of a `tsconfig.json` or a `jsconfig.json`."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.context.symbols.aliases import MAX_CHARS, alias_target

CONFIG = """{
  // what stands for what
  "compilerOptions": {
    "baseUrl": ".", /* here */
    "paths": { "@/*": ["./src/*"], "@/lib/*": ["lib/*"], "~config": ["src/config.ts"], "two/*": ["a/*", "b/*"], },
  },
}
"""


@pytest.mark.parametrize(
    ("module", "near", "target"),
    [
        ("@/lib/price", "apps/web/src/pages/cart.ts", "../../lib/price"),
        ("@/price", "apps/web/src/cart.ts", "./price"),
        ("~config", "apps/web/src/cart.ts", "./config.ts"),
        ("two/price", "apps/web/src/cart.ts", ""),
        ("react", "apps/web/src/cart.ts", ""),
        ("@/price", "other/cart.ts", ""),
        ("@/../../../../x", "apps/web/src/cart.ts", ""),
    ],
)
def test_an_alias_is_what_the_nearest_configuration_says(module: str, near: str, target: str) -> None:
    assert alias_target(module, near, {"apps/web/tsconfig.json": CONFIG}.get) == target


def test_a_configuration_that_is_built_on_another_has_its_aliases() -> None:
    files = {"tsconfig.base.json": CONFIG, "web/jsconfig.json": '{"extends": "../tsconfig.base"}'}

    assert alias_target("@/price", "web/a.js", files.get) == "../src/price"


def test_configurations_that_are_built_on_each_other_end() -> None:
    assert alias_target("@/price", "a.js", {"tsconfig.json": '{"extends": "./tsconfig.json"}'}.get) == ""


@pytest.mark.parametrize(
    "config",
    [
        "", "[]", "{", "null", "[" * 50_000, '{"compilerOptions": 1}', '{"compilerOptions": {"paths": [1]}}',
        '{"compilerOptions": {"paths": {"@/*": "src/*"}}}', '{"compilerOptions": {"paths": {"@/*": [1]}}}',
        '{"compilerOptions": {"paths": {"@/*": ["/etc/*"]}}}', '{"compilerOptions": {"paths": {"@/*": ["../*"]}}}',
        CONFIG + " " * MAX_CHARS, '{"extends": 1}', '{"extends": "../../x"}', '"' + "\\\\" * 40_000,
    ],
)  # fmt: skip
def test_a_hostile_configuration_says_nothing(config: str) -> None:
    assert alias_target("@/price", "src/a.ts", {"tsconfig.json": config}.get) == ""


@given(st.dictionaries(st.text(max_size=5), st.lists(st.text(max_size=8), max_size=2), max_size=3), st.text(max_size=8))
def test_any_paths_stay_inside_of_the_tree(paths: dict[str, list[str]], module: str) -> None:
    config = json.dumps({"compilerOptions": {"paths": paths}})

    target = alias_target(module, "a.ts", {"tsconfig.json": config}.get)

    assert target == "" or (target.startswith(".") and not target.startswith(".."))
