"""Locks that a file still takes and no longer gives back."""

from __future__ import annotations

from typing import Any

import pytest

BASE = "func (s *Store) Get() int {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\treturn s.n\n}\n"


def test_a_lock_that_is_not_given_back_is_told_at_the_line_where_it_was(said: Any) -> None:
    found = said(BASE, BASE.replace("\tdefer s.mu.Unlock()\n", ""), path="store/a.go")["removed-unlock"]

    assert found.message == "`s.mu` is locked as before, and not unlocked here any more."
    assert (found.side, found.near) == ("old", 3)


@pytest.mark.parametrize(
    "head",
    [
        BASE.replace("\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n", ""),
        BASE.replace("\tdefer s.mu.Unlock()\n\treturn s.n\n", "\tn := s.n\n\ts.mu.Unlock()\n\treturn n\n"),
        BASE.replace("defer s.mu.Unlock()", "t.Cleanup(s.mu.Unlock)"),
        BASE.replace("defer s.mu.Unlock()", "defer s.unlockAll()"),
        "package store\n",
    ],
    ids=["with the lock", "elsewhere", "handed on", "a helper", "all is gone"],
)
def test_a_lock_that_is_given_back_elsewhere_draws_nothing(said: Any, head: str) -> None:
    assert said(BASE, head, path="store/a.go") == {}


def test_a_lock_that_was_given_back_more_often_than_taken_is_not_counted(said: Any) -> None:
    base = BASE.replace("\tdefer", "\tif s.n > 0 {\n\t\ts.mu.Unlock()\n\t\treturn 0\n\t}\n\tdefer")

    assert said(base, base.replace("\t\ts.mu.Unlock()\n", ""), path="store/a.go") == {}


# --- what is closed ---------------------------------------------------------------------------------------------------

READ = (
    "package store\n\nfunc Size(path string) (int64, error) {\n\tfile, err := os.Open(path)\n\tif err != nil {\n"
    "\t\treturn 0, err\n\t}\n\tdefer file.Close()\n\tsize, err := io.Copy(io.Discard, file)\n\treturn size, err\n}\n"
)
CLOSE = "\tdefer file.Close()\n"


def test_what_is_opened_and_not_closed_any_more_is_said_where_it_was_closed(said: Any) -> None:
    found = said(READ, READ.replace(CLOSE, ""), path="store/a.go")["cleanup-dropped"]

    assert found.message == "`file` is opened as before, and not closed any more."
    assert (found.side, found.near) == ("old", 8)


@pytest.mark.parametrize(
    "head",
    [
        READ.replace(CLOSE, "\ts.files = append(s.files, file)\n"),
        READ.replace(CLOSE, "\tt.Cleanup(func() { file.Close() })\n"),
        READ.replace(CLOSE, "").replace("os.Open(path)", "s.cached(path)"),
        READ.replace(CLOSE, "").replace("return size, err", "return file, nil"),
        READ.replace(CLOSE, "\tcloseLater(file)\n"),
        READ.replace(CLOSE, "").replace("func Size", "func Length"),
        "package store\n",
    ],
    ids=["kept", "closed later", "not opened", "handed back", "a helper", "another function", "all is gone"],
)
def test_what_may_be_closed_elsewhere_draws_nothing(said: Any, head: str) -> None:
    assert "cleanup-dropped" not in said(READ, head, path="store/a.go")


def test_a_test_that_closes_nothing_draws_nothing(said: Any) -> None:
    assert said(READ, READ.replace(CLOSE, ""), path="store/a_test.go") == {}


# --- what is waited for -----------------------------------------------------------------------------------------------

SHOW = (
    'import { load } from "./load"\n\nexport async function show(id: string) {\n  const order = await load(id)\n'
    "  print(order.name)\n}\n"
)
ASYNC = {"src/load.ts": "export async function load(id: string) {}\n"}


def test_a_promise_in_the_place_of_its_result_is_said(said: Any) -> None:
    found = said(SHOW, SHOW.replace("await ", ""), ASYNC, path="src/show.ts")["await-dropped"]

    assert found.message == "`load` was awaited here and is not any more."
    assert found.line == 4


def test_a_function_that_is_said_to_give_a_promise_counts_as_well(said: Any) -> None:
    typed = {"src/load/index.ts": "export const load = (id: string): Promise<Order> => ask(id)\n"}

    assert "await-dropped" in said(SHOW, SHOW.replace("await ", ""), typed, path="src/show.ts")


@pytest.mark.parametrize(
    ("others", "rule"),
    [
        ({}, "await-dropped-by-name"),
        (ASYNC | {"src/load.js": "exports.load = 1\n"}, "await-dropped-by-name"),
        ({"src/load.ts": "export function load(id: string) {}\n"}, ""),
    ],
    ids=["not found", "one of two files", "no promise any more"],
)
def test_a_function_that_is_not_certain_to_give_a_promise_is_a_hint_at_most(
    said: Any, others: dict[str, str], rule: str
) -> None:
    assert {*said(SHOW, SHOW.replace("await ", ""), others, path="src/show.ts")} == ({rule} if rule else set())


@pytest.mark.parametrize(
    "head",
    [
        SHOW.replace("await ", "").replace("print(order.name)", "print((await order).name)"),
        SHOW.replace("await ", "").replace("print(order.name)", "return Promise.all([order, more()])"),
        SHOW.replace("await ", "").replace("print(order.name)", "order.then(print)"),
        SHOW.replace("await ", "").replace("print(order.name)", "this.order = order"),
        SHOW.replace("await ", "").replace("print(order.name)", "return { order, id }"),
        SHOW.replace("await ", "").replace("async ", ""),
        SHOW.replace("const order = await load(id)", "return load(id)"),
    ],
    ids=["awaited later", "with others", "then", "kept", "in an object", "not async any more", "handed back"],
)
def test_a_promise_that_is_waited_for_in_another_way_draws_nothing(said: Any, head: str) -> None:
    assert said(SHOW, head, ASYNC, path="src/show.ts") == {}


def test_an_element_of_a_list_that_is_handed_on_draws_nothing(said: Any) -> None:
    base = "async function save(id) {\n  await put(\n    id,\n  );\n}\n"
    head = "async function save(id) {\n  await all([\n    put(\n      id,\n    ),\n    more(),\n  ]);\n}\n"

    assert said(base, head, path="src/save.ts") == {}
    assert "await-not-waited" in said(base, base.replace("await put", "put"), path="src/save.ts")


# --- hostile files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.go", "\tdefer " + "a." * 5_000 + "Close()\n"),
        ("a.go", "\treturn " * 5_000 + "\n"),
        ("A.java", "try (" + "a " * 5_000 + "= b) {\n"),
        ("A.cs", "using (" + "a<" * 5_000 + "\n"),
        ("a.ts", "  const " + "{a," * 5_000 + "} = await f(\n"),
        ("a.rb", "File" + ".open(" * 3_000 + ") do |f|\n"),
    ],
)
def test_lines_of_hostile_length_are_passed_over(report_of: Any, path: str, line: str) -> None:
    report = report_of("first\n" + line + "last\n", "first\nlast\n", path=path)

    assert [each.rule for each in report.candidates] == []


def test_thousands_of_closing_lines_are_not_followed(report_of: Any) -> None:
    base = "package a\n" + "".join(READ.partition("\n\n")[2].replace("Size", f"F{n}") for n in range(60))

    assert report_of(base, base.replace(CLOSE, ""), path="a.go").candidates == ()
