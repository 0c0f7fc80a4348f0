"""The tools with which a worker's model reads on: a real repository, each worker's scope, and arguments of any kind."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from reviewbot.adapters.git import GitRepository, GitSnapshot
from reviewbot.adapters.tree import TreeSnapshot
from reviewbot.contracts import ChangeSet
from reviewbot.errors import InputError
from reviewbot.ports import Commit, Occurrence, OwnTool, Snapshot, ToolAnswer, WorkOrder
from reviewbot.tools.catalog import own_tools
from reviewbot.tools.reading.tool import MAX_CHARS

TOOLS = own_tools()
PRICE = '''\
from shop.tax import rate

LIMIT = 7


class Shop:
    def total(self, items, country):
        """The gross price."""
        net = sum(item.price for item in items)
        factor = LIMIT
        factor += rate(country)
        return net * factor
'''
BASE = {
    "shop/price.py": PRICE.replace("net * factor", "net"),
    "shop/tax.py": "def rate(country):\n    if country == 'x':\n        raise KeyError(country)\n    return 0\n",
    "shop/cart.py": "def pay(shop, cart):\n    first = 1\n    return shop.total(cart.items, first)\n",
    "shop/old.py": "def gone():\n    return 1\n",
    "shop/long.py": "".join(f"row_{number} = {number}\n" for number in range(1_000)),
    "shop/wide.py": "".join(f"wide_{number} = {'w' * 280!r}\n" for number in range(300)),
    "web/view.js": "function show(name) {\n  const shown = name\n  return shown\n}\n",
    "web/page.js": "show('x')\n",
    "tests/test_price.py": "def test_total():\n    assert Shop().total([], 'x') == 0\n",
    "AGENTS.md": "Names end in _net.\n",
    "shop/AGENTS.md": "Round late.\n",
}
HEAD = {"shop/price.py": PRICE}
GOOD = {"path": "shop/price.py", "name": "total", "around": "        return net * factor", "side": "head"}


FILES = {**BASE, **HEAD}


class Texts:
    """Files in memory, alike on both sides."""

    def __init__(self, files: Mapping[str, str], *, searchable: bool = True) -> None:
        self.files = files
        self.searchable = searchable

    def head(self, path: str) -> str | None:
        return self.files.get(path)

    def base(self, path: str) -> str | None:
        return self.files.get(path)

    def search(self, word: str, limit: int) -> Any:
        if not self.searchable:
            return None
        rows = (
            (path, row, line)
            for path, text in sorted(self.files.items())
            for row, line in enumerate(text.split("\n"), 1)
        )
        return tuple(Occurrence(path, row, line) for path, row, line in rows if word in line)[:limit]

    def history(self, path: str, first: int, last: int, limit: int) -> tuple[Commit, ...]:
        return ()


class Delegate:
    """A snapshot that passes everything on."""

    def __init__(self, inner: Snapshot) -> None:
        self.inner = inner
        self.head = inner.head
        self.base = inner.base

    def search(self, word: str, limit: int) -> Any:
        return self.inner.search(word, limit)

    def history(self, path: str, first: int, last: int, limit: int) -> tuple[Commit, ...]:
        return self.inner.history(path, first, last, limit)


def git(folder: Path, *arguments: str) -> str:
    who = {f"GIT_{role}_{what}": "a@example.invalid" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {"PATH": os.environ["PATH"], "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **who}
    done = subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path, files: Mapping[str, str], subject: str) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", subject)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("read") / "repo"
    folder.mkdir()
    (folder.parent / "secret.py").write_text("TOKEN = 1\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, BASE, "prices are net because of the law")
    commit(folder, HEAD, "prices are gross")
    return folder


@pytest.fixture(scope="module")
def snapshot(folder: Path) -> Iterator[GitSnapshot]:
    with GitRepository(folder) as repository:
        yield GitSnapshot(repository, git(folder, "rev-parse", "HEAD~1"), git(folder, "rev-parse", "HEAD"))


@pytest.fixture(scope="module")
def order(an_order: Any, a_task: Any, a_payload: Any, snapshot: GitSnapshot) -> WorkOrder:
    task = a_task("logic:shop/price.py#1", payload=a_payload("+        return net * factor", path="shop/price.py"))
    order: WorkOrder = an_order(task)
    return replace(order, snapshot=snapshot)


def call(tool: OwnTool, order: WorkOrder, /, **arguments: object) -> ToolAnswer:
    return asyncio.run(tool.call(order, arguments))


def ask(order: WorkOrder, tool: str, /, **changes: object) -> ToolAnswer:
    """Call a tool with good arguments, but for some."""
    schema: Any = TOOLS[tool].offered.schema
    return call(TOOLS[tool], order, **{key: changes.get(key, GOOD[key]) for key in schema["required"]})


def text_of(order: WorkOrder, tool: str, /, **changes: object) -> str:
    answer = ask(order, tool, **changes)
    assert not answer.failed, answer.text
    return answer.text


def refusal(order: WorkOrder, tool: str, /, **changes: object) -> str:
    answer = ask(order, tool, **changes)
    assert answer.failed
    assert answer.text.isprintable()
    return answer.text


# --- how they are offered -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_is_offered_with_a_closed_schema_that_requires_everything(name: str) -> None:
    offered = TOOLS[name].offered
    schema: Any = offered.schema

    Draft202012Validator.check_schema(schema)
    assert (offered.name, TOOLS[name].name) == (name, name)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert schema["required"] == list(schema["properties"])
    assert all(len(each["description"]) > 20 for each in schema["properties"].values())
    assert len(offered.description) > 40


def test_no_two_tools_are_described_alike() -> None:
    assert len({tool.offered.description for tool in TOOLS.values()}) == len(TOOLS)


# --- definitions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["logic-definition", "security-definition", "performance-definition"])
def test_a_definition_is_given_whole_with_its_file(order: WorkOrder, tool: str) -> None:
    assert text_of(order, tool, name="rate") == f"shop/tax.py:\n{BASE['shop/tax.py'].rstrip()}"


def test_a_dotted_name_is_looked_up_by_its_last_part(order: WorkOrder) -> None:
    assert text_of(order, "logic-definition", name="Shop.total").startswith("shop/price.py:\n    def total(self")


def test_a_constant_is_given_with_the_lines_around_it(order: WorkOrder) -> None:
    text = text_of(order, "logic-definition", name="LIMIT")

    assert text == "shop/price.py:\nfrom shop.tax import rate\n\nLIMIT = 7\n\n\nclass Shop:\n... cut"


def test_a_name_that_nothing_defines_is_an_answer(order: WorkOrder) -> None:
    assert text_of(order, "logic-definition", name="nowhere") == (
        "no file in scope defines nowhere in a form that is recognised"
    )


def test_a_definition_that_stands_in_many_files_is_cut(an_order: Any, order: WorkOrder, folder: Path) -> None:
    class Many(Delegate):
        def search(self, word: str, limit: int) -> Any:
            found = self.inner.search("rate", limit) or ()
            definition = next(each for each in found if each.path == "shop/tax.py")
            return (definition,) * 9

    text = text_of(replace(order, snapshot=Many(order.snapshot)), "logic-definition", name="rate")

    assert text.count("def rate") == 4
    assert text.endswith("... cut")


def test_a_long_definition_is_cut_on_both_sides(an_order: Any, order: WorkOrder) -> None:
    body = "".join(f"    step_{number} = {number}\n" for number in range(300))
    long = replace(order, snapshot=Texts({"shop/price.py": f"def long(value):\n{body}", "x.py": ""}))

    text = text_of(long, "trace-value", name="value", around="step_150 = 150")

    assert "... cut\n    step_90 = 90\n" in text
    assert "\n    step_210 = 210\n... cut" in text


# --- callers ------------------------------------------------------------------------------------------------------


def test_callers_are_shown_with_the_lines_around_them(order: WorkOrder) -> None:
    text = text_of(order, "logic-callers")

    assert f"shop/cart.py, in pay:\n{BASE['shop/cart.py']}" in text
    assert "tests/test_price.py, in test_total:" in text


def test_performance_does_not_see_tests(order: WorkOrder) -> None:
    text = text_of(order, "performance-callers")

    assert "shop/cart.py" in text
    assert "tests/" not in text
    assert "reads code that is no test" in refusal(order, "performance-callers", path="tests/test_price.py")
    assert "no file in scope" in text_of(order, "performance-definition", name="test_total")


def test_lines_that_only_name_it_follow_the_calls(order: WorkOrder) -> None:
    text = text_of(order, "logic-callers", name="rate")

    assert text.index("shop/price.py, in Shop.total:") < text.index("other lines that name it:")
    assert text.endswith("shop/price.py: from shop.tax import rate")


def test_a_name_without_callers_is_an_answer(order: WorkOrder) -> None:
    assert text_of(order, "logic-callers", name="gone") == "none of the files at hand uses gone; there may be others"


def test_more_callers_than_are_shown_are_cut(order: WorkOrder) -> None:
    many = Texts({"shop/price.py": "rate(1)\n" * 50})

    text = text_of(replace(order, snapshot=many), "logic-callers", name="rate")

    assert text.endswith("... cut")
    assert text.count("shop/price.py:") == 15


# --- files and history --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("side", "line"), [("head", "return net * factor"), ("base", "return net")])
def test_a_file_is_read_on_either_side(order: WorkOrder, side: str, line: str) -> None:
    text = text_of(order, "logic-file", side=side, around="net = sum(item.price for item in items)")

    assert text.split("\n")[-2].strip() == line
    assert text.startswith("from shop.tax import rate")


def test_at_most_two_hundred_lines_of_a_file_are_read(order: WorkOrder) -> None:
    lines = text_of(order, "logic-file", path="shop/long.py", around="row_500").split("\n")

    assert (lines[0], lines[-1], len(lines)) == ("... cut", "... cut", 202)
    assert (lines[1], lines[-2]) == ("row_440 = 440", "row_639 = 639")


def test_a_long_answer_says_how_much_it_leaves_out(order: WorkOrder) -> None:
    text = text_of(order, "logic-file", path="shop/wide.py", around="wide_100 ")

    assert len(text) <= MAX_CHARS
    assert "... the rest is left out: " in text[-100:]


def test_the_history_of_a_line_is_its_subjects_without_hashes(order: WorkOrder, folder: Path) -> None:
    text = text_of(order, "logic-history", around="return net")

    assert text.endswith(" prices are net because of the law")
    assert git(folder, "rev-parse", "HEAD~1")[:7] not in text


def test_the_history_of_other_files_is_out_of_scope(order: WorkOrder) -> None:
    assert "reads the files of this task" in refusal(order, "logic-history", path="shop/tax.py")


def test_a_renamed_file_is_asked_for_by_its_new_name(order: WorkOrder) -> None:
    payload = order.task.payload.model_copy(update={"file_path": "shop/price.py", "old_path": "shop/old.py"})
    moved = replace(order, task=order.task.model_copy(update={"payload": payload}))

    assert text_of(moved, "logic-file", side="base", around="gone").startswith("def gone():")
    assert text_of(moved, "logic-history", around="return 1").endswith("the law")


def test_without_a_history_that_is_said(order: WorkOrder) -> None:
    alone = replace(order, snapshot=Texts({"shop/price.py": "x = 1\n"}))

    assert text_of(alone, "logic-history", around="x = 1") == "no history is at hand"


def test_a_long_history_is_cut(order: WorkOrder) -> None:
    class Old(Texts):
        def history(self, path: str, first: int, last: int, limit: int) -> tuple[Commit, ...]:
            return tuple(Commit(f"{n}", "2024-01-01", f"subject {n}") for n in range(limit))

    text = text_of(replace(order, snapshot=Old({"shop/price.py": "x = 1\n"})), "logic-history", around="x = 1")

    assert text.split("\n")[-2:] == ["2024-01-01 subject 4", "... cut"]


# --- values -------------------------------------------------------------------------------------------------------


def test_a_value_is_traced_to_what_binds_it_and_to_who_calls_the_function(order: WorkOrder) -> None:
    text = text_of(order, "trace-value", name="factor")

    assert text.startswith("lines that give factor a value:\n  factor = LIMIT\n  factor += rate(country)\n\n")
    assert "the function around the line, Shop.total:\n    def total(self, items, country):" in text
    assert "callers of total:\nshop/cart.py: return shop.total(cart.items, first)" in text


def test_a_value_of_the_files_own_level_is_traced_there(order: WorkOrder) -> None:
    assert text_of(order, "trace-value", name="LIMIT").startswith("lines that give LIMIT a value:\n  LIMIT = 7\n\n")


def test_a_value_of_another_language_is_traced_by_its_lines(order: WorkOrder) -> None:
    text = text_of(order, "trace-value", path="web/view.js", name="shown", around="return shown")

    assert text.startswith("lines that hold shown:\n  const shown = name\n  return shown\n\n")
    assert text.endswith("callers of show:\nweb/page.js: show('x')")


def test_a_line_outside_of_every_function_has_no_callers(order: WorkOrder) -> None:
    text = text_of(order, "trace-value", path="shop/long.py", name="elsewhere", around="row_7 = 7")

    assert text == "lines that give elsewhere a value:\n  none here\n\nthe line stands in no function"


def test_of_one_file_alone_the_callers_are_unknown(order: WorkOrder) -> None:
    alone = Texts({"shop/price.py": PRICE}, searchable=False)

    text = text_of(replace(order, snapshot=alone), "trace-value", name="factor")

    assert "callers of total: nothing can be searched" in text


def test_a_name_that_is_bound_often_is_cut(order: WorkOrder) -> None:
    often = Texts({"shop/price.py": "x = 1\n" * 60})

    assert "  ... cut" in text_of(replace(order, snapshot=often), "trace-value", name="x", around="x = 1")


# --- style --------------------------------------------------------------------------------------------------------


def test_siblings_are_lines_of_the_same_folder_alone(order: WorkOrder) -> None:
    text = text_of(order, "style-siblings", name="total")

    assert text == "shop/cart.py: return shop.total(cart.items, first)"


def test_a_word_that_no_sibling_has_is_an_answer(order: WorkOrder) -> None:
    assert text_of(order, "style-siblings", name="LIMIT") == "no other file of that folder holds LIMIT"


def test_many_lines_of_siblings_are_cut(order: WorkOrder) -> None:
    rows = "".join(f"word({number})\n" for number in range(90))

    text = text_of(
        replace(order, snapshot=Texts({"shop/price.py": "", "shop/a.py": rows})), "style-siblings", name="word"
    )

    assert text.count("\n") == 30
    assert text.endswith("... cut")


def test_style_reads_only_the_folders_of_its_task(order: WorkOrder) -> None:
    assert "reads the folders of this task's files" in refusal(order, "style-siblings", path="web/view.js")
    assert "reads the folders of this task's files" in refusal(order, "style-conventions", path="web/view.js")


def test_the_written_rules_are_given_in_full_the_nearest_first(order: WorkOrder) -> None:
    text = text_of(order, "style-conventions")

    assert text == "shop/AGENTS.md:\nRound late.\n\n\nAGENTS.md:\nNames end in _net.\n"


def test_a_repository_without_rules_has_none(order: WorkOrder) -> None:
    alone = replace(order, snapshot=Texts({"shop/price.py": ""}))

    assert text_of(alone, "style-conventions") == "the repository keeps no written rules for it"


def test_rules_that_are_too_long_are_cut(order: WorkOrder) -> None:
    alone = replace(order, snapshot=Texts({"shop/price.py": "", "AGENTS.md": "rule\n" * 2_000}))

    assert text_of(alone, "style-conventions").endswith("... cut")


# --- what is wrong ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(TOOLS))
@pytest.mark.parametrize("wrong", [{}, {"path": "shop/price.py", "more": "x"}, {"PATH": "shop/price.py"}])
def test_other_arguments_than_the_schemas_are_a_failed_answer(
    order: WorkOrder, name: str, wrong: dict[str, object]
) -> None:
    answer = call(TOOLS[name], order, **wrong)

    assert answer.failed
    assert answer.text.startswith("the arguments must be exactly: ")


@pytest.mark.parametrize("value", [None, 7, True, ["a"], {"a": 1}, float("nan")])
def test_a_value_that_is_no_text_is_a_failed_answer(order: WorkOrder, value: object) -> None:
    assert refusal(order, "style-conventions", path=value).startswith("path must be a text, not ")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"name": "a b"}, "name must be a name of the code"),
        ({"name": ""}, "name must be a name of the code"),
        ({"name": "x" * 201}, "name must be a name of the code"),
        ({"name": "--open-files-in-pager=x"}, "name must be a name of the code"),
        ({"around": " "}, "around must be one line of the file"),
        ({"around": "a\nb"}, "around must be one line of the file"),
        ({"around": "not in it"}, "that line does not stand in the file"),
        ({"path": "x" * 1_001}, "path must have at most 1000 characters"),
        ({"path": "shop/none.py"}, "there is no such text file"),
    ],
)
def test_a_wrong_argument_is_told_with_what_is_expected(
    order: WorkOrder, changes: dict[str, object], expected: str
) -> None:
    assert refusal(order, "trace-value", **changes).startswith(expected)


def test_a_side_is_base_or_head(order: WorkOrder) -> None:
    assert refusal(order, "logic-file", side="middle") == "side must be base or head, not 'middle'"
    assert refusal(order, "logic-file", side="head", path="shop/gone.py").startswith("there is no such text file")


def test_a_file_of_one_side_alone_is_not_read_on_the_other(order: WorkOrder) -> None:
    class Added(Texts):
        def base(self, path: str) -> str | None:
            return None

    alone = replace(order, snapshot=Added({"shop/price.py": "x"}))

    assert refusal(alone, "logic-file", side="base") == "that file is not on the base side"


HOSTILE = (
    "../secret.py", "/etc/passwd", "shop/../../secret.py", ".git/config", ".GIT/config", "shop/./price.py", "\ud800",
    "shop//price.py", "C:/x", "shop\\..\\..\\secret.py", "a\0b", "", ".", "..", "~/.ssh/id_rsa", "HEAD:AGENTS.md",
)  # fmt: skip


@pytest.mark.parametrize("path", HOSTILE)
@pytest.mark.parametrize("name", ["logic-file", "trace-value", "style-siblings", "performance-callers"])
def test_a_path_that_leaves_the_repository_is_a_failed_answer(
    order: WorkOrder, folder: Path, name: str, path: str
) -> None:
    tree = TreeSnapshot.open(folder, ChangeSet())

    refusal(order, name, path=path)
    refusal(replace(order, snapshot=tree), name, path=path)


PIECES = st.sampled_from(["..", ".", "", "/", "shop", "price.py", ".git", "\0", "\n", "\u202e", "tests", "~", "\\"])


@given(path=st.lists(PIECES, max_size=6).map("/".join) | st.text(max_size=30), name=st.sampled_from(sorted(TOOLS)))
def test_any_path_at_all_is_answered_and_reads_nothing_outside(
    order: WorkOrder, folder: Path, path: str, name: str
) -> None:
    tree = TreeSnapshot.open(folder, ChangeSet())

    answer = ask(replace(order, snapshot=tree), name, path=path)

    assert "TOKEN" not in answer.text
    assert answer.failed or path in {*BASE}


@given(
    arguments=st.dictionaries(
        st.sampled_from(["path", "name", "around", "side", "x"]),
        st.text(max_size=20) | st.integers() | st.sampled_from(["shop/price.py", "total", "net", "head"]),
    ),
    name=st.sampled_from(sorted(TOOLS)),
)
def test_any_arguments_at_all_get_a_text_that_can_be_sent(
    order: WorkOrder, arguments: dict[str, object], name: str
) -> None:
    answer = call(TOOLS[name], replace(order, snapshot=Texts({"shop/price.py": PRICE})), **arguments)

    assert 0 < len(answer.text.encode("utf-8")) <= 4 * MAX_CHARS
    assert answer.call_id == ""


def test_halves_of_surrogates_do_not_get_into_an_answer(order: WorkOrder) -> None:
    odd = Texts({"shop/price.py": "x = '\ud800'\n"})

    assert text_of(replace(order, snapshot=odd), "logic-file", around="x =") == "x = '?'\n"


@pytest.mark.parametrize("error", [InputError("/home/me/repo is gone"), OSError("/home/me/repo")])
def test_a_snapshot_that_fails_is_a_failed_answer_without_its_words(order: WorkOrder, error: Exception) -> None:
    class Broken(Texts):
        def head(self, path: str) -> str | None:
            raise error

    text = refusal(replace(order, snapshot=Broken({})), "logic-file")

    assert text == f"it could not be read ({type(error).__name__})"


@pytest.mark.parametrize("name", ["logic-definition", "logic-callers", "style-siblings"])
def test_without_a_search_that_is_said(order: WorkOrder, name: str) -> None:
    alone = Texts({"shop/price.py": PRICE}, searchable=False)

    assert refusal(replace(order, snapshot=alone), name).startswith("nothing can be searched")


# --- scopes by construction ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(TOOLS) - {"logic-history"}))
def test_only_the_logic_worker_reads_commits(order: WorkOrder, name: str) -> None:
    class Watched(Delegate):
        def history(self, path: str, first: int, last: int, limit: int) -> tuple[Commit, ...]:
            raise AssertionError("asked for the history")

    assert ask(replace(order, snapshot=Watched(order.snapshot)), name).text


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_answers_hold_no_line_numbers_so_that_moved_code_is_told_alike(order: WorkOrder, name: str) -> None:
    moved = {path: "# one more line\n" * 20 + text if path.endswith(".py") else text for path, text in FILES.items()}
    near, far = (replace(order, snapshot=Texts(files)) for files in (FILES, moved))

    one, two = ask(near, name), ask(far, name)

    assert one.failed == two.failed
    assert [row for row in two.text.split("\n") if row not in ("# one more line", "... cut")] == [
        row for row in one.text.split("\n") if row != "... cut"
    ]


@pytest.mark.parametrize("ending", ["?", "!"])
def test_a_name_may_end_as_those_of_ruby_do(order: WorkOrder, ending: str) -> None:
    named = f"{GOOD['name']}{ending}"

    assert text_of(order, "logic-definition", name=named) == text_of(order, "logic-definition")
