"""Every hostile delivery is answered as its `expect` says, and the door still works afterwards."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewbot.app.triggers.values import Delivery
from tests.webhooks import Service, body_of, headers_of, service, sha, signature

HOSTILE = Path(__file__).parents[2] / "hostile"
INDEX = json.loads((HOSTILE / "index.json").read_text("utf-8"))["cases"]
CASES = {case["id"]: case for case in INDEX if case["file"].startswith("webhooks/")}


def read(case: str) -> dict[str, Any]:
    loaded = json.loads((HOSTILE / CASES[case]["file"]).read_text("utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def body(case: dict[str, Any]) -> bytes:
    if recipe := case.get("body_recipe"):
        return bytes(recipe["fill"], "ascii") * int(recipe["bytes"])
    return base64.b64decode(case["body_b64"])


def deliver(target: Service, case: dict[str, Any]) -> int:
    """Send a case with exactly its headers; the answer's status."""
    answer = target.app.test_client().open(
        case["path"], method=case["method"], data=body(case), headers=case["headers"]
    )
    assert answer.status_code < 500
    assert b"Traceback" not in answer.data
    return answer.status_code


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Service]:
    made = service(tmp_path)
    yield made
    made.inbox.close()


@pytest.fixture
def canary(name: str) -> Iterator[socket.socket]:
    """Where nothing may ever connect to; one case names port 9. It needs a privilege, and may be another run's."""
    with socket.socket() as listening:
        listening.settimeout(0)
        try:
            listening.bind(("127.0.0.1", 9 if name == "W29" else 0))
        except OSError:
            listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening


@pytest.mark.parametrize("name", [name for name in CASES if name != "W43"])
def test_a_hostile_delivery_is_answered_as_it_must_be(
    name: str, target: Service, canary: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    case, expected = read(name), CASES[name]["expect"]
    before = 0
    if first := expected.get("after"):
        deliver(target, read(str(first).split("_")[0]))
        before = target.reviews()

    statuses = {deliver(target, case) for _ in range(int(case.get("repeat") or 1))}

    assert statuses == {expected["status"]}
    if "review_jobs_enqueued" in expected:
        assert target.reviews() - before == expected["review_jobs_enqueued"]
    with pytest.raises(BlockingIOError):
        canary.accept()
    assert not list(tmp_path.glob("**/reviewbot-canary-*"))
    assert deliver(target, read("W01")) == 202


@pytest.mark.parametrize("count", [100, pytest.param(1_000, marks=pytest.mark.slow)])
def test_a_burst_of_pushes_waits_as_one(count: int, target: Service) -> None:
    case = read("W43")
    payload = json.loads(body(case))
    for number in range(count):
        payload["pull_request"]["head"]["sha"] = f"{number:040x}"
        sent = body_of(payload)
        headers = {**case["headers"], "X-GitHub-Delivery": f"d-{number}", "X-Hub-Signature-256": signature(sent)}
        assert target.app.test_client().post(case["path"], data=sent, headers=headers).status_code == 202

    waiting = target.inbox.claim(count, 60.0, "test")

    assert count <= case["repeat"] == 1_000
    assert [each.trigger.head_sha for each in waiting] == [f"{count - 1:040x}"]
    assert len(waiting) <= CASES["W43"]["expect"]["max_jobs"]


def test_each_kind_of_odd_bytes_is_refused_and_none_of_it_is_quoted(target: Service) -> None:
    odd = [
        b"",
        b"[]",
        b'"x"',
        b"\xef\xbb\xbf{}",
        '{"a":1}'.encode("utf-16"),
        b"\xff\xfe",
        b'{"a":01}',
        b'{"a":-Infinity}',
    ]
    odd += [
        b'{"a":' + b"9" * 5_000 + b"}",
        b'{"a":1e400}',
        b'{"a":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001,
        b'{"a":1}{',
    ]

    answers = [target.send_bytes(each) for each in odd]

    assert [answer.status_code for answer in answers] == [400] * len(odd)
    assert {answer.json["reason"] for answer in answers if answer.json} <= {"no JSON that can be read", "no object"}


@pytest.mark.parametrize("count", [100, pytest.param(1_000, marks=pytest.mark.slow)])
def test_of_many_good_and_hostile_deliveries_none_is_lost_and_none_is_there_twice(count: int, tmp_path: Path) -> None:
    target = service(tmp_path)
    hostile = [read(name) for name in CASES if name not in {"W11", "W43"}]
    good: set[str] = set()
    for number in range(count):
        assert deliver(target, hostile[number % len(hostile)]) < 500
        head = f"{number:040x}"
        sent = body_of(json.loads(body(read("W01"))) | {"number": number + 100} | _pull(number + 100, head))
        for delivery in (f"good-{number}", f"again-{number}"):
            answer = target.app.test_client().post("/webhook", data=sent, headers=headers_of(sent, delivery=delivery))
            assert answer.status_code == 202
        good.add(head)

    taken: list[Delivery] = []
    while batch := target.inbox.claim(64, 60.0, "test"):
        taken += batch
    heads = [each.trigger.head_sha for each in taken if each.delivery_id.startswith("good-")]
    target.inbox.close()

    assert sorted(heads, key=str) == sorted(good)
    assert not [each for each in taken if each.delivery_id.startswith("again-")]
    assert len({each.body_sha256 for each in taken}) == len(taken)
    assert sha("a") in {each.trigger.head_sha for each in taken}


def _pull(number: int, head: str) -> dict[str, Any]:
    side = {"sha": head, "ref": "feature", "repo": None}
    return {"pull_request": {"number": number, "state": "open", "head": side, "base": {**side, "sha": sha("b")}}}
