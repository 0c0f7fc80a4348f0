"""The hostile trees of `tests/hostile/linter_traps`: nothing in them runs, leaks or silences a finding."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reviewbot.analyzers.catalog import all_tools
from reviewbot.analyzers.core.run import changed_file
from tests.make import one_fast

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.domain.contracts import FileChange
    from reviewbot.domain.ports import Snapshot, ToolReport

FOLDER = Path(__file__).parents[2] / "hostile" / "linter_traps"
TRAPS: list[dict[str, Any]] = json.loads((FOLDER / "traps.json").read_text("utf-8"))
VICTIM = 'import os\nimport sys\n\n\ndef ping(r):\n    os.system("ping " + r)\n    return eval(r)\n'
CANARY = "CANARY-0b5e77"


@pytest.mark.parametrize("trap", one_fast(TRAPS), ids=[trap["name"] for trap in TRAPS])
def test_a_trap_neither_runs_nor_leaks_nor_silences(
    trap: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file_of: Callable[..., FileChange],
    snapshot_of: Callable[..., Snapshot],
) -> None:
    """Every file of the tree is reviewed under its own name, from a working folder in the middle of the tree."""
    tree = tmp_path / "tree"
    texts = {"a.py": VICTIM}
    texts |= {name: (FOLDER / source).read_text("utf-8") for name, source in trap.get("files", {}).items()}
    texts |= trap.get("inline", {})
    for name, text in texts.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text.replace("@CANARY@", str(tmp_path / "canary")), "utf-8")
    monkeypatch.chdir(tree)
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)

    async def review() -> list[ToolReport]:
        tools = all_tools().values()
        return await asyncio.gather(
            *(
                tool.run(changed_file([file_of(text.rstrip("\n"), path=name)], snapshot), snapshot)
                for name, text in texts.items()
                for snapshot in [snapshot_of(text)]
                for tool in tools
            )
        )

    reports = asyncio.run(review())

    told = [(found.path, found.rule) for report in reports for found in report.candidates]
    assert ("a.py", "S605") in told
    assert ("a.py", "S307") in told
    assert CANARY not in repr(reports)
    assert not list(tmp_path.glob("canary*"))
