"""Names of a section: all lines that tell one are held against each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.diff.parser import file_names
from reviewbot.diff.parser.resolve_name import Title, title
from reviewbot.diff.parser.state import Section

DISAGREE = "the lines that name the file disagree"


def git(line: bytes, old: bytes | None = None, new: bytes | None = None, **fields: object) -> Section:
    section = Section("git", 7, line, old=old, new=new)
    for name, value in fields.items():
        setattr(section, name, value)
    return section


@pytest.mark.parametrize(
    ("section", "path"),
    [
        (git(b"a/x b/x"), b"x"),
        (git(b"a/x b/x", b"a/x", b"b/x"), b"x"),
        (git(b"a/x b/x", b"/dev/null", b"b/x", added_mode="100644"), b"x"),
        (git(b"a/x b/x", b"a/x", b"/dev/null", deleted_mode="100644"), b"x"),
        (git(b"a/b.py a/b.py", b"a/b.py", b"a/b.py"), b"a/b.py"),
        (git(b"a/b.py a/b.py", b"/dev/null", b"a/b.py", added_mode="100644"), b"a/b.py"),
        (git(b"old/x newer/x", b"old/x", b"newer/x"), b"x"),
        (git(b"a/dev/null b/dev/null", b"a/dev/null", b"b/dev/null"), b"dev/null"),
        (git(b"a/x b/y b/x b/y", b"a/x b/y\t", b"b/x b/y\t"), b"x b/y"),
        (git(b"a/x b/x", binary=b"Binary files a/x and b/x differ"), b"x"),
        (git(b"a/x b/x", binary=b"Binary files /dev/null and b/x differ", added_mode="100644"), b"x"),
        (git(b"a/x b/x", binary=b"GIT binary patch"), b"x"),
    ],
)
def test_lines_that_agree_give_the_one_name(section: Section, path: bytes) -> None:
    assert title(section) == Title(path)


@pytest.mark.parametrize(
    ("section", "path", "fault"),
    [
        (git(b"a/x b/x", b"a/y", b"b/x"), b"x", DISAGREE),
        (git(b"a/x b/x", b"a/x", b"b/y"), b"x", DISAGREE),
        (git(b"a/x b/x", b"x", b"b/x"), b"x", DISAGREE),
        (git(b"a/x b/x", b"/dev/null", b"b/x"), b"x", DISAGREE),
        (git(b"a/x b/x", b"a/x", b"/dev/null"), b"x", DISAGREE),
        (git(b"a/x b/x", b"a/x", b"b/x", added_mode="100644"), b"x", DISAGREE),
        (git(b"a/x b/x", b"a/x", b"b/x", deleted_mode="100644"), b"x", DISAGREE),
        (git(b"a/x b/x", binary=b"Binary files a/y and b/y differ"), b"x", DISAGREE),
        (git(b"a/x b/y"), b"y", DISAGREE),
        (git(b"a/x b/y", b"a/x", b"b/z"), b"z", DISAGREE),
        (
            git(b"nothing"),
            b"(unnamed section at line 7 of the diff)",
            "the names in its diff line are ambiguous",
        ),
        (git(b"a/xx b/x", b"a/x", b"b/x"), b"x", "the names in its diff line are ambiguous"),
        (git(b"a/x b/x", b'"a/x', b"b/x"), b"x", "a quoted file name cannot be read"),
        (git(b"a/o b/n", moved_from=b"o"), b"n", "one of the two names of a rename is missing"),
        (git(b"a/o b/n", moved_to=b"n"), b"n", "one of the two names of a rename is missing"),
        (git(b"a/o b/n", moved_from=b'"o', moved_to=b"n"), b"n", "a quoted file name cannot be read"),
        (git(b"a/o b/n", moved_from=b"", moved_to=b"n"), b"n", "a quoted file name cannot be read"),
    ],
)
def test_lines_that_disagree_are_a_fault_with_a_guess(section: Section, path: bytes, fault: str) -> None:
    found = title(section)
    assert found.fault == fault
    assert found.path == path or fault == DISAGREE


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        (b"a/o b/n", None, None),
        (b"a/o b/n", b"a/o", b"b/n"),
        (b"o n", b"o", b"n"),
        (b"i/o w/n", b"i/o", b"w/n"),
        (b"before/o after/n", b"before/o", b"after/n"),
    ],
)
def test_a_rename_fits_its_other_lines_under_any_prefix(line: bytes, old: bytes | None, new: bytes | None) -> None:
    assert title(git(line, old, new, moved_from=b"o", moved_to=b"n")) == Title(b"n", b"o")


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [(b"a/q b/n", None, None), (b"a/o b/q", None, None), (b"a/o b/n", b"a/q", b"b/n"), (b"a/o b/n", b"a/o", b"b/q")],
)
def test_a_rename_that_another_line_denies_is_a_fault(line: bytes, old: bytes | None, new: bytes | None) -> None:
    assert title(git(line, old, new, moved_from=b"o", moved_to=b"n")).fault == DISAGREE


ATOMS = ["a", "b", " b/", " ", '"', "\\", "\t", "\u00e9", "a/", "and", " and ", "x.py"]
NAMES = (
    st.lists(st.sampled_from(ATOMS), min_size=1, max_size=5)
    .map(lambda atoms: "".join(atoms).strip("/").replace("//", "/").encode())
    .filter(bool)
)


def as_git_writes(name: bytes) -> bytes:
    odd = any(byte < 0x20 or byte > 0x7E or byte in b'"\\' for byte in name)
    return file_names.quote(name).encode() if odd else name


def as_title(name: bytes) -> bytes:
    return as_git_writes(name) + (b"\t" if b" " in name else b"")


@given(NAMES, st.sampled_from([(b"a/", b"b/"), (b"", b""), (b"i/", b"w/"), (b"old/", b"new/")]))
def test_any_name_is_found_in_the_lines_that_git_writes(name: bytes, prefixes: tuple[bytes, bytes]) -> None:
    old, new = (prefix + name for prefix in prefixes)
    line = as_git_writes(old) + b" " + as_git_writes(new)
    binary = b"Binary files " + as_git_writes(old) + b" and " + as_git_writes(new) + b" differ"
    for section in (git(line), git(line, as_title(old), as_title(new)), git(line, binary=binary)):
        assert title(section) == Title(name)


@given(NAMES, NAMES, st.sampled_from([(b"a/", b"b/"), (b"", b""), (b"i/", b"w/")]))
def test_any_rename_is_found_in_the_lines_that_git_writes(
    old: bytes, new: bytes, prefixes: tuple[bytes, bytes]
) -> None:
    line = as_git_writes(prefixes[0] + old) + b" " + as_git_writes(prefixes[1] + new)
    section = git(line, moved_from=as_git_writes(old), moved_to=as_git_writes(new))
    assert title(section) == (Title(new, old) if old != new else Title(new, old, DISAGREE))
