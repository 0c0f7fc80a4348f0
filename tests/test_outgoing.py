"""What is added to a review before it leaves: names of definitions, and the statements that findings stand on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reviewbot.contracts import Conflict, Finding, HumanItem, Review, Timings, Withheld
from reviewbot.outgoing import MAX_WITHHELD, places, with_symbols
from reviewbot.output.fingerprints import Place, of_review
from reviewbot.ports import Commit, Occurrence

TEXT = "def save(db, key):\n    db.run(\n        key,\n    )\n    db.run(key)\n    db.run(key)\n"

MakeFinding = Callable[..., Finding]


class Files:
    """A snapshot that has the new side of some files."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def head(self, path: str) -> str | None:
        return self._texts.get(path)

    def base(self, path: str) -> str | None:
        del path
        return None

    def search(self, word: str, limit: int) -> tuple[Occurrence, ...] | None:
        del word, limit
        return None

    def history(self, path: str, first: int, last: int, limit: int) -> tuple[Commit, ...]:
        del path, first, last, limit
        return ()


def a_review(**fields: object) -> Review:
    known = {"engine": "analyzers", "verdict": "issues", "headline": "x", "summary": "x"}
    return Review.model_validate(
        {**known, "timings": Timings(wall_ms=1, critical_path_ms=1, sequential_ms=1), **fields}
    )


def withheld(finding: Finding) -> Withheld:
    return Withheld(finding=finding, reason="below_threshold", message="x")


def test_every_finding_is_named_wherever_it_is_told(a_finding: MakeFinding) -> None:
    one = a_finding(path="app.py", line=3, end_line=3)
    answer = a_review(
        findings=(one,),
        withheld=(withheld(one),),
        human=(HumanItem(path="app.py", reason="x", finding=one), HumanItem(path="app.py", reason="y")),
        conflicts=(Conflict(findings=(one, one), reason="x"),),
    )

    named = with_symbols(answer, Files({"app.py": TEXT}))

    told = [*named.findings, named.withheld[0].finding, named.human[0].finding, *named.conflicts[0].findings]
    assert [finding and finding.symbol for finding in told] == ["save"] * 5
    assert named.human[1].finding is None


def test_what_crosses_the_threshold_renames_neither_itself_nor_the_next_equal_line(a_finding: MakeFinding) -> None:
    first, second = (a_finding(path="app.py", line=line, end_line=line, evidence="db.run(key)") for line in (5, 6))
    files = Files({"app.py": TEXT})

    def names(answer: Review) -> set[str]:
        named = with_symbols(answer, files)
        return set(of_review(named, place_of=places(named, files)).values())

    shown = names(a_review(findings=(first, second)))

    assert len(shown) == 2
    assert names(a_review(findings=(second,), withheld=(withheld(first),))) == shown
    assert names(a_review(findings=(first,), withheld=(withheld(second),))) == shown


def test_of_a_flood_of_withheld_findings_the_first_are_named(a_finding: MakeFinding) -> None:
    flood = [withheld(a_finding(path="app.py", line=5, end_line=5, message=str(n))) for n in range(MAX_WITHHELD + 2)]

    named = with_symbols(a_review(withheld=tuple(flood)), Files({"app.py": TEXT})).withheld

    assert [entry.finding.message for entry in named] == [entry.finding.message for entry in flood]
    assert [entry.finding.symbol for entry in named].count("save") == MAX_WITHHELD


def test_the_place_of_a_finding_is_its_statement(a_finding: MakeFinding) -> None:
    split, flat = (a_finding(path="app.py", line=line, end_line=line, evidence="key") for line in (3, 5))

    place_of = places(a_review(findings=(split, flat)), Files({"app.py": TEXT}))

    assert place_of(split) == Place("db.run(\n        key,\n    )", 2)
    assert place_of(flat) == Place("db.run(key)", 5)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("app.js", TEXT),
        ("app.py", "def ("),
        ("other.py", TEXT),
        ("app.py", "TABLE = [\n" + "    'an entry',\n" * 1_000 + "]\n"),
    ],
    ids=["another language", "broken", "no such file", "a table"],
)
def test_without_a_statement_the_lines_of_the_finding_are_its_place(
    a_finding: MakeFinding, path: str, text: str
) -> None:
    finding = a_finding(path="app.js" if path == "app.js" else "app.py", line=3, end_line=3, evidence="key")

    assert places(a_review(findings=(finding,)), Files({path: text}))(finding) == Place("key", 3)


def test_a_finding_of_another_review_keeps_its_lines(a_finding: MakeFinding) -> None:
    finding = a_finding(path="app.py", line=3, end_line=3, evidence="key")

    assert places(a_review(), Files({"app.py": TEXT}))(finding) == Place("key", 3)
