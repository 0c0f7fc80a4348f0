"""Which lines use a method, and which name other things that are called like it."""

from __future__ import annotations

import pytest

from reviewbot.context.receivers import other_things, symbols_in
from tests.snapshots import InMemorySnapshot

STORE = "class Store:\n    def entries(self):\n        return self.rows\n"
REPORT = "class Report:\n    entries: list\n\n    def count(self):\n        return len(self.entries)\n"


def uses_of(path: str, text: str, store: str = STORE, **others: str) -> list[str]:
    """The lines of a file with the name of the method that are taken for uses of it."""
    files = {"store.py": store, "report.py": REPORT, path: text, **others}
    snapshot = InMemorySnapshot(files, searchable=True)
    is_other = other_things("entries", "store.py", snapshot, symbols_in(snapshot))
    found = snapshot.search("entries", 100) or ()
    return [each.text.strip() for each in found if each.path == path and not is_other(each)]


def test_a_field_of_another_class_is_no_use() -> None:
    assert uses_of("report.py", REPORT) == []


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("def show(report: Report):\n    return report.entries\n", []),
        ("def show(store: Store):\n    return store.entries()\n", ["return store.entries()"]),
        ("def show(thing):\n    return thing.entries()\n", ["return thing.entries()"]),
        ("def show(thing: Unknown):\n    return thing.entries\n", ["return thing.entries"]),
        ("def show():\n    report = Report()\n    return report.entries\n", []),
        ("def show(report: Report, s):\n    return report.entries, s.entries\n", ["return report.entries, s.entries"]),
    ],
)
def test_a_receiver_is_known_by_its_declared_type(text: str, used: list[str]) -> None:
    assert uses_of("show.py", text) == used


def test_a_type_that_has_bases_or_is_a_base_may_be_the_same_thing() -> None:
    derived = "class Kept(Store):\n    entries: list\n\ndef show(kept: Kept):\n    return kept.entries\n"
    assert "return kept.entries" in uses_of("kept.py", derived)
    store = STORE.replace("class Store:", "class Store(Report):")
    used = uses_of("show.py", "def show(report: Report):\n    return report.entries()\n", store)
    assert used == ["return report.entries()"]


def test_a_word_of_a_longer_text_is_no_use_and_one_alone_or_in_braces_is() -> None:
    text = 'SQL = "select day from entries"\nnamed = getattr(store, "entries")\nshown = f"{store.entries()} rows"\n'
    assert uses_of("sql.py", text) == ['named = getattr(store, "entries")', 'shown = f"{store.entries()} rows"']


def test_a_local_name_is_no_use_where_methods_stand_behind_receivers() -> None:
    text = "def show(store):\n    entries = store.entries()\n    for entry in entries:\n        print(entry)\n"
    assert uses_of("show.py", text) == ["entries = store.entries()"]
    assert uses_of("show.ts", "const { entries } = store;\n") == ["const { entries } = store;"]


def test_nothing_is_ruled_out_of_a_name_that_is_no_method() -> None:
    function = "def entries():\n    return []\n"
    text = "def show(report: Report):\n    return report.entries\n"
    assert uses_of("show.py", text, function) == ["return report.entries"]
