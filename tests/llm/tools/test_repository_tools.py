"""What is offered, which arguments are taken, and that nothing outside of the repository is in reach."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from reviewbot.domain.errors import HostError
from reviewbot.llm.tools import RepositoryTools
from reviewbot.llm.tools.arguments import ToolLimits


def test_the_tools_are_offered_in_one_order_as_closed_objects(repository: Any) -> None:
    offered = RepositoryTools(repository({}), symbols=True).list_tools()

    assert [tool.name for tool in offered] == ["read", "search", "definition", "uses", "list", "history"]
    for tool in offered:
        Draft202012Validator.check_schema(dict(tool.schema))
        assert tool.schema["additionalProperties"] is False
    assert offered == RepositoryTools(repository({"a": ""}), symbols=True).list_tools()
    assert [tool.name for tool in RepositoryTools(repository({})).list_tools()] == ["read", "search", "list", "history"]


@pytest.mark.parametrize(
    "path",
    [
        "../a.py",
        "src/../../a.py",
        "/etc/passwd",
        "C:/x",
        ".git/config",
        "a/.GIT/config",
        "a\0b",
        "a//b",
        "a/./b",
        "",
        ".",
        "x" * 1_001,
        7,
        None,
        ["a.py"],
    ],
)
@pytest.mark.parametrize("name", ["read", "history"])
def test_a_path_that_leaves_the_tree_is_never_looked_up(repository: Any, calls: Any, name: str, path: Any) -> None:
    snapshot = repository({})
    snapshot.head = snapshot.base = None

    assert calls(snapshot)(name, path=path).failed


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("reed", {}, "there is no tool 'reed'; there are: read, search, definition, uses, list, history"),
        ("read", {}, "path is missing"),
        ("read", {"path": None}, "path is missing"),
        ("read", {"path": "a", "line": 1}, "unknown argument 'line'; the arguments are: path, first, last, side"),
        ("read", {"path": "a", "first": 0}, "first must be the number of a line from 1, not 0"),
        ("read", {"path": "a", "first": True}, "first must be the number of a line from 1, not true"),
        ("read", {"path": "a", "last": "2"}, "last must be the number of a line from 1, not '2'"),
        ("read", {"path": "a", "side": "left"}, "side must be head or base, not 'left'"),
        ("search", {"pattern": ""}, "pattern must have 1 to 400 characters, not 0"),
        ("search", {"pattern": "x" * 401}, "pattern must have 1 to 400 characters, not 401"),
        ("search", {"pattern": 5}, "pattern must be a text, not 5"),
        ("search", {"pattern": "x", "literal": "yes"}, "literal must be true or false, not 'yes'"),
        ("search", {"pattern": "x", "path": "a\nb"}, "path 'a\\nb' holds a character that cannot be printed"),
    ],
)
def test_wrong_arguments_are_answered_with_what_is_expected(
    repository: Any, calls: Any, name: str, arguments: Any, said: str
) -> None:
    result = calls(repository({"a": "1\n"}))(name, **arguments)

    assert (result.failed, result.text) == (True, said)


def test_an_argument_that_is_null_counts_as_left_out(repository: Any, calls: Any) -> None:
    assert not calls(repository({"a": "1\n"}))("read", path="a", first=None, side=None).failed


def test_a_failure_of_the_source_is_named_by_its_kind_alone(repository: Any, calls: Any) -> None:
    snapshot = repository({})

    def fail(path: str) -> str:
        raise HostError("/home/x: no")

    snapshot.head = fail

    assert calls(snapshot)("read", path="a").text == "it could not be read (HostError)"


def test_an_answer_is_bounded_whatever_it_holds(repository: Any, calls: Any) -> None:
    names = {f"{'n' * 90}{number}": "" for number in range(300)}
    text = calls(repository(names), ToolLimits(chars=2_000))("list").text

    assert len(text) < 2_100
    assert text.endswith("more characters are left out: ask for something narrower]")


def test_one_long_line_is_cut_too(repository: Any, calls: Any) -> None:
    text = calls(repository({"x" * 900: ""}), ToolLimits(chars=100))("list", path="x" * 900).text

    assert text.startswith("x" * 100)


@given(
    st.sampled_from(["read", "search", "list", "history"]),
    st.dictionaries(
        st.sampled_from(["path", "first", "last", "side", "pattern", "literal", "other"]),
        st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20), st.lists(st.text(), max_size=2)),
    ),
)
def test_any_arguments_get_an_answer(name: str, arguments: dict[str, Any]) -> None:
    class Nothing:
        def files(self) -> tuple[str, ...]:
            return ("a",)

        def contents(self, paths: Any) -> Any:
            return iter(())

        def head(self, path: str) -> None:
            return None

        base = head

    result = asyncio.run(RepositoryTools(Nothing()).call(name, arguments))  # type: ignore[arg-type]

    assert result.text
