"""Properties of fingerprints on whole Python files that are edited around a defect."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reviewbot.delivery.places import add_symbols, places
from reviewbot.domain.contracts import Finding
from reviewbot.memory.fingerprints import identities, of_review
from tests.report.conftest import a_finding, a_review
from tests.snapshots import InMemorySnapshot

PATH = "app/db.py"
FLAT = "    cursor.execute('select ' + name, limit, offset)"
SPLIT = '    cursor.execute(\n        "select " + name,\n        limit,\n        offset,\n    )'
OTHERS = ("    total = first + second", "    return None", "    log(name)", "    self.rows.append(total)")

bodies = st.lists(st.sampled_from(OTHERS), max_size=4)
functions = st.lists(st.tuples(bodies, bodies), min_size=1, max_size=4)
noise = st.lists(st.sampled_from(["", "    # a note", "    pass"]), max_size=3)


def source(parts: list[tuple[int, list[str], str, list[str]]]) -> str:
    """Functions `f0` ..., each with a defect between other statements."""
    made = []
    for number, before, defect, after in parts:
        made.append("\n".join([f"def f{number}(name):", *before, defect, *after]))
    return "\n\n\n".join(made) + "\n"


def names_in(text: str) -> dict[str, str]:
    """The fingerprint of the defect of each function, by the function's name."""
    found: list[Finding] = []
    rows = text.split("\n")
    for number, row in enumerate(rows, 1):
        if row.startswith("    cursor.execute("):
            found.append(a_finding(path=PATH, line=number, end_line=number, evidence=row))
    files = InMemorySnapshot({PATH: text})
    review = add_symbols(a_review(findings=tuple(found)), files)
    return {each.symbol: name for each, name in of_review(review, place_of=places(review, files)).items()}


@given(parts=functions, above=noise, inside=noise, written=st.sampled_from([FLAT, SPLIT]), data=st.data())
def test_a_defect_keeps_its_name_where_lines_are_inserted_code_is_reformatted_and_functions_move(
    parts: list[tuple[list[str], list[str]]], above: list[str], inside: list[str], written: str, data: st.DataObject
) -> None:
    before = [(number, [*first], FLAT, [*last]) for number, (first, last) in enumerate(parts)]
    edited = [(number, [*inside, *first], written, [*last, *inside]) for number, first, _, last in before]
    moved = data.draw(st.permutations(edited))

    text = "\n".join(row.strip() for row in above) + "\n" + source(list(moved))

    assert names_in(text) == names_in(source(before))


@given(causes=st.lists(st.sampled_from(["race", "injection", "wrong-value", "missing-check"]), unique=True, min_size=2))
def test_defects_of_different_kinds_on_one_line_have_different_names(causes: list[str]) -> None:
    found = [a_finding(sources=("model:x",), cause=cause) for cause in causes]

    assert len({each.name for each in identities(found).values()}) == len(causes)


@given(rules=st.lists(st.sampled_from(["S608", "S105", "E722", "B006"]), unique=True, min_size=2, max_size=4))
def test_several_defects_of_one_kind_on_one_line_have_different_names(rules: list[str]) -> None:
    found = [a_finding(rule=rule) for rule in rules]

    assert len({each.name for each in identities(found).values()}) == len(rules)
