"""What is read: pull requests, diffs, files, trees, blobs."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import urlsplit

from tests.github_api import objects
from tests.github_api.refusals import not_found, too_large
from tests.github_api.routes import Call, Refused, Reply, route
from tests.github_api.state import Account, Json, Pull, Repository

_CODE = ("contents", "read")
_PULLS = ("pull_requests", "read")
_PERMISSION = "AAAA" * 5


@route("GET", "/user")
def own_user(call: Call) -> Reply:
    """https://docs.github.com/en/rest/users/users#get-the-authenticated-user."""
    return Reply(200, account_json(call.token.account))


@route("GET", "/repos/{owner}/{repo}")
def repository(call: Call) -> Reply:
    """https://docs.github.com/en/rest/repos/repos#get-a-repository."""
    return Reply(200, repository_json(call.repository()))


@route("GET", "/repos/{owner}/{repo}/pulls/{number}", needs=_PULLS)
def pull(call: Call) -> Reply:
    """https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request, also in the diff media type."""
    found = call.pull()
    if "diff" in call.headers.get("accept", ""):
        return _diff(call, found)
    return Reply(200, pull_json(found))


@route("GET", "/repos/{owner}/{repo}/pulls", needs=_PULLS)
def pulls(call: Call) -> Reply:
    """https://docs.github.com/en/rest/pulls/pulls#list-pull-requests."""
    wanted = call.query.get("state", "open")
    found = [each for each in call.repository().pulls.values() if wanted in {"all", each.state}]
    return call.page([pull_json(each) for each in found])


@route("GET", "/repos/{owner}/{repo}/pulls/{number}/files", needs=_PULLS)
def files(call: Call) -> Reply:
    """https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files: "a maximum of 3000 files"."""
    found = call.pull()
    folder, state = found.repository.folder, call.state
    changed = objects.changed(folder, found.base_sha, found.head_sha)[: state.max_listed_files]
    return call.page([file_json(each, state.max_patch_lines) for each in changed])


@route("GET", "/repos/{owner}/{repo}/compare/{basehead}", needs=_CODE)
def compare(call: Call) -> Reply:
    """https://docs.github.com/en/rest/commits/commits#compare-two-commits: files on the first page, at most 300."""
    folder = call.repository().folder
    base, _, head = call.parts["basehead"].partition("...")
    if not all(objects.kind_of(folder, sha) == "commit" for sha in (base, head)):
        return not_found()
    if "diff" in call.headers.get("accept", ""):
        return Reply(200, objects.diff(folder, base, head))
    changed = objects.changed(folder, base, head)[:300] if call.query.get("page", "1") == "1" else []
    start = objects.merge_base(folder, base, head)
    found = objects.commits_between(folder, start, head)
    size, page = int(call.query.get("per_page", "250")), int(call.query.get("page", "1"))
    rows = [{"sha": sha, "parents": [{"sha": each} for each in parents]} for sha, parents in found]
    status = "ahead" if start == base else "behind" if start == head else "diverged"
    body = {
        "merge_base_commit": {"sha": start},
        "status": "identical" if base == head else status,
        "total_commits": len(rows),
        "commits": rows[size * (page - 1) : size * page],
    }
    return Reply(200, {**body, "files": [file_json(each, call.state.max_patch_lines) for each in changed]})


@route("GET", "/repos/{owner}/{repo}/commits", needs=_CODE)
def commits(call: Call) -> Reply:
    """https://docs.github.com/en/rest/commits/commits#list-commits: those that changed `path`, up to `sha`."""
    found = call.repository()
    start = call.query.get("sha", found.default_branch)
    if objects.kind_of(found.folder, start) != "commit":
        return not_found()
    return call.page(objects.commits(found.folder, start, call.query.get("path", "")))


@route("GET", "/repos/{owner}/{repo}/git/trees/{ref}", needs=_CODE)
def tree(call: Call) -> Reply:
    """https://docs.github.com/en/rest/git/trees#get-a-tree."""
    folder, name = call.repository().folder, call.parts["ref"]
    if objects.kind_of(folder, name) not in {"tree", "commit"}:
        return not_found()
    entries = objects.tree(folder, name, recursive="recursive" in call.query)
    return Reply(200, {"sha": name, "tree": entries, "truncated": False})


@route("GET", "/repos/{owner}/{repo}/tarball/{sha}", needs=_CODE)
def tarball(call: Call) -> Reply:
    """https://docs.github.com/en/rest/repos/contents#download-a-repository-archive-tar: a redirect."""
    found, sha = call.repository(), call.parts["sha"]
    if objects.kind_of(found.folder, sha) != "commit":
        return not_found()
    api = urlsplit(call.state.base_url)
    place = f"{api.scheme}://{api.netloc}/_codeload/{found.name}/legacy.tar.gz/{sha}?token={_PERMISSION}"
    return Reply(302, None, {"location": place})


@route("GET", "/_codeload/{owner}/{repo}/legacy.tar.gz/{sha}", anonymous=True)
def archive(call: Call) -> Reply:
    """What GitHub's other host gives to whoever has the address."""
    found = call.state.repositories.get(f"{call.parts['owner']}/{call.parts['repo']}".lower())
    if found is None or call.query.get("token") != _PERMISSION:
        return not_found()
    return Reply(200, objects.archive(found.folder, call.parts["sha"]), {"content-type": "application/x-gzip"})


@route("GET", "/repos/{owner}/{repo}/git/blobs/{sha}", needs=_CODE)
def blob(call: Call) -> Reply:
    """https://docs.github.com/en/rest/git/blobs#get-a-blob: in base64, or as it is in the raw media type."""
    folder, sha = call.repository().folder, call.parts["sha"]
    if objects.kind_of(folder, sha) != "blob":
        return not_found()
    data = objects.git(folder, "cat-file", "blob", sha)
    if "raw" in call.headers.get("accept", ""):
        return Reply(200, data)
    return Reply(200, {"sha": sha, "size": len(data), "encoding": "base64", "content": _base64(data)})


@route("GET", "/repos/{owner}/{repo}/contents/{path}", needs=_CODE)
def contents(call: Call) -> Reply:
    """https://docs.github.com/en/rest/repos/contents#get-repository-content."""
    found = call.repository()
    name = f"{call.query.get('ref', found.default_branch)}:{call.parts['path']}"
    if objects.kind_of(found.folder, name) != "blob":
        return not_found()
    data = objects.git(found.folder, "cat-file", "blob", name)
    body = {"type": "file", "path": call.parts["path"], "size": len(data), "encoding": "base64"}
    return Reply(200, {**body, "content": _base64(data)})


def account_json(account: Account | None) -> Json | None:
    """A simple user; None where the account is gone."""
    if account is None:
        return None
    return {"login": account.login, "id": account.account_id, "type": account.kind}


def repository_json(found: Repository | None) -> Json | None:
    """A repository; None where a fork is gone."""
    if found is None:
        return None
    owner, _, name = found.name.partition("/")
    head = {"id": found.repository_id, "name": name, "full_name": found.name, "private": found.private}
    return {**head, "owner": {"login": owner}, "default_branch": found.default_branch}


def pull_json(found: Pull) -> Json:
    """A pull request in full."""
    folder = found.repository.folder
    changed = objects.changed(folder, found.base_sha, found.head_sha)
    url = f"https://github.example/{found.repository.name}/pull/{found.number}"
    return {
        "id": 10_000 + found.number,
        "number": found.number,
        "title": found.title,
        "body": found.body,
        "state": found.state,
        "draft": found.draft,
        "merged_at": None,
        "updated_at": "2026-02-01T00:00:00Z",
        "html_url": url,
        "user": account_json(found.author),
        "author_association": found.author_association,
        "labels": [{"name": label} for label in found.labels],
        "changed_files": len(changed),
        "additions": sum(each.added for each in changed),
        "deletions": sum(each.removed for each in changed),
        "base": _side(found.base_ref, found.base_sha, found.repository),
        "head": _side(found.head_ref, found.head_sha, found.head_repository),
    }


def file_json(changed: objects.Changed, max_patch_lines: int) -> Json:
    """A file of a list; without `patch` where it is binary or too long."""
    body: Json = {
        "sha": changed.sha,
        "filename": changed.path,
        "status": changed.status,
        "additions": changed.added,
        "deletions": changed.removed,
        "changes": changed.added + changed.removed,
    }
    if changed.old_path is not None:
        body["previous_filename"] = changed.old_path
    if changed.patch is not None and changed.patch.count("\n") < max_patch_lines:
        body["patch"] = changed.patch
    return body


def _side(ref: str, sha: str, found: Repository | None) -> Json:
    return {"ref": ref, "sha": sha, "repo": repository_json(found)}


def _diff(call: Call, found: Pull) -> Reply:
    data = objects.diff(found.repository.folder, found.base_sha, found.head_sha)
    count, lines = data.count(b"\ndiff --git ") + bool(data), data.count(b"\n")
    if count > call.state.max_diff_files:
        raise Refused(too_large(call.state.max_diff_files))
    if lines > call.state.max_diff_lines:
        raise Refused(too_large(call.state.max_diff_lines, "lines"))
    return Reply(200, data, {"content-type": "application/vnd.github.diff; charset=utf-8"})


def _base64(data: bytes) -> Any:
    return base64.encodebytes(data).decode("ascii")
