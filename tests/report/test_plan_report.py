from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest

from reviewbot.domain.contracts import Payload, Plan, ReviewTask
from reviewbot.report.json_report import render_json
from reviewbot.report.plan_report import render_plan

if TYPE_CHECKING:
    from collections.abc import Callable


def a_plan(*tasks: ReviewTask) -> Plan:
    return Plan(goal="goal", reason="reason", tasks=tasks)


@pytest.mark.parametrize("width", [40, 80])
def test_a_plan_in_a_terminal(width: int, full_plan: Plan, golden: Callable[[str, str], None]) -> None:
    golden(f"plan-{width}.txt", render_plan(full_plan, width=width, colour=False))


def test_a_plan_as_json(full_plan: Plan, golden: Callable[[str, str], None]) -> None:
    golden("plan.json", render_json(full_plan))


def test_tasks_keep_their_order_and_are_numbered(make_task: Callable[..., ReviewTask]) -> None:
    tasks = [make_task(task_id=f"task {number}") for number in range(12)]

    out = render_plan(a_plan(*tasks), width=80, colour=False)

    assert out.index("\n 1. security") < out.index("task 0") < out.index("\n12. security") < out.index("task 11")


@pytest.mark.parametrize(
    ("code", "starts", "lines"),
    [
        ("@@ \n a\n+b\n-c", ((1, 1),), "1-2"),
        ("@@ \n+a", ((0, 7),), "7"),
        ("@@ \n-a\n\\ No newline at end of file", ((5, 4),), "removed at 5"),
        ("@@ \n+@@ not a heading\n@@ \n+b\n+c", ((0, 1), (2, 9)), "1, 9-10"),
        ("", (), "none"),
        ("no heading", ((1, 1),), "none"),
    ],
)
def test_the_lines_of_a_task_are_those_of_the_new_side(
    code: str, starts: tuple[tuple[int, int], ...], lines: str, make_task: Callable[..., ReviewTask]
) -> None:
    payload = Payload(code=code, file_path="a.py", language="python", starts=starts)

    assert f"lines   {lines}\n" in render_plan(a_plan(make_task(payload=payload)), width=80, colour=False)


@pytest.mark.parametrize(("origin", "shown"), [("model", True), ("rules", False)])
def test_instructions_are_shown_where_a_model_wrote_them(
    origin: Literal["model", "rules"], make_task: Callable[..., ReviewTask], *, shown: bool
) -> None:
    plan = Plan(goal="goal", reason="reason", tasks=(make_task(),), origin=origin)

    assert ("does    Look for injection" in render_plan(plan, width=80, colour=False)) is shown


def test_a_task_on_names_across_parts_says_what_it_does(make_task: Callable[..., ReviewTask]) -> None:
    task = make_task().model_copy(update={"seam": ("total",)})

    assert "does    Look for injection" in render_plan(a_plan(task), width=80, colour=False)


def test_a_task_of_analyzers_has_no_tier_and_no_tokens(make_task: Callable[..., ReviewTask]) -> None:
    alone = make_task(task_id="a").model_copy(update={"programs_only": True})
    scans = make_task(task_id="b").model_copy(update={"programs_only": True, "scans_only": True})

    text = render_plan(a_plan(alone, scans), width=80, colour=False)

    assert "   by      analyzers alone, within 2 min\n" in text
    assert "   by      scans of plain lines alone, within 2 min\n" in text
    assert "tier" not in text


def test_a_task_on_several_files_names_each_up_to_a_limit(make_task: Callable[..., ReviewTask]) -> None:
    more = tuple(
        Payload(code="@@ \n+a", file_path=f"{number}\x07.py", language="python", starts=((0, number + 1),))
        for number in range(10)
    )

    text = render_plan(a_plan(make_task().model_copy(update={"more": more})), width=80, colour=False)

    assert "   and     0\\x07.py  1\n" in text
    assert text.count("   and     ") == 9
    assert "   and     2 more; --format json has all\n" in text


def test_a_hint_is_the_last_paragraph(make_task: Callable[..., ReviewTask]) -> None:
    assert render_plan(a_plan(make_task()), width=80, colour=False, hint="Set\na key.").endswith("\n\nSet a key.\n")


def test_names_in_a_plan_are_made_visible(make_task: Callable[..., ReviewTask]) -> None:
    payload = Payload(code="", file_path="a\x1b[2J\u202e.py", language="python", starts=())

    out = render_plan(a_plan(make_task(payload=payload, task_id="t\x07")), width=80, colour=False)

    assert "a\\x1b[2J<U+202E>.py" in out
    assert "t\\x07" in out


def test_a_plan_in_colour_has_escape_sequences_and_the_same_words(full_plan: Plan) -> None:
    assert "\x1b[1m2 tasks" in render_plan(full_plan, width=80, colour=True)
    assert "\x1b" not in render_plan(full_plan, width=80, colour=False)
