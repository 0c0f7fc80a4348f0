"""What readers are shown of a change and of the repository around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.domain.contracts import ChangeSet, FileChange, Payload, ReadBefore
from reviewbot.domain.ports import WorkOrder
from reviewbot.llm.prompts.change_view import change_view
from reviewbot.llm.prompts.reader_context import MAX_DELETED, MAX_PURPOSE, ReaderContextBuilder, first_sentences
from reviewbot.llm.prompts.repository_map import ABSENT, MAX_LISTED, WHOLE_CHARS, repository_map
from reviewbot.llm.tools import RepositoryTools
from reviewbot.llm.tools.view import RepositoryView
from reviewbot.sources.memory import DiffSnapshot
from tests.snapshots import InMemorySnapshot


def tree_of(texts: Mapping[str, str]) -> InMemorySnapshot:
    """A whole repository, the same on both sides."""
    return InMemorySnapshot(texts, texts, whole=True)


def view_of(**texts: str) -> RepositoryView:
    return RepositoryTools(tree_of({name.replace("__", "/"): text for name, text in texts.items()})).view


def test_hunks_stand_below_their_file_with_the_numbers_of_the_new_side(a_payload: Callable[..., Payload]) -> None:
    first = a_payload(" a = 0\n-b = 1\n+b = 2", path="src/a.py").model_copy(update={"old_path": "src/old.py"})
    second = a_payload("+z = 1", path="src/z.py")
    more = a_payload("+c = 3", path="src/a.py").model_copy(update={"starts": ((9, 10),)})

    whole = ["a = 0", "b = 2", "class A:", "    def b(self):", *["        pass"] * 5, "        c = 3"]

    assert change_view([first, second, more], {"src/a.py": whole, "src/z.py": []}.__getitem__) == (
        "### src/a.py (was src/old.py) [python]\n"
        "@@\n    1  a = 0\n      -b = 1\n    2 +b = 2\n"
        "@@ in class A: > def b(self):\n   10 +c = 3\n\n"
        "### src/z.py [python]\n@@\n    1 +z = 1"
    )


def test_after_a_push_its_lines_alone_are_marked_and_what_it_removed_stands_above(
    a_payload: Callable[..., Payload], a_hunk: Any
) -> None:
    new_file = a_payload("+def f():\n+    a = 1\n+    return a\n+    # end", path="src/a.py")
    removing = a_hunk(" def f():\n-    a = 0\n+    a = 1\n     return a\n-    # gone")
    more = a_hunk("     # end\n-last").model_copy(update={"new_start": 4})

    shown = change_view([new_file], pushed={"src/a.py": [removing, more]})

    assert shown == (
        "### src/a.py [python]\n@@\n1  def f():\n  -    a = 0\n2 +    a = 1\n3      return a\n"
        "  -    # gone\n4      # end\n  -last"
    )
    assert change_view([new_file], pushed={"src/b.py": [removing]}) == change_view([new_file])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" It is short. ", "It is short."),
        ("One ends. " + "word " * 100, "One ends."),
        ("- a list\n- of lines " + "word " * 100, "- a list"),
        ("x" * 500, "x" * MAX_PURPOSE + " ..."),
        ("Version 1.5 of it" + " word" * 100, "Version 1.5 of it" + " word" * ((MAX_PURPOSE - 17) // 5) + " ..."),
    ],
)
def test_a_description_ends_with_a_sentence_or_a_line_or_says_that_it_is_cut(text: str, shown: str) -> None:
    assert first_sentences(text) == shown


def test_a_small_repository_is_shown_whole_but_for_what_the_change_shows() -> None:
    view = view_of(a="one\ntwo\n", b="three\n", c="1\n2\n3\n4\n5\n")
    shown = repository_map(view, {"b": [range(1, 2)], "c": [range(4, 5), range(2, 3), range(0)]})

    assert shown.whole
    assert shown.text == "All other files after the change:\n### a\none\ntwo"


def test_what_the_change_shows_does_not_count_for_the_size_of_a_small_repository() -> None:
    long = view_of(a="x" * WHOLE_CHARS + "\ny\n", b="z")

    assert not repository_map(long, {"a": []}).whole
    assert repository_map(long, {"a": [range(1, 2)]}).whole


def test_a_changed_file_of_a_small_repository_is_shown_whole_with_its_hunks_in_place(a_payload: Any) -> None:
    text = [f"line {n}" for n in range(1, 8)]
    code = " line 2\n-old\n+line 3", " line 6\n+line 7"
    first, second = (a_payload(each, path="a.py") for each in code)
    parts = [second.model_copy(update={"starts": ((6, 6),)}), first.model_copy(update={"starts": ((2, 2),)})]
    removed = a_payload("-gone", path="b.py").model_copy(update={"starts": ((2, 1),)})

    shown = change_view([*parts, removed], {"a.py": text, "b.py": ["x", "y"]}.__getitem__, whole_files=True)

    assert shown == (
        "### a.py [python]\n    1  line 1\n    2  line 2\n      -old\n    3 +line 3\n    4  line 4\n"
        "    5  line 5\n    6  line 6\n    7 +line 7\n\n"
        "### b.py [python]\n    1  x\n      -gone\n    2  y"
    )


def test_a_secret_of_the_repository_is_masked_and_a_private_file_is_not_named() -> None:
    key = "AKIA" + "Z7Q2M5X8K1N4P6R9"
    tools = RepositoryTools(tree_of({"a": f'KEY = "{key}"\n', "own/b": "x\n", ".env": "A=1\n"}), private=("own/*",))

    shown = repository_map(tools.view, {"a": []}).text

    assert key not in shown
    assert "own/b" not in shown
    assert ".env" not in shown


def test_of_a_larger_repository_the_files_are_named_and_of_a_large_one_the_folders() -> None:
    long = view_of(a="x\n" * WHOLE_CHARS, b="z")
    many = view_of(**{f"src__part__{n}": "x" for n in range(MAX_LISTED)}, setup="x")

    assert repository_map(long, {"a": []}) == ("Files after the change:\na\nb", False)
    told = repository_map(many, {"src/part/1": []}).text
    assert told.startswith(f"{MAX_LISTED + 1} files after the change. At the top: . (1), src ({MAX_LISTED})")
    assert "src/part/: 0, 1, 10" in told
    assert "and 90 more" in told


def test_where_the_tree_is_not_at_hand_the_map_says_that_no_other_file_can_be_read() -> None:
    assert repository_map(RepositoryTools(DiffSnapshot(ChangeSet())).view, {"a": []}) == (ABSENT, False)


@pytest.fixture
def an_order(a_task: Any, a_card: Any, a_payload: Any) -> Callable[..., WorkOrder]:
    def make(path: str, snapshot: Any) -> WorkOrder:
        task = a_task(payload=a_payload(path=path))
        return WorkOrder(task, a_card(), "p", {}, snapshot, "A title", "Words")

    return make


def test_the_map_has_the_rules_of_the_house_and_names_what_other_readers_review(
    an_order: Callable[..., WorkOrder], a_file: Callable[..., FileChange]
) -> None:
    tree = tree_of({"CONTRIBUTING.md": "Use tabs.\n", "src/AGENTS.md": "No globals.\n", "lib/AGENTS.md": "Not ours.\n"})
    files = [a_file("src/a.py"), a_file("lib/b.py", added=3, removed=1)]
    make = ReaderContextBuilder(RepositoryTools(tree).view, files)

    made = make([an_order("src/a.py", tree)])

    assert made.conventions == "### CONTRIBUTING.md\nUse tabs.\n\n### src/AGENTS.md\nNo globals."
    assert made.other_parts == "lib/b.py (modified, +3 -1)"
    assert (made.title, made.description) == ("A title", "Words")
    assert made.change.startswith("### src/a.py")


def test_after_a_small_push_the_purpose_and_the_folders_are_short_and_earlier_findings_are_shown(
    an_order: Callable[..., WorkOrder], a_file: Callable[..., FileChange]
) -> None:
    tree = tree_of({"src/a.py": "x\n", "src/b.py": "x\n"})
    make = ReaderContextBuilder(RepositoryTools(tree).view, [a_file("src/a.py")])
    order = replace(an_order("src/a.py", tree), description="Words " * 1_000)
    before = ReadBefore(claims="src/a.py:1 warning: Odd")
    pushed = order.task.model_copy(update={"read_before": before, "small_push": True})

    made = make([replace(order, task=pushed)])

    assert made.description == "Words " * (MAX_PURPOSE // 6) + "..."
    assert made.repository == "2 files after the change. At the top: src (2)"
    assert made.said == "src/a.py:1 warning: Odd"
    whole = pushed.model_copy(update={"read_before": before.model_copy(update={"uses_shown": True})})
    assert make([replace(order, task=whole)]).repository == "", "without tools no file of it can be read"


def test_what_a_deleted_file_did_is_shown_as_far_as_there_is_room_and_never_a_private_one(
    an_order: Callable[..., WorkOrder], a_file: Callable[..., FileChange], a_hunk: Any
) -> None:
    tree = tree_of({})
    bodies = {"old.py": "-def check():\n-    raise Denied", "long.py": "-" + "x" * MAX_DELETED, ".env": "-A=1"}
    files = [a_file(path, a_hunk(body), status="deleted") for path, body in bodies.items()]
    make = ReaderContextBuilder(RepositoryTools(tree).view, [a_file("src/a.py"), *files])

    made = make([an_order("src/a.py", tree)])

    assert made.deleted == "### old.py\ndef check():\n    raise Denied\n\n### long.py\n[too long to be shown]"
    assert made.other_parts == ""
