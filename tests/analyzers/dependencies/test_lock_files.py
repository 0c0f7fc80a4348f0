"""Entries of lock files that no package manager writes."""

from __future__ import annotations

import difflib

import pytest

from reviewbot.analyzers.dependencies.lock_files import MAX_LINE, odd_entries
from reviewbot.domain.contracts import Hunk
from reviewbot.domain.ports import ChangedFile

A, B = "A" * 64, "B" * 64
NPM = """\
    "node_modules/pad": {
      "version": "1.0.0",
      "resolved": "https://registry.npmjs.org/pad/-/pad-1.0.0.tgz",
      "integrity": "sha512-AAA="
    },
"""
YARN = """\
pad@^1.0.0, pad@^1.0.1:
  version "1.0.1"
  resolved "https://registry.yarnpkg.com/pad/-/pad-1.0.1.tgz#0123"
  integrity sha512-AAA=
"""
BERRY = """\
"pad@npm:^1.0.0, pad@npm:^1.0.1":
  version: 1.0.1
  resolution: "pad@npm:1.0.1"
  bin:
    pad: ./bin/pad.js
  checksum: 10c0/AAA
"""
PNPM = "  '@a/pad@1.0.0(react@18.0.0)':\n\n  '@a/pad@1.0.0':\n    resolution: {integrity: sha512-AAA=}\n"
CARGO = f"""\
[[package]]
name = "pad"
version = "1.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "{A}"
"""
GO = "example.com/pad v1.0.0 h1:AAA=\nexample.com/pad v1.0.0/go.mod h1:CCC=\n"
POETRY = '    {file = "pad-1.0.0.tar.gz", hash = "sha256:AAA"},\n'
UV = 'sdist = { url = "https://files.pythonhosted.org/pad-1.0.0.tar.gz", hash = "sha256:AAA", size = 1 }\n'


def odd(path: str, base: str, head: str) -> list[tuple[str, str, int]]:
    """Rule, package and line of each odd entry; the hunks have three lines around what changed."""
    hunks = []
    old, new = base.split("\n"), head.split("\n")
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        body = []
        for tag, i, j, k, n in group:
            body += [f" {each}" for each in old[i:j]] if tag == "equal" else [f"-{each}" for each in old[i:j]]
            body += [] if tag == "equal" else [f"+{each}" for each in new[k:n]]
        first, last = group[0], group[-1]
        hunks.append(
            Hunk(
                old_start=first[1] + 1,
                old_count=last[2] - first[1],
                new_start=first[3] + 1,
                new_count=last[4] - first[3],
                body="\n".join(body),
            )
        )
    found = odd_entries(ChangedFile(path, path, "text", tuple(hunks)))
    return [(rule, name, line.number) for rule, name, _, line in found]


@pytest.mark.parametrize(
    ("path", "lock", "line"),
    [
        ("web/package-lock.json", NPM, 4),
        ("npm-shrinkwrap.json", NPM, 4),
        ("yarn.lock", YARN, 4),
        ("yarn.lock", BERRY, 6),
        ("pnpm-lock.yaml", PNPM, 4),
        ("Cargo.lock", CARGO, 5),
        ("go.sum", GO, 1),
        ("poetry.lock", POETRY, 1),
        ("uv.lock", UV, 1),
    ],
)
def test_other_content_under_a_known_version_is_found_in_each_format(path: str, lock: str, line: int) -> None:
    head = lock.replace("AAA", "BBB").replace(A, B)

    assert [(rule, at) for rule, _, at in odd(path, lock, head)] == [("lock-hash-changed", line)]


@pytest.mark.parametrize(
    ("path", "base", "head"),
    [
        ("package-lock.json", NPM, NPM.replace("1.0.0", "1.0.1").replace("AAA", "BBB")),
        ("package-lock.json", NPM, NPM.replace("sha512-AAA=", "sha1-BBB=")),
        ("package-lock.json", NPM, NPM.replace("AAA=", "AAA= sha1-BBB=")),
        ("package-lock.json", NPM.replace("https", "git+ssh"), NPM.replace("https", "git+ssh").replace("AAA", "BBB")),
        ("package-lock.json", NPM, NPM + NPM),
        ("package-lock.json", NPM.replace("AAA", "BBB") + NPM, NPM),
        ("yarn.lock", YARN, YARN.replace("^1.0.1", "^1.0.2").replace("1.0.1", "1.0.2").replace("AAA", "BBB")),
        ("yarn.lock", BERRY, BERRY.replace("10c0/AAA", "9c0/BBB")),
        ("yarn.lock", BERRY.replace("10c0/", ""), BERRY.replace("10c0/AAA", "BBB")),
        ("yarn.lock", BERRY.replace("10c0/", "10/"), BERRY.replace("10c0/AAA", "10/BBB")),
        ("yarn.lock", BERRY, BERRY.replace("pad@npm:1.0.1", "pad@npm:1.0.2").replace("AAA", "BBB")),
        ("yarn.lock", BERRY, BERRY.replace("AAA", "BBB").replace("npm:1.0.1", "patch:pad@npm%3A1.0.1#hash=12")),
        ("Cargo.lock", CARGO, CARGO.replace("1.0.0", "1.0.1").replace(A, B)),
        ("go.sum", GO, GO + GO.replace("v1.0.0", "v1.0.1").replace("AAA", "BBB")),
        ("poetry.lock", POETRY, POETRY + POETRY.replace(".tar.gz", ".whl").replace("AAA", "BBB")),
        ("notes.json", NPM, NPM.replace("AAA", "BBB")),
    ],
)
def test_what_a_package_manager_writes_draws_nothing(path: str, base: str, head: str) -> None:
    assert odd(path, base, head) == []


@pytest.mark.parametrize(
    ("path", "lock", "url"),
    [
        ("package-lock.json", NPM, "org/pad/-/pad"),
        ("yarn.lock", YARN, "com/pad/-/pad"),
        ("yarn.lock", BERRY, ': "pad@npm:1.0.1"'),
    ],
)
def test_a_package_that_is_fetched_from_the_address_of_another_one_is_found(path: str, lock: str, url: str) -> None:
    head = lock.replace(url, url.replace("pad", "@evil/pad", 1))

    assert odd(path, lock, head) == [("lock-name-differs", "pad", 3)]
    assert odd(path, "", lock) == []


@pytest.mark.parametrize(
    ("path", "lock"),
    [
        (
            "package-lock.json",
            NPM.replace('"version"', '"name": "left-pad",\n      "version"').replace("/pad/-", "/left-pad/-"),
        ),
        (
            "package-lock.json",
            NPM.replace("node_modules/pad", "node_modules/x/node_modules/@a/pad").replace("/pad/-", "/@a/pad/-"),
        ),
        ("yarn.lock", YARN.replace("pad@^1.0.0, pad@", "pad@npm:left-pad@").replace("/pad/-", "/left-pad/-")),
        ("yarn.lock", YARN.replace("pad@^1", '"@a/pad@^1').replace(":\n", '":\n', 1).replace("/pad/-", "/@a%2fpad/-")),
        ("yarn.lock", BERRY.replace("pad@npm:^1.0.0,", "pad@npm:left-pad@^1,").replace(' "pad@', ' "left-pad@')),
        ("yarn.lock", YARN.replace("registry.yarnpkg.com", "packages.example.com/npm").replace("/pad/-", "/x/-")),
    ],
)
def test_an_alias_a_scope_and_another_registry_draw_nothing(path: str, lock: str) -> None:
    assert odd(path, "", lock) == []


def test_the_name_of_an_entry_of_yarn_is_read_above_the_hunk_that_has_its_hash() -> None:
    between = "".join(f"    part{number}: ^1.0.0\n" for number in range(50))
    base = f"# yarn\n__metadata:\n  version: 8\n\n{BERRY.replace('    pad:', between + '    pad:')}"
    head = base.replace("AAA", "BBB")
    row = head.split("\n").index("  checksum: 10c0/BBB") + 1
    hunk = Hunk(
        old_start=row, old_count=1, new_start=row, new_count=1, body="-  checksum: 10c0/AAA\n+  checksum: 10c0/BBB"
    )

    def found(hunk: Hunk) -> list[tuple[str, int]]:
        file = ChangedFile("yarn.lock", "yarn.lock", "text", (hunk,), head=head, base=base)
        return [(rule, line.number) for rule, _, _, line in odd_entries(file)]

    assert found(hunk) == [("lock-hash-changed", row)]
    assert found(hunk.model_copy(update={"old_start": 9_999, "new_start": 9_999})) == []


def test_an_entry_of_yarn_that_never_ends_is_read_once() -> None:
    body = "\n".join(["+" + BERRY.split("\n")[2], *("+    part: ^1.0.0" for _ in range(100_000))] * 2)
    hunk = Hunk(old_start=1, old_count=0, new_start=1, new_count=200_002, body=body)

    assert list(odd_entries(ChangedFile("yarn.lock", "yarn.lock", "text", (hunk,)))) == []


def test_a_lock_file_of_five_megabytes_and_of_long_lines_is_read_once() -> None:
    entries = "".join(NPM.replace("pad", f"pad{number}") for number in range(30_000))
    changed = entries.replace(
        'pad29999-1.0.0.tgz",\n      "integrity": "sha512-AAA', 'pad29999-1.0.0.tgz",\n      "integrity": "sha512-BBB'
    )
    body = "\n".join([*(f"-{each}" for each in entries.split("\n")), *(f"+{each}" for each in changed.split("\n"))])
    hunk = Hunk(old_start=1, old_count=150_000, new_start=1, new_count=150_000, body=body)
    path = "package-lock.json"

    found = list(odd_entries(ChangedFile(path, path, "json", (hunk,))))

    assert [(rule, line.number) for rule, _, _, line in found] == [("lock-hash-changed", 149_999)]
    assert odd(path, "", NPM.replace("pad", "p" * MAX_LINE)) == []
