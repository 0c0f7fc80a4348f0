"""Which commit of a push fixed a finding."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.diff.parse import parse_diff
from reviewbot.domain.contracts import ChangeSet
from reviewbot.domain.contracts.ledger import Ledger, Record
from reviewbot.domain.errors import HostError
from reviewbot.memory.fingerprints import code_digest, normal
from reviewbot.memory.recall import CODE_GONE
from reviewbot.pull_requests.fixing_commits import MAX_READS, name_fixing_commits

HEAD = "f" * 40
WRONG = "fee = total - total"
NO_CHANGE = ChangeSet(files=(), parsed=())
MOVED = parse_diff(
    b"diff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\nrename to b.py\n",
)


def record(number: int = 1, code: str = WRONG, path: str = "a.py", **fields: object) -> Record:
    known: dict[str, object] = {"names": (f"{number:032x}",), "path": path, "code": code_digest(normal(code))}
    known |= {"state": "fixed", "reason": CODE_GONE, "who": "reviewbot", "at": "", "head": HEAD}
    return Record.model_validate({**known, "since": "b" * 40, **fields})


class Commits:
    """Files of each commit; counts what is read."""

    def __init__(self, *texts: dict[str, str]) -> None:
        self.texts = dict(zip((f"{number:040x}" for number in range(len(texts))), texts, strict=True))
        self.read: list[tuple[str, str]] = []

    def text(self, commit: str, path: str) -> str | None:
        self.read.append((commit, path))
        return self.texts[commit].get(path)

    def named(self, *records: Record, change: ChangeSet = NO_CHANGE) -> list[str]:
        found = name_fixing_commits(Ledger(records=records), HEAD, tuple(self.texts), change, self.text)
        return [each.commit for each in found.records]


@given(st.integers(1, 60), st.data())
def test_the_first_commit_without_the_code_is_named_however_long_the_push(count: int, data: st.DataObject) -> None:
    fixing = data.draw(st.integers(0, count - 1))
    push = Commits(*({"a.py": WRONG if at < fixing else "fee = total"} for at in range(count)))

    assert push.named(record()) == [f"{fixing:040x}"]
    assert len(push.read) <= 6


def test_a_renamed_file_is_followed_through_the_push() -> None:
    push = Commits({"a.py": WRONG}, {"b.py": WRONG}, {"b.py": "fee = 0"}, {"b.py": "fee = 1"})

    assert push.named(record(), change=MOVED) == [f"{2:040x}"]


def test_the_commit_that_deletes_the_file_fixes_what_stood_in_it() -> None:
    assert Commits({"a.py": WRONG}, {}, {}).named(record()) == [f"{1:040x}"]


def test_no_more_files_are_read_than_the_bound_and_what_is_not_found_has_no_commit() -> None:
    push = Commits(*({f"{name}.py": WRONG for name in range(30)} for _ in range(40)))
    named = push.named(*(record(number, path=f"{number}.py") for number in range(30)))

    assert len(push.read) <= MAX_READS
    assert named[0] == f"{39:040x}"
    assert named[-1] == ""


@pytest.mark.parametrize(
    "other",
    [record(head="e" * 40), record(state="open"), record(commit="c" * 40), record(reason="no program finds it")],
)
def test_what_this_head_did_not_fix_is_left_as_it_is(other: Record) -> None:
    push = Commits({}, {})

    assert push.named(other) == [other.commit]
    assert push.read == []


def test_a_host_that_fails_leaves_the_head_alone() -> None:
    def fail(_commit: str, _path: str) -> str | None:
        raise HostError("gone")

    found = name_fixing_commits(Ledger(records=(record(),)), HEAD, ("1" * 40, HEAD), NO_CHANGE, fail)

    assert found.records[0].commit == ""


def test_without_a_list_of_commits_nothing_is_read() -> None:
    push = Commits()

    assert push.named(record()) == [""]
