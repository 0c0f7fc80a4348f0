from __future__ import annotations

from typing import Any

import pytest

JOBS = "async def flush(queue):\n    return queue\n\n\n"


def job(line: str, rest: str = "    queue.x = 1\n", head: str = "async def stop(queue):") -> str:
    return f"{JOBS}{head}\n    {line}\n{rest}"


def test_a_coroutine_that_never_runs_is_told_where_it_is_made(said: Any) -> None:
    found = said(job("await flush(queue)"), job("flush(queue)"))["removed-await"]

    assert found.message == "`stop` does not await `flush` any more, so that it never runs."
    assert (found.line, found.confidence) == (6, 75)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x = (await flush(queue)).rows", "x = flush(queue).rows"),
        ("x = (await flush(queue))[0]", "x = flush(queue)[0]"),
        ("x = 1 + await flush(queue)", "x = 1 + flush(queue)"),
        ("x = await flush(queue)", "x = flush(queue)"),
        ("x: int = await flush(queue)", "x: int = flush(queue)"),
        ("assert await flush(queue)", "assert flush(queue)"),
    ],
)
def test_a_coroutine_is_taken_for_its_result(said: Any, old: str, new: str) -> None:
    assert "takes its coroutine" in said(job(old), job(new))["removed-await"].message


def test_a_condition_takes_it_for_its_result_too(said: Any) -> None:
    old, new = job("if await flush(queue):\n        queue.y = 2"), job("if flush(queue):\n        queue.y = 2")

    assert "removed-await" in said(old, new)


@pytest.mark.parametrize(
    ("old", "new", "rest"),
    [
        ("x = await flush(queue)", "x = flush(queue)", "    await x\n"),
        ("x = await flush(queue)", "x = flush(queue)", "    await gather(x, y)\n"),
        ("x = await flush(queue)", "x = flush(queue)", "    start(task=x)\n"),
        ("x = await flush(queue)", "x = flush(queue)", "    return x\n"),
        ("x = await flush(queue)", "x = flush(queue)", "    return x, 1\n"),
        ("return await flush(queue)", "return flush(queue)", ""),
        ("todo.append(await flush(queue))", "todo.append(flush(queue))", ""),
        ("x = [await flush(queue)]", "x = [flush(queue)]", ""),
        ("await flush(queue)", "start(flush(queue))", ""),
        ("await task", "task", ""),
        ("await flush(queue)", "flush(queue)\n    await flush(queue)", ""),
    ],
)
def test_a_coroutine_that_may_be_awaited_later_is_not_told(said: Any, old: str, new: str, rest: str) -> None:
    assert "removed-await" not in said(job(old, rest), job(new, rest))


def test_a_function_that_is_not_asynchronous_any_more_cannot_await(said: Any) -> None:
    assert said(job("await flush(queue)"), job("flush(queue)", head="def stop(queue):")) == {}


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("src/jobs.py", "async def run(): ...\n", "from jobs import run"),
        ("src/jobs.py", "async def run(): ...\n", "from .jobs import run"),
        ("src/jobs.py", "async def other(): ...\n", "from jobs import other as run"),
    ],
)
def test_an_imported_coroutine_is_known(said: Any, path: str, text: str, line: str) -> None:
    body = f"{line}\n\n\nasync def go():\n    {{}}run()\n"

    assert "removed-await" in said(body.format("await "), body.format(""), {path: text})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("def run(): ...\n", "from jobs import run"),
        ("@task\nasync def run(): ...\n", "from jobs import run"),
        ("async def other(): ...\n", "from jobs import run"),
        ("async def run(): ...\n", "from elsewhere import run"),
        ("async def run(): ...\n", "import jobs as run"),
        ("async def run(): ...\n", "from jobs import run\nrun = 1"),
    ],
)
def test_what_is_not_known_to_be_a_coroutine_is_told_with_less_trust(said: Any, text: str, line: str) -> None:
    body = f"{line}\n\n\nasync def go():\n    {{}}run()\n"

    found = said(body.format("await "), body.format(""), {"src/jobs.py": text})

    assert [each.confidence for each in found.values()] == [65]


def test_methods_of_the_same_class_are_known(said: Any) -> None:
    methods = "    async def run(self): ...\n\n    def plain(self): ...\n"
    body = "class A:\n    async def go(self):\n        {}self.{}()\n\n" + methods

    assert "removed-await" in said(body.format("await ", "run"), body.format("", "run"))
    assert "removed-await" not in said(body.format("await ", "plain"), body.format("", "plain"))


# --- escapes --------------------------------------------------------------------------------------------------------

PAGE = "import html\n\n\ndef page(name):\n    text = {}\n    return text\n"


@pytest.mark.parametrize("call", ["html.escape(name)", "escape(name, True)", "shlex.quote(name)", "bleach.clean(name)"])
def test_a_text_that_is_not_made_harmless_any_more_is_told(said: Any, call: str) -> None:
    found = said(PAGE.format(call), PAGE.format("name"))["removed-escape"]

    assert found.message == f"`page` does not pass `name` through `{call.partition('(')[0]}` any more."
    assert found.line == 5


@pytest.mark.parametrize(
    "new",
    [
        PAGE.format("name").replace("return text", "return html.escape(text)"),
        PAGE.format("markup(name)"),
        PAGE.format("name").replace("def page", "@escaped\ndef page"),
        PAGE.format("name") + "\n\ndef safe(name):\n    return page(html.escape(name))\n",
        PAGE.format("'fixed'"),
    ],
)
def test_a_text_that_is_made_harmless_elsewhere_is_not_told(said: Any, new: str) -> None:
    assert said(PAGE.format("html.escape(name)"), new) == {}


def test_a_call_without_an_argument_escapes_nothing(said: Any) -> None:
    assert said(PAGE.format("name.escape()"), PAGE.format("name")) == {}
