from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reviewbot.analyzers.both_sides import DiffSemantics
from reviewbot.analyzers.core.run import changed_file

OLD = """\
def pay(account, amount):
    if amount > account.limit:
        raise ValueError(amount)
    account.take(amount)
    account.save()
    return amount
"""
NEW = """\
def pay(account, amount):
    account.take(amount)
    account.save()
    log(1)
    return amount
"""


def test_a_guard_that_is_gone_is_told_on_the_nearest_added_line(said: Any) -> None:
    found = said(OLD, NEW)["removed-guard"]

    assert found.message == "`pay` stopped over `amount > account.limit`, and does not ask for that any more."
    assert (found.line, found.quote, found.severity, found.confidence) == (4, "log(1)", "warning", 65)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "    check(amount)\n"),
        ("", "    ensure_ready()\n"),
        ("", "    assert amount <= account.limit\n"),
        ("", "    amount = min(amount, account.limit)\n"),
        ("", "    if amount > 0 and account.open:\n        pass\n"),
        ("", "    with account.limits():\n        pass\n"),
        ("", "    try:\n        pass\n    except ValueError:\n        raise\n"),
        ("", "    match amount:\n        case 1:\n            pass\n"),
        ("", "    too_much = [a for a in (amount,) if a > account.limit]\n"),
        ("", "    too_much = amount > account.limit\n"),
    ],
)
def test_something_new_that_may_do_its_work_silences_it(said: Any, old: str, new: str) -> None:
    body = "    account.take(amount)\n    account.save()\n    account.tell()\n    return amount\n"
    guard = "    if amount > account.limit:\n        raise ValueError(amount)\n"

    assert said(f"def pay(account, amount):\n{guard}{body}", f"def pay(account, amount):\n{old}{new}{body}") == {}


@pytest.mark.parametrize(
    "head",
    ["@limited\ndef pay(account, amount):", "def pay(account, amount: Small):", "def pay(account, amount=0):"],
)
def test_a_new_head_may_do_its_work_too(said: Any, head: str) -> None:
    assert said(OLD, NEW.replace("def pay(account, amount):", head)) == {}


def test_a_guard_that_was_moved_to_another_function_is_not_told(said: Any) -> None:
    other = "\n\ndef ask(account, amount):\n    if amount > account.limit:\n        raise ValueError(amount)\n"

    assert said(OLD, NEW + other) == {}


def test_a_function_that_was_written_anew_is_not_told(said: Any) -> None:
    assert said(OLD, "def pay(account, amount):\n    other(account.take)\n    return amount\n") == {}


def test_a_guard_of_something_that_is_not_used_any_more_is_not_missed(said: Any) -> None:
    old = "def f(a, b):\n    if b is None:\n        return 1\n    a.x()\n    a.y()\n    return a\n"

    assert said(old, "def f(a, b):\n    a.x()\n    a.y()\n    a.z = 1\n    return a\n") == {}


@pytest.mark.parametrize("leave", ["return None", "continue", "break"])
def test_early_exits_are_told_as_such(said: Any, leave: str) -> None:
    body = "        a.go()\n        a.run()\n        a.x = {}\n"
    old = f"def f(rows):\n    for a in rows:\n        if a is None:\n            {leave}\n{body.format(1)}"
    new = f"def f(rows):\n    for a in rows:\n{body.format(2)}"

    assert list(said(old, new)) == ["removed-early-exit"]
    assert said(old, new.replace("in rows:", "in real:")) == {}


@pytest.mark.parametrize(
    "guard",
    [
        "    if a > 1:\n        abort(403)\n",
        "    if not a:\n        sys.exit(1)\n",
    ],
)
def test_calls_that_leave_are_guards(said: Any, guard: str) -> None:
    body = "    a.go()\n    a.run()\n    a.x = {}\n"

    assert list(said(f"def f(a):\n{guard}{body.format(1)}", f"def f(a):\n{body.format(2)}")) == ["removed-guard"]


@pytest.mark.parametrize(
    "block",
    [
        "    if a > 1:\n        a = 1\n",
        "    if a > 1:\n        log(a)\n",
        "    if a > 1:\n        return 1\n    else:\n        b = 1\n",
        "    if True:\n        return 1\n",
        "    if a > 1:\n        b = 1\n        b = 2\n        b = 3\n        b = 4\n        raise E\n",
    ],
)
def test_what_is_no_guard_is_not_missed(said: Any, block: str) -> None:
    body = "    a.go()\n    a.run()\n    a.tell()\n    a.stop()\n    a.x = {}\n"

    assert said(f"def f(a):\n{block}{body.format(1)}", f"def f(a):\n{body.format(2)}") == {}


def test_a_lost_half_of_a_guard_is_told_where_it_stops_less_often(said: Any) -> None:
    body = "def f(a):\n    if {}:\n        return 1\n    a.go()\n    return a.x\n"

    less = said(body.format("a is None or a.x < 0"), body.format("a is None"))
    more = said(body.format("a is None and b.x < 0"), body.format("a is None"))

    assert less["removed-early-exit"].message == "`f` left early over `a.x < 0`, and does not ask for that any more."
    assert more == {}


def test_a_long_condition_is_shown_in_part(said: Any) -> None:
    condition = " or ".join(f"amount > account.limit_number_{n}" for n in range(9))

    found = said(OLD.replace("amount > account.limit", condition), NEW)["removed-guard"]

    assert "..." in found.message
    assert len(found.message) < 200


def test_a_part_of_a_condition_is_told_where_the_rest_is_the_same(said: Any) -> None:
    body = "def f(a, user):\n    if {}:\n        a.delete()\n        a.tell(user)\n"

    assert list(said(body.format("a.x and a.owner == user"), body.format("a.x"))) == ["removed-condition"]
    assert said(body.format("a.x and a.owner == user"), body.format("a.owner")) == {}
    assert said(body.format("a.x and a.owner == user"), body.format("a.x and may(user)")) == {}
    assert said(body.format("a.x or a.owner == user"), body.format("a.x")) == {}


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("validate_rows(rows)", True),
        ("rows.full_clean()", True),
        ("await self.check_access(rows)", True),
        ("rows.sort()", False),
        ("x = validate_rows(rows)", False),
        ("(lambda: 1)()", False),
    ],
)
def test_calls_that_check_are_told_by_their_name(said: Any, call: str, told: bool) -> None:  # noqa: FBT001 - a case
    body = "    rows.go()\n    rows.save()\n    return rows.x{}\n"

    found = said(
        f"async def f(self, rows):\n    {call}\n{body.format(1)}", f"async def f(self, rows):\n{body.format(2)}"
    )

    assert ("removed-check" in found) is told


def test_a_check_that_another_function_makes_now_is_not_missed(said: Any) -> None:
    old = "def f(rows):\n    validate(rows)\n    rows.go()\n    rows.save()\n    return rows\n"
    new = "def f(rows):\n    rows.go()\n    rows.save()\n    return rows\n\n\ndef g(rows):\n    f(validate(rows))\n"

    assert said(old, new) == {}


def test_guards_of_tests_are_nobodys_concern(said: Any) -> None:
    assert said(OLD, NEW, path="tests/test_app.py") == {}


# --- who is let in --------------------------------------------------------------------------------------------------

VIEW = "from auth import login_required\n\n\n{}def view(request):\n    return page(request, {})\n"
CLOSED, OPEN = VIEW.format("@login_required\n", 1), VIEW.format("", 2)


def test_a_decorator_that_kept_callers_out_is_missed(said: Any) -> None:
    found = said(CLOSED, OPEN)["removed-authorization"]

    assert found.message == "`view` has lost `@login_required`, and nothing in this file takes its place."
    assert (found.line, found.confidence, found.cwe) == (5, 75, 862)


@pytest.mark.parametrize(
    "decorator",
    ["auth.permission_required('a.b')", "admin_required", "requires_auth", "jwt_required()", "user_passes_test(f)"],
)
def test_such_decorators_have_many_names(said: Any, decorator: str) -> None:
    assert "removed-authorization" in said(VIEW.format(f"@{decorator}\n", 1), OPEN)


@pytest.mark.parametrize("decorator", ["cached", "require_http_methods(['GET'])", "x.setter", "roles[0]"])
def test_other_decorators_let_everybody_in_anyway(said: Any, decorator: str) -> None:
    assert said(VIEW.format(f"@{decorator}\n", 1), OPEN) == {}


@pytest.mark.parametrize(
    "new",
    [
        OPEN.replace("def view", "@staff_only_admin\ndef view"),
        OPEN + "\n\nrouter = Router(dependencies=[Depends(current_token)])\n",
        OPEN.replace("    return", "    request.require_role('x')\n    return"),
        OPEN.replace("def view(request):", "def view(request, user=Security(get_user)):"),
    ],
)
def test_another_way_to_keep_callers_out_silences_it(said: Any, new: str) -> None:
    assert "removed-authorization" not in said(CLOSED, new)


def test_a_decorator_that_asks_for_something_else_is_told_with_less_trust(said: Any) -> None:
    found = said(VIEW.format("@plan_required\n", 1), OPEN)

    assert [(each.rule, each.confidence) for each in found.values()] == [("removed-authorization-by-name", 65)]


def test_a_word_that_lets_callers_in_is_no_such_way(said: Any) -> None:
    assert "removed-authorization" in said(CLOSED, OPEN.replace("def view", "@csrf_exempt\ndef view"))


def test_who_is_let_in_may_be_told_where_the_view_is_used(said: Any, repository: Any) -> None:
    urls = {"src/urls.py": "from app import view\n\nurls = [path('x', login_required(view))]\n"}

    assert "removed-authorization" not in said(CLOSED, OPEN, urls)


def test_a_decorator_that_moved_to_another_file_is_not_missed(file_of: Any, repository: Any, rules: Any) -> None:
    moved = repository("src/app.py", (CLOSED, OPEN), {"src/web.py": "wrap(login_required)\n"}, {"src/web.py": ""})

    report = asyncio.run(DiffSemantics(rules).run(changed_file([file_of(CLOSED, OPEN)], moved), moved))

    assert report.candidates == ()
