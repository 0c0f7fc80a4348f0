from __future__ import annotations

from typing import Any

import pytest

LOCKED = """\
class Counter:
    def hit(self, name):
        with self._lock:
            self.hits[name] += 1

    def clear(self):
        with self._lock:
            self.hits.clear()
"""
BARE = LOCKED.replace("        with self._lock:\n            self.hits[name] += 1\n", "        self.hits[name] += 1\n")


def test_a_lock_that_others_still_take_is_missed(said: Any) -> None:
    found = said(LOCKED, BARE)["removed-lock"]

    assert (
        found.message
        == "`Counter.hit` does the same without holding `self._lock`, and other places in this file still take it."
    )
    assert (found.line, found.confidence) == (3, 75)


@pytest.mark.parametrize(
    "lock", ["lock", "self.lock_", "rlock", "cache_mutex", "FileLock(path)", "self.lock.acquire()", "_lock2"]
)
def test_locks_have_many_names(said: Any, lock: str) -> None:
    assert "removed-lock" in said(LOCKED.replace("self._lock", lock), BARE.replace("self._lock", lock))


@pytest.mark.parametrize("lock", ["self.clock", "block", "open(path)", "locked_rows", "rows[0]"])
def test_other_blocks_are_no_locks(said: Any, lock: str) -> None:
    assert said(LOCKED.replace("self._lock", lock), BARE.replace("self._lock", lock)) == {}


@pytest.mark.parametrize(
    "new",
    [
        BARE.replace("    def hit", "    @synchronized\n    def hit"),
        BARE.replace("        self.hits[name] += 1", "        self._lock.acquire()\n        self.hits[name] += 1"),
        BARE.replace("        self.hits[name] += 1", "        with other():\n            self.hits[name] += 1"),
        BARE.replace("        self.hits[name] += 1", "        start(self)\n        self.hits[name] += 1"),
        BARE.replace("def hit", "async def hit"),
        BARE.replace("self.hits[name] += 1", "self.hits[name] = self.hits[name] + 1"),
        BARE + "\n    def both(self):\n        with self._lock:\n            self.other()\n",
        BARE.replace("self.hits.clear()", "self.hit(1)\n            self.hits.clear()"),
    ],
)
def test_another_way_to_keep_order_silences_it(said: Any, new: str) -> None:
    assert said(LOCKED, new) == {}


def test_reading_without_a_lock_is_not_told(said: Any) -> None:
    old = LOCKED.replace("self.hits[name] += 1", "x = self.hits[name]")

    assert said(old, BARE.replace("self.hits[name] += 1", "x = self.hits[name]")) == {}


def test_nobody_else_is_there_while_an_object_is_made(said: Any) -> None:
    assert said(LOCKED.replace("hit(self", "__init__(self"), BARE.replace("hit(self", "__init__(self")) == {}


@pytest.mark.parametrize(
    "change", ["self.rows = row", "rows[key] = row", "del rows[key]", "rows.append(key)", "x += 1"]
)
def test_the_last_lock_of_a_file_is_told_with_less_trust(said: Any, change: str) -> None:
    old = f"def put(rows, key, row):\n    with lock:\n        {change}\n"

    found = said(old, f"def put(rows, key, row):\n    {change}\n")

    assert found["removed-lock-by-name"].confidence == 62


# --- what closes ----------------------------------------------------------------------------------------------------

OPENED = "def read(path):\n    with open(path) as file:\n        rows = file.read()\n    return rows\n"


def test_a_file_that_is_not_closed_any_more_is_told_where_it_is_opened(said: Any) -> None:
    found = said(OPENED, "def read(path):\n    file = open(path)\n    rows = file.read()\n    return rows\n")

    assert (found["removed-cleanup"].line, found["removed-cleanup"].quote) == (2, "file = open(path)")


@pytest.mark.parametrize(
    "body",
    [
        "    file = open(path)\n    rows = file.read()\n    file.close()\n    return rows\n",
        "    file = open(path)\n    with file:\n        rows = file.read()\n    return rows\n",
        "    file = open(path)\n    rows = file.read()\n    return file\n",
        "    self.file = open(path)\n    rows = self.file.read()\n    return rows\n",
        "    file = open(path)\n    stack.enter_context(file)\n    rows = file.read()\n    return rows\n",
        "    file = open(path)\n    stack.callback(file.close)\n    rows = file.read()\n    return rows\n",
        "    rows = open(path).read()\n    return rows\n",
        "    file = opened(path)\n    rows = file.read()\n    return rows\n",
    ],
)
def test_what_is_closed_in_another_way_is_not_told(said: Any, body: str) -> None:
    assert said(OPENED, f"def read(path):\n{body}") == {}


CLOSED = (
    "def run(pool):\n    c = pool.take()\n    try:\n        c.go()\n        c.tell()\n"
    "    finally:\n        c.close()\n    return 1\n"
)


def test_what_is_not_closed_at_all_is_told(said: Any) -> None:
    found = said(CLOSED, "def run(pool):\n    c = pool.take()\n    c.go()\n    c.tell()\n    return 1\n")

    assert found["removed-cleanup"].message == "`c.close` is not called any more in `run`."


def test_what_is_closed_only_after_success_is_told(said: Any) -> None:
    found = said(CLOSED, "def run(pool):\n    c = pool.take()\n    c.go()\n    c.tell()\n    c.close()\n    return 1\n")

    assert list(found) == ["removed-finally"]


@pytest.mark.parametrize(
    "new",
    [
        "def run(pool):\n    with pool.take() as c:\n        c.go()\n        c.tell()\n    return 1\n",
        "def run(pool):\n    c = pool.take()\n    use(c)\n    c.go()\n    c.tell()\n    return 1\n",
        "def run(pool):\n    pool.go()\n    pool.tell()\n    c.tell()\n    return 1\n".replace("c.tell", "pool.x"),
        CLOSED.replace("c.tell()", "c.say()"),
    ],
)
def test_another_way_to_close_silences_it(said: Any, new: str) -> None:
    assert said(CLOSED, new) == {}


def test_awaited_calls_close_as_well(said: Any) -> None:
    old = CLOSED.replace("def run", "async def run").replace("c.close()", "await c.aclose()")

    found = said(old, "async def run(pool):\n    c = pool.take()\n    c.go()\n    c.tell()\n    return 1\n")

    assert found["removed-cleanup"].message == "`c.aclose` is not called any more in `run`."


@pytest.mark.parametrize("last", ["rows.sort()", "x = 1", "log('end')", "close()"])
def test_other_calls_in_a_finally_close_nothing(said: Any, last: str) -> None:
    old = CLOSED.replace("c.close()", last)

    assert said(old, "def run(pool):\n    c = pool.take()\n    c.go()\n    c.tell()\n    return 1\n") == {}


# --- what catches ---------------------------------------------------------------------------------------------------

CAUGHT = (
    "def f(x):\n    try:\n        y = int(x)\n        x.go(y)\n    except {}:\n        y = 0\n"
    "    x.z = y\n    return y\n"
)
UNCAUGHT = "def f(x):\n    y = int(x)\n    x.go(y)\n    x.z = y\n    return y\n"


@pytest.mark.parametrize(("kind", "shown"), [("ValueError", "ValueError"), ("(A, b.C) as e", "(A, b.C)")])
def test_an_error_that_is_not_caught_any_more_is_told(said: Any, kind: str, shown: str) -> None:
    found = said(CAUGHT.format(kind), UNCAUGHT)["removed-handler"]

    assert found.message == f"`f` does the same without catching `{shown}`."
    assert found.confidence == 55


def test_a_bare_handler_caught_everything(said: Any) -> None:
    assert "`everything`" in said(CAUGHT.replace(" {}", ""), UNCAUGHT)["removed-handler"].message


@pytest.mark.parametrize(
    "new",
    [
        "def f(x):\n    with suppress(ValueError):\n        y = int(x)\n        x.go(y)\n    x.z = y\n    return y\n",
        "def f(x):\n    y = number(x)\n    x.go(y)\n    x.z = y\n    return y\n",
        UNCAUGHT + "\n\ndef g(x):\n    try:\n        f(x)\n    except ValueError:\n        pass\n",
        CAUGHT.format("KeyError"),
    ],
)
def test_an_error_that_is_caught_elsewhere_is_not_told(said: Any, new: str) -> None:
    assert said(CAUGHT.format("ValueError"), new) == {}
