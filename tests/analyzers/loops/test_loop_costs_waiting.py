"""Coroutines: waits that could be one, and calls that hold up the event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.analyzers.python.views import Found


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for row in rows:\n        found.append(await api.load(row))", ["await-per-item"]),
        ("for row in rows:\n        found[row] = await api.load(row)", ["await-per-item"]),
        ("for row in rows:\n        found.append(await api.polish(row))", ["await-in-loop"]),
        ("for row in rows:\n        x = await api.load(row)\n        found.append(x)", ["await-in-loop"]),
        ("for row in rows:\n        x = await api.load(row)", ["await-in-loop"]),
        ("for row in rows:\n        await row.load()", ["await-in-loop"]),
        ("return {row: await api.load(row) for row in rows}", ["await-per-item"]),
        ("for row in (1, 2):\n        found.append(await api.load(row))", []),
        ("for row in rows:\n        found.append(await api.load(1))", []),
        ("for row in rows:\n        total += await api.load(row)", []),
        ("for row in rows:\n        x = await api.load(row)\n        yield x", []),
        ("for row in rows:\n        await api.send(row)", []),
        ("for row in rows:\n        await asyncio.sleep(1)\n        await api.load(row)", []),
        ("for row in rows:\n        if await api.load(row):\n            break", []),
        ("for row in rows:\n        try:\n            await api.load(row)\n        finally:\n            pass", []),
        ("for row in rows:\n        async with lock:\n            await api.load(row)", []),
        ("last = None\n    for row in rows:\n        last = await api.load(row, last)", []),
        ("async for row in rows:\n        await api.load(row)", []),
        ("for row in rows:\n        await row", []),
        ("for row in rows:\n        if row not in found:\n            await api.load(row)", []),
        ("while rows:\n        await api.load(rows.pop())", []),
        ('for row in rows:\n        await conn.fetchrow("SELECT a FROM t WHERE b = $1", row)', ["query-per-item"]),
        ("for row in rows:\n        await web.get(row)", ["request-per-item"]),
    ],
)
def test_waits_in_a_loop(rules: Callable[..., list[str]], body: str, expected: list[str]) -> None:
    head = (
        "import asyncio, httpx\n\nasync def work(rows, api, found, lock, conn, total):\n    web = httpx.AsyncClient()\n"
    )

    assert rules(f"{head}    {body}") == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("requests.Session().get(url)", ["blocking-request"]),
        ("web.post(url)", ["blocking-request"]),
        ("requests.get(url)", []),
        ("await asyncio.to_thread(web.get, url)", []),
        ("fast.get(url)", []),
        ("web.close()", []),
        ("psycopg2.connect(url)", ["blocking-driver"]),
        ("db = sqlite3.connect(url)\n    db.execute(url)\n    db.commit()", ["blocking-driver"]),
        ("s.recv(10)", ["blocking-driver"]),
        ("s.close()", []),
        ("quiet.recv(10)", []),
        ("sleepy()", ["blocking-helper"]),
        ("outer(sleepy)", []),
        ("unknown()", []),
        ("decorated()", []),
        ("generator()", []),
        ("twice()", []),
        ("fine()", []),
        ("nested()", []),
        ("url.sleepy()", []),
        ("run = lambda: sleepy()", []),
        ("await sleepy()", []),
    ],
)
def test_calls_that_hold_up_the_event_loop(rules: Callable[..., list[str]], body: str, expected: list[str]) -> None:
    text = f"""
import asyncio, time, httpx, requests, sqlite3, psycopg2, socket

web = requests.Session()
fast = httpx.AsyncClient()
s = socket.socket()
quiet = socket.socket()
quiet.setblocking(False)

def sleepy():
    time.sleep(1)
    time.sleep(2)

@cached
def decorated():
    time.sleep(1)

def generator():
    time.sleep(1)
    yield 1

def twice():
    time.sleep(1)

def twice():
    time.sleep(1)

def fine():
    return 1

def nested():
    def inner():
        time.sleep(1)
    return inner

async def work(url):
    {body}
"""
    assert rules(text) == expected


def test_a_method_of_the_same_class_is_followed(found: Callable[..., list[Found]]) -> None:
    text = """
import requests

class Shop:
    def load(self, url):
        return requests.get(url)

    async def work(self, url):
        return self.load(url)

    async def other(self, url, load):
        return self.web.load(url), load(url)

class Other:
    async def work(self, url):
        return self.load(url)
"""
    (one,) = found(text)

    assert (one.rule, one.row) == ("blocking-helper", 8)
    assert [step.row for step in one.flow] == [5, 8]
    assert one.message == "`self.load` holds up the event loop: it calls `requests.get`"


def test_a_plain_function_may_wait(rules: Callable[..., list[str]]) -> None:
    assert rules("import sqlite3\ndef work(path):\n    return sqlite3.connect(path)") == []
