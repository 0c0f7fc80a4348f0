"""Logs made to order, in the form that programs write them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Log = dict[str, Any]


def a_result(rule_id: str = "R1", /, uri: str = "src/app.py", line: int | None = 3, **fields: Any) -> Log:
    place: Log = {"artifactLocation": {"uri": uri}}
    if line is not None:
        place["region"] = {"startLine": line}
    known = {"ruleId": rule_id, "message": {"text": "It is wrong."}, "locations": [{"physicalLocation": place}]}
    return known | fields


def a_run(*results: Log, tool: str = "checker", rules: list[Log] | None = None, **fields: Any) -> Log:
    driver: Log = {"name": tool} | ({} if rules is None else {"rules": rules})
    return {"tool": {"driver": driver}, "results": list(results)} | fields


def a_log(*runs: Log, **fields: Any) -> bytes:
    return json.dumps({"version": "2.1.0", "runs": list(runs)} | fields).encode()


@pytest.fixture(scope="session")
def result_of() -> Callable[..., Log]:
    return a_result


@pytest.fixture(scope="session")
def run_of() -> Callable[..., Log]:
    return a_run


@pytest.fixture(scope="session")
def log_of() -> Callable[..., bytes]:
    return a_log
