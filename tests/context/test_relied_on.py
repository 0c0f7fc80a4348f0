"""What the lines of a push rely on."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from reviewbot.context.relied_on import MAX_CALLED, MAX_LINES, relied_on
from tests.memory.pushes import change_of
from tests.snapshots import InMemorySnapshot

JAVA = """\
public final class Accounts {
    private static final Pattern ID = Pattern.compile("[a-z]+");

    private final Map<String, Account> byId = new ConcurrentHashMap<>();

    public Account open(String id) {
        check(ID.matcher(id).matches());
        byId.putIfAbsent(id, new Account(id));
        return byId.get(id);
    }

    public int unrelated() {
        int one = 1;
        int two = 2;
        int three = 3;
        return one + two + three;
    }

    public Account get(String id) {
        return byId.get(id);
    }
}
"""


def found(before: Mapping[str, str], path: str, new: str) -> list[tuple[str, int, int]]:
    after = {**before, path: new}
    push = change_of({path: before[path]}, {path: new})
    return [
        (path, first, last)
        for path, first, last in relied_on(push, after.get, InMemorySnapshot(after, searchable=True))
    ]


def test_what_fills_a_member_that_a_push_reads_otherwise_is_shown_with_its_checks() -> None:
    new = JAVA.replace(
        "    public Account get(String id) {\n        return byId.get(id);",
        "    public Account get(String id) {\n        return byId.get(id.toLowerCase());",
    )

    assert found({"Accounts.java": JAVA}, "Accounts.java", new) == [("Accounts.java", 1, 7), ("Accounts.java", 6, 10)]


def test_the_members_of_an_object_are_known_by_how_it_is_called() -> None:
    text = "class A:\n    def one(self):\n        self.rows = []\n\n    def two(self):\n        return 1\n"

    assert found({"a.py": text}, "a.py", text.replace("return 1", "return self.rows")) == [("a.py", 2, 3)]


def test_a_function_that_a_pushed_line_calls_is_shown_where_it_is_known_which() -> None:
    files = {
        "shop/bill.py": "def bill(order):\n    return 1\n",
        "shop/price.py": "def total_of(order):\n    return order.net\n",
        "tests/test_price.py": "def total_of(order):\n    return 2\n",
    }
    new = "def bill(order):\n    return total_of(order)\n"

    assert found(files, "shop/bill.py", new) == [("shop/price.py", 1, 2)]
    many = {f"m{number}.py": "def total_of(order):\n    return 1\n" for number in range(3)}
    assert found({**files, **many}, "shop/bill.py", new) == []


@pytest.mark.parametrize("line", ["    # total_of(order) is fast", "    return get(order)", "    return order.net"])
def test_comments_common_names_and_what_calls_nothing_lead_nowhere(line: str) -> None:
    files = {
        "a.py": "def bill(order):\n    return 1\n",
        "b.py": "def total_of(x):\n    pass\n\n\ndef get(x):\n    pass\n",
    }

    assert found(files, "a.py", f"def bill(order):\n{line}\n") == []


def test_what_is_found_has_bounds() -> None:
    text = "".join(f"def f{number}(self):\n    self.rows[{number}] = 1\n\n\n" for number in range(500))

    lines = found({"a.py": text}, "a.py", text + "x = self.rows\n")
    assert 0 < sum(last - first + 1 for _, first, last in lines) <= MAX_LINES


def test_of_a_large_push_only_so_many_functions_are_looked_for() -> None:
    before = {f"m{number}.py": "x = 1\n" for number in range(50)}
    after = {path: f"x = total_of_{path[:-3]}(1)\n" for path in before}
    snapshot = InMemorySnapshot(after, searchable=True)

    assert relied_on(change_of(before, after), after.get, snapshot) == ()
    assert len(snapshot.searches) == MAX_CALLED
