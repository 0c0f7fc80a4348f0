"""Everything that GitHub or a bot would act on, one by one, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.report.text import (
    block,
    clip,
    clip_block,
    md,
    md_block,
    md_cell,
    md_code,
    md_prose_cell,
    short_line,
    visible,
)

ACTS = [
    "@octocat",
    "a@b.example",
    "$x",
    "x$",
    "ftp://h",
    "ssh+git://h/x",
    "www.example.invalid",
    "WWW.example.invalid",
    "mailto:a",
    "xmpp:a",
    "#1",
    "o/r#12",
    "GH-12",
    "gh-12",
    "CVE-2024-1",
    "GHSA-aaaa",
    ":tada:",
    ":+1:",
    "x:e-mail:y",
    "/merge",
    "0a1b2c3",
    "a" * 64,
    "ABCDEF0",
    "deadbee..beefdea",
]


@pytest.mark.parametrize("word", ACTS)
def test_what_acts_stands_in_a_code_span_wherever_it_is(word: str) -> None:
    in_code = md_code(word)

    assert md(word) == in_code
    assert md(f"see {word} there") == f"see {in_code} there"
    assert md(f"see ({word}).") == f"see ({in_code})."
    assert md(f'"{word}", {word}!') == f'"{in_code}", {in_code}!'


@pytest.mark.parametrize(
    "word",
    [
        "0a1b2c",  # six digits name no commit
        "a" * 65,
        "zdeadbeef",
        "deadbeefz",
        "12:30",
        "std::map",
        "a/b",
        "XGH-12",
        "C#",
        "GH12",
        "mail",
        "x:y",
    ],
)
def test_what_only_looks_like_it_stays_prose(word: str) -> None:
    assert "`" not in md(f"see {word} there")


@pytest.mark.parametrize(
    "word", ["bors", "homu", "jenkins", "recheck", "retest", "!bors", "Bors", ".recheck", "!RETEST"]
)
def test_a_command_of_another_bot_is_none_at_the_start_of_a_line_and_a_word_elsewhere(word: str) -> None:
    assert md(f"{word} r+") == f"`{word}` r+"
    assert md(f"please {word} r+") == f"please {word} r+"
    assert md(f"{word}x r+").startswith(word)


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("-x", "\\-x"),
        ("+ x", "\\+ x"),
        ("=", "\\="),
        ("123456. x", "123456\\. x"),
        ("123456) x", "123456\\) x"),
        ("1234567. x", "`1234567`. x"),  # a commit may be called so
        ("1.x", "1\\.x"),
        ("-*x*", "\\-\\*x\\*"),
        ("1.*", "1\\.\\*"),
        ("x `a` - b", "x `a` - b"),
        ("`a` - b", "`a` - b"),
        ("`a`", "`a`"),
        ("`a`` b`", "```a`` b```"),
    ],
)
def test_only_the_first_word_of_a_line_can_begin_a_block(text: str, markdown: str) -> None:
    assert md(text) == markdown


@pytest.mark.parametrize("char", "\\*_[]~#")
def test_each_mark_of_punctuation_is_escaped_once(char: str) -> None:
    assert md(f"a{char} b") == f"a\\{char} b"


@pytest.mark.parametrize(("char", "entity"), [("&", "amp"), ("<", "lt"), (">", "gt"), ("|", "#124"), ("`", "#96")])
def test_each_sign_of_html_and_of_tables_is_an_entity(char: str, entity: str) -> None:
    assert md(f"a{char} b") == f"a&{entity}; b"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("`", "`` ` ``"),
        ("x`", "`` x` ``"),
        ("$", "` $ `"),
        ("x$", "` x$ `"),
        (" x", "`  x `"),
        ("  ", "`  `"),
        ("x ", "` x  `"),
    ],
)
def test_a_code_span_is_padded_where_its_ends_would_be_read_as_marks(text: str, code: str) -> None:
    assert md_code(text) == code


@pytest.mark.parametrize(
    ("text", "cell"), [("", "`(no name)`"), ("|", "&#124;"), ("a\nb", "`a\\nb`"), ("\x1b", "`\\x1b`")]
)
def test_a_cell_holds_any_name(text: str, cell: str) -> None:
    assert md_cell(text) == cell


@pytest.mark.parametrize("run", range(6))
def test_a_fence_is_longer_than_any_run_in_its_block(run: int) -> None:
    text = "a\n" + "`" * run + "\nb"

    fence, *_, last = md_block(text, "text").split("\n")

    assert (fence, last) == ("`" * max(3, run + 1) + "text", "`" * max(3, run + 1))


# --- limits


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x" * 10, "x" * 10),
        ("x" * 11, "xxxxxx ..."),
        ("xxxxx     yyyyy", "xxxxx ..."),
        ("x" + " " * 38 + "y", "x y"),
        ("x" + " " * 39 + "y", "x ..."),  # beyond four times the limit nobody looks, and says so
        (" " * 40, ""),
        (" " * 41, "..."),
    ],
)
def test_a_short_line_says_when_something_is_missing(text: str, shown: str) -> None:
    assert short_line(text, 10).strip() == shown


@given(st.text(max_size=60), st.integers(4, 20))
def test_nothing_is_longer_than_its_limit(text: str, limit: int) -> None:
    assert len(clip(text, limit)) <= limit
    assert len(short_line(text, limit)) <= limit
    assert all(len(row) <= max(limit, 20) for row in clip_block(text, lines=3, chars=limit).split("\n"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", "a\nb"),
        ("a\nb\nc", "a\nb\n... 1 more line"),
        ("\n\na\nb\n\n", "a\nb"),
        ("", ""),
    ],
)
def test_a_block_of_two_lines_counts_what_it_leaves_out(text: str, shown: str) -> None:
    assert clip_block(text, lines=2, chars=10) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\rb", "a\\x0db"),
        ("a\r\nb", "a\nb"),
        ("\t a", "\t a"),
        ("\t \n a \n\t", " a"),
    ],
)
def test_a_block_has_one_kind_of_line_end(text: str, shown: str) -> None:
    assert block(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\xa0", "\xa0"),
        ("\x85", "\\x85"),
        ("\u2003x", "\u2003x"),
        ("\xad", "\\xad"),
        ("\xff", "\xff"),
        ("\u0100", "\u0100"),
        ("\u0600", "<U+0600>"),
        ("#\ufe0f\u20e3", "#\ufe0f\u20e3"),
        ("*\ufe0f", "*\ufe0f"),
        ("x\ufe0f", "x<U+FE0F>"),
        ("👩\u200dx", "👩<U+200D>x"),
        ("x\u200d💻", "x<U+200D>💻"),
        ("👩\u200d", "👩<U+200D>"),
        ("\u180e\uffa0", "<U+180E><U+FFA0>"),
    ],
)
def test_the_edges_of_what_may_stay(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize("text", ["`<img src=x> @octocat|b`", "https://x.invalid/a|b", "`a\\|<b>`", "a|b"])
def test_a_pipe_in_prose_ends_no_cell_of_a_table_also_in_a_code_span(text: str) -> None:
    cell = md_prose_cell(text)

    assert "|" not in cell
    assert "&#124;" in cell
    assert "<b>" not in cell.replace("`<b>`", "")
    assert "@octocat" not in cell.replace("`@octocat`", "")
    assert "<img" not in cell
