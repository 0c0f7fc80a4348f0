"""read, list and history over a repository in memory."""

from __future__ import annotations

from typing import Any

import pytest

from reviewbot.domain.ports import Commit
from reviewbot.llm.tools.arguments import EvidenceEntry, ToolLimits
from reviewbot.llm.tools.view import CUT

LONG = "".join(f"line {number}\n" for number in range(1, 1_001))


def test_read_gives_numbered_lines_and_keeps_them_as_evidence(repository: Any, calls: Any) -> None:
    result = calls(repository({"a.py": "one\r\ntwo\nthree\n"}))("read", path="a.py", first=2, last=9)

    assert result.text == "a.py (head side), lines 2 to 3 of 3\n     2 two\n     3 three"
    assert result.evidence == (EvidenceEntry("a.py", "head", 2, 3, ("two", "three")),)
    assert not result.failed


def test_read_without_lines_begins_at_the_first_and_stops_at_the_bound(repository: Any, calls: Any) -> None:
    result = calls(repository({"a.py": LONG}))("read", path="./a.py")

    assert result.text.startswith("a.py (head side), lines 1 to 300 of 1000\n     1 line 1\n")
    assert (result.evidence[0].first, result.evidence[0].last, len(result.evidence[0].lines)) == (1, 300, 300)


def test_read_shows_the_base_side_where_it_is_asked_for(repository: Any, calls: Any) -> None:
    call = calls(repository({"a.py": "new\n"}, {"a.py": "old\n", "gone.py": "x\n"}))

    assert call("read", path="a.py", side="base").text.endswith("     1 old")
    assert call("read", path="a.py", side="base").evidence[0].side == "base"
    assert call("read", path="gone.py").text == "gone.py is not on the head side; the base side has it"


def test_read_shows_as_many_lines_as_fit_and_evidence_of_no_others(repository: Any, calls: Any) -> None:
    call = calls(repository({"a.py": "\n".join("x" * 900 for _ in range(300))}), ToolLimits(chars=6_000))
    result = call("read", path="a.py")

    shown = result.text.split("\n")[1:]
    assert len(shown) == result.evidence[0].last == len(result.evidence[0].lines) < 20
    assert all(line.endswith(CUT) for line in shown)
    assert len(result.text) <= 6_000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"path": "b.py"}, "there is no text file b.py; there is src/b.py"),
        ({"path": "zzz.py"}, "there is no text file zzz.py"),
        ({"path": "src"}, "src is a folder; list it"),
        ({"path": "a.py", "first": 9}, "a.py has 3 lines on the head side; there is no line 9"),
        ({"path": "a.py", "first": 3, "last": 2}, "last must not be before first: 2 < 3"),
        ({"path": ".env"}, ".env: files like this one usually hold credentials, so that no model is shown them"),
        ({"path": "legal/a.txt"}, "legal/a.txt: the repository's settings keep this file private"),
    ],
)
def test_read_says_why_it_shows_nothing(repository: Any, calls: Any, arguments: Any, said: str) -> None:
    files = {"a.py": "1\n2\n3\n", "src/b.py": "x\n", ".env": "KEY=1\n", "legal/a.txt": "x\n"}
    result = calls(repository(files), private=("legal/*",))("read", **arguments)

    assert result.failed
    assert result.text == said
    assert result.evidence == ()


def test_read_says_that_only_changed_files_are_at_hand(repository: Any, calls: Any) -> None:
    call = calls(repository({"a.py": "1\n"}, whole=False))

    assert not call("read", path="a.py").failed
    assert "only the changed files are at hand" in call("read", path="b.py").text


def test_secrets_are_masked_and_line_numbers_stay(repository: Any, calls: Any) -> None:
    body = "\n".join("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo9" + "abcdefgh" for _ in range(5))
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\n"
    call = calls(repository({"a.py": f'token = "{"gh" + "p_"}{"aB3dE6gH9" * 4}"\n{key}last = 1\n'}))

    whole, inside = call("read", path="a.py"), call("read", path="a.py", first=4, last=6)

    assert "aB3dE6gH9" not in whole.text + str(whole.evidence)
    assert "QUJD" not in inside.text + str(inside.evidence)
    assert "     9 last = 1" in whole.text


def test_list_goes_as_deep_as_it_fits(repository: Any, calls: Any) -> None:
    files = {"README.md": "", ".env": "", **{f"src/app/{n}.py": "" for n in range(8)}, "src/x.py": "", "t/a/b.py": ""}
    snapshot = repository(files)

    assert calls(snapshot, ToolLimits(listed=6))("list").text.split("\n") == [
        "top: 11 files",
        "README.md",
        "src/app/ (8 files)",
        "src/x.py",
        "t/a/ (1 files)",
    ]
    assert calls(snapshot)("list", path="src/app").text.split("\n")[1] == "0.py"
    assert calls(snapshot, ToolLimits(listed=3))("list", path="src/app/").text.split("\n")[-1] == "[5 more]"
    assert calls(snapshot)("list", path="no").text == "no is no folder with files"
    assert calls(repository({}))("list").failed
    assert calls(repository({"a": ""}, whole=False))("list").failed


def test_history_names_the_last_commits_of_a_file_of_the_base_side(repository: Any, calls: Any) -> None:
    snapshot = repository({}, {"a.py": "1\n2\n3\n"})
    snapshot.commits = (Commit("a" * 40, "2024-01-02", 'token = "' + "gh" + 'p_aB3dE6gH9aB3dE6gH9aB3dE6gH9aB3dE6gH9"'),)
    call = calls(snapshot)

    text = call("history", path="a.py").text
    assert text.startswith("a.py (base side), last changed by\naaaaaaaaaaaa 2024-01-02 token")
    assert "aB3dE6gH9" not in text
    assert snapshot.histories == [("a.py", 10)]
    assert call("history", path="b.py").failed
    assert call("history", path="a.py", first=1).failed
    snapshot.commits = ()
    assert call("history", path="a.py").text == "no history of a.py is at hand"
