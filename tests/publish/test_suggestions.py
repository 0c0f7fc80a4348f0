"""Replacements are proven before they are offered: parsed, in their place, and without anything new to report."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import Candidate, Finding, Gap
from reviewbot.publish.suggestions.prover import MAX_LINES, MAX_PROOFS, SuggestionProof
from reviewbot.redact.mask import redact
from reviewbot.wiring.analyzers_check import analyzers_check
from tests.make import MakeCandidate, MakeFinding
from tests.proving import AFTER, BEFORE, Says, offered, prover

# --- with the real analyzers


def test_what_ruff_mends_is_offered_once_ruff_no_longer_reports_it(is_three: MakeFinding) -> None:
    finding = is_three(sources=("ruff-logic",), rule="F632")

    assert offered(finding, check=analyzers_check()) == SuggestionProof("    if x == 3:")


def test_what_leaves_the_defect_as_it_is_is_not_offered(is_three: MakeFinding) -> None:
    finding = is_three("    if x is 4:", sources=("ruff-logic",), rule="F632")

    assert offered(finding, check=analyzers_check()) == SuggestionProof(None, "ruff-logic still reports the defect")


def test_what_brings_a_new_defect_is_not_offered(is_three: MakeFinding) -> None:
    finding = is_three("    if x == 3 and not os.system(x):", sources=("model:x", "ruff-logic"))

    proof = offered(finding, check=analyzers_check())

    assert proof.text is None
    assert proof.reason.endswith("would be new")


# --- parsed


@pytest.mark.parametrize(
    "text", ["    if x == 3", "    if x == 3:\n        return (", '    if x == """:', "    if x == 3:\n\x00"]
)
def test_what_does_not_parse_is_never_offered(is_three: MakeFinding, text: str) -> None:
    assert offered(is_three(text)).text is None


def test_it_says_where_the_file_does_not_parse_and_runs_nothing(is_three: MakeFinding) -> None:
    check = Says()

    assert "does not parse" in offered(is_three("    if x == 3"), check=check).reason
    assert check.texts == []


@pytest.mark.parametrize(
    ("path", "old", "new", "fits"),
    [
        ("a.json", '{"a": 1}', '{"a": 2}', True),
        ("a.json", '{"a": 1}', '{"a": 2', False),
        ("a.toml", "a = 1", "a = 2", True),
        ("a.toml", "a = 1", "a = = 2", False),
        ("a.go", "a := 1", "a := 2", False),
        ("a.yaml", "a: 1", "a: 2", False),
    ],
)
def test_only_what_is_parsed_here_is_offered(
    is_three: MakeFinding, path: str, old: str, new: str, *, fits: bool
) -> None:
    finding = is_three(new, path=path, line=1, end_line=1, evidence=old)

    proof = offered(finding, "", f"{old}\n")

    assert proof == SuggestionProof(new) if fits else proof.text is None


def test_of_a_language_that_nothing_parses_the_reason_is_told(is_three: MakeFinding) -> None:
    finding = is_three("b", path="a.go", line=1, evidence="a")

    assert offered(finding, "", "a\n") == SuggestionProof(None, "nothing here parses go")


@pytest.mark.slow
def test_a_file_too_large_to_parse_is_left_alone(is_three: MakeFinding) -> None:
    more = "\n" * 10 + "#" * 80 + "#\n" * 500_000

    assert "too large" in offered(is_three(), BEFORE + more, AFTER + more).reason


# --- in its place


def test_lines_of_the_change_are_replaced_and_no_others(is_three: MakeFinding) -> None:
    check = Says()

    assert offered(is_three("    if x == 3:\n        print(x)"), check=check).text is not None
    assert check.texts == [AFTER, AFTER.replace("    if x is 3:\n", "    if x == 3:\n        print(x)\n")]


def test_an_empty_text_deletes_the_lines(is_three: MakeFinding) -> None:
    finding = is_three("", line=5, end_line=6, evidence="    if x is 3:\n        return 1")
    check = Says()

    assert offered(finding, check=check) == SuggestionProof("")
    assert check.texts[-1] == BEFORE


@pytest.mark.parametrize(
    ("line", "end_line", "text"),
    [
        (4, 5, "def f(y):\n    if x == 3:"),
        (4, 4, "def f(x, y):"),
        (6, 7, "        return 1\n    return 2"),
        (1, 1, "import sys"),
        (1, 1, "import os\nimport sys"),
        (2, 2, "\n"),
        (4, 4, "import sys\ndef f(x):"),
    ],
)
def test_what_moves_lines_that_the_change_did_not_add_is_never_offered(
    is_three: MakeFinding, line: int, end_line: int, text: str
) -> None:
    evidence = "\n".join(AFTER.split("\n")[line - 1 : end_line])

    assert offered(is_three(text, line=line, end_line=end_line, evidence=evidence)).text is None


def test_a_line_of_context_that_stays_as_it_is_may_be_repeated(is_three: MakeFinding) -> None:
    finding = is_three("def f(x):\n    if x == 3:", line=4, end_line=5, evidence="def f(x):\n    if x is 3:")

    assert offered(finding).text == "def f(x):\n    if x == 3:"


@pytest.mark.parametrize(
    ("line", "text"),
    [(5, "    y = 1\n    if x is 3:"), (4, "def f(x):\n    y = 1"), (6, "        return 1\n    y = 1")],
)
def test_lines_may_be_put_in_beside_those_that_the_change_added(is_three: MakeFinding, line: int, text: str) -> None:
    assert offered(is_three(text, line=line, evidence=AFTER.split("\n")[line - 1])).text == text


def test_a_text_that_swallows_the_code_below_is_never_offered(is_three: MakeFinding) -> None:
    after = 'def f():\n    x = 1\n    y = 2\n    """ + x  # """\n'
    finding = is_three('    x = """', line=2, evidence="    x = 1")

    assert offered(finding, "", after) == SuggestionProof(None, "it changes what stands outside of its lines")


@pytest.mark.parametrize(
    "fields",
    [
        {"evidence": "    if x is 4:"},
        {"line": 50, "end_line": 50},
        {"line": 5, "end_line": 6},
        {"path": "src/other.py"},
    ],
)
def test_lines_other_than_those_that_were_reviewed_are_left_alone(
    is_three: MakeFinding, fields: dict[str, Any]
) -> None:
    given = prover(BEFORE, AFTER)

    assert asyncio.run(given.prove(is_three(**fields))).text is None


def test_a_line_that_held_a_secret_is_known_by_what_is_shown_of_it(is_three: MakeFinding) -> None:
    line = f'token = "ghp_{"a1B2c3D4e5F6g7H8i9"[:18] * 2}"'
    shown = redact(line)
    finding = is_three("token = read()", line=1, evidence=shown)

    assert shown != line
    assert offered(finding, "", f"{line}\n").text == "token = read()"


def test_a_text_with_other_line_ends_keeps_them(is_three: MakeFinding) -> None:
    check = Says()
    before, after = BEFORE.replace("\n", "\r\n"), AFTER.replace("\n", "\r\n")

    assert offered(is_three(), before, after, check).text == "    if x == 3:"
    assert check.texts[-1] == after.replace("is 3", "== 3")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("if x == 3:", "indented"),
        ("\tif x == 3:", "indented"),
        ("    if x is 3:", "changes nothing"),
        ("    if x == '```':", "without doubt"),
        ("    if x == '~~~':", "without doubt"),
        ("    if x == 3:  # <!-- reviewbot -->", "without doubt"),
        ("    if x == '\u202e':", "without doubt"),
        ("    if x == '\ufffd':", "without doubt"),
        ("    if x == 3:\r", "without doubt"),
        ("    pass\n" * MAX_LINES + "    pass", "longer"),
        ("    x = '" + "x" * 4_000 + "'", "longer"),
    ],
)
def test_what_a_block_of_code_could_not_hold_is_not_offered(is_three: MakeFinding, text: str, reason: str) -> None:
    assert reason in offered(is_three(text)).reason


def test_lines_that_end_in_different_ways_are_left_alone(is_three: MakeFinding) -> None:
    finding = is_three("x = 2", line=1, end_line=2, evidence="x = 1\ny = 1")

    assert "different ways" in offered(finding, "", "x = 1\r\ny = 1\n").reason


# --- what the analyzers say


def found(source: str, rule: str, line: int, a_candidate: MakeCandidate) -> Candidate:
    return a_candidate(source=source, rule=rule, line=line)


def test_a_program_that_was_not_heard_here_cannot_be_asked_again(is_three: MakeFinding) -> None:
    assert offered(is_three(sources=("bandit",))) == SuggestionProof(None, "bandit cannot be asked again")


def test_the_same_rule_at_another_place_does_not_count_as_mended(
    is_three: MakeFinding, a_candidate: MakeCandidate
) -> None:
    def rule(text: str) -> list[Candidate]:
        return [found("ruff", "R1", n, a_candidate) for n, line in enumerate(text.split("\n"), 1) if "3" in line]

    moved = is_three("    if x == 1:\n        return 3", sources=("ruff",))

    assert offered(moved, check=Says(rule)) == SuggestionProof(None, "ruff still reports the defect")
    assert offered(is_three("    if x == 1:", sources=("ruff",)), check=Says(rule)).text is not None


def test_where_an_analyzer_could_not_look_nothing_is_offered(is_three: MakeFinding) -> None:
    gap = Gap(path="src/app.py", worker="logic", reason="timeout", message="too slow")

    assert offered(is_three(), check=Says(gap=gap)) == SuggestionProof(None, "not every analyzer could read the file")


def test_a_finding_without_a_replacement_has_no_reason_either(is_three: MakeFinding) -> None:
    assert offered(is_three(None)) == SuggestionProof(None)


# --- several of them


def test_of_two_for_the_same_lines_one_is_offered(is_three: MakeFinding) -> None:
    first, second = is_three(), is_three("    if x == 4:", message="another one")

    proofs = asyncio.run(prover(BEFORE, AFTER).proven([first, second, is_three(None)]))

    assert proofs == {
        first: SuggestionProof("    if x == 3:"),
        second: SuggestionProof(None, "another suggestion changes the same lines"),
    }


def test_what_failed_does_not_stand_in_the_way_of_another(is_three: MakeFinding) -> None:
    first, second = is_three("    if"), is_three()

    proofs = asyncio.run(prover(BEFORE, AFTER).proven([first, second]))

    assert [proof.text for proof in proofs.values()] == [None, "    if x == 3:"]


def test_a_file_is_read_once_as_it_is_and_only_so_many_are_tried(is_three: MakeFinding) -> None:
    lines = [f"x{n} = 1" for n in range(MAX_PROOFS + 2)]
    findings = [is_three(f"x{n} = 2", line=n + 1, evidence=line) for n, line in enumerate(lines)]
    check = Says()

    proofs = asyncio.run(prover("", "\n".join(lines) + "\n", check).proven(findings))

    assert [proof.text is None for proof in proofs.values()].count(True) == 2
    assert len(check.texts) == MAX_PROOFS + 1


# --- whatever is proposed


@given(st.text("ab =\n:#\"'()3 \t", max_size=40), st.integers(1, 7), st.integers(0, 2))
def test_what_is_offered_parses_and_leaves_all_other_lines(text: str, line: int, more: int) -> None:
    end = min(7, line + more)
    old = AFTER.split("\n")
    finding = Finding(
        type="logic", severity="warning", path="src/app.py", line=line, end_line=end, message="x",
        evidence="\n".join(old[line - 1 : end]), confidence=90, category="bug", sources=("model:x",), replacement=text,
    )  # fmt: skip
    check = Says()

    if offered(finding, check=check).text is None:
        return
    lines = check.texts[-1].split("\n")
    with warnings.catch_warnings(action="ignore"):  # of what the file compares by identity, as it did before
        compile(check.texts[-1], "x", "exec", dont_inherit=True)
    assert lines[:4] == old[:4]
    assert lines[-2:] == old[-2:]
