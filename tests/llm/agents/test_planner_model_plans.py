"""Ten changes of our own with the plan that a good lead would choose: it passes every check and reads everything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reviewbot.diff.language import kind_of, language_of
from reviewbot.domain.contracts import ChangeSet, FileChange, Hunk, ParsedFile
from reviewbot.domain.contracts.answers import ProposedPlan
from reviewbot.llm.agents.planner import ModelPlanner, PlanningSettings
from reviewbot.review.plan.planner import PlanLimits, RoutedPlanner
from reviewbot.wiring import load_workers
from tests.fake_model import FakeModel

PLANS = sorted((Path(__file__).parents[2] / "plans").glob("*.json"))


def change_of(table: Mapping[str, Any]) -> ChangeSet:
    """One hunk for each heading; the counts are those of the file, whatever its lines are."""
    files = []
    for each in table["files"]:
        lines = "\n".join(f"+{line}" for line in (*each["lines"], "x = 1"))
        hunks = tuple(
            Hunk(old_start=at, old_count=0, new_start=at, new_count=1, heading=heading, body=lines)
            for at, heading in enumerate(each["headings"], 1)
        )
        language = language_of(each["path"])
        counts = {"added": each["added"], "removed": each["removed"]}
        files.append(
            FileChange(
                path=each["path"], status="modified", language=language, kind=kind_of(language), hunks=hunks, **counts
            )
        )
    coverage = tuple(ParsedFile(path=file.path, state="read") for file in files)
    return ChangeSet(title=table["title"], description=table["description"], files=tuple(files), parsed=coverage)


def test_there_are_ten_of_them() -> None:
    assert len(PLANS) == 10


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_the_plan_of_a_good_lead_is_taken_as_it_is(path: Path, trace: Any) -> None:
    table = json.loads(path.read_text("utf-8"))
    change = change_of(table)
    limits = PlanLimits(route=True, part_lines=500)
    routed = RoutedPlanner(load_workers(None), lambda _card, _language: True, lambda _path: None, limits)
    model = FakeModel(table["answer"])

    plan = asyncio.run(ModelPlanner(routed, model, trace, "You plan.", PlanningSettings(plan_above=0)).plan(change))

    assert (plan.origin, len(model.requests), trace.of("planned")[0]["faults"]) == ("model", 1, [])
    wanted = {
        (task.worker, name)
        for task in ProposedPlan.model_validate_json(json.dumps(table["answer"])).tasks
        for name in task.files
    }
    read = {(task.worker, name) for task in plan.tasks if not task.programs_only for name in task.paths}
    assert read == wanted
    assert {name for _, name in read} == {file.path for file in change.files}
    assert len(table["lead"]) > 80
