"""Where the analysis ends before it begins: what no word of the text can bring about, and what must not be lost."""

from __future__ import annotations

import ast

import pytest

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.python.hunk_repair import repair
from reviewbot.analyzers.python.views import Budget, OutOfSteps, View
from reviewbot.analyzers.taint import check


def seen(text: str, path: str = "src/app.py", steps: int = 1_000_000) -> list[str]:
    """The rules that speak in a whole file."""
    rows = frozenset(range(1, text.count("\n") + 2))
    return [found.rule for found in check(View(path, ast.parse(text), text, whole=True, added=rows), Budget(steps))]


def seen_in_hunk(text: str, steps: int = 1_000_000) -> list[str]:
    """The rules that speak in a hunk that stands alone."""
    made = repair(text.split("\n"))
    assert made.tree is not None
    view = View("src/app.py", made.tree, made.text, whole=False, added=frozenset(range(2, text.count("\n") + 3)))
    return [found.rule for found in check(view, Budget(steps))]


def test_a_hunk_without_a_sink_costs_no_step() -> None:
    assert seen_in_hunk("name = event['name']\nx = name + 1", steps=0) == []


def test_a_hunk_with_a_sink_of_a_package_that_it_names_is_followed() -> None:
    with pytest.raises(OutOfSteps):
        seen_in_hunk("subprocess.run(request.args['name'], shell=True)", steps=0)


def test_a_method_of_a_package_that_a_hunk_does_not_name_is_none_of_its_sinks() -> None:
    assert seen_in_hunk("def f(url):\n    return rows.unpack_archive(url)", steps=0) == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("def f():\n    Popen('ls ' + request.args['name'], shell=True)", "command-external"),
        ("def f():\n    os.system('ls ' + request.args['name'])", "command-external"),
        ("def f():\n    return urlopen(request.args['url'])", "ssrf-external"),
    ],
)
def test_names_that_are_imported_in_front_of_a_hunk_lead_to_their_sinks(text: str, rule: str) -> None:
    assert rule in seen_in_hunk(text)


def test_a_page_of_a_route_is_looked_at_without_any_other_sink() -> None:
    text = "@app.route('/<name>')\ndef show(name):\n    return '<b>' + name + '</b>'"

    assert seen_in_hunk(text) == ["xss-external"]
    assert seen(f"from flask import Flask\napp = Flask(__name__)\n{text}\n") == ["xss-external"]


PARAMETER = "import os\n\ndef f(name):\n    os.system('ls ' + name)\n"


def test_parameters_are_followed_where_rules_tell_of_them() -> None:
    assert seen(PARAMETER) == ["command-parameter"]


def test_parameters_are_not_followed_in_test_code() -> None:
    assert seen(PARAMETER, "tests/test_app.py", steps=0) == []


def test_no_rule_tells_of_parameters_in_test_code() -> None:
    rules = packaged_rules("taint").rules.values()

    assert not [rule.code for rule in rules if rule.code.endswith("-parameter") and rule.tests]
