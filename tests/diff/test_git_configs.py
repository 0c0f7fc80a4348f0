"""`git diff` as users have configured it: read alike, or refused by name."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from reviewbot.diff.parse import parse_diff
from reviewbot.domain.errors import DiffError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Git = Callable[..., bytes]
    Commit = Callable[[], None]

BEFORE = "def first():\n    a = 1\n\n    return a\n\n\ndef second():\n    b = 2\n    return b\n"
AFTER = BEFORE.replace("b = 2", "b = eval(x)").replace("a = 1", "a = 3")


@pytest.fixture
def changed(tmp_path: Path, commit: Commit) -> Path:
    """A repository with one uncommitted change in two functions of `src/a.py`."""
    (tmp_path / "src").mkdir()
    file = tmp_path / "src" / "a.py"
    file.write_text(BEFORE, encoding="utf-8")
    commit()
    file.write_text(AFTER, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "settings",
    [
        ["diff.noprefix=true"],
        ["diff.mnemonicPrefix=true"],
        ["diff.srcPrefix=before/", "diff.dstPrefix=after/"],
        ["diff.context=0"],
        ["diff.context=50"],
        ["diff.interHunkContext=9"],
        ["diff.suppressBlankEmpty=true"],
        ["diff.algorithm=histogram"],
        ["diff.wsErrorHighlight=all"],
        ["diff.colorMoved=zebra"],
        ["diff.submodule=log"],
        ["core.abbrev=40"],
        ["diff.renames=copies"],
        ["diff.indentHeuristic=false"],
    ],
)
def test_a_setting_changes_nothing_that_is_read(changed: Path, git: Git, settings: list[str]) -> None:
    change = parse_diff(git(*[word for setting in settings for word in ("-c", setting)], "diff"))
    assert [(file.path, file.added, file.removed) for file in change.files] == [("src/a.py", 2, 2)]
    assert [each.state for each in change.parsed] == ["read"]


@pytest.mark.parametrize(
    "options",
    [
        ["-U0"],
        ["--function-context"],
        ["--full-index"],
        ["--patch-with-stat"],
        ["--patch-with-raw"],
        ["--stat", "--summary", "-p"],
        ["--patience"],
        ["--ita-visible-in-index"],
        ["--relative"],
        ["--inter-hunk-context=5"],
    ],
)
def test_an_option_changes_nothing_that_is_read(changed: Path, git: Git, options: list[str]) -> None:
    change = parse_diff(git("diff", *options))
    assert [(file.path, file.added, file.removed) for file in change.files] == [("src/a.py", 2, 2)]
    assert [each.state for each in change.parsed] == ["read"]


@pytest.mark.parametrize("option", ["--cached", "HEAD", "-R"])
def test_mnemonic_prefixes_of_any_pair_are_cut(changed: Path, git: Git, option: str) -> None:
    if option == "--cached":
        git("add", "-A")
    change = parse_diff(git("-c", "diff.mnemonicPrefix=true", "diff", option))
    assert [file.path for file in change.files] == ["src/a.py"]


@pytest.mark.parametrize(
    "settings",
    [
        ["color.ui=always"],
        ["color.diff=always", "color.diff.meta=normal"],
        ["color.ui=always", "diff.wsErrorHighlight=all"],
    ],
)
def test_colours_are_refused_by_name(changed: Path, git: Git, settings: list[str]) -> None:
    with pytest.raises(DiffError, match=r"coloured.*--no-color"):
        parse_diff(git(*[word for setting in settings for word in ("-c", setting)], "diff"))


@pytest.mark.parametrize("mode", ["plain", "porcelain"])
def test_word_diffs_are_refused_by_name(changed: Path, git: Git, mode: str) -> None:
    with pytest.raises(DiffError, match="word diff"):
        parse_diff(git("diff", f"--word-diff={mode}"))


def test_a_word_diff_of_indented_lines_alone_is_refused_as_well(changed: Path, git: Git) -> None:
    shown = git("diff", "-U0", "--word-diff=plain")
    assert b"\n    b = [-2-]{+eval(x)+}\n" in shown
    with pytest.raises(DiffError, match="word diff"):
        parse_diff(shown)


def test_a_word_diff_in_colour_is_refused_as_coloured(changed: Path, git: Git) -> None:
    with pytest.raises(DiffError, match="coloured"):
        parse_diff(git("diff", "--color-words"))


def test_deleted_files_without_their_lines_are_named(changed: Path, git: Git, commit: Commit) -> None:
    (changed / "z.py").write_text("z\n", encoding="utf-8")
    commit()
    (changed / "src" / "a.py").unlink()
    (changed / "z.py").write_text("y\n", encoding="utf-8")
    change = parse_diff(git("diff", "-D"))
    assert [(each.path, each.state) for each in change.parsed] == [("src/a.py", "partial"), ("z.py", "read")]


def test_one_commit_may_be_shown_with_its_message(changed: Path, git: Git, commit: Commit) -> None:
    git(
        "commit",
        "-q",
        "-a",
        "-m",
        "diff --git a/fake.py b/fake.py\n\n--- a/fake.py\n+++ b/fake.py\n@@ -1 +1 @@\n-a\n+b",
    )
    for options in ([], ["--stat"], ["--format=fuller"]):
        assert [file.path for file in parse_diff(git("show", *options, "-p")).files] == ["src/a.py"]


def test_several_commits_are_not_one_change(changed: Path, git: Git, commit: Commit) -> None:
    commit()
    with pytest.raises(DiffError, match="several commits"):
        parse_diff(git("log", "-p"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["format-patch", "--stdout", "HEAD~1"],
        ["format-patch", "--stdout", "--attach", "HEAD~1"],
        ["format-patch", "--stdout", "--inline", "HEAD~1"],
        ["format-patch", "--stdout", "--no-signature", "--signoff", "HEAD~1"],
        ["log", "-1", "-p", "--stat", "--format=email"],
    ],
)
def test_a_mail_of_git_is_read_like_its_diff(changed: Path, git: Git, commit: Commit, arguments: list[str]) -> None:
    wanted = parse_diff(git("diff"))
    commit()
    mail = parse_diff(git(*arguments))

    assert (mail.files, mail.parsed) == (wanted.files, wanted.parsed)
    assert mail.title == "x"


@pytest.mark.parametrize("arguments", [["format-patch", "--stdout", "HEAD~1"], ["log", "-1", "-p", "--format=email"]])
def test_a_mail_whose_message_holds_a_change_is_refused(changed: Path, git: Git, arguments: list[str]) -> None:
    assert changed.exists()
    diff = git("diff")
    git("add", "-A")
    git("commit", "-q", "-m", f"text\n\n{diff.decode()}")
    with pytest.raises(DiffError, match="not clear where the message of the mail"):
        parse_diff(git(*arguments))


def test_a_series_of_mails_is_one_change_from_its_first_base_to_its_last_head(
    changed: Path, git: Git, commit: Commit
) -> None:
    file, base = changed / "src" / "a.py", git("rev-parse", "HEAD").decode().strip()
    for number, text in enumerate((AFTER, AFTER.replace("a = 3", "a = 4"), AFTER.replace("b = eval(x)", "b = x"))):
        file.write_text(text, encoding="utf-8")
        (changed / f"new_{number}.py").write_text("x = 1\n", encoding="utf-8")
        commit()
    git("mv", "new_0.py", "named.py")
    (changed / "named.py").write_text("x = 1\ny = 2\n", encoding="utf-8")
    git("rm", "-q", "new_1.py")
    commit()

    series = parse_diff(git("format-patch", "--stdout", "-M", base))
    whole = parse_diff(git("diff", "-M", base))

    assert series.title == "x (and 3 more)"
    by_path = {file.path: file for file in series.files}
    assert by_path.keys() == {file.path for file in whole.files} == {"src/a.py", "named.py", "new_2.py"}
    for file_of_whole in whole.files:
        found = by_path[file_of_whole.path]
        assert (found.status, found.added, found.removed, found.hunks) == (
            file_of_whole.status, file_of_whole.added, file_of_whole.removed, file_of_whole.hunks,
        )  # fmt: skip


def test_a_tag_is_refused_because_its_message_could_hold_a_change(changed: Path, git: Git, commit: Commit) -> None:
    commit()
    git("tag", "-a", "v1", "-m", "diff --git a/fake.py b/fake.py")
    with pytest.raises(DiffError, match="tag"):
        parse_diff(git("show", "v1"))


@pytest.fixture
def merging(changed: Path, git: Git, commit: Commit) -> Path:
    """Two branches that changed the same line, in the middle of their merge."""
    git("checkout", "-q", "-b", "side")
    commit()
    git("checkout", "-q", "main")
    (changed / "src" / "a.py").write_text(BEFORE.replace("b = 2", "b = 3"), encoding="utf-8")
    (changed / "z.py").write_text("z\n", encoding="utf-8")
    commit()
    git("merge", "side", status=1)
    return changed


def test_a_combined_diff_is_refused_by_name(merging: Path, git: Git) -> None:
    for options in ([], ["--cc"], ["-c"]):
        with pytest.raises(DiffError, match="combined"):
            parse_diff(git("diff", *options))


def test_a_combined_section_costs_the_other_files_nothing(merging: Path, git: Git) -> None:
    (merging / "z.py").write_text("y\n", encoding="utf-8")
    change = parse_diff(git("diff"))
    assert [(each.path, each.state) for each in change.parsed] == [("src/a.py", "malformed"), ("z.py", "read")]


def test_an_unmerged_file_is_named(merging: Path, git: Git) -> None:
    (merging / "z.py").write_text("y\n", encoding="utf-8")
    git("add", "z.py")
    change = parse_diff(git("diff", "--cached"))
    assert ("src/a.py", "malformed") in [(each.path, each.state) for each in change.parsed]


def test_staged_files_beside_an_unmerged_one_are_read(merging: Path, git: Git) -> None:
    (merging / "z.py").write_text("y\n", encoding="utf-8")
    git("add", "z.py")
    assert ("z.py", "read") in [(each.path, each.state) for each in parse_diff(git("diff", "--cached")).parsed]


@pytest.fixture
def nested(changed: Path, git: Git, commit: Commit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a submodule whose commit moved on."""
    inner = tmp_path_factory.mktemp("inner")
    git("init", "-q", "-b", "main", str(inner))
    (inner / "f.py").write_text("1\n", encoding="utf-8")
    git("-C", str(inner), "add", "-A")
    git("-C", str(inner), "commit", "-q", "-m", "one")
    git("submodule", "--quiet", "add", str(inner), "vendor/my lib")
    commit()
    sub = changed / "vendor" / "my lib"
    (sub / "f.py").write_text("2\n", encoding="utf-8")
    git("-C", str(sub), "commit", "-q", "-a", "-m", "two")
    return changed


def test_a_submodule_shown_by_its_log_is_named_and_not_lost(nested: Path, git: Git) -> None:
    change = parse_diff(git("diff", "--submodule=log"))
    assert [(file.path, file.mode, file.status) for file in change.files] == [("vendor/my lib", "160000", "modified")]
    assert change.parsed[0].state == "partial"


def test_a_submodule_shown_by_its_diff_is_named_with_its_files(nested: Path, git: Git) -> None:
    change = parse_diff(git("diff", "--submodule=diff"))
    assert [(each.path, each.state) for each in change.parsed] == [
        ("vendor/my lib", "partial"),
        ("vendor/my lib/f.py", "read"),
    ]


def test_submodules_that_come_go_or_are_dirty_are_named(nested: Path, git: Git, commit: Commit) -> None:
    (nested / "vendor" / "my lib" / "new.py").write_text("3\n", encoding="utf-8")
    dirty = parse_diff(git("diff", "--submodule=log"))
    assert {each.path for each in dirty.parsed} == {"vendor/my lib"}
    come = parse_diff(git("diff", "--submodule=log", "HEAD~1", "HEAD"))
    assert ("vendor/my lib", "added") in [(file.path, file.status) for file in come.files]
    gone = parse_diff(git("diff", "--submodule=log", "HEAD", "HEAD~1"))
    assert ("vendor/my lib", "deleted") in [(file.path, file.status) for file in gone.files]


@pytest.mark.parametrize("options", ["-ru", "-ruN", "-rup"])
def test_gnu_diff_of_two_trees_is_read(tmp_path: Path, options: str) -> None:
    for side, text in (("old", "1\n"), ("new", "2\n")):
        (tmp_path / side / "sub").mkdir(parents=True)
        (tmp_path / side / "sub" / "a b.py").write_text(text, encoding="utf-8")
        (tmp_path / side / "pic").write_bytes(b"\0" + text.encode())
    (tmp_path / "new" / "sub" / "more.py").write_text("3\n", encoding="utf-8")
    done = subprocess.run(["diff", options, "old", "new"], cwd=tmp_path, capture_output=True, check=False)
    found = {each.path: each.state for each in parse_diff(done.stdout).parsed}
    assert found == {
        "sub/a b.py": "read",
        "pic": "binary",
        "sub/more.py": "read" if "N" in options else "partial",
    }


@pytest.mark.parametrize("options", ["-c", ""])
def test_other_forms_of_diff_are_refused(tmp_path: Path, options: str) -> None:
    (tmp_path / "a").write_text("1\n", encoding="utf-8")
    (tmp_path / "b").write_text("2\n", encoding="utf-8")
    command = ["diff", *options.split(), "a", "b"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    with pytest.raises(DiffError, match="context diff" if options else "no unified diff"):
        parse_diff(done.stdout)
