"""How pairs are read, put into a diff, reviewed and exported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reviewbot.domain.contracts import Finding
from reviewbot.redact.patterns import NAMED, find_secrets
from tests.pairs.pair_cases import (
    DEFAULT_PATH,
    Answer,
    Change,
    Pair,
    all_pairs,
    answers,
    diff_of,
    read_pairs,
    reviewed,
    true_findings,
)

pytestmark = pytest.mark.pairs

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = 'tool = "ruff-security"\nworker = "security"\n'
PAIR = """
[[pair]]
rule = "S307"
name = "a text is run"
wrong = '''
def f(x):
    return eval(x)  # <<<
'''
right = '''
def f(x):
    return int(x)
'''
"""


def pairs_of(tmp_path: Path, *pairs: str) -> list[Pair]:
    path = tmp_path / "some.toml"
    path.write_text(HEAD + "".join(pairs), "utf-8")
    return read_pairs(path)


def pair_of(tmp_path: Path, **keys: str) -> Pair:
    (pair,) = pairs_of(tmp_path, PAIR + "".join(f"{key} = {value}\n" for key, value in keys.items()))
    return pair


def test_a_pair_is_read_and_its_marks_are_lines(tmp_path: Path) -> None:
    pair = pair_of(tmp_path)

    assert (pair.tool, pair.worker, pair.group, pair.rule) == ("ruff-security", "security", "some", "S307")
    assert pair.wrong == "def f(x):\n    return eval(x)\n"
    assert pair.marks == (2,)
    assert (pair.path, pair.base, pair.others, pair.alone) == (DEFAULT_PATH, "", {}, False)


@pytest.mark.parametrize("key", ['path="a.go"', 'base="x = 1"', '"others"={"b.py" = "y = 1"}'])
def test_a_pair_with_a_past_or_a_name_of_its_own_is_reviewed_alone(tmp_path: Path, key: str) -> None:
    name, _, value = key.partition("=")

    assert pair_of(tmp_path, **{name.strip('"'): value}).alone


def test_a_bare_pair_is_reviewed_without_the_files_around_it(tmp_path: Path) -> None:
    text = PAIR.replace("eval(x)", "missing(x)").replace("S307", "F821").replace("text is run", "name is missing")
    text += 'base = "def f(x):\\n    pass\\n"\n'
    whole, bare = pairs_of(tmp_path, text, text.replace("a name", "the name") + "bare = true\n")

    told = answers([whole, bare])

    assert [f.rule for f in told[whole.name, "wrong"].findings] == ["F821"]
    assert told[bare.name, "wrong"].findings == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  # <<<", ""),
        ("int(x)", "int(x)  # <<<"),
        ("return int(x)", "return eval(x)"),
        ("name =", "nam ="),
        ("rule =", "colour = 1\nrule ="),
        ("int(x)", "'{fake:nothing}'"),
    ],
    ids=["no mark", "a mark in what is right", "twice the same", "no name", "an unknown key", "an unknown stand-in"],
)
def test_a_pair_that_is_not_one_is_refused(tmp_path: Path, old: str, new: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        pairs_of(tmp_path, PAIR.replace(old, new))


def test_two_pairs_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one name"):
        pairs_of(tmp_path, PAIR, PAIR)


def test_a_mark_in_another_language_is_one(tmp_path: Path) -> None:
    (pair,) = pairs_of(tmp_path, PAIR.replace("# <<<", "// <<<"))

    assert pair.marks == (2,)


def test_no_file_of_pairs_holds_what_a_scanner_takes_for_a_leak() -> None:
    for path in Path(__file__).parent.glob("*.toml"):
        found = [s.kind for s in find_secrets(path.read_text("utf-8")) if not s.placeholder and s.kind != NAMED]
        assert found == [], path.name


TEXTS = ["", "a\n", "a\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nd\ne\nf\nH\n", "a", "a\r\n\x0cb\x1c\u2028c\n"]


@pytest.mark.parametrize("base", TEXTS)
@pytest.mark.parametrize("head", TEXTS[1:])
def test_git_makes_the_new_side_from_the_diff(tmp_path: Path, base: str, head: str) -> None:
    if base == head:
        return
    file = tmp_path / "src/a.py"
    if base:
        file.parent.mkdir()
        file.write_bytes(base.encode())
    diff = diff_of(Change("src/a.py", base, head))

    applied = ["git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-"]
    subprocess.run(applied, cwd=tmp_path, input=diff.encode(), check=True)

    assert file.read_bytes() == head.encode()


def test_every_pair_can_be_applied_by_git(tmp_path: Path) -> None:
    changed = [pair for pairs in all_pairs().values() for pair in pairs if pair.base]
    for number, pair in enumerate(changed):
        folder = tmp_path / str(number)
        (folder / pair.path).parent.mkdir(parents=True)
        (folder / pair.path).write_bytes(pair.base.encode())
        diff = diff_of(Change(pair.path, pair.base, pair.wrong))
        subprocess.run(["git", "apply", "-"], cwd=folder, input=diff.encode(), check=True)
        assert (folder / pair.path).read_bytes() == pair.wrong.encode()


def test_one_review_of_many_files_keeps_them_apart(tmp_path: Path) -> None:
    one = pair_of(tmp_path)
    (other,) = pairs_of(tmp_path, PAIR.replace("a text is run", "alone") + 'path = "src/alone.py"\n')

    told = answers([one, other])

    assert {key: len(answer.of_rule(one)) for key, answer in told.items()} == {
        ("a text is run", "wrong"): 1,
        ("a text is run", "right"): 0,
        ("alone", "wrong"): 1,
        ("alone", "right"): 0,
    }


def test_the_answer_has_findings_wherever_the_review_has_them_and_its_gaps() -> None:
    texts = {"a.py": "import os\nos.system('x ' + y)\nz = 0.0.0.0\n", "b.py": "import pickle\nx = pickle.loads(b'')\n"}

    told = reviewed([Change(path, "", text) for path, text in texts.items()], {"c.py": "x = 1\n"})

    assert {path: bool(answer.gaps) for path, answer in told.items()} == {"a.py": True, "b.py": False}
    assert "S301" in {finding.rule for finding in told["b.py"].findings}


def test_a_finding_of_two_tools_is_one_of_the_rule(tmp_path: Path, a_finding: Callable[..., Finding]) -> None:
    pair = pair_of(tmp_path)
    findings = {
        "own": a_finding(rule="S307", sources=("ruff-security",)),
        "named": a_finding(rule="S307:named", sources=("ruff-security",)),
        "folded": a_finding(rule="code-external", sources=("ruff-security", "taint")),
        "another": a_finding(rule="S102", sources=("ruff-security",)),
        "another tool's": a_finding(rule="S307", sources=("other",)),
    }

    told = Answer(tuple(findings.values()), ()).of_rule(pair)

    assert told == (findings["own"], findings["named"], findings["folded"])


@pytest.mark.parametrize(("line", "end", "true"), [(1, 1, True), (3, 3, True), (4, 4, False), (1, 9, True)])
def test_a_finding_is_true_on_a_marked_line_or_beside_it(
    tmp_path: Path, a_finding: Callable[..., Finding], line: int, end: int, *, true: bool
) -> None:
    finding = a_finding(line=line, end_line=end)

    assert true_findings(pair_of(tmp_path), [finding]) == ((finding,) if true else ())


def test_the_pairs_can_be_exported_as_cases(tmp_path: Path) -> None:
    script = Path(__file__).parent / "export_cases.py"

    done = subprocess.run([sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, check=True)

    cases = [path.parent for path in tmp_path.glob("*/*/meta.json")]
    assert done.stdout.startswith(f"{len(cases)} cases")
    assert len(cases) == 2 * sum(len(pairs) for pairs in all_pairs().values())
    for case in cases:
        clean = json.loads((case / "meta.json").read_text("utf-8"))["clean"]
        assert clean == case.parent.name.startswith("clean_pairs_")
        goldens = json.loads((case / "golden.json").read_text("utf-8"))
        assert bool(goldens) != clean
        assert all((case / "head" / g["file"]).exists() for g in goldens) or not (case / "head").exists()
        assert (case / "change.diff").stat().st_size
