"""Names that one changed file defines and another one uses, told by lines of many languages."""

from __future__ import annotations

import pytest

from reviewbot.review.plan.name_uses import MAX_DEFINERS, MAX_USERS, HunkRef, NameUse, hunks_of, name_uses
from tests.make import MakePayload


@pytest.mark.parametrize(
    ("line", "name", "use"),
    [
        ("def reserve_seat(x):", "reserve_seat", "y = reserve_seat(1)"),
        ("    async def reserve(self):", "reserve", "await x.reserve(1)"),
        ("class Ledger:", "Ledger", "x: Ledger = y"),
        ("MAX_SEATS = 5", "MAX_SEATS", "if n > MAX_SEATS:"),
        ("MAX_SEATS: Final = 5", "MAX_SEATS", "if n > MAX_SEATS:"),
        ("export function reserve(x) {", "reserve", "reserve(1);"),
        ("export default class Ledger {", "Ledger", "const x = new Ledger();"),
        ("export const roundTotal = (x) => x;", "roundTotal", "import { roundTotal } from './a';"),
        ("  private async reserve(x: number): Promise<void> {", "reserve", "this.seats.reserve(2);"),
        ("export interface Ledger {", "Ledger", "function f(x: Ledger) {}"),
        ("func (s *Store) Reserve(n int) error {", "Reserve", "err := s.Reserve(2)"),
        ("type Ledger struct {", "Ledger", "var x []Ledger{}"),
        ("pub fn reserve_seat(x: u32) {", "reserve_seat", "reserve_seat(2);"),
        ("create table if not exists ledgers (", "ledgers", "from ledgers import x"),
    ],
)
def test_a_name_is_found_where_it_is_defined_and_where_it_is_used(
    line: str, name: str, use: str, a_payload: MakePayload
) -> None:
    slices = [a_payload(f"+{line}", path="a"), a_payload("+nothing here", f"+{use}", path="b")]

    assert NameUse(name, (HunkRef(0, 0),), (HunkRef(1, 1),), changed=True) in name_uses(slices)


def test_a_definition_that_only_stands_around_a_change_counts_and_says_so(a_payload: MakePayload) -> None:
    user = a_payload("+reserve_seat(1)", path="b.py")
    heading = a_payload("+    x = 1", path="a.py")
    heading = heading.model_copy(update={"code": heading.code.replace("@@", "@@ def reserve_seat(x):")})

    for definer in (a_payload(" def reserve_seat(x):\n+    x = 1", path="a.py"), heading):
        [found] = name_uses([definer, user])
        assert (found.name, found.changed) == ("reserve_seat", False)


@pytest.mark.parametrize(
    "use",
    [
        " reserve_seat(1)",  # on a line that the change left alone
        "+reserve_seats(1)",
        "+x = 1",
    ],
)
def test_only_changed_lines_use_a_name(use: str, a_payload: MakePayload) -> None:
    assert name_uses([a_payload("+def reserve_seat(x):", path="a.py"), a_payload(use, path="b.py")]) == []


@pytest.mark.parametrize("text", ["# the Ledger is full", "# we reserve a seat", "x = 'reserve'"])
def test_a_plain_word_in_a_text_is_no_use(text: str, a_payload: MakePayload) -> None:
    definer = a_payload("+class Ledger:\n+    def reserve(self):", path="a.py")

    assert name_uses([definer, a_payload(f"+{text}", path="b.py")]) == []


def test_names_of_every_program_and_those_of_many_files_say_nothing(a_payload: MakePayload) -> None:
    common = [a_payload("+def update(x):\n+def __init__(self):\n+def test_seat():", path="a.py")]
    assert name_uses([*common, a_payload("+update(1)\n+x.__init__()\n+test_seat()", path="b.py")]) == []
    definer = a_payload("+def reserve_seat(x):", path="a.py")
    users = [a_payload("+reserve_seat(1)", path=f"u{n}.py") for n in range(MAX_USERS + 1)]
    assert len(name_uses([definer, *users[:-1]])) == 1
    assert name_uses([definer, *users]) == []
    definers = [a_payload("+def reserve_seat(x):", path=f"d{n}.py") for n in range(MAX_DEFINERS + 1)]
    assert len(name_uses([*definers[:-1], *users[:3]])) == 1
    assert name_uses([*definers, *users[:3]]) == []


def test_the_hunks_of_a_slice_make_its_code(a_payload: MakePayload) -> None:
    payload = a_payload("+a\n b", "-c", "+@@ d")

    assert len(hunks_of(payload)) == 3
    assert "\n".join(hunks_of(payload)) == payload.code


@pytest.mark.parametrize(
    "line",
    [
        "+" + "export " * 30_000,
        "+" + "a(" * 100_000,
        "+" + " " * 200_000 + "def",
        "+func (" + "x" * 200_000,
        "+x(" + "a: b " * 40_000 + ")",
        "+" + "from " * 40_000,
    ],
)
def test_a_hostile_line_is_read_to_its_end(line: str, a_payload: MakePayload) -> None:
    # An expression that goes back to each character would take hours, which pytest's limit of a test ends.
    hostile = [a_payload(line * 10, path=path) for path in ("a.py", "b.py")]
    others = [a_payload("+def reserve_seat():", path="c"), a_payload("+reserve_seat()", path="d")]

    assert [use.name for use in name_uses([*hostile, *others])] == ["reserve_seat"]
