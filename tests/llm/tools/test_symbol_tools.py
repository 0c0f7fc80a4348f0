"""definition and uses over a repository in memory."""

from __future__ import annotations

from typing import Any

import pytest

from reviewbot.llm.tools.arguments import ToolLimits

FILES = {
    "app/service.py": (
        "class Service:\n    # by key\n    def get(self, key):\n        return self.cache.get(key)\n\n"
        "    def all(self):\n        return [self.get(key) for key in self.keys]\n"
    ),
    "app/cache.py": "class Cache:\n    def get(self, key):\n        return None\n",
    "app/use.py": (
        "from app.service import Service\n\n\ndef run(service: Service):\n    service.get(1)\n    service.get(2)\n"
    ),
    "tests/test_use.py": "def test_run():\n    Service().get(1)\n",
    "app/long.py": "def long():\n" + "".join(f"    x{number} = {number}\n" for number in range(400)),
    "README.md": "call get\n",
}


def test_a_definition_is_shown_whole_with_its_place(repository: Any, calls: Any) -> None:
    result = calls(repository(FILES))("definition", name="service.get", path="app/use.py")

    assert result.text.split("\n") == [
        "1 definition(s) of service.get",
        "",
        "app/service.py: method Service.get, lines 2 to 4",
        "     2     # by key",
        "     3     def get(self, key):",
        "     4         return self.cache.get(key)",
        "",
        "of the same name elsewhere:",
        "app/cache.py:2 method Cache.get",
    ]
    assert [(entry.path, entry.first, entry.last) for entry in result.evidence] == [("app/service.py", 2, 4)]


def test_a_long_definition_is_begun_and_says_where_it_ends(repository: Any, calls: Any) -> None:
    result = calls(repository(FILES))("definition", name="long")

    assert "[it goes on to line 401: read the rest]" in result.text
    assert result.evidence[0].last == 220


def test_what_is_not_defined_is_said_plainly(repository: Any, calls: Any) -> None:
    call = calls(repository(FILES))

    assert call("definition", name="nobody").text == (
        "not found: none of the 5 files of python, javascript, typescript, go, java, ruby defines nobody; try search"
    )
    assert not call("definition", name="nobody").failed
    assert (
        "imports it from app.gone"
        in calls(repository({"a.py": "from app.gone import x\n"}))("definition", name="x", path="a.py").text
    )


def test_several_definitions_share_the_room(repository: Any, calls: Any) -> None:
    files = {f"m{number:02}.py": "def go():\n" + "    pass  # some words\n" * 40 for number in range(50)}
    text = calls(repository(files), ToolLimits(chars=4_800))("definition", name="go").text

    assert text.startswith("50 definition(s) of go\n")
    assert text.count("function go, lines") == 2
    assert "\nm02.py:1 function go\n" in text
    assert text.endswith("[18 more]")


def test_uses_are_lines_with_the_function_around_them_without_definitions(repository: Any, calls: Any) -> None:
    result = calls(repository(FILES))("uses", name="Service.get")

    assert result.text.split("\n") == [
        "6 lines in 4 files name get, 1 of them in tests",
        "README.md",
        "     1 call get",
        "app/service.py",
        "     4         return self.cache.get(key)   [in Service.get]",
        "     7         return [self.get(key) for key in self.keys]   [in Service.all]",
        "app/use.py",
        "     5     service.get(1)   [in run]",
        "     6     service.get(2)   [in run]",
        "tests/test_use.py",
        "     2     Service().get(1)   [in test_run]",
    ]
    assert len(result.evidence) == 6


def test_uses_are_bounded_and_that_is_said(repository: Any, calls: Any) -> None:
    files = {f"m{number:02}.py": "go(1)\n" * 20 for number in range(40)}
    text = calls(repository(files))("uses", name="go").text

    assert "       [8 more here]" in text
    assert "more files: m" in text
    assert "[there are more, behind m19.py: search for them by path]" in text


@pytest.mark.parametrize("name", ["definition", "uses"])
def test_withheld_files_define_and_use_nothing(repository: Any, calls: Any, name: str) -> None:
    call = calls(
        repository({**FILES, "secret/keys.py": "def only_here():\n    pass\n\nonly_here()\n"}), private=("secret/*",)
    )

    assert "secret/keys.py" not in call(name, name="only_here").text


@pytest.mark.parametrize("name", ["definition", "uses"])
def test_without_the_tree_nothing_is_looked_up(repository: Any, calls: Any, name: str) -> None:
    assert calls(repository(FILES, whole=False))(name, name="get").failed


def test_a_name_that_nothing_uses_and_one_that_is_none(repository: Any, calls: Any) -> None:
    call = calls(repository(FILES))

    assert call("uses", name="nobody").text == "no other line of the repository names nobody"
    assert call("uses", name="(*)").failed
