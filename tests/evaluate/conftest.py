"""Small labelled cases on disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MakeCase = Callable[..., Path]


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """An empty folder for cases."""
    folder = tmp_path / "cases"
    folder.mkdir()
    return folder


@pytest.fixture
def make_case(cases: Path) -> MakeCase:
    """Write one case; what is not given is left out of it."""

    def making(key: str, diff: bytes = b"", meta: Any = None, golden: Any = None) -> Path:
        folder = cases / key
        folder.mkdir(parents=True)
        (folder / "change.diff").write_bytes(diff)
        (folder / "meta.json").write_text(json.dumps({} if meta is None else meta))
        (folder / "golden.json").write_text(json.dumps([] if golden is None else golden))
        return folder

    return making
