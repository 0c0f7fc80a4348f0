"""What a suggestion may be at most, whose word counts against it, and which of several are offered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from reviewbot.domain.contracts import Candidate, FileChange, Gap
from reviewbot.domain.ports import Answer, Snapshot
from reviewbot.publish.suggestions.prover import MAX_CHARS, MAX_LINES, Prover, SuggestionProof
from tests.make import MakeCandidate, MakeFinding
from tests.proving import AFTER, BEFORE, Says, change_of, offered, prover
from tests.snapshots import InMemorySnapshot

Diagnostic = tuple[str, str, int | None]
"""Source, rule and line of what an analyzer says."""

MENDED = "    if x == 3:"


class Hears:
    """A check that says one thing of the file as it is, and another one of it with a suggestion."""

    def __init__(
        self, before: Iterable[Candidate], after: Iterable[Candidate] = (), *, deaf: int | None = None
    ) -> None:
        self.answers = (tuple(before), tuple(after))
        self.deaf = deaf

    async def __call__(self, file: FileChange, snapshot: Snapshot) -> Answer:
        time = int(MENDED in (snapshot.head(file.path) or ""))
        gap = Gap(path=file.path, worker="logic", reason="timeout", message="too slow")
        return Answer(self.answers[time], (gap,) if self.deaf == time else ())


@pytest.fixture
def say(a_candidate: MakeCandidate) -> Callable[..., list[Candidate]]:
    def make(*result: Diagnostic, **fields: Any) -> list[Candidate]:
        return [a_candidate(source=source, rule=rule, line=line, **fields) for source, rule, line in result]

    return make


# --- whose word counts


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ([("bandit", "R1", 5), ("ruff", "R2", 1)], [], "ruff cannot be asked again"),
        ([("ruff", "R1", None)], [], "ruff cannot be asked again"),
        ([("ruff", "R1", 4)], [], "ruff cannot be asked again"),
        ([("ruff", "R1", 7)], [], "ruff cannot be asked again"),
        ([("ruff", "R1", 5)], [("ruff", "R1", 9)], "ruff still reports the defect"),
        ([("ruff", "R1", 5), ("ruff", "R2", 6)], [("ruff", "R2", 6)], "ruff still reports the defect"),
        ([("ruff", "R1", 6)], [("zeta", "R", 1), ("alpha", "R", 1)], "alpha R would be new"),
        ([("ruff", "R1", 5)], [("ruff", "R2", 5)], "ruff R2 would be new"),
        ([("ruff", "R1", 5), ("zeta", "R", 1)], [("zeta", "R", 3)], ""),
        ([("ruff", "R1", 5), ("ruff", "R1", 9)], [("ruff", "R1", 9)], ""),
        ([("ruff", "R1", 6)], [], ""),
    ],
)
def test_the_program_that_reported_the_defect_no_longer_does_and_none_says_more(
    before: list[Diagnostic],
    after: list[Diagnostic],
    reason: str,
    is_three: MakeFinding,
    say: Callable[..., list[Candidate]],
) -> None:
    """The finding is of lines 5 and 6."""
    text = f"{MENDED}\n        return 1"
    finding = is_three(text, end_line=6, evidence="    if x is 3:\n        return 1", sources=("model:x", "ruff"))

    proof = offered(finding, check=Hears(say(*before), say(*after)))

    assert proof == (SuggestionProof(None, reason) if reason else SuggestionProof(text))


@pytest.mark.parametrize(
    ("rule", "had", "has", "reason"),
    [
        ("", "bug", "injection", "ruff injection would be new"),
        ("", "bug", "bug", ""),
        ("R1", "bug", "injection", ""),
    ],
)
def test_what_is_said_is_known_by_its_rule_and_without_one_by_its_kind(
    rule: str, had: str, has: str, reason: str, is_three: MakeFinding, say: Callable[..., list[Candidate]]
) -> None:
    before, after = (say(("ruff", rule, 1), category=kind) for kind in (had, has))

    assert offered(is_three(), check=Hears(before, after)).reason == reason


@pytest.mark.parametrize("deaf", [0, 1])
def test_an_analyzer_that_could_not_look_at_either_side_proves_nothing(deaf: int, is_three: MakeFinding) -> None:
    proof = offered(is_three(), check=Hears((), deaf=deaf))

    assert proof == SuggestionProof(None, "not every analyzer could read the file")


# --- how much


@pytest.mark.parametrize(("count", "fits"), [(MAX_LINES, True), (MAX_LINES + 1, False)])
def test_as_many_lines_as_a_person_can_judge_are_offered(count: int, *, fits: bool, is_three: MakeFinding) -> None:
    text = "\n".join([MENDED, *["        y = 1"] * (count - 1)])

    assert offered(is_three(text)) == (
        SuggestionProof(text) if fits else SuggestionProof(None, f"it is longer than {MAX_LINES} lines")
    )


@pytest.mark.parametrize(("count", "fits"), [(MAX_LINES, True), (MAX_LINES + 1, False)])
def test_no_more_lines_than_that_are_replaced(count: int, *, fits: bool, is_three: MakeFinding) -> None:
    after = "".join(f"x = {n}\n" for n in range(count + 1))
    finding = is_three("x = 0", line=1, end_line=count, evidence=after.rsplit("\n", 2)[0])

    assert (offered(finding, "", after).text is not None) == fits


@pytest.mark.parametrize(("chars", "fits"), [(MAX_CHARS, True), (MAX_CHARS + 1, False)])
def test_a_line_has_so_many_characters_at_most(chars: int, *, fits: bool, is_three: MakeFinding) -> None:
    text = "    if x == 3:  # "
    proof = offered(is_three(text + "c" * (chars - len(text))))

    assert (proof.text is not None) == fits


def test_lines_whose_bytes_would_be_lost_are_left_alone(is_three: MakeFinding) -> None:
    finding = is_three("x = 2", line=1, evidence="x = '\ufffd'")

    assert "without doubt" in offered(finding, "", "x = '\ufffd'\n").reason


def test_other_line_ends_are_no_change_and_no_other_evidence(is_three: MakeFinding) -> None:
    before, after = BEFORE.replace("\n", "\r\n"), AFTER.replace("\n", "\r\n")

    assert "changes nothing" in offered(is_three("    if x is 3:"), before, after).reason
    assert offered(is_three(evidence="    if x is 3:\r"), before, after).text == MENDED


def test_a_blank_line_at_the_start_is_indented_like_any_other(is_three: MakeFinding) -> None:
    assert offered(is_three(f"\n{MENDED}")).text == f"\n{MENDED}"


# --- which file, and which of several


@pytest.mark.parametrize("missing", ["the file", "its text", "its lines"])
def test_without_the_whole_file_nothing_is_offered(missing: str, is_three: MakeFinding) -> None:
    change = change_of(BEFORE, AFTER)
    if missing == "its lines":
        change = change.model_copy(update={"files": (change.files[0].model_copy(update={"minified": True}),)})
    path = "src/other.py" if missing == "the file" else "src/app.py"
    files = InMemorySnapshot({} if missing == "its text" else {path: AFTER})

    proof = asyncio.run(Prover(change, files, Says()).prove(is_three(path=path)))

    assert proof == SuggestionProof(None, "the whole file is not at hand")


def test_a_finding_that_is_asked_for_twice_is_tried_once(is_three: MakeFinding) -> None:
    check, finding = Says(), is_three()
    proofs = asyncio.run(prover(BEFORE, AFTER, check).proven([is_three(None), finding, finding]))

    assert proofs == {finding: SuggestionProof(MENDED)}
    assert len(check.texts) == 2


@pytest.mark.parametrize(
    ("path", "lines", "offered_too"),
    [
        ("a.py", (2, 3), False),
        ("a.py", (1, 1), True),
        ("a.py", (3, 4), True),
        ("a.py", (1, 2), False),
        ("b.py", (2, 2), True),
    ],
)
def test_two_suggestions_for_lines_that_meet_are_not_both_offered(
    path: str, lines: tuple[int, int], is_three: MakeFinding, *, offered_too: bool
) -> None:
    """The first one is for line 2 of a.py."""
    text = "x = 1\nx = 2\nx = 3\nx = 4\n"
    rows = text.split("\n")
    first = is_three("x = 9", path="a.py", line=2, evidence=rows[1])
    evidence = "\n".join(rows[lines[0] - 1 : lines[1]])
    second = is_three("x = 8", path=path, line=lines[0], end_line=lines[1], evidence=evidence)
    both = change_of("", text, "a.py").files + change_of("", text, "b.py").files
    change = change_of("", text, "a.py").model_copy(update={"files": both})

    proofs = asyncio.run(Prover(change, InMemorySnapshot({"a.py": text, "b.py": text}), Says()).proven([first, second]))

    assert [each.text for each in proofs.values()] == ["x = 9", "x = 8" if offered_too else None]
