from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.contracts import Conflict, Finding, HumanItem, Review, Withheld
from reviewbot.memory.fingerprints import CodePlace, PlaceOf, identities, known_place, normal, of_review
from tests.make import MakeFinding

# A statement as a person and as two formatters would write it.
SPLIT = [
    'cursor.execute("select * from t where n = " + name)',
    "cursor.execute('select * from t where n = ' + name)",
    'cursor.execute(\n    "select * from t where n = " + name\n)',
    'cursor.execute(\n    "select * from t where n = "\n    + name,\n)',
    'cursor.execute("select * from t where n = " \\\n        + name)',
    'cursor.execute("select * from t where n = " + name);',
    '\tcursor.execute( "select * from t where n = "+name )\r',
]

places = st.tuples(st.integers(1, 40), st.sampled_from(["run(a)", "run(b)", "run( a )"]), st.sampled_from("xyz"))


def fingerprints(findings: Iterable[Finding], place_of: PlaceOf = known_place) -> dict[Finding, str]:
    return {finding: each.name for finding, each in identities(findings, place_of).items()}


def one(finding: Finding) -> str:
    (name,) = fingerprints([finding]).values()
    return name


def name_of(make: MakeFinding, **fields: object) -> str:
    return one(make(**fields))


def test_a_fingerprint_is_short_and_the_same_today_and_tomorrow(make_finding: MakeFinding) -> None:
    (identity,) = identities([make_finding()]).values()

    assert identity.name == "d6cc44e3717c28155e56e2ab0166b7fa"


@pytest.mark.parametrize("category", ["sql-injection", "unsafe-sql", "injection"])
def test_a_models_free_words_for_a_category_leave_it(make_finding: MakeFinding, category: str) -> None:
    said = {"sources": ("model:x",), "cause": "injection", "rule": ""}

    assert name_of(make_finding, category=category, **said) == name_of(make_finding, **said)


def test_a_models_two_causes_on_one_line_are_two_defects(make_finding: MakeFinding) -> None:
    first, second = (make_finding(sources=("model:x",), cause=cause) for cause in ("injection", "missing-check"))

    assert one(first) != one(second)


def test_a_program_behind_a_finding_makes_its_category_count(make_finding: MakeFinding) -> None:
    joined = make_finding(sources=("model:x", "ruff"), cause="wrong-value")

    assert one(joined) == name_of(make_finding)


def test_twenty_lines_inserted_above_leave_it(make_finding: MakeFinding) -> None:
    assert name_of(make_finding, line=61, end_line=62) == name_of(make_finding, line=41, end_line=42)


@pytest.mark.parametrize("code", SPLIT[1:])
def test_a_formatter_leaves_it(make_finding: MakeFinding, code: str) -> None:
    assert name_of(make_finding, evidence=code) == name_of(make_finding, evidence=SPLIT[0])


def test_brackets_that_a_formatter_puts_around_a_value_leave_it(make_finding: MakeFinding) -> None:
    bare, wrapped = "return first and second", "return (\n    first\n    and second\n)"

    assert name_of(make_finding, evidence=bare) == name_of(make_finding, evidence=wrapped)


@pytest.mark.parametrize(
    "change",
    [
        {"message": "Other words for it."},
        {"confidence": 61},
        {"severity": "info"},
        {"rule": "sql-external"},
        {"sources": ("model:x",)},
        {"type": "logic"},
        {"cwe": None},
        {"trigger": "", "suggestion": ""},
    ],
)
def test_who_says_it_and_how_leaves_it(make_finding: MakeFinding, change: dict[str, object]) -> None:
    assert name_of(make_finding, **change) == name_of(make_finding)


@pytest.mark.parametrize(
    "change", [{"path": "app/other.py"}, {"category": "xss"}, {"evidence": "cursor.execute(other)"}]
)
def test_another_file_another_defect_or_other_code_changes_it(
    make_finding: MakeFinding, change: dict[str, object]
) -> None:
    assert name_of(make_finding, **change) != name_of(make_finding)


def test_equal_lines_are_told_apart_by_their_order(make_finding: MakeFinding) -> None:
    first, second = make_finding(line=3, end_line=3), make_finding(line=9, end_line=9)

    names = fingerprints([second, first])

    assert names[first] != names[second]
    assert names[first] == one(first)
    moved = fingerprints([make_finding(line=23, end_line=23), make_finding(line=29, end_line=29)])
    assert list(moved.values()) == [names[first], names[second]]


def test_equal_lines_in_two_symbols_need_no_order(make_finding: MakeFinding) -> None:
    first = make_finding(line=3, end_line=3, symbol="save")
    second = make_finding(line=9, end_line=9, symbol="load")

    both = fingerprints([first, second])

    assert both[second] == one(second)
    assert both[first] != both[second]


def test_what_a_finding_knows_of_its_symbol_counts(make_finding: MakeFinding) -> None:
    assert one(make_finding(symbol="Shop.save")) != one(make_finding())


def test_two_defects_on_one_line_do_not_shift_the_next_one(make_finding: MakeFinding) -> None:
    first = make_finding(line=3, end_line=3, rule="a")
    twin = make_finding(line=3, end_line=3, rule="b")
    below = make_finding(line=9, end_line=9, rule="a")

    names = fingerprints([first, twin, below])

    assert len(set(names.values())) == 3
    assert names[below] == fingerprints([first, below])[below]


def test_a_new_password_on_the_line_is_no_new_defect(make_finding: MakeFinding) -> None:
    old, new = ('password = "' + value + '"' for value in ("a8Kq2Lm9Zx4Vt7Rw", "q7Rt3Mn8Wz5Lk2Xc"))

    assert normal(old) == normal(new)
    assert name_of(make_finding, evidence=old) == name_of(make_finding, evidence=new)


def test_what_is_not_shown_counts_as_well(make_finding: MakeFinding, make_review: Callable[..., Review]) -> None:
    one_, two, three, four = (make_finding(line=line, end_line=line) for line in (2, 4, 6, 8))
    shown = make_review(findings=(one_, two, three, four))
    mixed = make_review(
        findings=(four,),
        withheld=(Withheld(finding=one_, reason="below_threshold", message=""),),
        human=(HumanItem(path="a", reason="b"), HumanItem(path="a", reason="b", finding=two)),
        conflicts=(Conflict(findings=(three, make_finding(evidence="other")), reason="c"),),
    )

    assert of_review(mixed)[four] == of_review(shown)[four]
    assert len(set(of_review(mixed).values())) == 5


@given(found=st.lists(places, max_size=12, unique_by=lambda place: (place[0], place[2])), shift=st.integers(0, 500))
def test_moving_and_shuffling_a_file_renames_nothing(
    make_finding: MakeFinding, found: list[tuple[int, str, str]], shift: int
) -> None:
    def made(offset: int) -> list[Finding]:
        return [
            make_finding(line=line + offset, end_line=line + offset, evidence=code, rule=rule)
            for line, code, rule in found
        ]

    here, there = made(0), made(shift)
    names, moved = fingerprints(here), fingerprints(reversed(there))

    assert [names[finding] for finding in here] == [moved[finding] for finding in there]
    assert len(set(names.values())) == len(set(here))


@given(text=st.text(max_size=300))
def test_any_code_has_a_normal_form_that_is_its_own(text: str) -> None:
    assert normal(f"  {text}\n") == normal(text)
    assert not any(char.isspace() for char in normal(text))


@given(lines=st.lists(st.text(alphabet="abc=+.'\"(), ", min_size=1, max_size=20), min_size=1, max_size=5))
def test_blanks_and_line_breaks_do_not_count(lines: list[str]) -> None:
    assert normal("\n".join(lines)) == normal("\n\n  ".join(lines)) == normal(" ".join(lines))


@pytest.mark.parametrize(
    ("written", "formatted"),
    [
        ("run('it\\'s')", 'run("it\'s")'),
        ('run("a" "b")', 'run("ab")'),
        ('run(\n    "a"\n    "b"\n)', 'run("ab")'),
        ("pair = a,", "pair = (a,)"),
        ("pair = a, b", "pair = (\n    a,\n    b,\n)"),
    ],
)
def test_what_a_formatter_writes_in_another_way_is_the_same(written: str, formatted: str) -> None:
    assert normal(written) == normal(formatted)


def test_a_secret_on_a_row_of_its_own_is_masked_as_well() -> None:
    old, new = ("a8Kq2Lm9Zx4Vt7Rw", "q7Rt3Mn8Wz5Lk2Xc")

    assert normal(f'password = "{old}"') == normal(f'password = (\n    "{new}"\n)')


def test_rows_of_one_statement_are_one_place(make_finding: MakeFinding) -> None:
    rows = [make_finding(line=line, end_line=line, rule=rule, evidence=rule) for line, rule in ((3, "b"), (4, "a"))]
    flat = [finding.model_copy(update={"line": 3, "end_line": 3, "evidence": "both"}) for finding in rows]

    names = fingerprints(rows, place_of=lambda _finding: CodePlace("run(a, b)", 3))
    formatted = fingerprints(flat, place_of=lambda _finding: CodePlace("run(a,\n b)", 3))

    assert [names[finding] for finding in rows] == [formatted[finding] for finding in flat]
    assert len(set(names.values())) == 2
