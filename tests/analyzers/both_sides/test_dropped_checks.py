"""Checks of who may do what that are gone, and what shows that they are not."""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Mapping
from itertools import groupby

import pytest

from reviewbot.analyzers.both_sides import DiffSemantics
from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.core.run import changed_file
from reviewbot.diff.anchor import anchor
from reviewbot.diff.language import language_of
from reviewbot.diff.rows import code_of
from reviewbot.domain.contracts import Candidate, FileChange, Hunk, Payload
from reviewbot.llm.prompts.analyzer_hints import hints_of, render_hints
from reviewbot.review.calibration import Calibration
from tests.snapshots import InMemorySnapshot

TOOL = DiffSemantics(packaged_rules("diff_semantics", Calibration()).rules)

RUBY = """class PostsController
  def update
    post = Post.find(params[:id])
    guardian.ensure_can_edit!(post)
    post.revise(params[:raw])
    render json: post
  end
end
"""
GONE = RUBY.replace("    guardian.ensure_can_edit!(post)\n", "")


def change_of(base: str, head: str, path: str) -> FileChange:
    """A file with all hunks of a change."""
    lines = list(difflib.unified_diff(base.split("\n"), head.split("\n"), lineterm=""))[2:]
    hunks: list[Hunk] = []
    old = new = 0
    for _, group in groupby(lines, key=lambda line: line.startswith("@@")):
        if (text := list(group))[0].startswith("@@"):
            old, new = (int(n) for n in re.findall(r"[-+](\d+)", text[0])[:2])
        else:
            hunks.append(Hunk(old_start=old, old_count=0, new_start=new, new_count=0, body="\n".join(text)))
    return FileChange(path=path, status="modified", language=language_of(path), kind="code", hunks=tuple(hunks))


def said(
    base: str, head: str, path: str = "app/posts.rb", others: Mapping[str, tuple[str, str]] | None = None
) -> tuple[Candidate, ...]:
    """What is said of a change; `others` has both sides of other files."""
    heads = {path: head, **{name: sides[1] for name, sides in (others or {}).items()}}
    bases = {path: base, **{name: sides[0] for name, sides in (others or {}).items()}}
    snapshot = InMemorySnapshot(heads, bases, searchable=True)
    report = asyncio.run(TOOL.run(changed_file([change_of(base, head, path)], snapshot), snapshot))
    assert report.gap is None
    return report.candidates


def test_a_check_that_is_gone_is_told_at_the_line_below_it() -> None:
    (found,) = said(RUBY, GONE)
    change = change_of(RUBY, GONE, "app/posts.rb")
    code, starts = code_of(change.hunks)

    place = anchor(found, Payload(file_path="app/posts.rb", old_path=None, code=code, starts=starts, language="ruby"))

    assert (found.rule, found.side, found.near) == ("access-check-dropped", "old", 4)
    assert place is not None
    assert place.line == 4


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(GONE.replace("def update", "def update!(actor)\n    actor.must_own(self)"), id="replaced"),
        pytest.param(
            GONE.replace("class PostsController", "class PostsController < AdminController"), id="in the class"
        ),
        pytest.param(
            GONE.replace("post.revise(params[:raw])", "PostRevisor.run(post)"), id="handed to another function"
        ),
        pytest.param(GONE.replace("  def update", "  def rewrite"), id="the function is gone"),
        pytest.param("class PostsController\nend\n", id="all of it is gone"),
    ],
)
def test_what_may_do_the_work_of_a_check_silences_the_finding(head: str) -> None:
    assert said(RUBY, head) == ()


def test_a_check_that_another_file_makes_now_is_not_told() -> None:
    others = {"app/revisor.rb": ("def run\nend\n", "def run\n  guardian.ensure_can_edit!(post)\nend\n")}

    assert said(RUBY, GONE, others=others) == ()


def test_a_switch_of_a_release_is_no_check() -> None:
    base = RUBY.replace("guardian.ensure_can_edit!(post)", "return head(:forbidden) unless Feature.enabled?(:edit)")

    assert said(base, base.replace("    return head(:forbidden) unless Feature.enabled?(:edit)\n", "")) == ()


EXPRESS = """router.post('/posts/:id', (req, res) => {
  const post = posts.find(req.params.id);
  if (!req.user.isAdmin) {
    return res.status(403).end();
  }
  posts.remove(post);
  res.end();
});
"""
HANDLER = """package api

func Delete(w http.ResponseWriter, r *http.Request) {
\tpost := load(r)
\tif !canDelete(user(r), post) {
\t\thttp.Error(w, "forbidden", 403)
\t\treturn
\t}
\tstore.Delete(post)
\tlog.Print(post)
}
"""
SPRING = """class Posts {
  @PreAuthorize("hasRole('ADMIN')")
  void delete(long id) {
    Post post = repo.load(id);
    repo.delete(post);
  }

  void hide(long id) {
    Post post = repo.load(id);
    checkPermission(post);
    repo.hide(post);
  }
}
"""
CSHARP = """class Posts {
    public void Delete(long id) {
        var post = repo.Load(id);
        if (!user.CanDelete(post)) {
            throw new ForbiddenException();
        }
        repo.Delete(post);
    }
}
"""
PHP = """<?php
class Posts {
    public function delete($id) {
        $post = $this->repo->load($id);
        $this->authorize('delete', $post);
        $this->repo->delete($post);
        return redirect('/');
    }
}
"""
RUST = """impl Posts {
    fn delete(&self, id: u64) -> Result<(), Error> {
        let post = self.repo.load(id)?;
        self.check_permission(&post)?;
        self.repo.delete(post);
        Ok(())
    }
}
"""


@pytest.mark.parametrize(
    ("path", "base", "gone", "rule"),
    [
        ("src/posts.ts", EXPRESS, slice(2, 5), "access-guard-dropped"),
        ("api/posts.go", HANDLER, slice(4, 8), "access-guard-dropped"),
        ("src/Posts.java", SPRING, slice(1, 2), "access-annotation-dropped"),
        ("src/Posts.java", SPRING, slice(9, 10), "access-check-dropped"),
        ("src/Posts.cs", CSHARP, slice(3, 6), "access-guard-dropped"),
        ("src/Posts.php", PHP, slice(4, 5), "access-check-dropped"),
        ("src/posts.rs", RUST, slice(3, 4), "access-check-dropped"),
    ],
)
def test_each_language_has_its_words(path: str, base: str, gone: slice, rule: str) -> None:
    lines = base.split("\n")
    del lines[gone]

    assert [each.rule for each in said(base, "\n".join(lines), path)] == [rule]


def test_code_that_is_only_moved_about_is_not_told() -> None:
    lines = RUBY.split("\n")
    moved = "\n".join([lines[0], lines[1], lines[3].replace("(post", "(params"), lines[2], *lines[4:]])

    assert said(RUBY, moved) == ()


def test_nothing_is_told_of_tests() -> None:
    assert said(RUBY, GONE, "spec/posts_spec.rb") == ()


def test_a_text_that_is_deep_is_a_gap_and_no_error() -> None:
    deep = f"def f\n  ensure_can!(1)\n  x = {'(' * 1_500}1{')' * 1_500}\nend\n"
    snapshot = InMemorySnapshot({"a.rb": deep.replace("  ensure_can!(1)\n", "")}, {"a.rb": deep}, searchable=True)
    change = change_of(deep, deep.replace("  ensure_can!(1)\n", ""), "a.rb")

    report = asyncio.run(TOOL.run(changed_file([change], snapshot), snapshot))

    assert report.gap is not None
    assert report.gap.reason == "timeout"


def test_what_was_removed_alone_is_no_reading_of_what_is_there() -> None:
    snapshot = InMemorySnapshot({"a.rb": GONE}, {"a.rb": RUBY}, searchable=True)

    report = asyncio.run(TOOL.run(changed_file([change_of(RUBY, GONE, "a.rb")], snapshot), snapshot))

    assert (len(report.candidates), report.run.parsed) == (1, False)


@pytest.mark.parametrize(
    ("path", "base", "gone"),
    [
        ("src/posts.ts", EXPRESS, slice(2, 5)),
        ("api/posts.go", HANDLER, slice(4, 8)),
        ("src/Posts.java", SPRING, slice(9, 10)),
        ("src/Posts.cs", CSHARP, slice(3, 6)),
        ("src/Posts.php", PHP, slice(4, 5)),
        ("src/posts.rs", RUST, slice(3, 4)),
        ("app/posts.rb", RUBY, slice(3, 4)),
    ],
)
def test_a_reader_gets_what_was_removed_as_a_hint_in_each_language(path: str, base: str, gone: slice) -> None:
    lines = base.split("\n")
    del lines[gone]

    hints = render_hints(hints_of(said(base, "\n".join(lines), path)))

    assert re.match(rf"h1 \[diff-semantics access-\w+-dropped, authorization\] removed from {path}: ", hints)
